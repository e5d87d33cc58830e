// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map of a pretended machine: pread() of /proc/kpageflags is replaced, the samples go to a file
 * in place of PID 1's pipe. What a map is to say is worked out by hand.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static ssize_t fake_pread(int fd, void *buf, size_t len, long at);

#define pread fake_pread
#include "guest/pageblocks.c"
#undef pread

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define KPAGEFLAGS_FD 1000
#define PAGES (1u << 21)

/* As kernels show them: 6.12 and 7.3 under QEMU, but for what is said to be of old ones. */
#define FREE 0x400ull
#define ANON_LRU 0x5828ull
#define ANON_MLOCKED 0x60004582cull
#define SHMEM_WAITS 0x4008ull /* swap-backed, not on its list yet */
#define ANON_WAITS 0x5808ull
#define FILE_LRU 0x2cull
#define THP_HEAD 0x40d83cull
#define THP_TAIL 0x41583cull
#define THP_TAIL_OLD 0x410000ull
#define SLAB_HEAD 0x8080ull
#define SLAB_TAIL_OLD 0x10000ull
#define SLAB_LOOKS_ANON 0x1080ull
#define PAGE_TABLE 0x4000004ull
#define RESERVED 0x100000000ull
#define VDSO 0x100000804ull
#define KERNEL_MAPPED 0x800ull
#define OFFLINE 0x800000ull
#define HUGETLB_HEAD 0x29808ull
#define HUGETLB_TAIL 0x31808ull
#define POISONED 0x80020ull
#define NOPAGE 0x100000ull

static struct {
	uint64_t *flags;
	uint64_t end;	  /* of the array: what lies behind reads as nothing */
	size_t most;	  /* entries that one read gives; 0: all */
	uint64_t fails_at; /* 0: never */
	uint64_t read;	  /* entries, in all */
} machine;

static ssize_t fake_pread(int fd, void *buf, size_t len, long at)
{
	uint64_t first = (uint64_t)at / 8, n = len / 8;

	assert_int_equal(fd, KPAGEFLAGS_FD);
	assert_int_equal(at % 8 + len % 8, 0);
	if (machine.fails_at && first + n > machine.fails_at)
		return -1;
	if (first >= machine.end)
		return 0;
	n = n < machine.end - first ? n : machine.end - first;
	n = machine.most && n > machine.most ? machine.most : n;
	memcpy(buf, machine.flags + first, n * 8);
	machine.read += n;
	return (ssize_t)(n * 8);
}

static struct task_shared shared;
static struct task_child child = { .shared = &shared };
static char text[4u << 20]; /* the chunks of a map, one after the other */

static int setup(void **state)
{
	machine.flags = calloc(PAGES, sizeof(*machine.flags));
	return machine.flags ? 0 : -1;
}

static int teardown(void **state)
{
	free(machine.flags);
	return 0;
}

/* All free, in an array as long as the machine. */
static struct pageblocks make(uint64_t pfn_end, unsigned int order)
{
	for (size_t i = 0; i < PAGES; i++)
		machine.flags[i] = FREE;
	machine.end = pfn_end;
	machine.most = 0;
	machine.fails_at = machine.read = 0;
	return (struct pageblocks){ .kpageflags_fd = KPAGEFLAGS_FD, .pfn_end = pfn_end, .order = order };
}

/* A whole map; its text goes to text[], what pageblocks_read() said to *freed, the chunks are counted. */
static unsigned int make_map(struct pageblocks *p, enum wire_phase phase, int64_t *freed)
{
	static char message[TASK_MESSAGE_MAX];
	FILE *f = tmpfile();
	struct task t = { .report_fd = fileno(f) };
	struct wire_sample s;
	unsigned int chunks = 0;
	size_t len = 0;
	uint32_t n;

	assert_non_null(f);
	child.report_fd = fileno(f);
	assert_int_equal(pageblocks_init(p), 0);
	for (int twice = 0; twice < 2; twice++) /* the second does not add to the first */
		*freed = pageblocks_read(p, &child);
	if (*freed >= 0)
		pageblocks_send(p, &child, phase);
	munmap(p->count, (p->nblocks + 1) * sizeof(*p->count));
	assert_int_equal(lseek(fileno(f), 0, SEEK_SET), 0);
	for (int type; (type = task_read(&t, message, &n)) > 0; chunks++) {
		assert_int_equal(type, WIRE_SAMPLE);
		assert_true(wire_sample_parse((uint8_t *)message, n, &s));
		assert_string_equal(s.name, "pageblocks");
		assert_int_equal(s.phase, phase);
		assert_int_equal(s.edge, EDGE_END);
		assert_true(s.mono_ns > 0);
		assert_true(len + s.len < sizeof(text));
		memcpy(text + len, s.data, s.len);
		len += s.len;
	}
	text[len] = '\0';
	fclose(f);
	return chunks;
}

static void assert_map(struct pageblocks *p, const char *expected)
{
	int64_t freed;

	make_map(p, PHASE_LAYOUT, &freed);
	assert_string_equal(text, expected);
}

static void test_kinds(void **state)
{
	static const struct {
		uint64_t flags;
		enum page_kind head, kind;
	} cases[] = {
		{ FREE, PAGE_HOLE, PAGE_FREE },
		{ ANON_LRU, PAGE_HOLE, PAGE_MOVABLE },
		{ ANON_MLOCKED, PAGE_HOLE, PAGE_MOVABLE },
		{ ANON_WAITS, PAGE_HOLE, PAGE_MOVABLE },
		{ SHMEM_WAITS, PAGE_HOLE, PAGE_MOVABLE },
		{ FILE_LRU, PAGE_UNMOVABLE, PAGE_MOVABLE },
		{ THP_HEAD, PAGE_UNMOVABLE, PAGE_MOVABLE },
		{ THP_TAIL, PAGE_MOVABLE, PAGE_MOVABLE },
		{ THP_TAIL_OLD, PAGE_MOVABLE, PAGE_MOVABLE },
		{ SLAB_HEAD, PAGE_MOVABLE, PAGE_UNMOVABLE },
		{ SLAB_TAIL_OLD, PAGE_UNMOVABLE, PAGE_UNMOVABLE },
		{ SLAB_LOOKS_ANON, PAGE_MOVABLE, PAGE_UNMOVABLE },
		{ PAGE_TABLE, PAGE_MOVABLE, PAGE_UNMOVABLE },
		{ RESERVED, PAGE_MOVABLE, PAGE_UNMOVABLE },
		{ VDSO, PAGE_MOVABLE, PAGE_UNMOVABLE },
		{ KERNEL_MAPPED, PAGE_MOVABLE, PAGE_UNMOVABLE },
		{ OFFLINE, PAGE_MOVABLE, PAGE_UNMOVABLE },
		{ HUGETLB_HEAD, PAGE_MOVABLE, PAGE_UNMOVABLE },
		{ HUGETLB_TAIL, PAGE_UNMOVABLE, PAGE_UNMOVABLE },
		{ POISONED, PAGE_MOVABLE, PAGE_UNMOVABLE },
		{ 0, PAGE_MOVABLE, PAGE_UNMOVABLE },
		{ NOPAGE, PAGE_MOVABLE, PAGE_HOLE },
		/* The head was given back before its tail was looked at, or the tail was made since. */
		{ THP_TAIL, PAGE_FREE, PAGE_MOVABLE },
		{ SLAB_TAIL_OLD, PAGE_FREE, PAGE_UNMOVABLE },
		{ THP_TAIL, PAGE_HOLE, PAGE_MOVABLE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (page_kind(cases[i].flags, cases[i].head) != cases[i].kind)
			fail_msg("case %zu", i);
}

static void test_counts(void **state)
{
	struct pageblocks p = make(32, 3);
	uint8_t pinned[4] = { 0 };

	/* 0: free but for a page table and two of the fill; 1: full, one pin; 2: free; 3: a slab of 8. */
	machine.flags[0] = PAGE_TABLE;
	machine.flags[3] = machine.flags[4] = ANON_LRU;
	for (unsigned int i = 8; i < 16; i++)
		machine.flags[i] = ANON_LRU;
	pinned[1] = 1 << 5;
	machine.flags[24] = SLAB_HEAD;
	for (unsigned int i = 25; i < 32; i++)
		machine.flags[i] = SLAB_TAIL_OLD;
	p.pinned = pinned;
	assert_map(&p, "pageblocks 1 order 3 first 0 blocks 4\n"
		       "0 5 0 2 1 0\n"
		       "1 0 1 7 0 0\n"
		       "2 8 0 0 0 0\n"
		       "3 0 0 0 8 0\n");
	/* The same without pins. */
	p.pinned = NULL;
	assert_map(&p, "pageblocks 1 order 3 first 0 blocks 4\n"
		       "0 5 0 2 1 0\n"
		       "1 0 0 8 0 0\n"
		       "2 8 0 0 0 0\n"
		       "3 0 0 0 8 0\n");
	assert_int_equal(atomic_load(&shared.done), 32);
	assert_int_equal(atomic_load(&shared.total), 32);
}

/* A pin within a huge page is that page alone; a compound page reaches over blocks and over reads. */
static void test_compound(void **state)
{
	struct pageblocks p = make(32, 2);
	uint8_t pinned[4] = { 1 << 4, 0, 0, 0 };

	machine.flags[4] = THP_HEAD;
	for (unsigned int i = 5; i < 20; i++)
		machine.flags[i] = THP_TAIL_OLD;
	machine.flags[20] = SLAB_HEAD;
	for (unsigned int i = 21; i < 28; i++)
		machine.flags[i] = SLAB_TAIL_OLD;
	p.pinned = pinned;
	for (machine.most = 0; machine.most < 8; machine.most++)
		assert_map(&p, "pageblocks 1 order 2 first 0 blocks 8\n"
			       "0 4 0 0 0 0\n1 0 1 3 0 0\n2 0 0 4 0 0\n3 0 0 4 0 0\n4 0 0 4 0 0\n"
			       "5 0 0 0 4 0\n6 0 0 0 4 0\n7 4 0 0 0 0\n");
}

static void test_holes(void **state)
{
	static const struct ram ram = { { { 1, 6 }, { 9, 10 }, { 24, 40 } }, 3 };
	struct pageblocks p = make(30, 2);

	/* As the flags say: 8 ... 19 do not exist; the last block is half there. */
	for (unsigned int i = 8; i < 20; i++)
		machine.flags[i] = NOPAGE;
	machine.flags[20] = NOPAGE;
	assert_map(&p, "pageblocks 1 order 2 first 0 blocks 8\n"
		       "0 4 0 0 0 0\n1 4 0 0 0 0\n5 3 0 0 0 1\n6 4 0 0 0 0\n7 2 0 0 0 2\n");
	/* As /proc/iomem says, where the flags say nothing; what is a hole is not even read. */
	p = make(30, 2);
	p.ram = ram;
	for (unsigned int i = 0; i < 30; i++)
		machine.flags[i] = i < 12 || i >= 24 ? FREE : 0;
	assert_map(&p, "pageblocks 1 order 2 first 0 blocks 8\n"
		       "0 3 0 0 0 1\n1 2 0 0 0 2\n2 1 0 0 0 3\n6 4 0 0 0 0\n7 2 0 0 0 2\n");
	assert_int_equal(machine.read, 2 * (5 + 1 + 6));
	/* The kernel's array ends within a block. */
	p = make(16, 2);
	machine.end = 9;
	assert_map(&p, "pageblocks 1 order 2 first 0 blocks 4\n0 4 0 0 0 0\n1 4 0 0 0 0\n2 1 0 0 0 3\n");
	/* No machine at all. */
	p = make(0, 9);
	assert_map(&p, "");
}

/* What the proof asks: of the pages given back, those that are on a buddy list. */
/* The structs of the first 64 pages, read beforehand; that of a page nobody holds is 0 and -1. */
static void make_memmap(struct memmap *m, const uint8_t *free)
{
	*m = (struct memmap){ .n = 1, .range = { { 0, 64, 0 } }, .size = 64, .refcount = 52, .mapcount = 48,
			      .lru = 8 };
	for (unsigned int pfn = 0; pfn < 64; pfn++) {
		m->chunk[pfn * 64 + 52] = !free[pfn];
		memset(m->chunk + pfn * 64 + 48, 0xff, 4);
		memset(m->chunk + pfn * 64 + 8 + 1, 0xff, 7); /* an even address of the kernel's: on a list */
	}
}

/*
 * Four blocks of 8. 0: free on a buddy list, but for 2 pages on a per-CPU list; 1: 7 pages of the fill
 * and one on a per-CPU list; 2: the same with one of the kernel's that has no flag; 3: the kernel's.
 */
static void test_per_cpu_lists(void **state)
{
	struct pageblocks p = make(32, 3);
	uint8_t free[64] = { 0 };
	FILE *f = tmpfile();

	for (unsigned int i = 8; i < 32; i++)
		machine.flags[i] = i < 24 ? ANON_LRU : 0;
	machine.flags[2] = machine.flags[3] = machine.flags[12] = machine.flags[20] = machine.flags[21] = 0;
	free[2] = free[3] = free[12] = free[20] = 1;
	free[9] = 1; /* has flags, which say more */
	assert_map(&p, "pageblocks 1 order 3 first 0 blocks 4\n"
		       "0 6 0 0 2 0\n"
		       "1 0 0 7 1 0\n"
		       "2 0 0 6 2 0\n"
		       "3 0 0 0 8 0\n");
	make_memmap(&p.memmap, free);
	p.memmap.fd = fileno(f);
	assert_int_equal(fwrite(p.memmap.chunk, 64, 64, f), 64);
	fflush(f);
	assert_map(&p, "pageblocks 1 order 3 first 0 blocks 4\n"
		       "0 8 0 0 0 0\n"
		       "1 1 0 7 0 0\n"
		       "2 1 0 6 1 0\n"
		       "3 0 0 0 8 0\n");
	fclose(f);
}

/*
 * Pages of the kernel's are in the pageblocks 1 and 4. In 0 one is pinned by the layout, in 2 it is
 * hugetlb, 3 is free. A block of the map has two pageblocks.
 */
static void test_kernels(void **state)
{
	struct pageblocks p = make(40, 4);
	uint8_t pinned[5] = { 1 << 3 }, kernels[2] = { 0xff, 0xff };

	machine.flags[3] = 0;
	machine.flags[15] = PAGE_TABLE;
	for (unsigned int i = 16; i < 24; i++)
		machine.flags[i] = i > 16 ? HUGETLB_TAIL : HUGETLB_HEAD;
	machine.flags[32] = SLAB_HEAD;
	p.pinned = pinned;
	p.kernels = kernels;
	p.kernels_order = 3;
	assert_map(&p, "pageblocks 1 order 4 first 0 blocks 3\n0 14 1 0 1 0\n1 8 0 0 8 0\n2 7 0 0 1 8\n");
	assert_int_equal(kernels[0], 1 << 1 | 1 << 4);
}

static void test_freed(void **state)
{
	struct pageblocks p = make(20000, 9);
	uint8_t *given = calloc(20000 / 8 + 1, 1);
	int64_t freed;

	assert_non_null(given);
	for (unsigned int i = 4; i < 20000; i += 8)
		given[i / 8] |= 1 << 4;
	make_map(&p, PHASE_COLLECT, &freed);
	assert_int_equal(freed, 0);
	p.freed = given;
	make_map(&p, PHASE_COLLECT, &freed);
	assert_int_equal(freed, 2500);
	machine.flags[4] = 0; /* on a per-CPU list */
	machine.flags[19996] = ANON_LRU;
	machine.flags[5] = 0;
	make_map(&p, PHASE_COLLECT, &freed);
	assert_int_equal(freed, 2498);
	free(given);
}

static void test_cannot_be_read(void **state)
{
	struct pageblocks p = make(20000, 9);
	int64_t freed;

	machine.fails_at = 10000;
	make_map(&p, PHASE_LAYOUT, &freed);
	assert_int_equal(freed, -1);
}

/* Reads text[], whose chunks must follow one another; returns the blocks covered. */
static uint64_t check_chunks(unsigned int order, unsigned int chunks, uint64_t pages)
{
	uint64_t covered = 0, last = 0, sum = 0;
	unsigned int n = 0;

	for (char *line = text; *line; line = strchr(line, '\n') + 1) {
		uint64_t block, first, blocks, kind[PAGE_KINDS], all = 0;
		unsigned int o;

		if (sscanf(line, "pageblocks 1 order %u first %" SCNu64 " blocks %" SCNu64 "\n", &o, &first,
			   &blocks) == 3) {
			assert_int_equal(o, order);
			assert_int_equal(first, covered);
			assert_in_range(blocks, 1, PAGEBLOCKS_CHUNK);
			covered += blocks;
			n++;
			continue;
		}
		assert_int_equal(sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
					" %" SCNu64, &block, &kind[0], &kind[1], &kind[2], &kind[3],
					&kind[4]), 6);
		assert_true(block < covered && (!block || block > last));
		last = block;
		for (int k = 0; k < PAGE_KINDS; k++)
			all += kind[k];
		assert_int_equal(all, 1u << order);
		sum += kind[PAGE_FREE];
	}
	assert_int_equal(n, chunks);
	assert_int_equal(sum, pages);
	return covered;
}

/* 1, 511, 512, 513 ... blocks; the last one may be cut off. */
static void test_chunks(void **state)
{
	static const unsigned int blocks[] = { 1, 511, 512, 513, 1023, 1024, 1025, 2048, 4095 };

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		for (uint64_t cut = 0; cut < 512; cut += 511) {
			struct pageblocks p = make((uint64_t)blocks[i] * 512 - cut, 9);
			int64_t freed;
			unsigned int chunks = make_map(&p, PHASE_LAYOUT, &freed);

			assert_int_equal(chunks, (blocks[i] + 511) / 512);
			assert_int_equal(check_chunks(9, chunks, p.pfn_end), blocks[i]);
		}
	}
}

/* Pageblocks of one order less than would be too many, and of the least order there is. */
static void test_bounded(void **state)
{
	struct pageblocks p = make(PAGES, 5); /* 65,536 blocks: as many as may be */
	int64_t freed;

	assert_int_equal(make_map(&p, PHASE_LAYOUT, &freed), 128);
	assert_int_equal(check_chunks(5, 128, PAGES), 65536);
	p.order = 4;
	assert_int_equal(make_map(&p, PHASE_LAYOUT, &freed), 128);
	assert_int_equal(check_chunks(5, 128, PAGES), 65536);
	p.order = 0;
	assert_int_equal(make_map(&p, PHASE_LAYOUT, &freed), 128);
	assert_int_equal(check_chunks(5, 128, PAGES), 65536);
	assert_true(strlen(text) < 2u << 20);
}

/* The longest lines that a guest of 4 TiB could have fit into a message: see LINE_MAX. */
static void test_long_lines(void **state)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%u %u %u %u %u %u\n", PAGEBLOCKS_MAX - 1, UINT32_MAX, UINT32_MAX,
			 UINT32_MAX, UINT32_MAX, UINT32_MAX);

	assert_true(n <= LINE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_compound),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_per_cpu_lists), cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_freed),
		cmocka_unit_test(test_cannot_be_read),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_long_lines),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
