// SPDX-License-Identifier: GPL-2.0-only
/* Records of builds, and two kernels side by side. git is stood in for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/build/build_impl.h"
#include "harness/kernel/test_image.h"
#include "harness/kernel/tree.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static char dir[64];
static bool source_gone;

char *source_diff(const char *id, const char *from, const char *to, bool stat, struct error *err)
{
	assert_string_equal(id, "debian-7.3.4-1");
	if (source_gone) {
		error_set(err, EXIT_USAGE, "%s: no such source", id);
		return NULL;
	}
	return stat ? str_printf(" mm/compaction.c | 3 ++-\n") : str_printf("diff %s %s\n", from, to);
}

static int set_up(void **state)
{
	source_gone = false;
	strcpy(dir, "/tmp/diff-test-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	return dir_remove(dir, NULL);
}

static void put(const char *folder, const char *name, const void *data, size_t len)
{
	cleanup_free char *path = path_join(folder, name);

	assert_int_equal(dir_make(folder, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(path, data, len, 0644, NULL), 0);
}

/* A finished folder of the cache. */
static void put_kernel(const char *name, const char *config, struct kernel *k)
{
	cleanup_free char *folder = path_join(dir, name);
	uint8_t image[TEST_BZIMAGE_BYTES];

	test_bzimage(image, TEST_BANNER);
	put(folder, "vmlinuz", image, sizeof(image));
	put(folder, "config", config, strlen(config));
	*k = (struct kernel){ .name = xstrdup(name), .provenance = xstrdup("somewhere") };
	assert_int_equal(tree_finish(folder, k, NULL), 0);
}

static char *none[] = { NULL };

static struct build_record record(const char *object)
{
	return (struct build_record){ .key = (char *)"sha256:1",
				      .source_id = (char *)"debian-7.3.4-1",
				      .object = (char *)object,
				      .base = (char *)"aaaa",
				      .what = (char *)"linux-source-7.3 7.3.4-1",
				      .cc = (char *)"gcc (Debian 12.2.0-14) 12.2.0",
				      .options = (char *)"",
				      .patch = none,
				      .config = none };
}

static void save(const char *name, const struct build_record *r)
{
	cleanup_free char *folder = path_join(dir, name);

	assert_int_equal(build_record_save(folder, r, NULL), 0);
}

/* ---- records ---- */

static void test_record(void **state)
{
	char *patches[] = { (char *)"a \"b\", <c>.patch sha256:12", (char *)"z\xff\n.patch sha256:3", NULL };
	struct build_record r = record("bbbb"), got;
	cleanup_free char *folder = path_join(dir, "k"), *changes = path_join(folder, "changes.patch");
	struct kernel k;

	put_kernel("k", "CONFIG_A=y\n", &k);
	assert_int_equal(build_record_load(&k, &got, NULL), 0);
	r.patch = patches;
	r.commit = (char *)"0123";
	save("k", &r);
	put(folder, "changes.patch", "x", 1);
	assert_int_equal(build_record_load(&k, &got, NULL), 1);
	assert_string_equal(got.object, "bbbb");
	assert_string_equal(got.commit, "0123");
	assert_string_equal(got.options, "");
	assert_string_equal(got.patch[0], patches[0]);
	assert_string_equal(got.patch[1], "z?\n.patch sha256:3");
	assert_null(got.patch[2]);
	assert_string_equal(got.changes, changes);
	build_record_free(&got);
	kernel_free(&k);
}

/* A cache that was copied has other inodes: its records are written anew, and keep what was built. */
static void test_record_outlives_a_copy(void **state)
{
	cleanup_free char *folder = path_join(dir, "k"), *moved = path_join(dir, "k/vmlinuz.new");
	struct build_record r = record("bbbb"), got;
	struct kernel k, again = { 0 };
	size_t len;

	put_kernel("k", "CONFIG_A=y\n", &k);
	save("k", &r);
	cleanup_free char *image = file_read(k.image, 0, &len, NULL);

	put(folder, "vmlinuz.new", image, len);
	assert_int_equal(rename(moved, k.image), 0);
	assert_int_equal(tree_load(folder, &again, NULL), 0);
	assert_int_equal(build_record_load(&again, &got, NULL), 1);
	assert_string_equal(got.object, "bbbb");
	build_record_free(&got);
	kernel_free(&k);
	kernel_free(&again);
}

static void test_damaged_record(void **state)
{
	cleanup_free char *folder = path_join(dir, "k");
	cleanup_error struct error err = ERROR_INIT;
	struct build_record got;
	struct kernel k;

	put_kernel("k", "CONFIG_A=y\n", &k);
	put(folder, "kernel.json", "{\"build\": {\"key\": 7}}", 21);
	assert_int_equal(build_record_load(&k, &got, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_non_null(strstr(err.text, "\"build\" lacks \"key\""));
	put(folder, "kernel.json", "{\"build\"", 8);
	assert_int_equal(build_record_load(&k, &got, NULL), -1);
	put(folder, "kernel.json", "[1]", 3);
	assert_int_equal(build_record_load(&k, &got, NULL), 0);
	kernel_free(&k);
}

/* ---- differences ---- */

#define CONFIG_A "CONFIG_CC_VERSION_TEXT=\"x -> y: z\"\nCONFIG_KSM=y\nCONFIG_HZ=250\n"
#define CONFIG_B "CONFIG_CC_VERSION_TEXT=\"x -> y: z\"\nCONFIG_KSM=y\nCONFIG_HZ=1000\nCONFIG_KASAN=y\n"

static void test_patched(void **state)
{
	char *patches[] = { (char *)"x.patch sha256:12", NULL };
	struct build_record a = record("aaaa"), b = record("bbbb");
	cleanup_free char *text = NULL, *whole = NULL;
	struct kernel ka, kb;
	json_t *o, *row;

	b.patch = patches;
	b.options = (char *)"align";
	put_kernel("a", CONFIG_A, &ka);
	put_kernel("b", CONFIG_B, &kb);
	save("a", &a);
	save("b", &b);
	text = build_diff(&ka, &kb, false, NULL);
	assert_string_equal(text, "image: the same\n"
				  "patches: none -> x.patch sha256:12\noptions: none -> align\n"
				  "config:\n  HZ: 250 -> 1000\n  KASAN: - -> y\n"
				  "source:\n   mm/compaction.c | 3 ++-\n");
	whole = build_diff(&ka, &kb, true, NULL);
	assert_non_null(strstr(whole, "source:\ndiff aaaa bbbb\n"));
	o = build_diff_json(&ka, &kb, false, NULL);
	assert_true(json_is_false(json_object_get(o, "same")));
	assert_true(json_is_true(json_object_get(o, "same_image")));
	assert_string_equal(json_string_value(json_object_get(o, "b")), "b");
	assert_int_equal(json_array_size(json_object_get(o, "config")), 2);
	row = json_array_get(json_object_get(o, "config"), 1);
	assert_string_equal(json_string_value(json_object_get(row, "symbol")), "KASAN");
	assert_true(json_is_null(json_object_get(row, "a")));
	assert_string_equal(json_string_value(json_object_get(row, "b")), "y");
	json_decref(o);
	kernel_free(&ka);
	kernel_free(&kb);
}

static void test_same(void **state)
{
	struct build_record a = record("aaaa");
	cleanup_free char *text = NULL;
	struct kernel ka, kb;
	json_t *o;

	put_kernel("a", CONFIG_A, &ka);
	put_kernel("b", CONFIG_A, &kb);
	save("a", &a);
	save("b", &a);
	text = build_diff(&ka, &kb, false, NULL);
	assert_string_equal(text, "image: the same\nconfig: the same\nsource: the same\n");
	o = build_diff_json(&ka, &kb, false, NULL);
	assert_true(json_is_true(json_object_get(o, "same")));
	json_decref(o);
	kernel_free(&ka);
	kernel_free(&kb);
}

static void test_other_image(void **state)
{
	struct build_record a = record("aaaa");
	cleanup_free char *text = NULL, *unknown = NULL;
	struct kernel ka, kb;
	json_t *o;

	put_kernel("a", CONFIG_A, &ka);
	put_kernel("b", CONFIG_A, &kb);
	save("a", &a);
	save("b", &a);
	free(kb.image_hash);
	kb.image_hash = xstrdup("sha256:2");
	free(ka.image_hash);
	ka.image_hash = xstrdup("sha256:1");
	text = build_diff(&ka, &kb, false, NULL);
	assert_string_equal(text, "image: sha256:1 -> sha256:2\nconfig: the same\nsource: the same\n");
	o = build_diff_json(&ka, &kb, false, NULL);
	assert_true(json_is_false(json_object_get(o, "same")));
	assert_true(json_is_false(json_object_get(o, "same_image")));
	json_decref(o);
	/* Two that are not known are not the same. */
	free(STEAL(ka.image_hash));
	free(STEAL(kb.image_hash));
	unknown = build_diff(&ka, &kb, false, NULL);
	assert_string_equal(unknown, "config: the same\nsource: the same\n");
	kernel_free(&ka);
	kernel_free(&kb);
}

/* A packaged kernel has no source here; one whose source was removed neither. */
static void test_not_comparable(void **state)
{
	struct build_record a = record("aaaa"), b = record("bbbb");
	cleanup_free char *text = NULL, *gone = NULL, *other = NULL;
	cleanup_error struct error err = ERROR_INIT;
	struct kernel ka, kb;

	put_kernel("a", CONFIG_A, &ka);
	put_kernel("b", CONFIG_A, &kb);
	save("a", &a);
	text = build_diff(&ka, &kb, false, NULL);
	assert_string_equal(text, "image: the same\n"
				  "from: linux-source-7.3 7.3.4-1 -> somewhere\npatches: none -> -\n"
				  "compiler: gcc (Debian 12.2.0-14) 12.2.0 -> -\nconfig: the same\n"
				  "source: not compared: not both were built from source here\n");
	save("b", &b);
	source_gone = true;
	gone = build_diff(&ka, &kb, false, NULL);
	assert_non_null(strstr(gone, "source: not compared: the source is no longer in the cache\n"));
	assert_null(build_diff(&ka, &kb, true, &err));
	assert_non_null(strstr(err.text, "the sources cannot be compared: debian-7.3.4-1: no such source"));
	b.source_id = (char *)"tree-12";
	save("b", &b);
	other = build_diff(&ka, &kb, true, NULL);
	assert_non_null(strstr(other, "source: not compared: they are of two sources\n"));
	kernel_free(&ka);
	kernel_free(&kb);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_record),	 TEST(test_record_outlives_a_copy),
		TEST(test_damaged_record), TEST(test_patched),
		TEST(test_same),	 TEST(test_other_image),
		TEST(test_not_comparable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
