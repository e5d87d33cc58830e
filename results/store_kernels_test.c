// SPDX-License-Identifier: GPL-2.0-only
/* What a run set keeps of its kernels, and which cells it has: on disk, and in another store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/run_json.h"
#include "results/store_archive_fixture.h"
#include "results/store_kernels.h"

/* Two kernels, of which the second was built; cell 2 (kernel 1, variant 0) is left out. */
static struct runset kept_set(const char *name)
{
	struct runset set = fixture_set();

	fixture_kernel(&set, name, "7.3.4");
	set.kernel[1].provenance =
		xstrdup("built of linux-source-7.3 7.3.4-1, patch resample.patch");
	run_kernel_keep(&set.kernel[1], "resample.patch", "diff\n", 5);
	run_kernel_keep(&set.kernel[1], "config", "CONFIG_X=y\n", 11);
	set.left_out = xcalloc(4, sizeof(*set.left_out));
	set.left_out[2] = true;
	return set;
}

static void begin(struct store *s, struct runset *set)
{
	cleanup_error struct error err = ERROR_INIT;

	if (store_begin_set(s, set, &err) < 0)
		fail_msg("%s", err.text);
}

static void expect_text(const struct place *p, const struct runset *set, const char *name,
			const char *want)
{
	cleanup_free char *path = in_set(p, set, name), *text = file_read(path, 0, NULL, NULL);

	assert_non_null(text);
	assert_string_equal(text, want);
}

static void expect_loaded(struct store *s, const char *id)
{
	cleanup_error struct error err = ERROR_INIT;
	struct runset set;

	if (store_load_set(s, id, &set, &err) < 0)
		fail_msg("%s", err.text);
	assert_null(set.kernel[0].folder);
	assert_int_equal(set.kernel[0].nkept, 0);
	assert_string_equal(set.kernel[1].folder, "7.3-resample");
	assert_int_equal(set.kernel[1].nkept, 2);
	assert_string_equal(set.kernel[1].kept[0].name, "resample.patch");
	assert_string_equal(set.kernel[1].kept[1].name, "config");
	assert_true(runset_has_cell(&set, 0, 0) && runset_has_cell(&set, 0, 1));
	assert_true(!runset_has_cell(&set, 1, 0) && runset_has_cell(&set, 1, 1));
	assert_int_equal(runset_cells(&set), 3);
	runset_free(&set);
}

static void test_kept(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = kept_set("7.3-resample");
	cleanup_free char *check = NULL;

	begin(s, &set);
	add_run(s, &set, "0001");
	expect_text(p, &set, "kernels/7.3-resample/resample.patch", "diff\n");
	expect_text(p, &set, "kernels/7.3-resample/config", "CONFIG_X=y\n");
	check = str_printf(
		"cd '%s/%s' && test $(wc -l <checksums) = 3 && sha256sum -c --quiet checksums",
		p->root, set.id);
	assert_int_equal(system(check), 0);
	store_close(s);

	s = open_store(p->root); /* the folder is none of a run */
	expect_loaded(s, set.id);
	assert_int_equal(expect_sound(s), 1);
	store_close(s);
	runset_free(&set);
}

/* run.json stands alone, and says it too. */
static void test_run_json(void **state)
{
	struct runset set = kept_set("7.3-resample");
	struct run *r = fixture_run(&set, 1, 1, VERDICT_OK);
	json_t *o, *kernel;

	store_name_kernels(&set);
	o = run_to_json(&set, r);
	kernel = json_object_get(o, "kernel");
	assert_string_equal(json_string_value(json_object_get(kernel, "folder")), "7.3-resample");
	assert_int_equal(json_array_size(json_object_get(kernel, "kept")), 2);
	json_decref(o);
	runset_free(&set);
}

static void test_damaged(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = kept_set("7.3-resample");
	cleanup_free char *patch = NULL, *config = NULL, *out = path_join(p->root, "out");
	cleanup_error struct error err = ERROR_INIT;
	struct store_moved moved;

	begin(s, &set);
	store_close(s); /* nobody writes it any more */
	s = open_store(p->root);
	patch = in_set(p, &set, "kernels/7.3-resample/resample.patch");
	config = in_set(p, &set, "kernels/7.3-resample/config");
	assert_int_equal(file_write_atomic(patch, "other\n", 6, 0644, NULL), 0);
	expect_fault(s, "resample.patch: damaged: it is not what the file checksums says");
	assert_int_equal(store_export(s, set.id, out, &moved, &err), -1);
	assert_non_null(strstr(err.text, "resample.patch: damaged"));
	assert_int_equal(file_write_atomic(patch, "diff\n", 5, 0644, NULL), 0);
	assert_int_equal(unlink(config), 0);
	expect_fault(s, "kernels/7.3-resample/config: is missing");
	store_close(s);
	runset_free(&set);
}

/* To another store and again: the same files; and the same archive from there. */
static void test_moved(void **state)
{
	struct place *p = *state;
	cleanup_free char *from = path_join(p->root, "from"), *to = path_join(p->root, "to");
	cleanup_free char *first = path_join(p->root, "1"), *second = path_join(p->root, "2");
	cleanup_free char *a = NULL, *b = NULL, *patch = NULL;
	struct runset set = kept_set("7.3-resample");
	struct store *s = open_store(from);
	struct store_moved moved;
	size_t n, m;

	begin(s, &set);
	add_run(s, &set, "0001");
	store_close(s);
	s = open_store(from);
	free(export_good(s, set.id, first).id);
	store_close(s);

	s = open_store(to);
	free(import_good(s, first).id);
	expect_loaded(s, set.id);
	assert_int_equal(expect_sound(s), 1);
	free(export_good(s, set.id, second).id);
	a = file_read(first, 0, &n, NULL);
	b = file_read(second, 0, &m, NULL);
	assert_int_equal(n, m);
	assert_memory_equal(a, b, n);
	moved = import_good(s, first);
	assert_true(moved.already);
	free(moved.id);
	/* One that keeps another patch is another set. */
	patch = str_printf("%s/%s/kernels/7.3-resample/resample.patch", to, set.id);
	assert_int_equal(file_write_atomic(patch, "other\n", 6, 0644, NULL), 0);
	import_bad(s, first, EXIT_USAGE, "is there already, and differs");
	store_close(s);
	runset_free(&set);
}

/* Whatever kernels and patches are called, their files stand in the set, each by itself. */
static void test_names(void **state)
{
	static const char *const kernel[] = { "../../evil", "a b/c",	   "a_b_c",
					      "",	    "7.3.4+deb13", "<script>\x1b[2J" };
	static const char *const folder[] = { "_._.._evil", "a_b_c",	   "a_b_c-2",
					      "unnamed",    "7.3.4_deb13", "_script___2J" };
	static const char *const file[] = { "x.patch", "x.patch", ".x,\n", "config" };
	static const char *const stored[] = { "x.patch", "x.patch-2", "_x__", "config" };
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = fixture_set();

	for (size_t i = 0; i < ARRAY_SIZE(kernel); i++) {
		fixture_kernel(&set, kernel[i], "7.3");
		for (size_t f = 0; f < ARRAY_SIZE(file); f++)
			run_kernel_keep(&set.kernel[i + 1], file[f], "x", 1);
	}
	begin(s, &set);
	for (size_t i = 0; i < ARRAY_SIZE(kernel); i++) {
		assert_string_equal(set.kernel[i + 1].folder, folder[i]);
		for (size_t f = 0; f < ARRAY_SIZE(file); f++) {
			cleanup_free char *name = str_printf("kernels/%s/%s", folder[i], stored[f]);

			assert_string_equal(set.kernel[i + 1].kept[f].name, stored[f]);
			expect_text(p, &set, name, "x");
		}
	}
	assert_int_equal(expect_sound(s), 0);
	store_close(s);
	runset_free(&set);
}

static void bad_head(const char *kernel, const char *more, const char *want)
{
	cleanup_free char *text =
		str_printf("{\"schema\": 1, \"id\": \"i\", \"scenario\": \"x\", \"kernels\": [%s],"
			   " \"variants\": [{\"label\": \"v\"}], \"runs\": 1%s}",
			   kernel, more);
	cleanup_error struct error err = ERROR_INIT;
	json_t *o = json_loads(text, 0, NULL);
	struct runset set;
	int ret;

	assert_non_null(o);
	ret = runset_from_json("head", o, &set, NULL, &err);
	if (ret == 0) {
		ret = store_check_kernels("head", &set, &err);
		runset_free(&set);
	}
	json_decref(o);
	assert_int_equal(ret, -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	if (!strstr(err.text, want))
		fail_msg("\"%s\" is not in: %s", want, err.text);
}

static void test_bad_heads(void **state)
{
	static const char names[] =
		"head: damaged: what is kept of kernel 1 has names that no file has";

	bad_head("{\"name\": \"k\", \"folder\": \"../..\", \"kept\": [\"x\"]}", "", names);
	bad_head("{\"name\": \"k\", \"folder\": \"a/b\", \"kept\": [\"x\"]}", "", names);
	bad_head("{\"name\": \"k\", \"folder\": \"a\", \"kept\": [\"../passwd\"]}", "", names);
	bad_head("{\"name\": \"k\", \"folder\": \"a\", \"kept\": [\"x\", \"x\"]}", "", names);
	bad_head("{\"name\": \"k\", \"kept\": [\"x\"]}", "", names);
	bad_head(
		"{\"name\": \"j\", \"folder\": \"a\", \"kept\": []}, {\"name\": \"k\", \"folder\": \"a\", \"kept\": []}",
		"", "kernel 2 has names");
	bad_head("{\"name\": \"k\"}", ", \"left_out\": [1]",
		 "head: damaged: a cell that is left out");
	bad_head("{\"name\": \"k\"}", ", \"left_out\": [-1]", "head: damaged: a cell");
	bad_head("{\"name\": \"k\"}", ", \"left_out\": [\"0\"]", "head: damaged: a cell");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_kept),	STORE_TEST(test_run_json), STORE_TEST(test_damaged),
		STORE_TEST(test_moved), STORE_TEST(test_names),	   STORE_TEST(test_bad_heads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
