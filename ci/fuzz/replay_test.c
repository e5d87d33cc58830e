// SPDX-License-Identifier: GPL-2.0-only
/* The whole corpus of the fuzzer once, with any compiler: a test a target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ci/fuzz/fuzz.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define TARGETS_MAX 64

/* From the top of the tree, or from wherever the program stands. */
static char *corpus_path(const char *name)
{
	char *path = str_printf("ci/corpus/%s", name), *found;

	if (file_exists(path))
		return path;
	found = data_path(path, NULL);
	free(path);
	return found;
}

static void replay_file(const struct fuzz_target *t, const char *path)
{
	size_t len;
	cleanup_free char *text = file_read(path, 0, &len, NULL);
	uint8_t *exact = xmalloc(len ? len : 1);

	assert_non_null(text);
	print_message("%s\n", path);
	memcpy(exact, text, len);
	t->run(exact, len);
	free(exact);
}

static void replay(void **state)
{
	const struct fuzz_target *t = *state;
	cleanup_free char *dir = corpus_path(t->name);
	cleanup_dir DIR *d = dir ? opendir(dir) : NULL;
	const struct dirent *e;
	size_t files = 0;

	assert_non_null(d);
	t->run((const uint8_t *)"", 0);
	while ((e = readdir(d))) {
		cleanup_free char *path = path_join(dir, e->d_name);

		if (e->d_name[0] == '.')
			continue;
		replay_file(t, path);
		files++;
	}
	assert_true(files > 0);
}

int main(void)
{
	struct CMUnitTest tests[TARGETS_MAX];
	size_t n = 0;

	for (; fuzz_targets[n]; n++)
		tests[n] = (struct CMUnitTest){ fuzz_targets[n]->name, replay, NULL, NULL,
						(void *)(uintptr_t)fuzz_targets[n] };
	return _cmocka_run_group_tests("corpus", tests, n, NULL, NULL);
}
