// SPDX-License-Identifier: GPL-2.0-only
/* Disks that are full, and folders that cannot be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "results/store_archive.h"
#include "results/store_fixture.h"

static bool says(const struct error *err, const char *what)
{
	return err->text && strstr(err->text, what);
}

/* Writes until it fails; 0 when the failure is the right one. Console, then samples. */
static int fill(struct store *s, struct runset *set, const char *reason)
{
	struct run r = { .id = xstrdup("0002") };
	struct error err = ERROR_INIT;
	struct store_run *sr;
	uint8_t *noise = xmalloc(1 << 20);
	uint32_t len;

	for (size_t i = 0; i < 1 << 20; i++)
		noise[i] = (uint8_t)rand();
	if (store_begin_run(s, set, &r, &sr, &err) < 0)
		return 10;
	for (int i = 0; i < 64 && store_console(sr, noise, 1 << 16, &err) == 0; i++)
		;
	if (!says(&err, reason) || !says(&err, "console.log") || !says(&err, "MMRIG_RESULTS") ||
	    err.status != EXIT_NO_VERDICT)
		return 11;
	store_abandon_run(sr);
	error_clear(&err);
	if (store_begin_run(s, set, &r, &sr, &err) < 0)
		return 12;
	memcpy(noise, "\1\0\0\0\0\0\0\0\0\0\4name", 15);
	len = 1 << 19;
	/* Another mask each time, or the compressor would find the same noise again. */
	for (int i = 0; i < 16 && store_sample(sr, noise, len, &err) == 0; i++)
		for (size_t j = 15; j < len; j++)
			noise[j] ^= (uint8_t)(2 * i + 1);
	if (!says(&err, reason) || !says(&err, "samples.zst") || !says(&err, "MMRIG_RESULTS"))
		return 13;
	error_clear(&err);
	if (store_finish_run(sr, set, &r, &err) == 0 || !says(&err, reason))
		return 14;
	return 0;
}

/* What was stored before stays, and nothing half-made is left. */
static int still_sound(struct store *s, const struct runset *set)
{
	cleanup_strbuf struct strbuf faults = STRBUF_INIT;
	struct store_verified count;
	struct runset back;

	if (store_verify(s, on_fault, &faults, &count, NULL) < 0 || faults.len || count.runs != 1)
		return 20;
	if (store_load_set(s, set->id, &back, NULL) < 0 || back.nruns != 1)
		return 21;
	return count_tmp(store_root(s)) ? 22 : 0;
}

/* Needs no privilege: a limit on the size of files. */
static int file_limit_child(struct place *p)
{
	struct runset set = fixture_set();
	struct store *s;
	int ret;

	signal(SIGXFSZ, SIG_IGN);
	if (store_open(p->root, true, &s, NULL) < 0 || store_begin_set(s, &set, NULL) < 0 ||
	    make_run(s, &set, "0001", NULL) < 0 ||
	    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1 << 20, 1 << 20 }) < 0)
		return 1;
	ret = fill(s, &set, "File too large");
	return ret ? ret : still_sound(s, &set);
}

static void test_file_limit(void **state)
{
	assert_int_equal(in_child(file_limit_child, *state), 0);
}

/* A set too large for either limit; the archive is opened before the small disk hides it. */
static int make_archive(struct place *p)
{
	cleanup_free char *from = path_join(p->root, "from"), *file = path_join(p->root, "a");
	struct runset set = fixture_set();
	struct run r = { .id = xstrdup("0001") };
	cleanup_free char *noise = xmalloc(3 << 20);
	struct store_moved moved;
	struct store_run *sr;
	struct store *s;

	for (size_t i = 0; i < 3 << 20; i++)
		noise[i] = (char)rand();
	if (store_open(from, true, &s, NULL) < 0 || store_begin_set(s, &set, NULL) < 0 ||
	    store_begin_run(s, &set, &r, &sr, NULL) < 0 ||
	    store_console(sr, noise, 3 << 20, NULL) < 0 || store_finish_run(sr, &set, &r, NULL) < 0)
		return -1;
	store_close(s);
	if (store_open(from, true, &s, NULL) < 0 ||
	    store_export(s, set.id, file, &moved, NULL) < 0)
		return -1;
	store_close(s);
	return open(file, O_RDONLY | O_CLOEXEC);
}

/* Nothing of the set is left, and what was there before stays. */
static int expect_no_import(struct store *s, const struct runset *set, int archive,
			    const char *reason)
{
	struct error err = ERROR_INIT;
	struct store_moved moved;

	if (store_import_fd(s, archive, "the archive", &moved, &err) == 0)
		return 40;
	if (!says(&err, reason) || !says(&err, "the archive") || !says(&err, "MMRIG_RESULTS") ||
	    err.status != EXIT_NO_VERDICT)
		return 41;
	return still_sound(s, set);
}

static int import_limit_child(struct place *p)
{
	struct runset set = fixture_set();
	cleanup_free char *to = path_join(p->root, "b");
	struct error err = ERROR_INIT;
	struct store_moved moved;
	struct store *s;
	int archive, ret;

	signal(SIGXFSZ, SIG_IGN);
	archive = make_archive(p);
	if (archive < 0 || store_open(p->root, true, &s, NULL) < 0 ||
	    store_begin_set(s, &set, NULL) < 0 || make_run(s, &set, "0001", NULL) < 0 ||
	    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1 << 20, 1 << 20 }) < 0)
		return 1;
	ret = expect_no_import(s, &set, archive, "File too large");
	store_close(s);
	if (ret)
		return ret;
	/* The same on the way out: no half of an archive stays. */
	if (chdir(p->root) < 0 || store_open("from", false, &s, NULL) < 0)
		return 2;
	if (store_export(s, "last", to, &moved, &err) == 0 || !says(&err, "free some space") ||
	    err.status != EXIT_NO_VERDICT)
		return 42;
	return file_exists(to) ? 43 : 0;
}

static void test_import_limit(void **state)
{
	assert_int_equal(in_child(import_limit_child, *state), 0);
}

#define CANNOT_MOUNT 77

static int put_file(const char *path, const char *text)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

/* Without a map of its user, a namespace can mount, but no file can be made in it. */
static int new_user(void)
{
	cleanup_free char *uid = str_printf("0 %u 1\n", getuid()),
			  *gid = str_printf("0 %u 1\n", getgid());

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -1;
	put_file("/proc/self/setgroups", "deny");
	return put_file("/proc/self/uid_map", uid) < 0 || put_file("/proc/self/gid_map", gid) < 0 ?
		       -1 :
		       0;
}

/* A mount of our own, as root or in a user namespace where those are allowed. */
static int mount_small(const char *root)
{
	if (unshare(CLONE_NEWNS) < 0 && new_user() < 0)
		return CANNOT_MOUNT;
	mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	return mount("mmrig-test", root, "tmpfs", 0, "size=2m,mode=0755") < 0 ? CANNOT_MOUNT : 0;
}

static int full_disk_child(struct place *p)
{
	struct runset set = fixture_set();
	struct store *s;
	int ret = mount_small(p->root);

	if (ret)
		return ret;
	if (store_open(p->root, true, &s, NULL) < 0 || store_begin_set(s, &set, NULL) < 0 ||
	    make_run(s, &set, "0001", NULL) < 0)
		return 1;
	ret = fill(s, &set, "No space left on device");
	return ret ? ret : still_sound(s, &set);
}

static int import_full_child(struct place *p)
{
	struct runset set = fixture_set();
	struct store *s;
	int archive = make_archive(p), ret = mount_small(p->root);

	if (ret)
		return ret;
	if (archive < 0 || store_open(p->root, true, &s, NULL) < 0 ||
	    store_begin_set(s, &set, NULL) < 0 || make_run(s, &set, "0001", NULL) < 0)
		return 1;
	return expect_no_import(s, &set, archive, "No space left on device");
}

static void test_import_full_disk(void **state)
{
	int ret = in_child(import_full_child, *state);

	if (ret == CANNOT_MOUNT)
		skip();
	assert_int_equal(ret, 0);
}

/* Where nothing can be mounted, test_file_limit takes the same ways with the same checks. */
static void test_full_disk(void **state)
{
	int ret = in_child(full_disk_child, *state);

	if (ret == CANNOT_MOUNT)
		skip();
	assert_int_equal(ret, 0);
}

/* The same store, read only: reading works, beginning does not. */
static int expect_read_only(const char *root)
{
	struct error err = ERROR_INIT;
	struct store_entry *entries;
	struct store_moved moved;
	struct store *s;
	struct runset set;
	size_t n;

	if (store_open(root, true, &s, &err) == 0)
		return 30;
	if (err.status != EXIT_USAGE || !says(&err, root) || !says(&err, "MMRIG_RESULTS"))
		return 31;
	error_clear(&err);
	if (store_open(root, false, &s, &err) < 0)
		return 32;
	if (store_list(s, &entries, &n, &err) < 0 || n != 1 || entries[0].count[VERDICT_OK] != 1)
		return 33;
	if (store_load_set(s, "last", &set, &err) < 0 || set.nruns != 1)
		return 34;
	if (store_rebuild(s, &n, &err) == 0 || err.status != EXIT_USAGE)
		return 35;
	if (store_begin_set(s, &set, &err) == 0)
		return 36;
	error_clear(&err);
	if (store_gc(s, &(struct store_gc){ .before = INFINITY }, &err) == 0 ||
	    err.status != EXIT_USAGE)
		return 37;
	error_clear(&err);
	if (store_import_fd(s, -1, "none", &moved, &err) == 0 || err.status != EXIT_USAGE)
		return 38;
	return 0;
}

static int read_only_mount_child(struct place *p)
{
	struct runset set = fixture_set();
	struct store *s;
	int ret = mount_small(p->root);

	if (ret)
		return ret;
	if (store_open(p->root, true, &s, NULL) < 0 || store_begin_set(s, &set, NULL) < 0 ||
	    make_run(s, &set, "0001", NULL) < 0)
		return 1;
	store_close(s);
	if (mount(NULL, p->root, NULL, MS_REMOUNT | MS_RDONLY, NULL) < 0)
		return 2;
	return expect_read_only(p->root);
}

static void test_read_only_mount(void **state)
{
	int ret = in_child(read_only_mount_child, *state);

	if (ret == CANNOT_MOUNT)
		skip();
	assert_int_equal(ret, 0);
}

/* The same by permissions, as whoever we are, or as nobody where we are root. */
static int read_only_mode_child(struct place *p)
{
	if (getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
		return 3;
	return expect_read_only(p->root);
}

static void test_read_only_mode(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);

	add_run(s, &set, "0001");
	store_close(s);
	runset_free(&set);
	assert_int_equal(chmod(p->root, 0555), 0);
	assert_int_equal(in_child(read_only_mode_child, p), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_file_limit),
		STORE_TEST(test_full_disk),
		STORE_TEST(test_import_limit),
		STORE_TEST(test_import_full_disk),
		STORE_TEST(test_read_only_mount),
		STORE_TEST(test_read_only_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
