// SPDX-License-Identifier: GPL-2.0-only
/* The whole way with small files: packages, folders, names, the cache. Nothing is fetched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "harness/kernel/cache.h"
#include "harness/kernel/identify.h"
#include "harness/kernel/kernel.h"
#include "harness/kernel/test_image.h"
#include "harness/kernel/tree.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

#define CONFIG_TEXT                                                               \
	"#\n# Linux/x86 7.3.4 Kernel Configuration\n#\nCONFIG_X=y\nCONFIG_XY=m\n" \
	"CONFIG_S=\"a b\"\nCONFIG_N=17\n# CONFIG_OFF is not set\n"

struct place {
	char dir[64];
};

static int set_up(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/kernel-test-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	setenv("XDG_CACHE_HOME", p->dir, 1);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;

	dir_remove(p->dir, NULL);
	free(p);
	return 0;
}

static char *put(const char *dir, const char *name, const void *data, size_t len)
{
	char *path = path_join(dir, name);
	cleanup_free char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	assert_int_equal(dir_make(parent, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(path, data, len, 0644, NULL), 0);
	return path;
}

static char *put_image(const char *dir, const char *name, const char *banner)
{
	uint8_t image[TEST_BZIMAGE_BYTES];

	test_bzimage(image, banner);
	return put(dir, name, image, sizeof(image));
}

static void put_away(const char *dir, const char *name, const char *text)
{
	free(put(dir, name, text, strlen(text)));
}

/* ---- packages made here ---- */

struct member {
	const char *name;
	const void *data;
	size_t len;
};

static void add_entry(struct archive *a, const char *name, const void *data, size_t len)
{
	struct archive_entry *e = archive_entry_new();

	archive_entry_set_pathname(e, name);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_size(e, (int64_t)len);
	assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
	assert_int_equal(archive_write_data(a, data, len), len);
	archive_entry_free(e);
}

static char *put_deb(const char *dir, const char *name, const struct member *m, size_t n)
{
	static char tar[1 << 20];
	cleanup_free char *path = path_join(dir, name);
	struct archive *a = archive_write_new();
	size_t used = 0;

	archive_write_set_format_ustar(a);
	archive_write_add_filter_xz(a);
	archive_write_set_bytes_in_last_block(a, 1);
	assert_int_equal(archive_write_open_memory(a, tar, sizeof(tar), &used), ARCHIVE_OK);
	for (size_t i = 0; i < n; i++)
		add_entry(a, m[i].name, m[i].data, m[i].len);
	assert_int_equal(archive_write_free(a), ARCHIVE_OK);
	a = archive_write_new();
	archive_write_set_format_ar_bsd(a);
	assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
	add_entry(a, "debian-binary", "2.0\n", 4);
	add_entry(a, "control.tar", "", 0);
	add_entry(a, "data.tar.xz", tar, used);
	assert_int_equal(archive_write_free(a), ARCHIVE_OK);
	return STEAL(path);
}

static void expect_refusal(const char *path, const char *what)
{
	cleanup_error struct error err = ERROR_INIT;
	struct kernel k;

	assert_int_equal(kernel_resolve(path, &k, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	if (!strstr(err.text, what))
		fail_msg("\"%s\" does not say \"%s\"", err.text, what);
}

static void one_package_is_unpacked(void **state)
{
	struct place *p = *state;
	uint8_t image[TEST_BZIMAGE_BYTES];
	const struct member m[] = {
		{ "./boot/vmlinuz-" TEST_RELEASE, image, sizeof(image) },
		{ "./boot/config-" TEST_RELEASE, CONFIG_TEXT, sizeof(CONFIG_TEXT) - 1 },
		{ "./lib/modules/" TEST_RELEASE "/modules.order", "", 0 },
		{ "./lib/modules/" TEST_RELEASE "/modules.builtin", "kernel/a.ko\n", 12 },
		{ "./usr/share/doc/x", "no", 2 },
	};
	cleanup_free char *deb = NULL, *doc = NULL, *dep = NULL, *hash = NULL;
	cleanup_error struct error err = ERROR_INIT;
	struct kernel k;

	test_bzimage(image, TEST_BANNER);
	deb = put_deb(p->dir, "k.deb", m, ARRAY_SIZE(m));
	if (kernel_identify(deb, &k, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(k.release, TEST_RELEASE);
	hash = hash_bytes(image, sizeof(image));
	assert_string_equal(k.image_hash, hash);
	assert_non_null(k.config);
	assert_true(str_ends(k.modules, "/lib/modules/" TEST_RELEASE));
	dep = path_join(k.modules, "modules.dep");
	assert_true(file_exists(dep));
	doc = str_printf("%.*s/usr/share", (int)(strrchr(k.image, '/') - k.image), k.image);
	assert_false(file_exists(doc));
	kernel_free(&k);
}

static void split_packages_come_together(void **state)
{
	struct place *p = *state;
	uint8_t image[TEST_BZIMAGE_BYTES];
	const struct member empty[] = { { "./usr/share/x", "", 0 } };
	const struct member binary[] = {
		{ "./usr/lib/modules/" TEST_RELEASE "/vmlinuz", image, sizeof(image) },
	};
	const struct member base[] = {
		{ "./usr/lib/modules/" TEST_RELEASE "/config", CONFIG_TEXT,
		  sizeof(CONFIG_TEXT) - 1 },
		{ "./usr/lib/modules/" TEST_RELEASE "/modules.order", "", 0 },
	};
	cleanup_free char *meta = put_deb(p->dir, "linux-image-7.3.4-test_1_amd64.deb", empty, 1);
	cleanup_free char *b = NULL, *c = NULL, *value = NULL;
	struct kernel k;

	expect_refusal(meta, "holds no kernel image");
	test_bzimage(image, TEST_BANNER);
	b = put_deb(p->dir, "linux-binary-7.3.4-test_1_amd64.deb", binary, 1);
	c = put_deb(p->dir, "linux-base-7.3.4-test_1_amd64.deb", base, 2);
	assert_int_equal(kernel_identify(meta, &k, NULL), 0);
	assert_non_null(k.modules);
	value = kernel_config_value(&k, "X");
	assert_string_equal(value, "y");
	kernel_free(&k);
}

static void bad_packages_are_refused(void **state)
{
	struct place *p = *state;
	uint8_t image[TEST_BZIMAGE_BYTES];
	const struct member outside[] = { { "./lib/modules/../../../../evil", "x", 1 } };
	const struct member arm[] = { { "./boot/vmlinuz-1", "hello", 5 } };
	const struct member good[] = { { "./boot/vmlinuz-1", image, sizeof(image) } };
	const struct member two[] = {
		{ "./boot/vmlinuz-1", image, sizeof(image) },
		{ "./lib/modules/other/modules.order", "", 0 },
	};
	cleanup_free char *a = put_deb(p->dir, "a.deb", outside, 1);
	cleanup_free char *b = put_deb(p->dir, "b.deb", arm, 1), *c = NULL, *d = NULL,
			  *bytes = NULL;
	cleanup_free char *left = path_join(p->dir, "mmrig/unpacked");
	size_t len;

	expect_refusal(a, "leads out of the package");
	expect_refusal(b, "a text file");
	test_bzimage(image, TEST_BANNER);
	c = put_deb(p->dir, "c.deb", good, 1);
	bytes = file_read(c, 0, &len, NULL);
	for (size_t n = 100; n < len - 8; n += 7) {
		assert_int_equal(file_write_atomic(c, bytes, n, 0644, NULL), 0);
		expect_refusal(c, "");
	}
	d = put_deb(p->dir, "d.deb", two, 2);
	expect_refusal(d, "modules are for other");
	/* What was refused leaves nothing behind but the lock. */
	assert_int_equal(rmdir(left), -1);
	free(STEAL(bytes));
	bytes = path_join(left, ".lock");
	assert_int_equal(unlink(bytes), 0);
	assert_int_equal(rmdir(left), 0);
}

/* ---- folders and files ---- */

static void build_tree_is_found(void **state)
{
	struct place *p = *state;
	cleanup_free char *tree = path_join(p->dir, "a b,[c]");
	cleanup_free char *image = put_image(tree, "arch/x86/boot/bzImage", TEST_BANNER);
	cleanup_free char *real = realpath(image, NULL), *config = path_join(tree, ".config");
	cleanup_free char *s = NULL, *n = NULL, *m = NULL;
	struct kernel k;

	put_away(tree, ".config", CONFIG_TEXT);
	assert_int_equal(kernel_identify(tree, &k, NULL), 0);
	assert_string_equal(k.name, tree);
	assert_string_equal(k.image, real);
	assert_string_equal(k.config, config);
	assert_null(k.modules);
	s = kernel_config_value(&k, "CONFIG_S");
	n = kernel_config_value(&k, "N");
	m = kernel_config_value(&k, "XY");
	assert_string_equal(s, "a b");
	assert_string_equal(n, "17");
	assert_string_equal(m, "m");
	assert_null(kernel_config_value(&k, "OFF"));
	assert_null(kernel_config_value(&k, "S="));
	kernel_free(&k);
}

static void config_of_another_version_is_left(void **state)
{
	static const char *const others[] = {
		"# Linux/x86 7.3.3 Kernel Configuration\n",
		"# Linux/x86 7.3.41 Kernel Configuration\n",
		"# Linux/x86 7.3 Kernel Configuration\n",
		"# Linux/arm64 7.3.4 Kernel Configuration\n",
		"",
	};
	struct place *p = *state;
	cleanup_free char *image = put_image(p->dir, "t/bzImage", TEST_BANNER);
	struct kernel k;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		put_away(p->dir, "t/config", others[i]);
		assert_int_equal(kernel_identify(image, &k, NULL), 0);
		assert_null(k.config);
		kernel_free(&k);
	}
	put_away(p->dir, "t/config", CONFIG_TEXT);
	assert_int_equal(kernel_identify(image, &k, NULL), 0);
	assert_non_null(k.config);
	kernel_free(&k);
}

static void folders_without_one_kernel_say_so(void **state)
{
	struct place *p = *state;
	cleanup_free char *dir = path_join(p->dir, "d");

	put_away(dir, "Kbuild", "");
	expect_refusal(dir, "not built yet");
	free(put_image(dir, "boot/vmlinuz-1", TEST_BANNER));
	free(put_image(dir, "boot/vmlinuz-2", TEST_BANNER));
	expect_refusal(dir, "holds 2 kernels");
}

static void set_age(const char *path, long seconds)
{
	struct timespec t[2];

	clock_gettime(CLOCK_REALTIME, &t[0]);
	t[0].tv_sec -= seconds;
	t[1] = t[0];
	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

static void changed_file_is_looked_at_again(void **state)
{
	struct place *p = *state;
	cleanup_free char *image = put_image(p->dir, "bzImage", TEST_BANNER), *first = NULL;
	struct kernel k;

	set_age(image, 100);
	assert_int_equal(kernel_identify(image, &k, NULL), 0);
	first = xstrdup(k.image_hash);
	kernel_free(&k);
	assert_int_equal(kernel_identify(image, &k, NULL), 0);
	assert_string_equal(k.image_hash, first);
	assert_string_equal(k.release, TEST_RELEASE);
	kernel_free(&k);
	free(put_image(p->dir, "bzImage", "7.4.0-x (y) z"));
	set_age(image, 100);
	assert_int_equal(kernel_identify(image, &k, NULL), 0);
	assert_string_equal(k.release, "7.4.0-x");
	assert_string_not_equal(k.image_hash, first);
	kernel_free(&k);
}

/* ---- the cache ---- */

static void cache_kernel(const char *name, const char *banner, const char *version)
{
	cleanup_free char *root = cache_dir("kernels", NULL), *dir = path_join(root, name);
	struct kernel k = { .name = xstrdup(name),
			    .flavour = xstrdup("cloud"),
			    .package_version = xstrdup(version),
			    .provenance = xstrdup("debian") };

	free(put_image(dir, "vmlinuz", banner));
	put_away(dir, "config", CONFIG_TEXT);
	assert_int_equal(tree_finish(dir, &k, NULL), 0);
	kernel_free(&k);
}

static void newest_cached_match_is_taken(void **state)
{
	static const struct {
		const char *spec, *name;
	} cases[] = {
		{ "debian:7.3", "c" },
		{ "debian:7.3~rc7-1~exp1", "a" },
		{ "debian:7.3.4-1~bpo13+1", "b" },
		{ "debian:7.30", "d" },
	};

	cache_kernel("a", TEST_BANNER, "7.3~rc7-1~exp1");
	cache_kernel("b", TEST_BANNER, "7.3.4-1~bpo13+1");
	cache_kernel("c", TEST_BANNER, "7.3.10-1");
	cache_kernel("d", TEST_BANNER, "7.30-1");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kernel k;

		assert_int_equal(kernel_resolve(cases[i].spec, &k, NULL), 0);
		assert_string_equal(k.name, cases[i].name);
		kernel_free(&k);
	}
}

static void bad_specs_are_refused(void **state)
{
	expect_refusal("debian:", "no version");
	expect_refusal("debian:7.3 ; x", "no version");
	expect_refusal("debian:trixie", "no version");
	expect_refusal("debian:7.3/cloudy", "no flavour");
	expect_refusal("", "neither a file nor");
}

static void names_list_and_removal(void **state)
{
	cleanup_free char *root = cache_dir("kernels", NULL);
	cleanup_error struct error err = ERROR_INIT;
	struct kernel *list, k;
	char **problems;
	size_t n;

	cache_kernel("stable", TEST_BANNER, "7.3.4-1");
	cache_kernel("another", TEST_BANNER, "7.3.5-1");
	free(put_image(root, "half/vmlinuz", TEST_BANNER));
	free(put_image(root, ".new-1/tree/vmlinuz", TEST_BANNER));
	assert_int_equal(kernel_list(&list, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(list[0].name, "another");
	assert_string_equal(list[1].name, "stable");
	kernel_list_free(list, n);
	problems = kernel_list_problems();
	assert_non_null(strstr(problems[0], "half"));
	assert_null(problems[1]);
	free(problems[0]);
	free(problems);
	assert_int_equal(kernel_resolve("stable", &k, NULL), 0);
	assert_string_equal(k.release, TEST_RELEASE);
	kernel_free(&k);
	expect_refusal("stabel", "did you mean stable");
	assert_int_equal(kernel_remove("stabel", &err), -1);
	assert_non_null(strstr(err.text, "did you mean stable"));
	assert_int_equal(kernel_remove("../kernels", &err), -1);
	assert_int_equal(kernel_remove(".", &err), -1);
	assert_int_equal(kernel_check_cached("stable", NULL), 0);
	assert_int_equal(kernel_check_cached("half", NULL), 0);
	assert_int_equal(kernel_remove("half", NULL), 0);
	assert_int_equal(kernel_remove("stable", NULL), 0);
	expect_refusal("stable", "neither a file nor");
}

static void changed_image_in_the_cache_is_an_error(void **state)
{
	cleanup_free char *root = cache_dir("kernels", NULL);
	struct kernel k;

	cache_kernel("x", TEST_BANNER, "7.3.4-1");
	/* The same bytes with another stamp, as after a copy, are fine. */
	free(put_image(root, "x/vmlinuz", TEST_BANNER));
	assert_int_equal(kernel_resolve("x", &k, NULL), 0);
	kernel_free(&k);
	free(put_image(root, "x/vmlinuz", TEST_BANNER "!"));
	expect_refusal("x", "changed since");
}

static void lock_sweeps_leftovers(void **state)
{
	cleanup_free char *root = cache_dir("kernels", NULL), *left = path_join(root, ".new-1");
	cleanup_close int lock = -1;

	cache_kernel("x", TEST_BANNER, "7.3.4-1");
	free(put_image(root, ".new-1/tree/vmlinuz", TEST_BANNER));
	lock = cache_lock(root, NULL, NULL, NULL);
	assert_true(lock >= 0);
	assert_false(file_exists(left));
	free(STEAL(left));
	left = path_join(root, "x/kernel.json");
	assert_true(file_exists(left));
}

static void names_are_checked(void **state)
{
	static const char *const bad[] = { "",	  ".",	 "..",	".x",	"-x",
					   "a/b", "a b", "a:b", "a\nb", "\303\244" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(cache_check_name(bad[i], NULL), -1);
	assert_int_equal(cache_check_name("7.3.4+deb13-cloud_a~1", NULL), 0);
}

static void hash_is_sha256(void **state)
{
	cleanup_free char *abc = hash_bytes("abc", 3); /* FIPS 180-2, appendix B.1 */

	assert_string_equal(
		abc, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_package_is_unpacked),
		TEST(split_packages_come_together),
		TEST(bad_packages_are_refused),
		TEST(build_tree_is_found),
		TEST(config_of_another_version_is_left),
		TEST(folders_without_one_kernel_say_so),
		TEST(changed_file_is_looked_at_again),
		TEST(newest_cached_match_is_taken),
		TEST(bad_specs_are_refused),
		TEST(names_list_and_removal),
		TEST(changed_image_in_the_cache_is_an_error),
		TEST(lock_sweeps_leftovers),
		cmocka_unit_test(names_are_checked),
		cmocka_unit_test(hash_is_sha256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
