// SPDX-License-Identifier: GPL-2.0-only
#include "guest/boot.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/cma.h"
#include "guest/procfs.h"
#include "guest/size_text.h"

#define MODULES_MAX 64
#define DAEMONS_MAX 128

void boot_mounts(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
}

void boot_say(const char *text)
{
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	char line[300];
	int n = snprintf(line, sizeof(line), "<4>mmrig-agent: %s\n", text);

	if (fd < 0)
		return;
	/* Where this fails there is nowhere left to say so. */
	(void)!write(fd, line, n < (int)sizeof(line) ? (size_t)n : sizeof(line) - 1);
	close(fd);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of "brd.rd_nr=1 x=2 brd.rd_size=64" the file "05-brd.ko" has "rd_nr=1 rd_size=64". */
static void module_params(const char *file, const char *cmdline, char *params, size_t room)
{
	const char *name = file + strspn(file, "0123456789");
	size_t len, n = 0;

	name += *name == '-';
	len = strcspn(name, ".");
	*params = '\0';
	while (*cmdline) {
		size_t word = strcspn(cmdline, " \n");

		if (word > len + 1 && strncmp(cmdline, name, len) == 0 && cmdline[len] == '.' &&
		    n + (n > 0) + word - len <= room)
			n += (size_t)snprintf(params + n, room - n, "%s%.*s", n ? " " : "",
					      (int)(word - len - 1), cmdline + len + 1);
		cmdline += word;
		cmdline += *cmdline != '\0';
	}
}

void boot_modules(void)
{
	char *name[MODULES_MAX], path[300], text[400], cmdline[4096], params[256];
	DIR *d = opendir("/modules");
	struct dirent *e;
	size_t n = 0;

	if (!d)
		return;
	while ((e = readdir(d)) && n < MODULES_MAX)
		if (e->d_name[0] != '.' && (name[n] = strdup(e->d_name)))
			n++;
	closedir(d);
	qsort(name, n, sizeof(*name), by_name);
	if (file_slurp("/proc/cmdline", cmdline, sizeof(cmdline)) < 0)
		*cmdline = '\0';
	for (size_t i = 0; i < n; i++) {
		int fd;

		module_params(name[i], cmdline, params, sizeof(params));
		snprintf(path, sizeof(path), "/modules/%s", name[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, params, 0) < 0 && errno != EEXIST)) {
			snprintf(text, sizeof(text), "module %.200s: %s", name[i], strerror(errno));
			boot_say(text);
		}
		if (fd >= 0)
			close(fd);
		unlink(path); /* its pages are free again */
		free(name[i]);
	}
}

/* vm.defrag_mode -> /proc/sys/vm/defrag_mode; a name with slashes is taken as it is. */
static void sysctl_path(const char *key, char *path, size_t room)
{
	size_t n = (size_t)snprintf(path, room, "/proc/sys/%s", key);

	if (strchr(key, '/'))
		return;
	for (size_t i = strlen("/proc/sys/"); i < n && i < room; i++)
		if (path[i] == '.')
			path[i] = '/';
}

static int has_filesystem(const char *name)
{
	static char text[8192];
	char word[64];

	if (file_slurp("/proc/filesystems", text, sizeof(text)) < 0)
		return 0;
	snprintf(word, sizeof(word), "\t%s\n", name);
	return strstr(text, word) != NULL;
}

static int need_met(const char *what)
{
	char path[300];

	if (strncmp(what, "sysctl:", 7) == 0) {
		sysctl_path(what + 7, path, sizeof(path));
		return access(path, F_OK) == 0;
	}
	if (strncmp(what, "file:", 5) == 0)
		return access(what + 5, F_OK) == 0;
	if (strncmp(what, "fs:", 3) == 0)
		return has_filesystem(what + 3);
	if (strncmp(what, "cma:", 4) == 0)
		return cma_total() >= strtoull(what + 4, NULL, 10);
	return 0;
}

/* As the reader of a result wants it. */
static void name_need(const char *what, char *out, size_t room)
{
	if (!what)
		snprintf(out, room, "(nothing)");
	else if (strncmp(what, "cma:", 4) == 0)
		snprintf(out, room, "a CMA area of %s (CONFIG_DMA_CMA)",
			 size_text(strtoull(what + 4, NULL, 10)).text);
	else
		snprintf(out, room, "%s", what);
}

int boot_needs(const struct job *job, char *why, size_t room)
{
	const struct job_line *line = NULL;
	size_t n = 0;

	while ((line = job_next(job, line, "need"))) {
		const char *what = job_get(line, "what");
		char name[320];

		if (what && need_met(what))
			continue;
		name_need(what, name, sizeof(name));
		n += (size_t)snprintf(why + n, n < room ? room - n : 0, "%s%s",
				      n ? ", " : "this kernel lacks ", name);
		if (n >= room)
			break;
	}
	return n ? -1 : 0;
}

/*
 * Numbers are compared as numbers, one by one ("01" is 1; the kernel puts tabs between them); a text
 * must come back within what is read.
 */
static int same_value(const char *asked, const char *got)
{
	const char *a = asked, *g = got;

	for (;;) {
		char *end1, *end2;
		long long want = strtoll(a, &end1, 0), have = strtoll(g, &end2, 0);

		if (end1 == a || end2 == g || (*end1 && !isspace((unsigned char)*end1)))
			return strstr(got, asked) != NULL;
		if (want != have)
			return 0;
		a = end1 + strspn(end1, " \t\n");
		g = end2;
		if (!*a)
			return 1;
	}
}

int boot_sysctls(const struct job *job, const char *at, char *why, size_t room)
{
	const struct job_line *line = NULL;
	char path[300], got[256];

	while ((line = job_next(job, line, "sysctl"))) {
		const char *key = job_get(line, "key"), *value = job_get(line, "value");

		if (!key || !value || strcmp(job_get(line, "at") ? job_get(line, "at") : "", at) != 0)
			continue;
		sysctl_path(key, path, sizeof(path));
		if (file_put(path, value) < 0) {
			snprintf(why, room, "sysctl %s=%s: %s", key, value, strerror(errno));
			return -1;
		}
		if (file_slurp(path, got, sizeof(got)) >= 0 && !same_value(value, got)) {
			got[strcspn(got, "\n")] = '\0';
			snprintf(why, room, "sysctl %s: asked %s, got %s", key, value, got);
			return -1;
		}
	}
	return 0;
}

static int daemon_fd[DAEMONS_MAX]; /* /proc/PID/stat, kept open: asking later costs no lookup */
static int daemons;

void boot_find_daemons(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && daemons < DAEMONS_MAX && (e = readdir(d))) {
		char path[300], name[64];

		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		if (file_slurp(path, name, sizeof(name)) < 0 ||
		    (strncmp(name, "kswapd", 6) != 0 && strncmp(name, "kcompactd", 9) != 0))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		daemon_fd[daemons] = open(path, O_RDONLY | O_CLOEXEC);
		if (daemon_fd[daemons] >= 0)
			daemons++;
	}
	if (d)
		closedir(d);
}

bool boot_daemons_asleep(void)
{
	for (int i = 0; i < daemons; i++) {
		char text[512];
		ssize_t n = pread(daemon_fd[i], text, sizeof(text) - 1, 0);
		char *state;

		if (n <= 0)
			continue;
		text[n] = '\0';
		state = strrchr(text, ')'); /* "PID (comm) S ..." */
		if (state && state[1] == ' ' && state[2] != 'S' && state[2] != 'I')
			return false;
	}
	return true;
}

uint64_t boot_sum_keys(const char *vmstat)
{
	static const char *const keys[] = { "compact_daemon_wake ", "compact_daemon_migrate_scanned ",
					    "compact_daemon_free_scanned ", "pgscan_kswapd " };
	uint64_t sum = 0;

	while (*vmstat) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (strncmp(vmstat, keys[i], strlen(keys[i])) == 0)
				sum += strtoull(vmstat + strlen(keys[i]), NULL, 10);
		vmstat += strcspn(vmstat, "\n");
		vmstat += *vmstat == '\n';
	}
	return sum;
}
