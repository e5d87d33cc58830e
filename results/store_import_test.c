// SPDX-License-Identifier: GPL-2.0-only
/* Archives that somebody made to do harm, or that were damaged on their way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <archive.h>
#include <archive_entry.h>
#include <signal.h>
#include <time.h>

#include <cmocka.h>

#include "results/store_archive_fixture.h"

#define ID "20261130-182005-alias-tmpfs-f40c"
#define OTHER "20261130-182005-alias-tmpfs-0000"

struct hostile {
	const char *what;      /* of the test, for messages */
	const char *complaint; /* of the import */
	struct member {
		mode_t type;
		const char *name, *data; /* data: also where a link leads to */
	} member[6];
	int status; /* 0: EXIT_USAGE */
};

#define DIR_(n) { AE_IFDIR, n, NULL }
#define REG(n, d) { AE_IFREG, n, d }
#define HARD_LINK 1

static const char good_head[] =
	"{\"schema\": 1, \"id\": \"" ID "\", \"created\": 1796062805, \"scenario\": \"x\","
	" \"kernels\": [{\"name\": \"k\"}], \"variants\": [{\"label\": \"v\"}], \"runs\": 1}";
static const char good_run[] = "{\"schema\": 1, \"id\": \"0001\", \"verdict\": \"ok\","
			       " \"kernel_index\": 0, \"variant_index\": 0}";
static const char deep[] = ID "/kernels/k/a/b", deep_run[] = ID "/0001/a/b";
static const char kernel_head[] =
	"{\"schema\": 1, \"id\": \"" ID "\", \"created\": 1796062805, \"scenario\": \"x\","
	" \"kernels\": [{\"name\": \"k\", \"folder\": \"k\", \"kept\": [\"x.patch\"]}],"
	" \"variants\": [{\"label\": \"v\"}], \"runs\": 1}";
static const char climbing_head[] =
	"{\"schema\": 1, \"id\": \"" ID "\", \"created\": 1796062805, \"scenario\": \"x\","
	" \"kernels\": [{\"name\": \"k\", \"folder\": \"..\", \"kept\": [\"x.patch\"]}],"
	" \"variants\": [{\"label\": \"v\"}], \"runs\": 1}";

static const struct hostile hostile[] = {
	{ "absolute", "no path that a run set has", { REG("/etc/" ID, "x") } },
	{ "root", "no path that a run set has", { DIR_("/") } },
	{ "parent", "is in no folder of a run set", { REG("../" ID, "x") } },
	{ "parent inside", "a name that no run can have",
	  { DIR_(ID "/"), DIR_(ID "/..") } },
	{ "parent of a run", "a name that no run can have",
	  { DIR_(ID "/"), REG(ID "/../run.json", "x") } },
	{ "dot", "is in no folder of a run set", { REG("./runset.json", "x") } },
	{ "doubled slash", "no path that a run set has", { REG(ID "//runset.json", "x") } },
	{ "too deep", "no path that a run set has", { REG(deep, "x") } },
	{ "too deep in a run", "a name that a run set does not have", { REG(deep_run, "x") } },
	{ "a file as kernels", "a name that a run set does not have",
	  { DIR_(ID "/"), REG(ID "/kernels", "x") } },
	{ "a file of no kernel", "a name that a run set does not have",
	  { DIR_(ID "/"), DIR_(ID "/kernels/"), REG(ID "/kernels/x", "x") } },
	{ "parent of a kernel", "a name that a run set does not have",
	  { DIR_(ID "/"), DIR_(ID "/kernels/"), REG(ID "/kernels/../x", "x") } },
	{ "parent in a kernel", "no path that a run set has",
	  { DIR_(ID "/"), DIR_(ID "/kernels/"), REG(ID "/kernels/../../x", "x") } },
	{ "hidden file of a kernel", "a name that a run set does not have",
	  { DIR_(ID "/"), DIR_(ID "/kernels/"), DIR_(ID "/kernels/k/"), REG(ID "/kernels/k/.x", "x") } },
	{ "folder in a kernel", "a name that a run set does not have",
	  { DIR_(ID "/"), DIR_(ID "/kernels/"), DIR_(ID "/kernels/k/"), DIR_(ID "/kernels/k/x/") } },
	{ "a file that no kernel has", "kernels/k/y.patch: is not in runset.json",
	  { DIR_(ID "/"), DIR_(ID "/kernels/"), DIR_(ID "/kernels/k/"), REG(ID "/kernels/k/x.patch", "x"),
	    REG(ID "/kernels/k/y.patch", "x"), REG(ID "/runset.json", kernel_head) }, EXIT_NO_VERDICT },
	{ "a kernel without its file", "kernels/k/x.patch: is missing",
	  { DIR_(ID "/"), REG(ID "/runset.json", kernel_head) }, EXIT_NO_VERDICT },
	{ "a kernel that climbs", "runset.json: damaged: what is kept of kernel 1",
	  { DIR_(ID "/"), REG(ID "/runset.json", climbing_head) }, EXIT_NO_VERDICT },
	{ "the index", "is in no folder of a run set", { REG("mmrig.db", "x") } },
	{ "the lock", "is in no folder of a run set", { REG(".lock", "x") } },
	{ "folder of no set", "is in no folder of a run set", { DIR_("set/") } },
	{ "a set that is a file", "a name that a run set does not have", { REG(ID, "x") } },
	{ "second set", "is of a second run set", { DIR_(ID "/"), DIR_(OTHER "/") } },
	{ "unknown file", "a name that a run set does not have",
	  { DIR_(ID "/"), REG(ID "/evil.so", "x") } },
	{ "owner", "a name that a run set does not have", { DIR_(ID "/"), REG(ID "/owner", "1") } },
	{ "run file in the set", "a name that a run set does not have",
	  { DIR_(ID "/"), REG(ID "/run.json", "x") } },
	{ "set file in a run", "a name that a run set does not have",
	  { DIR_(ID "/"), DIR_(ID "/0001/"), REG(ID "/0001/runset.json", "x") } },
	{ "folder in a run", "a name that a run set does not have",
	  { DIR_(ID "/"), DIR_(ID "/0001/"), DIR_(ID "/0001/scratch") } },
	{ "hidden run", "a name that no run can have", { DIR_(ID "/"), DIR_(ID "/.0001.tmp") } },
	{ "terminal", "a name that a run set does not have",
	  { DIR_(ID "/"), REG(ID "/\x1b[2J\n<script>", "x") } },
	{ "not ASCII", "a name that", { DIR_(ID "/"), REG(ID "/\xff\xfe", "x") } },
	{ "symbolic link", "is neither a file nor a folder",
	  { DIR_(ID "/"), { AE_IFLNK, ID "/0001", "/etc" } } },
	{ "set as link", "is neither a file nor a folder", { { AE_IFLNK, ID, "/etc" } } },
	{ "link for a file", "is neither a file nor a folder",
	  { DIR_(ID "/"), { AE_IFLNK, ID "/runset.json", "/etc/passwd" } } },
	{ "hard link", "is neither a file nor a folder",
	  { DIR_(ID "/"), { HARD_LINK, ID "/runset.json", "/etc/passwd" } } },
	{ "device", "is neither a file nor a folder",
	  { DIR_(ID "/"), { AE_IFCHR, ID "/runset.json", NULL } } },
	{ "block device", "is neither a file nor a folder",
	  { DIR_(ID "/"), { AE_IFBLK, ID "/runset.json", NULL } } },
	{ "pipe", "is neither a file nor a folder",
	  { DIR_(ID "/"), { AE_IFIFO, ID "/runset.json", NULL } } },
	{ "a file twice", "stands in it twice",
	  { DIR_(ID "/"), REG(ID "/runset.json", "x"), REG(ID "/runset.json", "y") } },
	{ "a run twice", "stands in it twice",
	  { DIR_(ID "/"), DIR_(ID "/0001/"), DIR_(ID "/0001/") } },
	{ "no folder before it", "comes before its folder", { REG(ID "/runset.json", "x") } },
	{ "no folder of the run", "comes before its folder",
	  { DIR_(ID "/"), REG(ID "/0001/run.json", "x") } },
	{ "nothing at all", "there is no run set in it", { { 0, NULL, NULL } } },
	{ "no runset.json", "runset.json: cannot open", { DIR_(ID "/") }, EXIT_NO_VERDICT },
	{ "a folder as runset.json", "runset.json", { DIR_(ID "/"), DIR_(ID "/runset.json/") },
	  EXIT_NO_VERDICT },
	{ "no JSON", "runset.json:1:1: damaged", { DIR_(ID "/"), REG(ID "/runset.json", "x") },
	  EXIT_NO_VERDICT },
	{ "newer", "runset.json: schema 2, this mmrig reads 1; use a newer mmrig",
	  { DIR_(ID "/"), REG(ID "/runset.json", "{\"schema\": 2}") }, EXIT_NO_VERDICT },
	{ "newer run", "run.json: schema 7, this mmrig reads 1; use a newer mmrig",
	  { DIR_(ID "/"), DIR_(ID "/0001/"), REG(ID "/0001/run.json", "{\"schema\": 7}"),
	    REG(ID "/runset.json", good_head) }, EXIT_NO_VERDICT },
	{ "another id", "it says that it is run set " ID,
	  { DIR_(OTHER "/"), REG(OTHER "/runset.json", good_head) }, EXIT_NO_VERDICT },
	{ "empty run", "0001/run.json: cannot open",
	  { DIR_(ID "/"), DIR_(ID "/0001/"), REG(ID "/runset.json", good_head) }, EXIT_NO_VERDICT },
	{ "run of another id", "it says that it is run \"0001\"",
	  { DIR_(ID "/"), DIR_(ID "/0002/"), REG(ID "/0002/run.json", good_run),
	    REG(ID "/runset.json", good_head) }, EXIT_NO_VERDICT },
	{ "run without console", "0001/console.log: is missing",
	  { DIR_(ID "/"), DIR_(ID "/0001/"), REG(ID "/0001/run.json", good_run),
	    REG(ID "/runset.json", good_head) }, EXIT_NO_VERDICT },
	{ "run without samples", "0001/samples.zst: is missing",
	  { DIR_(ID "/"), DIR_(ID "/0001/"), REG(ID "/0001/run.json", good_run),
	    REG(ID "/0001/console.log", ""), REG(ID "/runset.json", good_head) },
	  EXIT_NO_VERDICT },
	{ "samples that are none", "0001/samples.zst: damaged",
	  { DIR_(ID "/"), DIR_(ID "/0001/"), REG(ID "/0001/run.json", good_run),
	    REG(ID "/0001/console.log", ""), REG(ID "/0001/samples.zst", "no zstd at all"),
	    REG(ID "/runset.json", good_head) }, EXIT_NO_VERDICT },
	{ "wrong checksum", "runset.json: damaged: it is not what the file checksums says",
	  { DIR_(ID "/"), REG(ID "/runset.json", good_head),
	    REG(ID "/checksums", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
				 "  runset.json\n") }, EXIT_NO_VERDICT },
	{ "checksums that are none", "checksums: damaged",
	  { DIR_(ID "/"), REG(ID "/runset.json", good_head), REG(ID "/checksums", "x\n") },
	  EXIT_NO_VERDICT },
	{ "checksums of nothing", "checksums: damaged: no line for runset.json",
	  { DIR_(ID "/"), REG(ID "/runset.json", good_head), REG(ID "/checksums", "# x\n") },
	  EXIT_NO_VERDICT },
};

enum packing { PACK_ZSTD, PACK_TWICE, PACK_PLAIN, PACK_GZIP, PACK_CPIO };

static struct archive *begin(const char *path, enum packing how)
{
	struct archive *a = archive_write_new();

	if (how == PACK_CPIO)
		archive_write_set_format_cpio_newc(a);
	else
		archive_write_set_format_pax_restricted(a);
	if (how == PACK_GZIP)
		archive_write_add_filter_gzip(a);
	else if (how != PACK_PLAIN)
		archive_write_add_filter_zstd(a);
	if (how == PACK_TWICE)
		archive_write_add_filter_zstd(a);
	assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
	return a;
}

static void end(struct archive *a)
{
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
}

static void put(struct archive *a, const struct member *m, size_t size)
{
	struct archive_entry *e = archive_entry_new();

	archive_entry_set_pathname(e, m->name);
	archive_entry_set_perm(e, 0777);
	archive_entry_set_mtime(e, 1, 0);
	archive_entry_set_filetype(e, m->type == HARD_LINK ? AE_IFREG : m->type);
	if (m->type == AE_IFLNK)
		archive_entry_set_symlink(e, m->data);
	if (m->type == HARD_LINK)
		archive_entry_set_hardlink(e, m->data);
	archive_entry_set_size(e, m->type == AE_IFREG ? (int64_t)size : 0);
	assert_true(archive_write_header(a, e) >= ARCHIVE_WARN);
	if (m->type == AE_IFREG && m->data)
		assert_int_equal(archive_write_data(a, m->data, size), size);
	archive_entry_free(e);
}

static void pack(const char *path, enum packing how, const struct member *m, size_t n)
{
	struct archive *a = begin(path, how);

	for (; n && m->name; n--, m++)
		put(a, m, m->data ? strlen(m->data) : 0);
	end(a);
}

static void expect_nothing(const char *root)
{
	cleanup_dir DIR *d = opendir(root);
	struct dirent *e;

	while ((e = readdir(d)))
		if (e->d_name[0] != '.' && !str_starts(e->d_name, "mmrig.db"))
			fail_msg("%s is in the store", e->d_name);
}

static void test_hostile(void **state)
{
	struct place *p = *state;
	cleanup_free char *root = path_join(p->root, "store"), *file = path_join(p->root, "a");
	struct store *s = open_store(root);

	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		const struct hostile *h = &hostile[i];

		print_message("%s\n", h->what);
		pack(file, PACK_ZSTD, h->member, ARRAY_SIZE(h->member));
		import_bad(s, file, h->status ? h->status : EXIT_USAGE, h->complaint);
		expect_nothing(root);
	}
	assert_int_equal(expect_sound(s), 0);
	store_close(s);
}

/* A set in an archive of another kind, though nothing else is wrong with it. */
static void test_other_archives(void **state)
{
	static const struct member good[] = { DIR_(ID "/"), REG(ID "/runset.json", good_head) };
	struct place *p = *state;
	cleanup_free char *root = path_join(p->root, "store"), *file = path_join(p->root, "a");
	struct store *s = open_store(root);
	cleanup_free char *noise = xmalloc(10000);

	pack(file, PACK_PLAIN, good, 2);
	import_bad(s, file, EXIT_USAGE, "no tar in one layer of zstd");
	pack(file, PACK_TWICE, good, 2);
	import_bad(s, file, EXIT_USAGE, "no tar in one layer of zstd");
	pack(file, PACK_GZIP, good, 2);
	import_bad(s, file, EXIT_USAGE, "damaged, or no archive of mmrig results export");
	pack(file, PACK_CPIO, good, 2);
	import_bad(s, file, EXIT_USAGE, "damaged, or no archive of mmrig results export");
	for (size_t i = 0; i < 10000; i++)
		noise[i] = (char)(i * i >> 3);
	assert_int_equal(file_write_atomic(file, noise, 10000, 0644, NULL), 0);
	import_bad(s, file, EXIT_USAGE, "damaged, or no archive of mmrig results export");
	assert_int_equal(file_write_atomic(file, "", 0, 0644, NULL), 0);
	import_bad(s, file, EXIT_USAGE, "");
	import_bad(s, p->root, EXIT_USAGE, "damaged, or no archive of mmrig results export");
	expect_nothing(root);
	pack(file, PACK_ZSTD, good, 2); /* a set without runs is one */
	free(import_good(s, file).id);
	store_close(s);
}

static void expect_too_large(struct store *s, const char *file, const char *name, size_t size)
{
	cleanup_free char *zeros = xcalloc(1, size);
	const struct member folders[] = { DIR_(ID "/"), DIR_(ID "/0001/"), DIR_(ID "/kernels/"),
					  DIR_(ID "/kernels/k/") };
	const struct member big = { AE_IFREG, name, zeros };
	struct archive *a = begin(file, PACK_ZSTD);

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		put(a, &folders[i], 0);
	put(a, &big, size);
	end(a);
	import_bad(s, file, EXIT_USAGE, "is larger than such a file can be");
}

static void test_bounds(void **state)
{
	struct place *p = *state;
	cleanup_free char *root = path_join(p->root, "store"), *file = path_join(p->root, "a");
	struct store *s = open_store(root);

	expect_too_large(s, file, ID "/runset.json", (64U << 20) + 1);
	expect_too_large(s, file, ID "/0001/run.json", (64U << 20) + 1);
	expect_too_large(s, file, ID "/0001/console.log", (64U << 20) + 1);
	expect_too_large(s, file, ID "/0001/samples.zst", (128U << 20) + 1);
	expect_too_large(s, file, ID "/checksums", (1U << 20) + 1);
	expect_too_large(s, file, ID "/kernels/k/x.patch", (64U << 20) + 1);
	expect_nothing(root);
	store_close(s);
}

static char *real_archive(struct place *p, size_t *len)
{
	cleanup_free char *dir = path_join(p->root, "from/" ID), *from = path_join(p->root, "from");
	cleanup_free char *file = path_join(p->root, "real");
	struct store *s;
	char *data;

	fixture_copy("results/testdata/runset-7.3", dir);
	s = open_store(from);
	free(export_good(s, ID, file).id);
	store_close(s);
	data = file_read(file, 0, len, NULL);
	assert_non_null(data);
	return data;
}

static void test_cut_off(void **state)
{
	struct place *p = *state;
	cleanup_free char *root = path_join(p->root, "store"), *file = path_join(p->root, "a");
	struct store *s = open_store(root);
	size_t len;
	cleanup_free char *data = real_archive(p, &len);

	for (size_t i = 0; i <= 64; i++) {
		size_t at = i == 64 ? len - 1 : len * i / 64;

		assert_int_equal(file_write_atomic(file, data, at, 0644, NULL), 0);
		import_bad(s, file, EXIT_USAGE, "");
	}
	expect_nothing(root);
	assert_int_equal(file_write_atomic(file, data, len, 0644, NULL), 0);
	free(import_good(s, file).id);
	assert_int_equal(expect_sound(s), 3);
	store_close(s);
}

/* One wrong byte: refused, or where it says nothing (padding), the same set as ever. */
static void test_flipped(void **state)
{
	struct place *p = *state;
	cleanup_free char *root = path_join(p->root, "store"), *file = path_join(p->root, "a");
	cleanup_free char *good = path_join(p->root, "real");
	struct store *s = open_store(root);
	size_t len, refused = 0;
	cleanup_free char *data = real_archive(p, &len);

	free(import_good(s, good).id);
	for (size_t i = 0; i < 80; i++) {
		size_t at = len * i / 80;
		cleanup_error struct error err = ERROR_INIT;
		struct store_moved moved;

		data[at] ^= (char)(1 << i % 8);
		assert_int_equal(file_write_atomic(file, data, len, 0644, NULL), 0);
		data[at] ^= (char)(1 << i % 8);
		if (import_file(s, file, &moved, &err) < 0) {
			refused++;
			continue;
		}
		assert_true(moved.already || strcmp(moved.id, ID) != 0);
		free(moved.id);
	}
	assert_true(refused > 50);
	assert_int_equal(count_tmp(root), 0);
	assert_int_equal(expect_sound(s), 3);
	store_close(s);
}

static int import_child(struct place *p)
{
	cleanup_free char *root = path_join(p->root, "store"), *file = path_join(p->root, "real");
	struct store_moved moved;
	struct store *s;

	if (store_open(root, true, &s, NULL) < 0)
		return 1;
	return import_file(s, file, &moved, NULL) < 0 ? 2 : 0;
}

/* Whenever it is killed, the set is there whole or not at all. */
static void test_killed(void **state)
{
	struct place *p = *state;
	cleanup_free char *root = path_join(p->root, "store"), *dir = path_join(root, ID);
	size_t len, missed = 0;

	free(real_archive(p, &len));
	srand((unsigned int)getpid());
	for (int round = 0; round < 20; round++) {
		pid_t pid = fork();
		struct store *s;
		size_t runs;

		assert_true(pid >= 0);
		if (pid == 0)
			_exit(import_child(p));
		nanosleep(&(struct timespec){ 0, 1000000 + rand() % 80000000 }, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		s = open_store(root);
		runs = expect_sound(s);
		assert_true(runs == 0 || runs == 3);
		missed += runs == 0;
		assert_int_equal(count_tmp(root), 0);
		store_close(s);
		assert_int_equal(dir_remove(dir, NULL), 0);
	}
	print_message("%zu of 20 were killed before the end\n", missed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_hostile), STORE_TEST(test_other_archives), STORE_TEST(test_bounds),
		STORE_TEST(test_cut_off), STORE_TEST(test_flipped),	   STORE_TEST(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
