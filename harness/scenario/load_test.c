// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

/* $MMRIG_SCENARIOS is two folders below this one, the first of which wins. */
static int make_folders(void **state)
{
	static const char *const files[][2] = {
		{ "a/one.yaml",
		  "name: first-of-all\ntitle: from a\nworkload: {no-such-workload: {}}\n" },
		{ "a/two.yml", "name: [\n" },
		{ "a/notes.txt", "name: x\n" },
		{ "a/.hidden.yaml", "name: x\n" },
		{ "b/two.yaml", "nmae: x\n" },
	};
	char dir[] = "/tmp/mmrig list,test XXXXXX";
	cleanup_free char *path = NULL;

	if (!mkdtemp(dir))
		return -1;
	*state = xstrdup(dir);
	path = str_printf("%s/a::%s/b", dir, dir);
	setenv("MMRIG_SCENARIOS", path, 1);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_free char *file = path_join(dir, files[i][0]);
		cleanup_free char *parent = xstrndup(file, (size_t)(strrchr(file, '/') - file));

		if (dir_make(parent, 0755, NULL) < 0 ||
		    file_write_atomic(file, files[i][1], strlen(files[i][1]), 0644, NULL) < 0)
			return -1;
	}
	return 0;
}

static int remove_folders(void **state)
{
	int ret = dir_remove(*state, NULL);

	unsetenv("MMRIG_SCENARIOS");
	free(*state);
	return ret;
}

static const struct scenario_entry *find(const struct scenario_entry *list, size_t n,
					 const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

/* A file that cannot be used is shown with its error rather than left out. */
static void test_list(void **state)
{
	const struct scenario_entry *two;
	struct scenario_entry *list;
	struct error err = ERROR_INIT;
	size_t n;

	if (scenario_list(&list, &n, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 1; i < n; i++)
		assert_true(strcmp(list[i - 1].name, list[i].name) < 0);
	two = find(list, n, "two");
	assert_non_null(two);
	assert_true(str_ends(two->path, "/a/two.yml"));
	assert_true(str_starts(two->title, "broken: ") &&
		    strstr(two->title, "/a/two.yml:2:1: not valid YAML"));
	assert_non_null(find(list, n, "one"));
	assert_non_null(
		strstr(find(list, n, "one")->title, "unknown workload \"no-such-workload\""));
	assert_null(find(list, n, "notes"));
	scenario_list_free(list, n);
}

static void test_load(void **state)
{
	cleanup_free char *two = path_join(*state, "b/two.yaml"),
			  *none = path_join(*state, "none.yaml");
	struct error err = ERROR_INIT;
	struct scenario *s;

	assert_int_equal(scenario_load("twoo", &s, &err), -1);
	assert_string_equal(err.text, "unknown scenario \"twoo\"; did you mean two?");
	assert_int_equal(err.status, EXIT_USAGE);
	error_clear(&err);
	assert_int_equal(scenario_load("../../etc/passwd", &s, &err), -1);
	assert_true(str_starts(err.text, "unknown scenario"));
	error_clear(&err);
	assert_int_equal(scenario_load(two, &s, &err), -1);
	assert_true(str_starts(err.text, two));
	assert_non_null(strstr(err.text, ":1:1: unknown key \"nmae\"; did you mean name?"));
	error_clear(&err);
	assert_int_equal(scenario_load(none, &s, &err), -1);
	assert_true(str_starts(err.text, none));
	error_clear(&err);
}

static void test_wrong_folder(void **state)
{
	struct scenario_entry *list;
	struct error err = ERROR_INIT;
	size_t n;

	setenv("MMRIG_SCENARIOS", "/nonexistent", 1);
	assert_int_equal(scenario_list(&list, &n, &err), -1);
	assert_non_null(strstr(err.text, "/nonexistent: cannot be listed"));
	assert_non_null(strstr(err.text, "$MMRIG_SCENARIOS"));
	error_clear(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_list, make_folders, remove_folders),
		cmocka_unit_test_setup_teardown(test_load, make_folders, remove_folders),
		cmocka_unit_test_setup_teardown(test_wrong_folder, make_folders, remove_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
