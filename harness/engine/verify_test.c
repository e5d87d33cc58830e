// SPDX-License-Identifier: GPL-2.0-only
/* Pairs of a pretended store: samples from a table, consoles from a folder of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "harness/engine/engine.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

struct sample {
	const char *run, *name;
	enum wire_phase phase;
	uint64_t ns;
	const char *data;
};

static char *top;
static const struct sample *samples; /* ends with run NULL */
static const char *unreadable;	     /* of this run */

const char *store_root(const struct store *s)
{
	return top;
}

int store_each_sample(struct store *s, const char *set_id, const char *run_id,
		      int (*fn)(void *arg, const struct wire_sample *sample), void *arg,
		      struct error *err)
{
	assert_string_equal(set_id, "set");
	if (unreadable && strcmp(run_id, unreadable) == 0)
		return error_set(err, EXIT_NO_VERDICT, "samples.zst: cut off");
	for (const struct sample *x = samples; x->run; x++) {
		struct wire_sample sample = { .phase = x->phase, .mono_ns = x->ns,
					      .data = (const uint8_t *)x->data,
					      .len = (uint32_t)strlen(x->data) };

		if (strcmp(x->run, run_id) != 0)
			continue;
		snprintf(sample.name, sizeof(sample.name), "%s", x->name);
		assert_int_equal(fn(arg, &sample), 0);
	}
	return 0;
}

static void console_put(const char *id, const char *text)
{
	cleanup_free char *folder = str_printf("%s/set/%s", top, id);
	cleanup_free char *path = path_join(folder, "console.log");

	assert_int_equal(dir_make(folder, 0700, NULL), 0);
	assert_int_equal(file_write_atomic(path, text, strlen(text), 0600, NULL), 0);
}

static struct run_variant variants[] = {
	{ .label = (char *)"residue=4" }, { .label = (char *)"residue=0" },
};
static struct run run[6];
static struct engine engine;
static struct runset set;
static char *said;
static size_t said_len;
static FILE *out;

static int setup(void **state)
{
	static const char *const ids[] = { "0001", "0002", "0003", "0004", "0001.2", "0001.3" };
	struct progress_config config = { 0 };
	const char *tmp = getenv("TMPDIR");

	top = str_printf("%s/mmrig-verify-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(top));
	config.out = out = open_memstream(&said, &said_len);
	memset(run, 0, sizeof(run));
	for (size_t i = 0; i < ARRAY_SIZE(run); i++) {
		run[i].id = (char *)ids[i];
		run[i].seed = 7;
		run[i].workload_json = (char *)"{\"files\":1}";
		run[i].layout_json = (char *)"[]";
		console_put(ids[i], "Linux version\n");
	}
	set = (struct runset){
		.id = (char *)"set", .variant = variants, .nvariants = 2, .run = run, .nruns = 2,
	};
	engine = (struct engine){ .set = &set, .progress = progress_new(&config) };
	unreadable = NULL;
	return 0;
}

static int teardown(void **state)
{
	progress_finish(engine.progress);
	fclose(out);
	free(said);
	assert_int_equal(dir_remove(top, NULL), 0);
	free(top);
	return 0;
}

/* Everything that was said. */
static void expect(size_t differing, const char *text)
{
	cleanup_error struct error err = ERROR_INIT;
	size_t n = 99;

	assert_int_equal(engine_verify(&engine, &n, &err), 0);
	assert_int_equal(n, differing);
	fflush(out);
	assert_string_equal(said ? said : "", text);
}

#define DIFFER "mmrig: runs 0001 and 0002 (residue=4, seed 7) differ: "
#define BEGIN(id, ns) { id, "vmstat", PHASE_WORKLOAD, ns, "allocstall 5\n" }
#define MIDDLE(id) { id, "buddyinfo", PHASE_WORKLOAD, 200, "Node 0\n" }

static void same(void **state)
{
	static const struct sample table[] = {
		BEGIN("0001", 100), MIDDLE("0001"), BEGIN("0002", 100), MIDDLE("0002"), { NULL },
	};

	samples = table;
	expect(0, "mmrig: runs 0001 and 0002 (residue=4, seed 7) are the same: 2 snapshots and samples, "
		  "results and console\n");
}

static void one_byte_differs(void **state)
{
	static const struct sample table[] = {
		BEGIN("0001", 100), MIDDLE("0001"), BEGIN("0002", 100),
		{ "0002", "buddyinfo", PHASE_WORKLOAD, 200, "Node 1\n" }, { NULL },
	};

	samples = table;
	expect(1, DIFFER "sample 2 of 2 and 2: buddyinfo in workload, edge 0, at 200 ns\n");
}

static void one_nanosecond_differs(void **state)
{
	static const struct sample table[] = {
		BEGIN("0001", 100), MIDDLE("0001"), BEGIN("0002", 101), MIDDLE("0002"), { NULL },
	};

	samples = table;
	expect(1, DIFFER "sample 1 of 2 and 2: vmstat in workload, edge 0, at 100 ns\n");
}

/* What the longer one has more is named, whichever it is. */
static void one_has_more(void **state)
{
	static const struct sample first[] = {
		BEGIN("0001", 100), MIDDLE("0001"), BEGIN("0002", 100), { NULL },
	};

	samples = first;
	expect(1, DIFFER "sample 2 of 2 and 1: buddyinfo in workload, edge 0, at 200 ns\n");
}

static void the_other_has_more(void **state)
{
	static const struct sample second[] = {
		BEGIN("0001", 100), BEGIN("0002", 100), MIDDLE("0002"), { NULL },
	};

	samples = second;
	expect(1, DIFFER "sample 2 of 1 and 2: buddyinfo in workload, edge 0, at 200 ns\n");
}

/* A byte more in the last sample is in that sample. */
static void one_sample_is_longer(void **state)
{
	static const struct sample table[] = {
		BEGIN("0001", 100), { "0002", "vmstat", PHASE_WORKLOAD, 100, "allocstall 5\n\n" },
		{ NULL },
	};

	samples = table;
	expect(1, DIFFER "sample 1 of 1 and 1: vmstat in workload, edge 0, at 100 ns\n");
}

static void one_has_none(void **state)
{
	static const struct sample table[] = { BEGIN("0002", 100), { NULL } };

	samples = table;
	expect(1, DIFFER "sample 1 of 0 and 1: vmstat in workload, edge 0, at 100 ns\n");
}

/* Nothing equals nothing, which proves nothing. */
static void none_at_all(void **state)
{
	static const struct sample table[] = { { NULL } };

	samples = table;
	expect(1, DIFFER "neither has samples\n");
}

static const struct sample equal[] = {
	BEGIN("0001", 100),   BEGIN("0002", 100),   BEGIN("0003", 100), BEGIN("0004", 100),
	BEGIN("0001.2", 100), BEGIN("0001.3", 100), { NULL },
};

static void results_differ(void **state)
{
	samples = equal;
	run[1].workload_json = (char *)"{\"files\":2}";
	expect(1, DIFFER "the workload's result\n");
}

static void one_has_no_result(void **state)
{
	samples = equal;
	run[0].workload_json = NULL;
	expect(1, DIFFER "the workload's result\n");
}

static void layouts_differ(void **state)
{
	samples = equal;
	run[1].layout_json = (char *)"[{}]";
	expect(1, DIFFER "the layout's report\n");
}

static void consoles_differ(void **state)
{
	samples = equal;
	console_put("0002", "Linux version \n");
	expect(1, DIFFER "the console\n");
}

static void one_cannot_be_read(void **state)
{
	samples = equal;
	unreadable = "0002";
	expect(1, DIFFER "samples.zst: cut off\n");
}

static void only_ok_runs_are_the_same(void **state)
{
	samples = equal;
	run[1].verdict = VERDICT_STALL;
	expect(1, DIFFER "verdicts ok and stall\n");
}

#define SAME(a, b, label, seed)                                                             \
	"mmrig: runs " a " and " b " (" label ", seed " seed ") are the same: 1 snapshots " \
	"and samples, results and console\n"

/* Two cells, two seeds, as the scheduler orders them. */
static void pairs_are_of_one_cell_and_seed(void **state)
{
	samples = equal;
	set.nruns = 4;
	run[1].cell = run[3].cell = 1;
	run[1].variant = run[3].variant = 1;
	expect(0, SAME("0001", "0003", "residue=4", "7") SAME("0002", "0004", "residue=0", "7"));
}

static void seeds_are_kept_apart(void **state)
{
	samples = equal;
	set.nruns = 4;
	run[2].seed = run[3].seed = UINT64_MAX;
	expect(0, SAME("0001", "0002", "residue=4", "7")
		       SAME("0003", "0004", "residue=4", "18446744073709551615"));
}

/* A set that was interrupted and went on: what was repeated is no half of a pair. */
static void superseded_runs_are_no_pair(void **state)
{
	samples = equal;
	set.nruns = 6;
	run[2].seed = run[3].seed = 8;
	run[0].verdict = run[4].verdict = VERDICT_INTERRUPTED; /* 0001 and 0001.2; 0001.3 is good */
	expect(0, SAME("0002", "0001.3", "residue=4", "7") SAME("0003", "0004", "residue=4", "8"));
}

static void of_a_pair_one_is_there(void **state)
{
	samples = equal;
	set.nruns = 1;
	expect(0, "");
}

int main(void)
{
#define VERIFY_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		VERIFY_TEST(same),
		VERIFY_TEST(one_byte_differs),
		VERIFY_TEST(one_nanosecond_differs),
		VERIFY_TEST(one_has_more),
		VERIFY_TEST(the_other_has_more),
		VERIFY_TEST(one_sample_is_longer),
		VERIFY_TEST(one_has_none),
		VERIFY_TEST(none_at_all),
		VERIFY_TEST(results_differ),
		VERIFY_TEST(one_has_no_result),
		VERIFY_TEST(layouts_differ),
		VERIFY_TEST(consoles_differ),
		VERIFY_TEST(one_cannot_be_read),
		VERIFY_TEST(only_ok_runs_are_the_same),
		VERIFY_TEST(pairs_are_of_one_cell_and_seed),
		VERIFY_TEST(seeds_are_kept_apart),
		VERIFY_TEST(superseded_runs_are_no_pair),
		VERIFY_TEST(of_a_pair_one_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
