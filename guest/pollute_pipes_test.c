// SPDX-License-Identifier: GPL-2.0-only
/* Real pipes; the memory in which their pages are looked for is a file of this test's own. */
#include "guest/pollute_pipes.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static const uint64_t mark = 0x1122334455667788;

static int make(void **state)
{
	char path[] = "/tmp/mmrig pipes XXXXXX";

	memset(&pipes, 0, sizeof(pipes));
	pipes.mark = mark;
	pipes.ram.fd = mkstemp(path);
	pipes.ram.n = 1;
	pipes.ram.range[0] = (struct kcore_range){ .first = 100, .end = 110, .at = 8192 };
	return pipes.ram.fd < 0 || unlink(path) < 0 ? -1 : 0;
}

static int unmake(void **state)
{
	kcore_close(&pipes.ram);
	return 0;
}

static void put(uint64_t pfn, uint64_t first, uint64_t second)
{
	const uint64_t number[2] = { first, second };

	assert_int_equal(pwrite(pipes.ram.fd, number, 16, 8192 + (off_t)(pfn - 100) * 4096), 16);
}

static void test_holds(void **state)
{
	pipes.made = 3;
	put(100, mark, 0);
	put(101, mark, 2);
	put(102, mark, 3); /* of no page that was made */
	put(103, mark + 1, 0);
	put(104, 0, 0);
	put(109, mark, 1);
	assert_true(pipes_holds(100) && pipes_holds(101) && pipes_holds(109));
	assert_false(pipes_holds(102) || pipes_holds(103) || pipes_holds(104) || pipes_holds(105));
	assert_false(pipes_holds(99) || pipes_holds(110));
	pipes.made = 0; /* the next step's, with the same mark */
	assert_false(pipes_holds(100));
}

/* The next descriptor that open() would give: pipes get theirs in pairs from there on. */
static int next_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* Of 40 pages each is a page of its own, and 16 go into one pipe. */
static void test_pages(void **state)
{
	int out = next_fd();
	uint64_t page[512];
	char why[100] = "";

	assert_int_equal(pipes_more(NULL, 0, 7, why, sizeof(why)), 0);
	assert_int_equal(pipes_more(NULL, 0, 33, why, sizeof(why)), 0);
	assert_int_equal(pipes_made(), 40);
	assert_int_equal(pipes.room, 8);
	/* Of the full ones the end that is written to is closed, and its number taken again. */
	for (int i = 0; i < 40; i++) {
		const int fd = out + i / 16;

		assert_int_equal(read(fd, page, sizeof(page)), sizeof(page));
		assert_int_equal(page[0], mark);
		assert_int_equal(page[1], i);
		assert_int_equal(page[2], 0);
	}
	assert_int_equal(read(out, page, sizeof(page)), 0);
}

static void test_no_descriptors(void **state)
{
	struct rlimit before, none;
	char why[100] = "";

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)next_fd();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(pipes_more(NULL, 0, 1, why, sizeof(why)), -1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_string_equal(why, "page 0 of pipes: Too many open files");
	assert_int_equal(pipes_made(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_holds, make, unmake),
		cmocka_unit_test_setup_teardown(test_pages, make, unmake),
		cmocka_unit_test_setup_teardown(test_no_descriptors, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
