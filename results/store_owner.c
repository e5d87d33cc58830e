// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of a folder in the making: "PID START BOOT HOST". The start time tells a process from a
 * later one with its number, the boot id a rebooted host, the host name a store on a shared disk:
 * of a process on another host nothing is known, so its folder stays.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>

#include "results/store_internal.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

struct owner {
	int pid;
	uint64_t start; /* clock ticks since boot */
	char boot[40], host[65];
};

/* False when there is no such process, or only its corpse. */
static bool process_start(int pid, uint64_t *start)
{
	cleanup_free char *path = str_printf("/proc/%d/stat", pid), *text = NULL;
	char state, *p;

	text = file_read(path, 65536, NULL, NULL);
	/* The name of the program may hold blanks and parentheses. */
	p = text ? strrchr(text, ')') : NULL;
	if (!p || sscanf(p + 1,
			 " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
			 " %*d %*d %" SCNu64,
			 &state, start) != 2)
		return false;
	return state != 'Z' && state != 'X';
}

static void fill_place(struct owner *o)
{
	cleanup_free char *boot = file_read("/proc/sys/kernel/random/boot_id", 4096, NULL, NULL);
	struct utsname uts;

	snprintf(o->boot, sizeof(o->boot), "%.*s", boot ? (int)strcspn(boot, "\n") : 1,
		 boot ? boot : "-");
	snprintf(o->host, sizeof(o->host), "%s",
		 uname(&uts) == 0 && uts.nodename[0] ? uts.nodename : "-");
}

int store_owner_write(const char *dir, struct error *err)
{
	cleanup_free char *path = path_join(dir, "owner"), *text = NULL;
	struct owner o = { .pid = (int)getpid() };

	if (!process_start(o.pid, &o.start))
		return error_set(err, EXIT_NO_VERDICT,
				 "/proc/%d/stat: cannot read; is /proc mounted?", o.pid);
	fill_place(&o);
	text = str_printf("%d %" PRIu64 " %s %s\n", o.pid, o.start, o.boot, o.host);
	return file_write_atomic(path, text, strlen(text), 0644, err);
}

bool store_owner_alive(const char *dir)
{
	cleanup_free char *path = path_join(dir, "owner");
	cleanup_free char *text = file_read(path, 4096, NULL, NULL);
	struct owner o, here;
	uint64_t start;

	/* Folder and owner are made under one lock: without an owner its maker died in between. */
	if (!text ||
	    sscanf(text, "%d %" SCNu64 " %39s %64s", &o.pid, &o.start, o.boot, o.host) != 4)
		return false;
	fill_place(&here);
	if (strcmp(o.host, here.host) != 0)
		return true;
	if (strcmp(o.boot, here.boot) != 0)
		return false;
	return process_start(o.pid, &start) && start == o.start;
}

bool store_sweep_one(const char *dir)
{
	if (store_owner_alive(dir))
		return false;
	return dir_remove(dir, NULL) == 0;
}

/* "20261130-171500-NAME-3f2a": a folder that only the store makes. */
static bool looks_like_set(const char *name)
{
	size_t n = strlen(name);

	if (n < 21 || !store_name_ok(name) || name[8] != '-' || name[15] != '-' ||
	    name[n - 5] != '-')
		return false;
	return strspn(name, "0123456789") == 8 && strspn(name + 9, "0123456789") == 6 &&
	       strspn(name + n - 4, "0123456789abcdef") == 4;
}

static void sweep_set(const char *set_dir)
{
	cleanup_dir DIR *d = opendir(set_dir);
	struct dirent *e;
	bool named = false;

	while (d && (e = readdir(d))) {
		cleanup_free char *path = path_join(set_dir, e->d_name);

		named |= strcmp(e->d_name, "runset.json") == 0;
		/* runset.json is only ever written under the lock, which is ours now. */
		if (str_starts(e->d_name, "runset.json.") && str_ends(e->d_name, ".tmp"))
			unlink(path);
		else if (e->d_name[0] == '.' && str_ends(e->d_name, ".tmp"))
			store_sweep_one(path);
	}
	if (d && !named)
		rmdir(set_dir);
}

void store_sweep(const struct store *s)
{
	cleanup_dir DIR *d = opendir(s->root);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		cleanup_free char *path = path_join(s->root, e->d_name);

		if (looks_like_set(e->d_name))
			sweep_set(path);
	}
}
