// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine without a guest: the .c files are included with the system calls that would need root
 * replaced by a pretended machine, which knows for each page of the region where it stands.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/layout.h"

static ssize_t fake_pread(int fd, void *buf, size_t len, off_t at);
static int fake_madvise(void *addr, size_t len, int advice);
static long fake_process_madvise(const struct iovec *iov, size_t n);

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define pread fake_pread
#include "guest/layout.c"
#undef CHUNK
#undef PAGEMAP_PRESENT
#undef PAGEMAP_PFN
#include "guest/pin_check.c"
#undef pread
#undef CHUNK
#define madvise fake_madvise
#define syscall(nr, self, iov, n, advice, flags) fake_process_madvise(iov, n)
#include "guest/release.c"
#undef syscall
#include "guest/region.c"
#undef madvise
#undef CHUNK
#include "guest/step_free.c"
#undef CHUNK
#include "guest/step_pin.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define PAGES 4096u
#define BLOCK 64u
#define PAGEMAP_FD 1000
#define ABSENT UINT32_MAX

static struct {
	uint32_t pfn[PAGES]; /* where each page of the region stands */
	uint8_t *region;
	bool no_process_madvise;
	size_t most_bytes;    /* one process_madvise() takes no more; 0: all */
	unsigned int calls;
	void *pinned[PAGES];
	size_t npinned;
	uint32_t next_pfn;   /* of pages that are faulted in */
	unsigned int room;   /* how many can be */
	const uint32_t *moves_to; /* a page that is pinned goes there first; NULL: stays */
} machine;

static ssize_t fake_pread(int fd, void *buf, size_t len, off_t at)
{
	size_t first = (size_t)at / 8 - (uintptr_t)machine.region / 4096, n = len / 8;

	assert_int_equal(fd, PAGEMAP_FD);
	assert_true(first < PAGES && n <= PAGES - first);
	if (n > 100) /* short reads are allowed */
		n = 100;
	for (size_t i = 0; i < n; i++)
		((uint64_t *)buf)[i] = machine.pfn[first + i] == ABSENT ?
					       0 : 1ULL << 63 | 1ULL << 55 | machine.pfn[first + i];
	return (ssize_t)n * 8;
}

static void drop(void *addr, size_t len)
{
	size_t first = (size_t)((uint8_t *)addr - machine.region) / 4096;

	assert_int_equal(len % 4096, 0);
	assert_true(first < PAGES && len / 4096 <= PAGES - first);
	for (size_t i = 0; i < len / 4096; i++)
		machine.pfn[first + i] = ABSENT;
}

/* The pages come from the top of memory, the next pfn each; one call may fail half-way. */
static int come(void *addr, size_t len)
{
	size_t first = (size_t)((uint8_t *)addr - machine.region) / 4096;

	assert_true(first < PAGES && len / 4096 <= PAGES - first);
	for (size_t i = 0; i < len / 4096; i++) {
		if (!machine.room) {
			errno = ENOMEM;
			return -1;
		}
		machine.room--;
		assert_int_equal(machine.pfn[first + i], ABSENT);
		machine.pfn[first + i] = machine.next_pfn++;
	}
	return 0;
}

static int fake_madvise(void *addr, size_t len, int advice)
{
	if (advice == MADV_POPULATE_WRITE)
		return come(addr, len);
	assert_int_equal(advice, MADV_DONTNEED);
	drop(addr, len);
	return 0;
}

static long fake_process_madvise(const struct iovec *iov, size_t n)
{
	size_t done_bytes = 0;

	machine.calls++;
	assert_true(n <= 1024);
	if (machine.no_process_madvise) {
		errno = EINVAL;
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		size_t len = iov[i].iov_len;

		if (machine.most_bytes && len > machine.most_bytes - done_bytes)
			len = machine.most_bytes - done_bytes;
		drop(iov[i].iov_base, len);
		done_bytes += len;
	}
	return (long)done_bytes;
}

/* In place of that of guest/pin.c. */
int pin_pages(void *const *page, size_t n, const char **how, char *why, size_t why_room)
{
	*how = "test";
	for (size_t i = 0; i < n; i++) {
		size_t at = (size_t)((uint8_t *)page[i] - machine.region) / 4096;

		assert_true(at < PAGES && machine.npinned < PAGES);
		if (machine.moves_to)
			machine.pfn[at] = machine.moves_to[at];
		machine.pinned[machine.npinned++] = page[i];
	}
	return 0;
}

static struct task_shared shared;
static struct task_child child = { .shared = &shared };

/* Pages that stand in no order: 4096 of the pfns 1000 ... 5095, two zones that meet at 2048. */
static void make(struct layout *l)
{
	static struct expr_const round;

	memset(l, 0, sizeof(*l));
	l->consts = &round;
	memset(&machine, 0, sizeof(machine));
	machine.region = (uint8_t *)(uintptr_t)(1ULL << 40);
	for (uint32_t i = 0; i < PAGES; i++)
		machine.pfn[i] = 1000 + i * 2741 % PAGES; /* 2741 is odd: a permutation */
	l->child = &child;
	l->seed = 5;
	l->block_order = 6;
	l->block_pages = BLOCK;
	l->tolerance_ppm = 0;
	l->region = machine.region;
	l->region_pages = l->filled_pages = PAGES;
	l->pfn = calloc(PAGES, sizeof(*l->pfn));
	l->pfn_end = 1000 + PAGES;
	l->nblocks = l->pfn_end / BLOCK + 1;
	l->block = calloc(l->nblocks, sizeof(*l->block));
	l->freed = calloc(l->pfn_end / 8 + 1, 1);
	l->pinned = calloc(l->pfn_end / 8 + 1, 1);
	assert_int_equal(region_init(l), 0);
	machine.next_pfn = 1000;
	machine.room = PAGES;
	l->zones.n = 2;
	l->zones.zone[0] = (struct zone){ .name = "DMA32", .index = EXPR_ZONE_DMA32, .spanned = 2048 };
	l->zones.zone[1] = (struct zone){ .node = 1, .name = "Normal", .index = EXPR_ZONE_NORMAL,
					  .start_pfn = 2048, .spanned = 8192 };
	l->pagemap_fd = PAGEMAP_FD;
	assert_int_equal(layout_read_pfns(l, 0, PAGES), 0);
}

static void unmake(struct layout *l)
{
	free(l->pfn);
	free(l->block);
	free(l->freed);
	free(l->pinned);
	munmap(l->own, 4 * (size_t)(l->pfn_end / 8 + 1));
}

static int run(struct layout *l, const struct layout_step *step, struct step_report *r, ...)
{
	struct job job = { 0 };
	struct job_line *line = job_add(&job, "step", "do", step->name, NULL);
	const char *key;
	va_list ap;
	int ret;

	va_start(ap, r);
	while ((key = va_arg(ap, const char *)))
		job_line_set(line, key, va_arg(ap, const char *));
	va_end(ap);
	memset(r, 0, sizeof(*r));
	ret = ((layout_step_fn)step->run)(l, line, r);
	job_free(&job);
	return ret;
}

static void test_read_pfns(void **state)
{
	struct layout l;

	make(&l);
	for (uint32_t i = 0; i < PAGES; i++)
		assert_int_equal(l.pfn[i], machine.pfn[i]);
	machine.pfn[7] = ABSENT;
	machine.pfn[8] = 4000;
	l.pfn[7] |= LAYOUT_PINNED;
	l.pfn[8] |= LAYOUT_CHOSEN;
	l.pfn[10] = 1;
	assert_int_equal(layout_read_pfns(&l, 7, 3), 0);
	assert_int_equal(l.pfn[7], LAYOUT_PINNED | LAYOUT_GONE);
	assert_int_equal(l.pfn[8], LAYOUT_CHOSEN | 4000);
	assert_int_equal(l.pfn[10], 1); /* behind the range */
	unmake(&l);
}

static void test_align(void **state)
{
	struct layout l;

	make(&l);
	l.filled_pages = 2 * BLOCK;
	assert_int_equal(layout_align(&l), 2 * BLOCK);
	assert_int_equal(l.pfn[2 * BLOCK], machine.pfn[2 * BLOCK]);
	l.filled_pages = 2 * BLOCK + 1;
	assert_int_equal(layout_align(&l), 3 * BLOCK);
	assert_int_equal(l.pfn[2 * BLOCK], machine.pfn[2 * BLOCK]);
	for (size_t i = 2 * BLOCK + 1; i < 3 * BLOCK; i++)
		assert_int_equal(l.pfn[i], LAYOUT_GONE);
	assert_int_equal(l.pfn[3 * BLOCK], machine.pfn[3 * BLOCK]);
	l.filled_pages = PAGES;
	assert_int_equal(layout_align(&l), PAGES);
	unmake(&l);
}

static void test_within(void **state)
{
	struct layout l = { .tolerance_ppm = 20000 };

	assert_true(layout_within(&l, 100, 100));
	assert_true(layout_within(&l, 100, 98) && layout_within(&l, 100, 102));
	assert_false(layout_within(&l, 100, 97));
	assert_false(layout_within(&l, 100, 103));
	assert_true(layout_within(&l, 0, 0));
	assert_false(layout_within(&l, 0, 1));
	assert_false(layout_within(&l, 49, 50)); /* two per cent of 49 is no whole page */
	assert_true(layout_within(&l, UINT64_MAX, UINT64_MAX - UINT64_MAX / 50));
	assert_false(layout_within(&l, UINT64_MAX, 0));
	l.tolerance_ppm = 0;
	assert_true(layout_within(&l, 5, 5));
	assert_false(layout_within(&l, 1000000, 999999));
}

static struct expr *compile(const char *text)
{
	struct expr_error e;
	struct expr *x = expr_compile(text, (1u << EXPR_VAR_COUNT) - 1, NULL, 0, &e);

	assert_non_null(x);
	return x;
}

static void test_select(void **state)
{
	static uint8_t out[PAGES];
	struct layout l;
	struct expr *x;

	make(&l);
	for (size_t i = 0; i < PAGES; i += 5)
		l.pfn[i] = LAYOUT_GONE;
	l.pfn[1] |= LAYOUT_PINNED;
	l.pfn[2] |= LAYOUT_CHOSEN;
	x = compile("pfn % 8 == 4");
	assert_int_equal(layout_select(&l, x, 0, PAGES, out), 0);
	for (size_t i = 0; i < PAGES; i++) /* a mark is no part of the pfn */
		assert_int_equal(out[i], i % 5 && machine.pfn[i] % 8 == 4);
	expr_free(x);
	/* Zones and nodes, with pages that are gone in between. */
	x = compile("zone == normal && node == 1 && offset < 32");
	assert_int_equal(layout_select(&l, x, 0, PAGES, out), 0);
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(out[i], i % 5 && machine.pfn[i] >= 2048 && machine.pfn[i] % BLOCK < 32);
	expr_free(x);
	x = compile("zone == dma32");
	assert_int_equal(layout_select(&l, x, 0, PAGES, out), 0);
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(out[i], i % 5 && machine.pfn[i] < 2048);
	expr_free(x);
	/* All, but for those that are gone; a part of the region, and nothing written beside it. */
	x = compile("1");
	memset(out, 9, sizeof(out));
	assert_int_equal(layout_select(&l, x, 100, 200, out + 100), 0);
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(out[i], i < 100 || i >= 300 ? 9 : i % 5 != 0);
	expr_free(x);
	x = compile("block == 20");
	assert_int_equal(layout_select(&l, x, 0, PAGES, out), 0);
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(out[i], i % 5 && machine.pfn[i] / BLOCK == 20);
	expr_free(x);
	/* Two areas, as if they had been read. */
	l.cma = (struct cma){ .area = { { 1024, 1536 }, { 3000, 3001 } }, .n = 2, .pages = 513, .read = true };
	x = compile("cma && offset < 32");
	assert_int_equal(layout_select(&l, x, 0, PAGES, out), 0);
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(out[i], i % 5 && machine.pfn[i] % BLOCK < 32 &&
						 ((machine.pfn[i] >= 1024 && machine.pfn[i] < 1536) ||
						  machine.pfn[i] == 3000));
	expr_free(x);
	x = compile("!cma && zone == normal");
	assert_int_equal(layout_select(&l, x, 0, PAGES, out), 0);
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(out[i], i % 5 && machine.pfn[i] >= 2048 && machine.pfn[i] != 3000);
	expr_free(x);
	x = compile("1 / (pfn - 1501) == 0");
	l.pfn[33] = 1501;
	assert_int_equal(layout_select(&l, x, 0, PAGES, out), -1);
	expr_free(x);
	unmake(&l);
}

static void test_where(void **state)
{
	struct job job = { 0 };
	struct expr_const consts[2] = { { "residue", 4 } };
	struct layout l = { .consts = consts, .nconsts = 1 };
	struct step_report r = { .ok = true };
	struct expr *x = layout_where(&l, job_add(&job, "step", "where", "pfn % 8 == residue", NULL), &r);

	assert_non_null(x);
	expr_free(x);
	x = layout_where(&l, job_add(&job, "step", NULL), &r);
	assert_non_null(x);
	expr_free(x);
	assert_string_equal(r.why, "");
	x = layout_where(&l, job_add(&job, "step", "where", "pfn % 8 == round", "round", "3", NULL), &r);
	assert_non_null(x);
	expr_free(x);
	assert_null(layout_where(&l, job_add(&job, "step", "where", "pfn % 8 == round", NULL), &r));
	r.why[0] = '\0';
	assert_null(layout_where(&l, job_add(&job, "step", "where", "pfn % 8 == residu", NULL), &r));
	assert_non_null(strstr(r.why, "where: column 12: "));
	assert_non_null(strstr(r.why, "residue"));
	job_free(&job);
}

static void check_free(const char *where, bool (*is_picked)(uint32_t pfn), const char *how)
{
	uint32_t before[PAGES];
	struct step_report r;
	char expected[64];
	unsigned int picked = 0;
	struct layout l;
	bool no_process_madvise = machine.no_process_madvise;
	size_t most = machine.most_bytes;

	make(&l);
	machine.no_process_madvise = no_process_madvise;
	machine.most_bytes = most;
	memcpy(before, machine.pfn, sizeof(before));
	l.pfn[17] |= LAYOUT_PINNED;
	assert_int_equal(run(&l, &step_free, &r, "where", where, NULL), 0);
	assert_true(r.ok);
	assert_string_equal(r.how, how);
	for (uint32_t i = 0; i < PAGES; i++) {
		bool goes = is_picked(before[i]) && i != 17;

		picked += goes;
		assert_int_equal(machine.pfn[i], goes ? ABSENT : before[i]);
		assert_int_equal(LAYOUT_PFN(l.pfn[i]), goes ? LAYOUT_GONE : before[i]);
	}
	snprintf(expected, sizeof(expected), "\"pages\":%u", picked);
	assert_string_equal(r.asked, expected);
	assert_memory_equal(r.got, expected, strlen(expected));
	/* What is gone is not given back twice. */
	assert_int_equal(run(&l, &step_free, &r, "where", where, NULL), -1);
	assert_true(r.cannot);
	assert_non_null(strstr(r.why, strcmp(where, "1") == 0 ?
					      "the layout holds no page that is not pinned; pinned are 1" :
					      "where selects no page of the fill that is not pinned: "));
	unmake(&l);
}

static bool residue_4(uint32_t pfn)
{
	return pfn % 8 == 4;
}

static bool every(uint32_t pfn)
{
	return true;
}

static bool most_pages(uint32_t pfn)
{
	return pfn % 50 != 0;
}

static void test_free_pages(void **state)
{
	machine.no_process_madvise = false;
	machine.most_bytes = 0;
	check_free("pfn % 8 == 4", residue_4, "process_madvise");
	check_free("1", every, "process_madvise");
	check_free("pfn % 50 != 0", most_pages, "process_madvise");
	/* Before 6.13. */
	machine.no_process_madvise = true;
	check_free("pfn % 8 == 4", residue_4, "madvise");
	check_free("1", every, "madvise");
}

/* A call ends within a piece, as one of 2 GiB does: its rest goes with the next. */
static void test_free_in_parts(void **state)
{
	machine.no_process_madvise = false;
	for (size_t pages = 1; pages < 3000; pages = pages * 2 + 1) {
		machine.most_bytes = pages * 4096;
		check_free("1", every, "process_madvise");
		check_free("pfn % 50 != 0", most_pages, "process_madvise");
		check_free("pfn % 8 == 4", residue_4, "process_madvise");
	}
}

static void test_free_faults(void **state)
{
	struct step_report r;
	struct layout l;

	make(&l);
	assert_int_equal(run(&l, &step_free, &r, "where", "pfn == 1 / (pfn - 1200)", NULL), -1);
	assert_string_equal(r.why, "where: division by zero");
	assert_int_equal(run(&l, &step_free, &r, "where", "pfn ==", NULL), -1);
	assert_memory_equal(r.why, "where: column ", 14);
	assert_int_equal(run(&l, &step_free, &r, "where", "pfn < 1000", NULL), -1);
	unmake(&l);
}

/* What the map takes for pinned: the pages that stand so in the books, and no other. */
static void check_pinned_bits(const struct layout *l)
{
	bool pinned[1000 + PAGES] = { false };

	for (uint32_t i = 0; i < PAGES; i++)
		if (l->pfn[i] & LAYOUT_PINNED && LAYOUT_PFN(l->pfn[i]) != LAYOUT_GONE)
			pinned[LAYOUT_PFN(l->pfn[i])] = true;
	for (uint32_t pfn = 0; pfn < l->pfn_end; pfn++)
		assert_int_equal(l->pinned[pfn / 8] >> pfn % 8 & 1, pinned[pfn]);
}

/* Holes are filled before the end grows; a page that was given back and is taken again is not free. */
static void test_take_holes_first(void **state)
{
	struct layout l;

	make(&l);
	l.filled_pages = PAGES - 100;
	for (size_t i = PAGES - 100; i < PAGES; i++)
		machine.pfn[i] = ABSENT;
	for (size_t i = 10; i < 50; i += 2) { /* 20 holes */
		machine.pfn[i] = ABSENT;
		l.pfn[i] = LAYOUT_GONE;
	}
	bit_set(l.freed, 1003);
	bit_set(l.freed, 1500);
	l.nfreed = 2;
	assert_int_equal(region_take(&l, 5), 5);
	assert_int_equal(l.pfn[10], 1000);
	assert_int_equal(l.pfn[18], 1004);
	assert_int_equal(l.pfn[20], LAYOUT_GONE);
	assert_int_equal(l.nfreed, 1);
	assert_false(bit_test(l.freed, 1003));
	assert_true(bit_test(l.freed, 1500));
	assert_int_equal(region_take(&l, 20), 20); /* 15 holes, 5 behind the end */
	assert_int_equal(l.pfn[48], 1019);
	assert_int_equal(l.filled_pages, PAGES - 95);
	assert_int_equal(l.pfn[PAGES - 96], 1024);
	assert_int_equal(region_take(&l, 1000), 95); /* the address space ends */
	assert_int_equal(region_take(&l, 1), 0);
	unmake(&l);
}

/* What came before memory ran out is ours, and known. */
static void test_take_runs_out(void **state)
{
	struct layout l;

	make(&l);
	l.filled_pages = PAGES - 100;
	for (size_t i = PAGES - 100; i < PAGES; i++)
		machine.pfn[i] = ABSENT;
	machine.room = 30;
	assert_int_equal(region_take(&l, 100), -1);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(l.pfn[PAGES - 71], 1029);
	assert_int_equal(l.pfn[PAGES - 70], LAYOUT_GONE);
	unmake(&l);
}

static void test_map_and_give(void **state)
{
	struct layout l;
	struct expr *x = compile("pfn % 2 == 0");
	uint64_t count[ZONES_MAX];

	make(&l);
	l.pfn[3] |= LAYOUT_PINNED;
	l.pfn[5] = LAYOUT_GONE;
	assert_int_equal(region_map(&l, x), 0);
	for (uint32_t i = 0; i < PAGES; i++) {
		uint32_t pfn = machine.pfn[i];

		assert_int_equal(bit_test(l.own, pfn), i != 5);
		assert_int_equal(bit_test(l.avail, pfn), i != 5 && i != 3 && pfn % 2 == 0);
	}
	region_count_zones(&l, count); /* 1000 ... 2047 and 2048 ... 5095 */
	assert_int_equal(count[0] + count[1], PAGES - 1);
	assert_int_equal(count[machine.pfn[5] >= 2048], machine.pfn[5] >= 2048 ? 3047 : 1047);
	bit_set(l.pick, machine.pfn[3]); /* pinned: stays */
	bit_set(l.pick, machine.pfn[4]);
	bit_set(l.pick, machine.pfn[4000]);
	assert_int_equal(region_give_picked(&l), 0);
	assert_int_equal(region_reread(&l), 2);
	assert_int_equal(l.pfn[4], LAYOUT_GONE);
	assert_int_equal(l.pfn[4000], LAYOUT_GONE);
	assert_int_equal(l.pfn[3], machine.pfn[3] | LAYOUT_PINNED);
	assert_int_equal(l.nfreed, 2);
	assert_int_equal(region_reread(&l), 0);
	expr_free(x);
	unmake(&l);
}

/* Of each block the page that `at` names: worked out from the machine, not from the layout. */
static void check_pins(const struct layout *l, enum pin_at at)
{
	for (uint32_t b = 0; b < l->nblocks; b++) {
		uint32_t first = UINT32_MAX, last = 0, pinned = 0, n = 0;

		for (uint32_t i = 0; i < PAGES; i++) {
			if (machine.pfn[i] / BLOCK != b)
				continue;
			first = machine.pfn[i] < first ? machine.pfn[i] : first;
			last = machine.pfn[i] > last ? machine.pfn[i] : last;
			if (l->pfn[i] & LAYOUT_PINNED) {
				n++;
				pinned = machine.pfn[i];
			}
		}
		assert_int_equal(n, first != UINT32_MAX);
		if (n && at == AT_FIRST)
			assert_int_equal(pinned, first);
		if (n && at == AT_LAST)
			assert_int_equal(pinned, last);
	}
}

static void test_pin_per_block(void **state)
{
	static const char *const at[] = { "first", "last", "random" };
	/* pfns 1000 ... 5095 touch the blocks 15 ... 79 */
	const unsigned int blocks = 65;
	struct step_report r;
	struct layout l;

	for (int i = 0; i < 3; i++) {
		make(&l);
		assert_int_equal(run(&l, &step_pin, &r, "at", at[i], NULL), 0);
		assert_true(r.ok);
		assert_int_equal(machine.npinned, blocks);
		assert_string_equal(r.asked, "\"blocks_with_pin\":65");
		assert_memory_equal(r.got, "\"blocks_with_pin\":65,", 21);
		assert_non_null(strstr(r.got, "\"pins\":65,\"moved\":0"));
		assert_string_equal(r.how, "test");
		check_pins(&l, (enum pin_at)i);
		check_pinned_bits(&l);
		/* Every block has its pin: there is nothing left to choose. */
		assert_int_equal(run(&l, &step_pin, &r, NULL), -1);
		assert_true(r.cannot);
		assert_string_equal(r.why, "no page is left to pin: the pageblocks have their pins already");
		assert_int_equal(run(&l, &step_pin, &r, "where", "pfn < 1000", NULL), -1);
		/* 4096 pages from pfn 1000 on, of which 65 are pinned; the zones meet at pfn 2048, in block 32. */
		assert_non_null(strstr(r.why, "where selects no page of the fill that is not pinned: 1031 pages in "
					      "DMA32 of node 0 (pfn 100"));
		assert_int_equal(machine.npinned, blocks);
		unmake(&l);
	}
}

/* The blocks 15 ... 79 hold the fill; those from `first` have one pin each, the others none. */
static void check_pinned_from(const struct layout *l, uint32_t first)
{
	unsigned int pins[PAGES] = { 0 };

	for (uint32_t i = 0; i < PAGES; i++) {
		assert_false(l->pfn[i] & LAYOUT_CHOSEN);
		pins[machine.pfn[i] / BLOCK] += !!(l->pfn[i] & LAYOUT_PINNED);
	}
	for (uint32_t b = 15; b <= 79; b++)
		assert_int_equal(pins[b], b >= first);
}

static void test_pin_except(void **state)
{
	static const char *const at[] = { "first", "last", "random" };
	struct step_report r;
	struct layout l;

	for (int i = 0; i < 3; i++) {
		make(&l);
		assert_int_equal(run(&l, &step_pin, &r, "at", at[i], "except", "5", NULL), 0);
		assert_true(r.ok);
		assert_int_equal(machine.npinned, 60);
		assert_string_equal(r.asked, "\"blocks_with_pin\":60");
		assert_non_null(strstr(r.got, "\"pins\":60,\"moved\":0"));
		check_pinned_from(&l, 20);
		/* The five that are left are the lowest without a pin: of seven none is chosen. */
		assert_int_equal(run(&l, &step_pin, &r, "except", "7", NULL), -1);
		assert_string_equal(r.why, "no page is left to pin: except passes over the pageblocks");
		check_pinned_from(&l, 20);
		/* Without it they get theirs, and the report counts the old ones too. */
		assert_int_equal(run(&l, &step_pin, &r, "except", "2", NULL), 0);
		assert_true(r.ok);
		assert_int_equal(machine.npinned, 63);
		assert_string_equal(r.asked, "\"blocks_with_pin\":63");
		check_pinned_from(&l, 17);
		unmake(&l);
	}
}

/* The lowest of those that the predicate leaves; all but one; all. */
static void test_pin_except_where(void **state)
{
	struct step_report r;
	struct layout l;

	make(&l);
	assert_int_equal(run(&l, &step_pin, &r, "where", "block >= 30", "except", "3", NULL), 0);
	assert_true(r.ok);
	assert_int_equal(machine.npinned, 47);
	check_pinned_from(&l, 33);
	unmake(&l);
	make(&l);
	assert_int_equal(run(&l, &step_pin, &r, "except", "64", NULL), 0);
	assert_true(r.ok);
	check_pinned_from(&l, 79);
	unmake(&l);
	make(&l);
	assert_int_equal(run(&l, &step_pin, &r, "except", "65", NULL), -1);
	assert_int_equal(machine.npinned, 0);
	check_pinned_from(&l, 80);
	unmake(&l);
}

/* A second step adds pins only to the blocks that have none. */
static void test_pin_twice(void **state)
{
	struct step_report r;
	struct layout l;

	make(&l);
	assert_int_equal(run(&l, &step_pin, &r, "where", "block < 30", NULL), 0);
	assert_true(r.ok);
	assert_int_equal(machine.npinned, 15);
	assert_int_equal(run(&l, &step_pin, &r, "at", "last", NULL), 0);
	assert_true(r.ok);
	assert_int_equal(machine.npinned, 65);
	check_pins(&l, AT_RANDOM); /* one each, wherever */
	check_pinned_bits(&l);
	/* A pinned page is not given back, and one that vanished all the same is no page any more. */
	assert_int_equal(run(&l, &step_free, &r, "where", "1", NULL), 0);
	assert_memory_equal(r.asked, "\"pages\":4031", 12);
	for (uint32_t i = 0; i < PAGES; i++)
		if (l.pfn[i] & LAYOUT_PINNED)
			machine.pfn[i] = ABSENT;
	assert_int_equal(layout_read_pfns(&l, 0, PAGES), 0);
	assert_int_equal(run(&l, &step_pin, &r, NULL), -1);
	unmake(&l);
}

static void test_pin_pages(void **state)
{
	struct step_report r;
	struct layout l;
	uint64_t n = 0;

	make(&l);
	assert_int_equal(run(&l, &step_pin, &r, "per", "page", "where", "pfn % 16 == 3", NULL), 0);
	assert_true(r.ok);
	for (uint32_t i = 0; i < PAGES; i++) {
		assert_int_equal(!!(l.pfn[i] & LAYOUT_PINNED), machine.pfn[i] % 16 == 3);
		assert_false(l.pfn[i] & LAYOUT_CHOSEN);
		n += machine.pfn[i] % 16 == 3;
	}
	assert_int_equal(n, 256);
	assert_string_equal(r.asked, "\"pins\":256");
	assert_string_equal(r.got, "\"pins\":256,\"moved\":0");
	unmake(&l);
}

/* Of 65 blocks so many get a pin; which ones is the seed's choice. */
static void test_pin_some(void **state)
{
	static uint32_t first[PAGES];
	struct step_report r;
	struct layout l;

	for (int i = 0; i < 3; i++) {
		make(&l);
		l.seed = i == 2 ? 6 : 5;
		assert_int_equal(run(&l, &step_pin, &r, "count", "20", NULL), 0);
		assert_true(r.ok);
		assert_int_equal(machine.npinned, 20);
		assert_string_equal(r.asked, "\"blocks_with_pin\":20");
		for (size_t k = 0; k < PAGES; k++)
			assert_false(l.pfn[k] & LAYOUT_CHOSEN);
		if (i == 0)
			memcpy(first, l.pfn, sizeof(first));
		else if (i == 1)
			assert_memory_equal(first, l.pfn, sizeof(first));
		else
			assert_memory_not_equal(first, l.pfn, sizeof(first));
		/* Of the 45 that are left a third. */
		assert_int_equal(run(&l, &step_pin, &r, "share", "333333", NULL), 0);
		assert_int_equal(machine.npinned, 35);
		assert_string_equal(r.asked, "\"blocks_with_pin\":35");
		assert_int_equal(run(&l, &step_pin, &r, "count", "31", NULL), -1);
		assert_string_equal(r.why, "count is 31, and there are 30 to choose from");
		assert_int_equal(run(&l, &step_pin, &r, "share", "0", NULL), -1);
		assert_int_equal(run(&l, &step_pin, &r, "share", "1000", "count", "1", NULL), -1);
		assert_string_equal(r.why, "count and share: one of them");
		assert_int_equal(machine.npinned, 35);
		unmake(&l);
	}
	make(&l);
	assert_int_equal(run(&l, &step_pin, &r, "per", "page", "where", "pfn % 16 == 3", "share", "500000", NULL),
			 0);
	assert_string_equal(r.got, "\"pins\":128,\"moved\":0");
	unmake(&l);
}

static void test_free_some(void **state)
{
	struct step_report r;
	struct layout l;

	make(&l);
	assert_int_equal(run(&l, &step_free, &r, "where", "pfn % 2 == 0", "share", "250000", NULL), 0);
	assert_true(r.ok);
	assert_string_equal(r.asked, "\"pages\":512"); /* of 2048 */
	assert_int_equal(l.nfreed, 512);
	for (uint32_t i = 0; i < PAGES; i++)
		assert_true(machine.pfn[i] != ABSENT || bit_test(l.freed, 1000 + i * 2741 % PAGES));
	assert_int_equal(run(&l, &step_free, &r, "where", "1", "count", "7", NULL), 0);
	assert_int_equal(l.nfreed, 519);
	assert_int_equal(run(&l, &step_free, &r, "where", "1", "count", "3578", NULL), -1);
	assert_string_equal(r.why, "count is 3578, and there are 3577 to choose from");
	assert_int_equal(l.nfreed, 519);
	unmake(&l);
}

static void test_sample(void **state)
{
	static const uint64_t wants[] = { 0, 1, 500, 999, 1000 };
	unsigned int low = 0;

	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		struct sample s = { 1000, wants[i], 77 };
		uint64_t n = 0;

		for (uint32_t k = 0; k < 1000; k++)
			n += sample_take(&s, k);
		assert_int_equal(n, wants[i]);
		assert_int_equal(s.left, 0);
	}
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct sample s = { 1000, 100, seed };

		for (uint32_t k = 0; k < 500; k++)
			low += sample_take(&s, k);
	}
	assert_in_range(low, 4700, 5300); /* 5000; the standard deviation is 47 */
}

/* Three pins: one stands, one has moved, one is gone. */
static void test_pin_check(void **state)
{
	struct step_report r;
	struct layout l;
	uint64_t moved;
	size_t pin[3], n = 0;

	make(&l);
	assert_int_equal(pin_check(&l, &moved), 0);
	assert_int_equal(run(&l, &step_pin, &r, "count", "3", NULL), 0);
	assert_int_equal(pin_check(&l, &moved), 3);
	assert_int_equal(moved, 0);
	for (size_t i = 0; i < PAGES; i++)
		if (l.pfn[i] & LAYOUT_PINNED)
			pin[n++] = i;
	machine.pfn[pin[0]]++;
	machine.pfn[pin[2]] = ABSENT;
	machine.pfn[pin[1] + 1] = 7; /* no pin: may go where it likes */
	assert_int_equal(pin_check(&l, &moved), 3);
	assert_int_equal(moved, 2);
	unmake(&l);
}

/* The kernel moves pages as it pins them: all go to one block, and the report says so. */
static void test_pins_that_move(void **state)
{
	static uint32_t to[PAGES];
	struct step_report r;
	struct layout l;

	make(&l);
	for (uint32_t i = 0; i < PAGES; i++)
		to[i] = 1024 + i % BLOCK;
	machine.moves_to = to;
	assert_int_equal(run(&l, &step_pin, &r, NULL), 0);
	assert_false(r.ok);
	assert_memory_equal(r.got, "\"blocks_with_pin\":1,", 20);
	check_pinned_bits(&l);
	unmake(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_pfns),
		cmocka_unit_test(test_align),
		cmocka_unit_test(test_within),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_free_pages),
		cmocka_unit_test(test_free_in_parts),
		cmocka_unit_test(test_free_faults),
		cmocka_unit_test(test_take_holes_first),
		cmocka_unit_test(test_take_runs_out),
		cmocka_unit_test(test_map_and_give),
		cmocka_unit_test(test_pin_per_block),
		cmocka_unit_test(test_pin_except),
		cmocka_unit_test(test_pin_except_where),
		cmocka_unit_test(test_pin_twice),
		cmocka_unit_test(test_pin_pages),
		cmocka_unit_test(test_pins_that_move),
		cmocka_unit_test(test_pin_some),
		cmocka_unit_test(test_free_some),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_pin_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
