// SPDX-License-Identifier: GPL-2.0-only
/* The .c is included, with /proc/meminfo and the store replaced by what a test says. */
#include "results/util/cleanup.h"
#include "results/util/file.h"

static const char *meminfo;

static char *fake_file_read(const char *path, size_t limit, size_t *len, struct error *err)
{
	return meminfo ? xstrdup(meminfo) : NULL;
}

#define file_read fake_file_read
#include "harness/engine/host.c"
#undef file_read

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static char meminfo_text[200];

static void set_available_mib(uint64_t mib)
{
	snprintf(meminfo_text, sizeof(meminfo_text),
		 "MemTotal:       99999999 kB\nMemFree:        1 kB\nMemAvailable:   %" PRIu64
		 " kB\nBuffers:        5 kB\n",
		 mib * 1024);
	meminfo = meminfo_text;
}

static void test_available(void **state)
{
	set_available_mib(2048);
	assert_int_equal(host_memory_available(), 2048ull << 20);
	meminfo = "MemTotal: 5 kB\nMemFree: 5 kB\n"; /* before 3.14 */
	assert_int_equal(host_memory_available(), 0);
	assert_int_equal(host_check_memory(8ull << 30, NULL), 0); /* unknown is no reason to refuse */
	meminfo = NULL;
	assert_int_equal(host_memory_available(), 0);
}

/* What the message says may be given is accepted, and a whole 256 MiB more is not. */
static void test_largest_that_fits(void **state)
{
	for (uint64_t mib = 1; mib < 40000; mib = mib * 9 / 8 + 97) {
		cleanup_error struct error err = ERROR_INIT, none = ERROR_INIT;
		const char *at;
		unsigned long long fits;

		set_available_mib(mib);
		assert_int_equal(host_check_memory(1ull << 40, &err), -1);
		assert_int_equal(err.status, EXIT_USAGE);
		at = strstr(err.text, "--memory ");
		if (!at) { /* 256 MiB of guest, 192 of QEMU and 256 of margin, and 0.5 of page tables */
			assert_true(mib < 256 + 192 + 256 + 1);
			assert_non_null(strstr(err.text, "too few for any guest"));
			continue;
		}
		assert_int_equal(sscanf(at, "--memory %lluM or less", &fits), 1);
		assert_true(fits >= 256);
		assert_int_equal(host_check_memory(fits << 20, &none), 0);
		assert_int_equal(host_check_memory((fits + 258) << 20, &none), -1);
	}
}

static void test_message(void **state)
{
	cleanup_error struct error err = ERROR_INIT;

	set_available_mib(4096);
	assert_int_equal(host_check_memory(8ull << 30, &err), -1);
	/* 8192 + 16 + 192 + 256; and (4096 - 448) * 512 / 513 = 3640.9, in steps of 256: 3584 */
	assert_string_equal(err.text, "a guest of 8192 MiB needs 8656 MiB of host memory and 4096 MiB are "
				      "available; give --memory 3584M or less");
	/* Exactly enough is enough. */
	set_available_mib(8656);
	assert_int_equal(host_check_memory(8ull << 30, NULL), 0);
	set_available_mib(8655);
	assert_int_equal(host_check_memory(8ull << 30, NULL), -1);
}

static void test_sum_that_wraps(void **state)
{
	set_available_mib(4096);
	assert_int_equal(host_check_memory(UINT64_MAX, NULL), -1);
	assert_int_equal(host_check_memory(UINT64_MAX - (448ull << 20), NULL), -1);
	assert_int_equal(host_check_memory(0, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_available),
		cmocka_unit_test(test_largest_that_fits),
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_sum_that_wraps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
