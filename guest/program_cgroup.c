// SPDX-License-Identifier: GPL-2.0-only
#include "guest/program_cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/procfs.h"

#define CGROUPS "/sys/fs/cgroup"

uint64_t cgroup_number(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (; *text; text += *text == '\n') {
		if (strncmp(text, key, len) == 0 && text[len] == ' ')
			return strtoull(text + len + 1, NULL, 10);
		text += strcspn(text, "\n");
	}
	return 0;
}

static int put(const struct program *p, const char *file, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", p->cgroup, file);
	return file_put(path, text);
}

static uint64_t get(const struct program *p, const char *file, const char *key)
{
	char path[160], text[2048];

	snprintf(path, sizeof(path), "%s/%s", p->cgroup, file);
	return file_slurp(path, text, sizeof(text)) < 0 ? 0 : cgroup_number(text, key);
}

static int limit(const struct program *p, const char *controller, const char *file, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "+%s", controller);
	if (file_put(CGROUPS "/cgroup.subtree_control", text) < 0)
		return task_fail(p->child, "unsupported",
				 "this kernel lacks the %s controller of cgroup v2: %s", controller,
				 strerror(errno));
	snprintf(text, sizeof(text), "%" PRIu64, value);
	if (put(p, file, text) < 0)
		return task_fail(p->child, "infra", "%s/%s: %s: %s", p->cgroup, file, text,
				 strerror(errno));
	return 0;
}

/* kernel.threads-max goes by memory: 512 MiB have fewer than 4096. */
static uint64_t pids_default(void)
{
	int64_t all = file_number("/proc/sys/kernel/threads-max", 2 * PROGRAM_PIDS_MAX);

	return all / 2 < PROGRAM_PIDS_MAX ? (uint64_t)(all / 2) : PROGRAM_PIDS_MAX;
}

int program_cgroup_make(struct program *p)
{
	static unsigned int count;
	const struct program_spec *s = p->spec;

	snprintf(p->cgroup, sizeof(p->cgroup), CGROUPS "/program-%u-%d", count++, (int)getpid());
	if (mkdir(p->cgroup, 0755) < 0)
		return task_fail(p->child, "infra", "%s: %s", p->cgroup, strerror(errno));
	p->pids_max = s->pids_max ? s->pids_max : pids_default();
	if (limit(p, "pids", "pids.max", p->pids_max) < 0)
		return -1;
	return s->memory_max_bytes ? limit(p, "memory", "memory.max", s->memory_max_bytes) : 0;
}

int program_cgroup_join(const struct program *p)
{
	return put(p, "cgroup.procs", "0");
}

uint64_t program_cgroup_usec(const struct program *p, const char *key)
{
	return get(p, "cpu.stat", key);
}

uint64_t program_cgroup_pids_hit(const struct program *p)
{
	return get(p, "pids.events", "max");
}

uint64_t program_cgroup_oom_kills(const struct program *p)
{
	return get(p, "memory.events", "oom_kill");
}

void program_cgroup_kill(const struct program *p)
{
	put(p, "cgroup.kill", "1");
}

void program_cgroup_kill_all(void)
{
	DIR *d = opendir(CGROUPS);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char path[400];

		if (strncmp(e->d_name, "program-", strlen("program-")) != 0)
			continue;
		snprintf(path, sizeof(path), CGROUPS "/%s/cgroup.kill", e->d_name);
		file_put(path, "1");
	}
	if (d)
		closedir(d);
}

bool program_cgroup_is_empty(const struct program *p)
{
	return get(p, "cgroup.events", "populated") == 0;
}

void program_cgroup_remove(struct program *p)
{
	rmdir(p->cgroup);
	*p->cgroup = '\0';
}
