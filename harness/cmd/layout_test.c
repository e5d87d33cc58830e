// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "harness/cmd/opt.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define DATA "harness/report/testdata/"
#define WITH_LISTS DATA "28-cephfs-client-vm-5.4-wrapped.txt"
#define WITHOUT_LISTS DATA "46-vmware-6.1-softlockup-khugepaged.txt"
#define TWO_REPORTS DATA "26-virtio-balloon-5.4-negative-managed.txt"

const struct command *const command_table[] = { &command_layout, NULL };

struct output {
	char *out, *err;
	size_t out_len, err_len;
	int status;
};

static void output_free(struct output *o)
{
	free(o->out);
	free(o->err);
}
#define cleanup_output __attribute__((cleanup(output_free)))

/* glibc's stdout and stderr may be assigned to. */
static struct output import(const char *a, const char *b, const char *c, const char *d)
{
	const char *args[] = { "mmrig", "layout", "import", a, b, c, d, NULL };
	FILE *out = stdout, *errs = stderr;
	struct output o = { NULL, NULL, 0, 0, 0 };
	int argc = 3;

	while (args[argc])
		argc++;
	stdout = open_memstream(&o.out, &o.out_len);
	stderr = open_memstream(&o.err, &o.err_len);
	o.status = command_main(argc, (char **)args);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = errs;
	return o;
}

static void assert_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in: %s", part, text);
}

static void test_scenario_to_stdout(void **state)
{
	cleanup_output struct output o = import(WITH_LISTS, "--memory=4G", NULL, NULL);

	assert_int_equal(o.status, 0);
	assert_in(o.out, "vm: {memory: 4G, cpus: 2}\n");
	assert_in(o.out, "- shape: {order0: ");
	assert_in(o.err, "node 0 DMA32");
	assert_in(o.err, "in a guest of 4G: 16384 free pages"); /* 1048576 * 68804 / 8152168 */
	assert_null(strstr(o.err, "mmrig: "));
}

static void test_output_file(void **state)
{
	char path[] = "/tmp/mmrig-layout-test-XXXXXX";
	cleanup_free char *option = NULL, *yaml = NULL;
	cleanup_close int fd = mkstemp(path);

	assert_true(fd >= 0);
	option = str_printf("--output=%s", path);
	{
		cleanup_output struct output o = import(WITH_LISTS, option, NULL, NULL);

		assert_int_equal(o.status, 0);
		assert_in(o.out, "node 0 DMA32");
		assert_string_equal(o.err, "");
	}
	yaml = file_read(path, 0, NULL, NULL);
	assert_in(yaml, "- shape: {order0: ");
	unlink(path);
}

/* No file of that name: the same as without the option. */
static void test_output_dash(void **state)
{
	cleanup_output struct output o = import(WITH_LISTS, "-o", "-", NULL);
	cleanup_output struct output plain = import(WITH_LISTS, NULL, NULL, NULL);
	cleanup_output struct output j = import(WITH_LISTS, "--json", "--output=-", NULL);

	assert_int_equal(o.status, 0);
	assert_string_equal(o.out, plain.out);
	assert_string_equal(o.err, plain.err);
	assert_int_equal(access("-", F_OK), -1);
	assert_int_equal(j.status, 2);
	assert_string_equal(j.out, "");
	assert_in(j.err, "--output -: the standard output is for the JSON document");
}

static void test_json(void **state)
{
	cleanup_output struct output o = import(WITH_LISTS, "--json", NULL, NULL);
	json_t *doc = json_loads(o.out, 0, NULL);

	assert_int_equal(o.status, 0);
	assert_string_equal(o.err, "");
	assert_non_null(doc);
	assert_int_equal(json_integer_value(
				 json_object_get(json_object_get(doc, "guest"), "free_pages")),
			 16384);
	json_decref(doc);
}

static void test_without_lists(void **state)
{
	cleanup_output struct output o = import(WITHOUT_LISTS, NULL, NULL, NULL);
	cleanup_output struct output j = import(WITHOUT_LISTS, "--json", NULL, NULL);
	json_t *doc = json_loads(j.out, 0, NULL);

	assert_int_equal(o.status, 2);
	assert_string_equal(o.out, "");
	assert_in(o.err, "no free list in it (understood: stall (watchdog: BUG: soft lockup");
	assert_int_equal(j.status, 2);
	assert_string_equal(json_string_value(
				    json_object_get(json_object_get(doc, "report"), "release")),
			    "6.1.0-rc7+");
	assert_null(json_object_get(doc, "guest"));
	json_decref(doc);
}

static void test_nth(void **state)
{
	cleanup_output struct output best = import(TWO_REPORTS, NULL, NULL, NULL);
	cleanup_output struct output first = import(TWO_REPORTS, "--nth=1", NULL, NULL);
	cleanup_output struct output third = import(TWO_REPORTS, "--nth=3", NULL, NULL);

	assert_int_equal(best.status, 2); /* its lists are cut off */
	assert_in(best.err, "report 2 of 2, from line 10, the one with most data");
	assert_int_equal(first.status, 2);
	assert_in(first.err, "report 1 of 2, from line 1, as asked");
	assert_int_equal(third.status, 2);
	assert_in(third.err, "--nth 3: " TWO_REPORTS " has 2 reports");
}

/* 130 reports, of which 128 are read. */
static void test_nth_beyond_those_read(void **state)
{
	static const char report[] = "Mem-Info:\nNode 0 Normal free:8kB\n";
	char path[] = "/tmp/mmrig-layout-test-XXXXXX";
	cleanup_close int fd = mkstemp(path);

	assert_true(fd >= 0);
	for (int i = 0; i < 130; i++)
		assert_int_equal(write(fd, report, sizeof(report) - 1), sizeof(report) - 1);
	{
		cleanup_output struct output last = import(path, "--nth=128", NULL, NULL);
		cleanup_output struct output next = import(path, "--nth=129", NULL, NULL);
		cleanup_output struct output many = import(path, "--nth=1000", NULL, NULL);

		assert_in(last.err, "report 128 of 130, from line 255, as asked; the first 128 were read");
		assert_int_equal(next.status, 2);
		assert_in(next.err, " has 130 reports, and only the first 128 were read; cut out the part");
		assert_in(many.err, "--nth 1000: ");
		assert_in(many.err, " has 130 reports, and only the first 128 were read");
	}
	unlink(path);
}

static void test_small_guest(void **state)
{
	cleanup_output struct output o = import(WITH_LISTS, "--memory=4K", NULL, NULL);

	assert_int_equal(o.status, 2);
	assert_in(o.err,
		  "--memory: memory is 4K; it must be 256M to 4092G, in whole pageblocks of 2M");
}

/* What run and layout check would refuse is not written into a scenario. */
static void test_large_guest(void **state)
{
	static const char *const bad[] = { "--memory=900T", "--memory=4093G",
					   "--memory=300000001" };
	cleanup_output struct output other = import(WITH_LISTS, "--memory=4092G", NULL, NULL);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cleanup_output struct output o = import(WITH_LISTS, bad[i], NULL, NULL);

		assert_int_equal(o.status, 2);
		assert_string_equal(o.out, "");
		assert_in(o.err, "it must be 256M to 4092G, in whole pageblocks of 2M");
	}
	/* It may be for another host: no test runs on one with so much. */
	assert_int_equal(other.status, 0);
	assert_in(other.out, "vm: {memory: 4092G, cpus: 2}\n");
	assert_in(other.err, "of memory in all, so a guest of 4092G cannot be run here");
}

/* Standard input is replaced for the time of the call. */
static struct output import_stdin(const char *path)
{
	int kept = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
	struct output o;

	assert_true(kept >= 0 && fd >= 0);
	dup2(fd, STDIN_FILENO);
	o = import("-", NULL, NULL, NULL);
	dup2(kept, STDIN_FILENO);
	close(kept);
	close(fd);
	return o;
}

static void test_stdin(void **state)
{
	cleanup_output struct output good = import_stdin(WITH_LISTS);
	cleanup_output struct output endless = import_stdin("/dev/zero");
	cleanup_output struct output empty = import_stdin("/dev/null");

	assert_int_equal(good.status, 0);
	assert_in(good.out, "layout import of standard input, report 1 of 1");
	assert_int_equal(endless.status, 2);
	assert_in(endless.err, "standard input: larger than 16 MiB");
	assert_int_equal(empty.status, 2);
	assert_in(empty.err, "standard input: is empty");
}

static void test_bad_files(void **state)
{
	cleanup_output struct output none = import("/nonexistent", NULL, NULL, NULL);
	cleanup_output struct output device = import("/dev/zero", NULL, NULL, NULL);
	cleanup_output struct output usage = import(NULL, NULL, NULL, NULL);

	assert_int_equal(none.status, 2);
	assert_in(none.err, "/nonexistent: cannot open");
	assert_int_equal(device.status, 2);
	assert_in(device.err, "/dev/zero: not a regular file");
	assert_int_equal(usage.status, 2);
}

/* Bad names are seen before the work, and are no trouble of the disk. */
static void test_bad_output(void **state)
{
	static const struct {
		const char *option, *error;
	} cases[] = {
		{ "--output=/nonexistent/x.yaml", "--output /nonexistent/x.yaml: there is no folder /nonexistent" },
		{ "--output=/dev/null/x.yaml", "/dev/null is no folder" },
		{ "--output=/tmp", "--output /tmp: is a folder" },
		{ "--output=/dev/null", "--output /dev/null: is no regular file" },
		{ "--output=" WITH_LISTS, "is read by this command" },
		{ "--output=harness/../" WITH_LISTS, "is read by this command" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cleanup_output struct output o = import(WITH_LISTS, cases[i].option, NULL, NULL);
		cleanup_output struct output first = import("/nonexistent", cases[i].option, NULL, NULL);

		assert_int_equal(o.status, 2);
		assert_string_equal(o.out, "");
		assert_in(o.err, cases[i].error);
		if (!strstr(cases[i].option, WITH_LISTS))
			assert_in(first.err, cases[i].error);
	}
}

/* 1316, 1128 and 85644 kB of the lists that are cut off; free: of the zones has 2882868 kB. */
static void test_unlisted(void **state)
{
	static const struct {
		const char *option, *text;
	} cases[] = {
		{ "--unlisted=smallest", "which is a guess: the smallest that they can be in" },
		{ "--unlisted=largest", "which is a guess: the largest that they can be in" },
		{ "--unlisted=none", "at least 88088 of 4193780 kB are free, 2.10 % of the RAM" },
	};
	cleanup_output struct output refused = import(TWO_REPORTS, NULL, NULL, NULL);

	assert_int_equal(refused.status, 2);
	assert_string_equal(refused.out, "");
	assert_in(refused.err, "2882868 of 4193780 kB are free, 68.74 % of the RAM\n");
	assert_in(refused.err, "of what order 2794780 of the 2882868 kB that are free are is not known");
	assert_in(refused.err, "--unlisted smallest");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cleanup_output struct output o = import(TWO_REPORTS, cases[i].option, NULL, NULL);
		cleanup_output struct output j = import(TWO_REPORTS, cases[i].option, "--json", NULL);

		assert_int_equal(o.status, 0);
		assert_in(o.err, cases[i].text);
		assert_in(o.out, "# free lists are cut off: 88088 kB of the 2882868 kB that are free are in them;");
		assert_in(j.out, cases[i].option[11] == 'n' ? "\"at_least\": true" : "\"at_least\": false");
		assert_in(j.out, cases[i].option[11] == 'n' ? "\"free_kb\": 88088" : "\"free_kb\": 2882868");
	}
}

static struct output import_text(const char *text, const char *option)
{
	char path[] = "/tmp/mmrig-layout-test-XXXXXX";
	int fd = mkstemp(path);
	struct output o;

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	o = import(path, option, NULL, NULL);
	unlink(path);
	return o;
}

/* How to have it better is said where the size of the machine is not. */
static void test_no_size(void **state)
{
	static const char text[] = "Node 0, zone Normal 9 1 1 1 1 1 1 1 1 1 1\n";
	cleanup_output struct output o = import_text(text, NULL);
	cleanup_output struct output asked = import_text(text, "--memory=1G");

	assert_in(o.err, "1/16 is assumed\nthe size of the machine is in /proc/zoneinfo: cat /proc/buddyinfo "
			 "/proc/zoneinfo | mmrig layout import -\n");
	assert_in(o.err, "the size of the machine is not said: 2G is that of guests then (--memory)");
	assert_in(o.out, "vm: {memory: 2G, cpus: 2} # the size of the machine is not said\n");
	assert_null(strstr(asked.err, "2G"));
	assert_in(asked.out, "vm: {memory: 1G, cpus: 2}\n");
}

static void test_more_reports_than_are_read(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;

	for (int i = 0; i < 182; i++)
		strbuf_adds(&text, "Mem-Info:\nNode 0 Normal: 1*4kB 2*8kB 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB "
				   "0*1024kB 0*2048kB 0*4096kB = 20kB\n");
	{
		cleanup_output struct output o = import_text(text.data, NULL);
		cleanup_output struct output j = import_text(text.data, "--json");

		assert_in(o.err, ": report 1 of 182, from line 1, the one with most data (--nth chooses); "
				 "the first 128 were read\n");
		assert_in(o.err, "54 more reports were not read");
		assert_in(o.out, "report 1 of 182 (line 1)");
		assert_in(j.out, "\"reports_not_read\": 54");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenario_to_stdout),
		cmocka_unit_test(test_output_file),
		cmocka_unit_test(test_output_dash),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_without_lists),
		cmocka_unit_test(test_nth),
		cmocka_unit_test(test_nth_beyond_those_read),
		cmocka_unit_test(test_small_guest),
		cmocka_unit_test(test_large_guest),
		cmocka_unit_test(test_stdin),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_bad_output),
		cmocka_unit_test(test_unlisted),
		cmocka_unit_test(test_no_size),
		cmocka_unit_test(test_more_reports_than_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
