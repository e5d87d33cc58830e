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
bool store_looks_like_set(const char *name)
{
	size_t n = strlen(name);

	if (n < 21 || !store_name_ok(name) || name[8] != '-' || name[15] != '-' ||
	    name[n - 5] != '-')
		return false;
	return strspn(name, "0123456789") == 8 && strspn(name + 9, "0123456789") == 6 &&
	       strspn(name + n - 4, "0123456789abcdef") == 4;
}

int store_claim(struct store *s, const char *set_dir, struct error *err)
{
	if (store_owner_write(set_dir, err) < 0)
		return -1;
	s->claim = xreallocarray(s->claim, s->nclaims + 1, sizeof(*s->claim));
	s->claim[s->nclaims++] = xstrdup(set_dir);
	return 0;
}

void store_release(struct store *s)
{
	for (size_t i = 0; i < s->nclaims; i++) {
		cleanup_free char *path = path_join(s->claim[i], "owner");

		unlink(path);
		free(s->claim[i]);
	}
	free(s->claim);
	s->claim = NULL;
	s->nclaims = 0;
}

static bool is_tmp_folder(const char *name)
{
	return name[0] == '.' && str_ends(name, ".tmp");
}

bool store_set_is_written(const char *set_dir)
{
	cleanup_dir DIR *d = NULL;
	struct dirent *e;

	if (store_owner_alive(set_dir))
		return true;
	d = opendir(set_dir);
	while (d && (e = readdir(d))) {
		cleanup_free char *path = NULL;

		if (!is_tmp_folder(e->d_name))
			continue;
		path = path_join(set_dir, e->d_name);
		if (store_owner_alive(path))
			return true;
	}
	return false;
}

int store_refuse_written(const char *set_dir, struct error *err)
{
	if (!store_set_is_written(set_dir))
		return 0;
	return error_set(err, EXIT_USAGE,
			 "%s: another mmrig is writing this run set; wait for it to end, or remove "
			 "%s/owner where it ran on another host and is gone",
			 set_dir, set_dir);
}

/* What store_begin_set() makes; it holds the lock, which is ours now. */
static bool is_of_set(const char *name)
{
	return strcmp(name, "owner") == 0 || strcmp(name, "checksums") == 0 ||
	       (str_ends(name, ".tmp") &&
		(str_starts(name, "runset.json.") || str_starts(name, "owner.") ||
		 str_starts(name, "checksums.")));
}

static void unlink_in(const char *dir, const char *name)
{
	cleanup_free char *path = path_join(dir, name);

	unlink(path);
}

/* A set that was being made when its maker died. */
static void drop_unnamed(const char *set_dir)
{
	unlink_in(set_dir, "owner");
	unlink_in(set_dir, "checksums");
	rmdir(set_dir);
}

static void sweep_set(const char *set_dir)
{
	cleanup_dir DIR *d = opendir(set_dir);
	bool named = false, more = false;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		cleanup_free char *path = NULL;

		named |= strcmp(e->d_name, "runset.json") == 0;
		more |= e->d_name[0] != '.' && !is_of_set(e->d_name);
		if (!str_ends(e->d_name, ".tmp"))
			continue;
		path = path_join(set_dir, e->d_name);
		if (is_of_set(e->d_name))
			unlink(path);
		else if (e->d_name[0] == '.')
			store_sweep_one(path);
	}
	if (d && !more && !named)
		drop_unnamed(set_dir);
	else if (d && !store_owner_alive(set_dir))
		unlink_in(set_dir, "owner");
}

void store_sweep(const struct store *s)
{
	cleanup_dir DIR *d = opendir(s->root);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		cleanup_free char *path = NULL;

		if (!store_looks_like_set(e->d_name) && !is_tmp_folder(e->d_name))
			continue;
		path = path_join(s->root, e->d_name);
		if (is_tmp_folder(e->d_name)) /* a set that was being removed or imported */
			store_sweep_one(path);
		else
			sweep_set(path);
	}
}
