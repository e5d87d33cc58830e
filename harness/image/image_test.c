// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

#include "harness/image/image.h"
#include "harness/image/modules.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define RELEASE "9.9.9-test"

static char *top, *folder; /* of the whole test; lib/modules/RELEASE below it */

static void write_file(const char *path, const void *data, size_t len)
{
	assert_int_equal(file_write_atomic(path, data, len, 0644, NULL), 0);
}

static char *below(const char *name)
{
	return path_join(top, name);
}

static void run(const char *const *argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], (char **)(uintptr_t)argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void compress_to(const char *path, const void *data, size_t len, const char *filter)
{
	struct archive *a = archive_write_new();
	struct archive_entry *e = archive_entry_new();

	assert_int_equal(archive_write_add_filter_by_name(a, filter), ARCHIVE_OK);
	assert_int_equal(archive_write_set_format_raw(a), ARCHIVE_OK);
	assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
	archive_entry_set_pathname(e, "data");
	archive_entry_set_filetype(e, AE_IFREG);
	assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
	assert_int_equal(archive_write_data(a, data, len), len);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_entry_free(e);
	archive_write_free(a);
}

/*
 * A relocatable object that depmod takes for a module: it exports NAME_fn and needs the functions
 * of the modules named in `needs`. Kept as below("NAME.o"); in the tree as NAME.ko[suffix].
 */
static void make_module(const char *name, const char *needs, const char *suffix, const char *filter)
{
	cleanup_free char *source = str_printf("%s/%s.s", top, name);
	cleanup_free char *object = str_printf("%s/%s.o", top, name);
	cleanup_free char *path = str_printf("%s/kernel/%s.ko%s", folder, name, suffix);
	cleanup_free char *data = NULL, *words = xstrdup(needs);
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	char *rest;
	size_t len;

	strbuf_addf(&sb,
		    ".section .modinfo,\"a\"\n.asciz \"name=%s\"\n"
		    ".section __ksymtab_strings,\"a\"\n.asciz \"%s_fn\"\n.data\n",
		    name, name);
	for (char *p = strtok_r(words, " ", &rest); p; p = strtok_r(NULL, " ", &rest))
		strbuf_addf(&sb, ".quad \"%s_fn\"\n", p);
	write_file(source, sb.data, sb.len);
	run((const char *const[]){ "cc", "-c", "-o", object, source, NULL });
	data = file_read(object, 0, &len, NULL);
	assert_non_null(data);
	if (filter)
		compress_to(path, data, len, filter);
	else
		write_file(path, data, len);
}

static void depmod(void)
{
	setenv("PATH", "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin", 1);
	run((const char *const[]){ "depmod", "-b", top, RELEASE, NULL });
}

static int make_tree(void **state)
{
	cleanup_free char *kernel = NULL, *builtin = NULL, *order = NULL, *agent = NULL,
			  *info = NULL;
	const char *tmp = getenv("TMPDIR");

	top = str_printf("%s/mmrig image,test XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(top));
	folder = str_printf("%s/lib/modules/%s", top, RELEASE);
	kernel = path_join(folder, "kernel");
	assert_int_equal(dir_make(kernel, 0755, NULL), 0);
	builtin = path_join(folder, "modules.builtin");
	write_file(builtin, "kernel/drivers/virtio-core.ko\nkernel/mm/late.ko\n", 48);
	info = path_join(folder, "modules.builtin.modinfo");
	write_file(info, "", 0);
	order = path_join(folder, "modules.order");
	write_file(order, "", 0);
	make_module("leaf", "", ".xz", "xz");
	make_module("mid-dle", "leaf", ".zst", "zstd");
	make_module("top1", "mid-dle leaf", "", NULL);
	make_module("alone", "", "", NULL);
	agent = below("agent");
	write_file(agent, "\177ELF agent", 10);
	setenv("XDG_CACHE_HOME", top, 1);
	return 0;
}

static int remove_tree(void **state)
{
	assert_int_equal(dir_remove(top, NULL), 0);
	free(top);
	free(folder);
	return 0;
}

/* What the archive must hold, in this order; data NULL: whatever below("NAME.o") holds. */
struct expected {
	const char *name;
	mode_t mode;
	unsigned int major, minor;
	const char *content; /* literal, or "@NAME" for the bytes of NAME.o */
};

static void check_content(struct archive *a, struct archive_entry *entry, const char *content)
{
	cleanup_free char *want = NULL, *got = NULL;
	size_t len;

	if (content[0] == '@') {
		cleanup_free char *path = str_printf("%s/%s.o", top, content + 1);

		want = file_read(path, 0, &len, NULL);
	} else {
		want = xstrdup(content);
		len = strlen(content);
	}
	assert_int_equal(archive_entry_size(entry), len);
	got = xmalloc(len + 1);
	assert_int_equal(archive_read_data(a, got, len), len);
	assert_memory_equal(got, want, len);
}

static void check_archive(const char *path, const struct expected *x, size_t n)
{
	struct archive *a = archive_read_new();
	struct archive_entry *e;

	archive_read_support_format_cpio(a);
	assert_int_equal(archive_read_open_filename(a, path, 10240), ARCHIVE_OK);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(archive_read_next_header(a, &e), ARCHIVE_OK);
		assert_string_equal(archive_entry_pathname(e), x[i].name);
		assert_int_equal(archive_entry_mode(e), x[i].mode);
		assert_int_equal(archive_entry_mtime(e), 0);
		assert_int_equal(archive_entry_uid(e), 0);
		assert_int_equal(archive_entry_ino64(e), i + 1);
		if (S_ISCHR(x[i].mode)) {
			assert_int_equal(archive_entry_rdevmajor(e), x[i].major);
			assert_int_equal(archive_entry_rdevminor(e), x[i].minor);
		}
		if (x[i].content)
			check_content(a, e, x[i].content);
	}
	assert_int_equal(archive_read_next_header(a, &e), ARCHIVE_EOF);
	archive_read_free(a);
}

static const struct expected base[] = {
	{ "init", S_IFREG | 0755, 0, 0, "\177ELF agent" },
	{ "dev", S_IFDIR | 0755, 0, 0, NULL },
	{ "proc", S_IFDIR | 0755, 0, 0, NULL },
	{ "sys", S_IFDIR | 0755, 0, 0, NULL },
	{ "tmp", S_IFDIR | 0755, 0, 0, NULL },
	{ "modules", S_IFDIR | 0755, 0, 0, NULL },
	{ "dev/console", S_IFCHR | 0600, 5, 1, NULL },
	{ "dev/null", S_IFCHR | 0666, 1, 3, NULL },
	{ "dev/kmsg", S_IFCHR | 0600, 1, 11, NULL },
	{ "modules/00-leaf.ko", S_IFREG | 0400, 0, 0, "@leaf" },
	{ "modules/01-mid_dle.ko", S_IFREG | 0400, 0, 0, "@mid-dle" },
	{ "modules/02-top1.ko", S_IFREG | 0400, 0, 0, "@top1" },
	{ "modules/03-alone.ko", S_IFREG | 0400, 0, 0, "@alone" },
};
#define BASE_WITHOUT_MODULES (ARRAY_SIZE(base) - 4)

static void missing_free(char **missing)
{
	for (char **m = missing; *m; m++)
		free(*m);
	free(missing);
}

/* The first test: no index is there yet. */
static void without_modules_dep_depmod_is_named(void **state)
{
	struct kernel k = { .modules = folder };
	cleanup_free char *agent = below("agent"), *out = below("early.cpio"), *want = NULL;
	cleanup_error struct error err = ERROR_INIT;
	char **missing;

	assert_int_equal(
		image_build(&k, agent, (const char *const[]){ "leaf", NULL }, out, NULL, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	want = str_printf("%s: has no modules.dep index; run: depmod -b '%s' %s", folder, top,
			  RELEASE);
	assert_string_equal(err.text, want);
	/* What is built in needs no index. */
	assert_int_equal(image_build(&k, agent,
				     (const char *const[]){ "virtio_core", "late", NULL }, out,
				     &missing, NULL),
			 0);
	assert_null(missing[0]);
	missing_free(missing);
	check_archive(out, base, BASE_WITHOUT_MODULES);
	depmod();
}

static void archive_holds_modules_in_load_order(void **state)
{
	static const char *const want[] = { "top1",  "virtio_core", "nosuch", "mid_dle",
					    "alone", "other-one",   NULL };
	struct kernel k = { .modules = folder };
	cleanup_free char *agent = below("agent"), *out = below("a.cpio");
	cleanup_error struct error err = ERROR_INIT;
	char **missing;

	image_build(&k, agent, want, out, &missing, &err);
	assert_null(err.text);
	check_archive(out, base, ARRAY_SIZE(base));
	assert_string_equal(missing[0], "nosuch");
	assert_string_equal(missing[1], "other-one");
	assert_null(missing[2]);
	missing_free(missing);
}

static void same_input_gives_same_bytes(void **state)
{
	static const char *const want[] = { "top1", NULL };
	struct kernel k = { .modules = folder };
	cleanup_free char *agent = below("agent"), *a = below("1.cpio"), *b = below("2.cpio");
	cleanup_free char *da = NULL, *db = NULL;
	size_t la, lb;

	assert_int_equal(image_build(&k, agent, want, a, NULL, NULL), 0);
	sleep(1); /* a time that slipped in would show */
	assert_int_equal(image_build(&k, agent, want, b, NULL, NULL), 0);
	da = file_read(a, 0, &la, NULL);
	db = file_read(b, 0, &lb, NULL);
	assert_int_equal(la, lb);
	assert_memory_equal(da, db, la);
	assert_int_equal(la % 512, 0);
}

static void kernel_without_modules_folder_lacks_nothing(void **state)
{
	struct kernel k = { 0 };
	cleanup_free char *agent = below("agent"), *out = below("n.cpio");
	char **missing;

	assert_int_equal(image_build(&k, agent, (const char *const[]){ "nosuch", NULL }, out,
				     &missing, NULL),
			 0);
	assert_null(missing[0]);
	missing_free(missing);
	check_archive(out, base, BASE_WITHOUT_MODULES);
}

/* Cuts the file to `keep` bytes; 0: flips bits in its middle. */
static void damage(const char *name, size_t keep)
{
	cleanup_free char *path = str_printf("%s/kernel/%s", folder, name), *data = NULL;
	size_t len;

	data = file_read(path, 0, &len, NULL);
	assert_non_null(data);
	data[len / 2] ^= 0x55;
	write_file(path, data, keep ? keep : len);
}

static void expect_damage(const char *module, const char *file)
{
	struct kernel k = { .modules = folder };
	cleanup_free char *agent = below("agent"), *out = below("bad.cpio");
	cleanup_error struct error err = ERROR_INIT;
	char **missing = NULL;

	assert_int_equal(image_build(&k, agent, (const char *const[]){ module, NULL }, out,
				     &missing, &err),
			 -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_non_null(strstr(err.text, file));
	assert_true(strstr(err.text, "damaged") || strstr(err.text, "no ELF file"));
	assert_non_null(strstr(err.text, "install the kernel's modules again"));
	assert_false(file_exists(out));
	assert_null(missing);
}

static void damaged_modules_are_named(void **state)
{
	damage("leaf.ko.xz", 100);
	expect_damage("leaf", "kernel/leaf.ko.xz");
	make_module("leaf", "", ".xz", "xz");
	damage("leaf.ko.xz", 0);
	expect_damage("leaf", "kernel/leaf.ko.xz");
	make_module("leaf", "", ".xz", "xz");
	damage("mid-dle.ko.zst", 60);
	expect_damage("mid-dle", "kernel/mid-dle.ko.zst");
	make_module("mid-dle", "leaf", ".zst", "zstd");
	damage("alone.ko", 3);
	expect_damage("alone", "kernel/alone.ko");
	make_module("alone", "", "", NULL);
}

/* Read directly: depmod of Debian is built without zlib and does not index such files. */
static void gzip_is_read_too(void **state)
{
	cleanup_free char *path = path_join(folder, "kernel/packed.ko.gz"),
			  *plain = below("packed.o");
	cleanup_free char *got = NULL, *want = NULL;
	size_t got_len, want_len;

	make_module("packed", "", ".gz", "gzip");
	got = module_read(path, &got_len, NULL);
	want = file_read(plain, 0, &want_len, NULL);
	assert_non_null(got);
	assert_int_equal(got_len, want_len);
	assert_memory_equal(got, want, want_len);
	damage("packed.ko.gz", 90);
	assert_null(module_read(path, &got_len, NULL));
}

static void empty_and_text_files_are_no_modules(void **state)
{
	cleanup_free char *path = path_join(folder, "kernel/leaf.ko.xz");

	write_file(path, "", 0);
	expect_damage("leaf", "kernel/leaf.ko.xz");
	write_file(path, "<html>404</html>", 16);
	expect_damage("leaf", "kernel/leaf.ko.xz");
	make_module("leaf", "", ".xz", "xz");
}

static void job_follows_as_second_archive(void **state)
{
	struct kernel k = { 0 };
	cleanup_free char *agent = below("agent"), *b = below("base.cpio"),
			  *out = below("job.cpio");
	cleanup_free char *base_data = NULL, *data = NULL, *tail = below("tail.cpio");
	static const struct expected job[] = { { "job", S_IFREG | 0400, 0, 0,
						 "mmrig-job version=1\n" } };
	size_t base_len, len;

	assert_int_equal(image_build(&k, agent, (const char *const[]){ NULL }, b, NULL, NULL), 0);
	assert_int_equal(image_with_job(b, "mmrig-job version=1\n", out, NULL), 0);
	base_data = file_read(b, 0, &base_len, NULL);
	data = file_read(out, 0, &len, NULL);
	assert_true(len > base_len);
	assert_memory_equal(data, base_data, base_len);
	write_file(tail, data + base_len, len - base_len);
	check_archive(tail, job, 1);
}

static void cache_hits_until_the_content_changes(void **state)
{
	static const char *const want[] = { "leaf", "nosuch", NULL };
	char hash_a[] = "sha256:aa", hash_b[] = "sha256:bb";
	struct kernel k = { .modules = folder, .image_hash = hash_a };
	cleanup_free char *agent = below("agent"), *old = NULL, *fresh = NULL;
	cleanup_free char *p1 = NULL, *p2 = NULL, *p3 = NULL, *p4 = NULL;
	struct timespec long_ago[2] = { { time(NULL) - 31 * 86400, 0 },
					{ time(NULL) - 31 * 86400, 0 } };
	struct timespec recent[2] = { { time(NULL) - 29 * 86400, 0 },
				      { time(NULL) - 29 * 86400, 0 } };
	struct stat a, b;
	char **missing;

	p1 = image_cached(&k, agent, want, &missing, NULL);
	assert_non_null(p1);
	assert_string_equal(missing[0], "nosuch");
	missing_free(missing);
	assert_int_equal(stat(p1, &a), 0);
	utimensat(AT_FDCWD, p1, long_ago, 0);
	p2 = image_cached(&k, agent, want, &missing, NULL);
	assert_string_equal(p1, p2);
	assert_string_equal(missing[0], "nosuch");
	missing_free(missing);
	assert_int_equal(stat(p2, &b), 0);
	assert_int_equal(a.st_ino, b.st_ino);	    /* not built again ... */
	assert_true(b.st_mtime >= time(NULL) - 60); /* ... but marked as used */

	old = below("mmrig/images/0123.cpio");
	fresh = below("mmrig/images/4567.cpio");
	write_file(old, "x", 1);
	write_file(fresh, "x", 1);
	utimensat(AT_FDCWD, old, long_ago, 0);
	utimensat(AT_FDCWD, fresh, recent, 0);
	k.image_hash = hash_b;
	p3 = image_cached(&k, agent, want, NULL, NULL);
	assert_string_not_equal(p1, p3);
	assert_false(file_exists(old));
	assert_true(file_exists(fresh));
	assert_true(file_exists(p1));

	write_file(agent, "\177ELF Agent", 10);
	p4 = image_cached(&k, agent, want, NULL, NULL);
	assert_string_not_equal(p3, p4);
	write_file(agent, "\177ELF agent", 10);
}

static void lost_agent_says_make(void **state)
{
	struct kernel k = { 0 };
	cleanup_error struct error err = ERROR_INIT;

	assert_null(
		image_cached(&k, "/nonexistent/agent", (const char *const[]){ NULL }, NULL, &err));
	assert_non_null(strstr(err.text, "/nonexistent/agent"));
	assert_non_null(strstr(err.text, "run make"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_modules_dep_depmod_is_named),
		cmocka_unit_test(archive_holds_modules_in_load_order),
		cmocka_unit_test(same_input_gives_same_bytes),
		cmocka_unit_test(kernel_without_modules_folder_lacks_nothing),
		cmocka_unit_test(damaged_modules_are_named),
		cmocka_unit_test(gzip_is_read_too),
		cmocka_unit_test(empty_and_text_files_are_no_modules),
		cmocka_unit_test(job_follows_as_second_archive),
		cmocka_unit_test(cache_hits_until_the_content_changes),
		cmocka_unit_test(lost_agent_says_make),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
