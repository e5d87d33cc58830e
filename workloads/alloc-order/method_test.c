// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/alloc-order/method.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

/* Bits of Documentation/admin-guide/mm/pagemap.rst. */
#define PRESENT 0x8000000000000000ull
#define SOFT_DIRTY 0x0080000000000000ull
#define EXCLUSIVE 0x0100000000000000ull
#define HEAD 0x8000ull
#define TAIL 0x10000ull
#define SLAB 0x80ull

#define PAGES 1024

static uint64_t pagemap[PAGES], flags[PAGES];

/* A compound page at this pfn, with bits besides that say nothing of it. */
static void set_block(uint64_t pfn, size_t pages)
{
	for (size_t i = 0; i < pages; i++) {
		pagemap[i] = PRESENT | SOFT_DIRTY | EXCLUSIVE | (pfn + i);
		flags[i] = (i ? TAIL : HEAD) | SLAB;
	}
}

static void test_block_of_every_order(void **state)
{
	for (unsigned int order = 0; order <= ALLOC_ORDER_MAX; order++) {
		set_block(3u << ALLOC_ORDER_MAX, PAGES);
		assert_true(alloc_is_block(pagemap, flags, order));
	}
}

static void test_single_page(void **state)
{
	pagemap[0] = PRESENT | 12345;
	flags[0] = 0;
	assert_true(alloc_is_block(pagemap, flags, 0));
	pagemap[0] = 12345;
	assert_false(alloc_is_block(pagemap, flags, 0));
}

static void test_not_aligned(void **state)
{
	set_block(0x1002, 4);
	assert_false(alloc_is_block(pagemap, flags, 2));
	assert_true(alloc_is_block(pagemap, flags, 1));
}

static void test_not_contiguous(void **state)
{
	set_block(0x1000, 512);
	pagemap[511] = PRESENT | 0x1200; /* one too far */
	assert_false(alloc_is_block(pagemap, flags, 9));
	assert_true(alloc_is_block(pagemap, flags, 8));
	set_block(0x1000, 4);
	pagemap[1] = PRESENT | 0x1002;
	pagemap[2] = PRESENT | 0x1001;
	assert_false(alloc_is_block(pagemap, flags, 2));
}

/* A fault that fell back leaves one page present, and nothing behind it. */
static void test_not_present(void **state)
{
	set_block(0x1000, 4);
	pagemap[3] = 0;
	assert_false(alloc_is_block(pagemap, flags, 2));
	set_block(0x1000, 4);
	pagemap[2] &= ~PRESENT; /* swapped out: the bits mean something else */
	assert_false(alloc_is_block(pagemap, flags, 2));
}

/* vmalloc() may get pages side by side, aligned too: no compound page. */
static void test_by_chance(void **state)
{
	set_block(0x1000, 4);
	memset(flags, 0, sizeof(flags));
	assert_false(alloc_is_block(pagemap, flags, 2));
	set_block(0x1000, 4);
	flags[2] = HEAD; /* two of order 1 */
	assert_false(alloc_is_block(pagemap, flags, 2));
}

/* Files that stand in for pagemap and kpageflags; the address is page 512. */
#define AT ((void *)(512ul * 4096))

static int file_of(const uint64_t *words, size_t n, uint64_t at)
{
	int fd = memfd_create("words", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, words, n * 8, (off_t)(at * 8)), n * 8);
	return fd;
}

static int check(unsigned int order, size_t mapped, size_t flagged)
{
	struct alloc_state s = { .order = order };
	int ret, saved;

	s.pagemap_fd = file_of(pagemap, mapped, 512);
	s.kpageflags_fd = file_of(flags, flagged, pagemap[0] & 0xffffffff);
	ret = alloc_check_block(&s, AT);
	saved = errno;
	close(s.pagemap_fd);
	close(s.kpageflags_fd);
	errno = saved;
	return ret;
}

static void test_check_reads_both(void **state)
{
	set_block(0x800, 512);
	assert_int_equal(check(9, 512, 512), 1);
	assert_int_equal(check(0, 1, 1), 1);
	flags[300] = 0;
	assert_int_equal(check(9, 512, 512), 0);
	set_block(0x800, 512);
	pagemap[511]++;
	assert_int_equal(check(9, 512, 0), 0); /* and the flags are not even read */
}

static void test_check_cannot_tell(void **state)
{
	set_block(0x800, 4);
	assert_int_equal(check(2, 3, 4), -1); /* cut off */
	assert_int_equal(errno, ENODATA);
	assert_int_equal(check(2, 4, 3), -1);
	assert_int_equal(errno, ENODATA);
	pagemap[0] = PRESENT; /* what one who is not root is told */
	assert_int_equal(check(2, 4, 4), -1);
	pagemap[0] = 0x800; /* no page, though it was touched */
	assert_int_equal(check(2, 4, 4), -1);
}

/* ---- which way ---- */

static const char *choice(const char *via, bool movable, unsigned int order)
{
	static char why[64];
	const struct alloc_method *m = alloc_method_choose(via, movable, order, why, sizeof(why));

	return m ? m->name : why;
}

static void test_choose_auto(void **state)
{
	for (unsigned int order = 0; order <= 3; order++)
		assert_string_equal(choice("auto", false, order), "packet");
	for (unsigned int order = 4; order <= 10; order++)
		assert_string_equal(choice("auto", false, order), "pipe");
	for (unsigned int order = 2; order <= 9; order++)
		assert_string_equal(choice("auto", true, order), "thp");
	assert_string_equal(choice("auto", true, 0), "thp");
}

static void test_choose_given(void **state)
{
	assert_string_equal(choice("pipe", false, 2), "pipe");
	assert_string_equal(choice("pipe", false, 0), "pipe");
	assert_string_equal(choice("packet", false, 10), "packet");
	assert_string_equal(choice("hugetlb", true, 9), "hugetlb");
}

static void test_choose_impossible(void **state)
{
	assert_string_equal(choice("auto", true, 1), "thp makes no requests of order 1");
	assert_string_equal(choice("auto", true, 10), "thp makes no requests of order 10");
	assert_string_equal(choice("pipe", false, 1), "pipe makes no requests of order 1");
	assert_string_equal(choice("hugetlb", true, 8), "hugetlb makes no requests of order 8");
	assert_string_equal(choice("packet", false, 11), "packet makes no requests of order 11");
	assert_string_equal(choice("packet", false, 40), "packet makes no requests of order 40");
	assert_string_equal(choice("pipe", true, 4), "pipe makes unmovable requests");
	assert_string_equal(choice("thp", false, 9), "thp makes movable requests");
	assert_string_equal(choice("msg", false, 4), "there is no way \"msg\"");
}

/* A hostile name does not run over the buffer. */
static void test_choose_long_name(void **state)
{
	char name[500], why[32];

	memset(name, '"', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(why, 'x', sizeof(why));
	assert_null(alloc_method_choose(name, false, 4, why, sizeof(why) - 1));
	assert_true(memchr(why, '\0', sizeof(why) - 1) && why[sizeof(why) - 1] == 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block_of_every_order),
		cmocka_unit_test(test_single_page),
		cmocka_unit_test(test_not_aligned),
		cmocka_unit_test(test_not_contiguous),
		cmocka_unit_test(test_not_present),
		cmocka_unit_test(test_by_chance),
		cmocka_unit_test(test_check_reads_both),
		cmocka_unit_test(test_check_cannot_tell),
		cmocka_unit_test(test_choose_auto),
		cmocka_unit_test(test_choose_given),
		cmocka_unit_test(test_choose_impossible),
		cmocka_unit_test(test_choose_long_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
