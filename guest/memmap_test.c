// SPDX-License-Identifier: GPL-2.0-only
/* A core made here: a note, two pieces of RAM, and behind each the structs of its pages. */
#include "guest/memmap.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define PAGE 4096ull
#define NOTE_AT 0x1000
#define LOW_MAP_AT 0x10000	/* pfns 1 ... 157, as on x86: the first struct is that of pfn 0 */
#define HIGH_MAP_AT 0x20000 /* pfns 256 ... 1255 */
#define STRUCT 64u
#define REFCOUNT 52
#define MAPCOUNT 48
#define LRU 8
#define MAP 0xffd4000000000000ull /* address of the struct of page frame 0 */

enum { NOTE, TEXT, VMALLOC, LOW, LOW_MAP, HIGH, HIGH_MAP, SEGMENTS };

static struct {
	Elf64_Ehdr head;
	Elf64_Phdr p[SEGMENTS];
} core;

static const char note[] = "CORE\nOSRELEASE=7.3.4\nBUILD-ID=00\nPAGESIZE=4096\nSIZE(page)=64\n"
			   "OFFSET(page.flags)=0\nOFFSET(page.lru)=8\nOFFSET(page._refcount)=52\nOFFSET(page._mapcount)=48\n"
			   "KERNELOFFSET=0\n";
static char path[] = "/tmp/mmrig memmap XXXXXX";
static int fd;
static struct memmap m;

static void put(const void *data, size_t n, off_t at)
{
	assert_int_equal(pwrite(fd, data, n, at), n);
}

static void put_note(const char *text)
{
	core.p[NOTE].p_filesz = strlen(text);
	put(text, strlen(text), NOTE_AT);
	put(&core, sizeof(core), 0);
}

static off_t place_of(uint64_t pfn)
{
	return pfn < 256 ? LOW_MAP_AT + (off_t)(pfn * STRUCT) : HIGH_MAP_AT + (off_t)((pfn - 256) * STRUCT);
}

static void put_next(uint64_t pfn, uint64_t next)
{
	put(&next, 8, place_of(pfn) + LRU);
}

/* What nobody holds is on a list, as far as put_next() does not say otherwise. */
static void put_page(uint64_t pfn, int32_t refcount, int32_t mapcount)
{
	off_t at = place_of(pfn);

	put_next(pfn, refcount ? 0xdead000000000100 : 0xff110000fea43ab8);
	put(&refcount, 4, at + REFCOUNT);
	put(&mapcount, 4, at + MAPCOUNT);
}

static Elf64_Phdr segment(uint64_t vaddr, uint64_t paddr, uint64_t bytes, uint64_t at)
{
	return (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = vaddr, .p_paddr = paddr, .p_filesz = bytes,
			     .p_memsz = bytes, .p_offset = at };
}

static int make(void **state)
{
	const uint64_t map = MAP, nowhere = UINT64_MAX;

	memset(&core, 0, sizeof(core));
	memcpy(core.head.e_ident, ELFMAG, SELFMAG);
	core.head.e_ident[EI_CLASS] = ELFCLASS64;
	core.head.e_phoff = sizeof(core.head);
	core.head.e_phentsize = sizeof(core.p[0]);
	core.head.e_phnum = SEGMENTS;
	core.p[NOTE] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = NOTE_AT };
	core.p[TEXT] = segment(0xffffffff81000000, 0x1000000, 16 * PAGE, 0x40000000);
	core.p[VMALLOC] = segment(0xffa0000000000000, nowhere, PAGE << 20, 0x50000000);
	/* 157 structs begin at byte 64 of the first page, and end in the third. */
	core.p[LOW] = segment(0xff11000000001000, 1 * PAGE, 157 * PAGE, 0x60000000);
	core.p[LOW_MAP] = segment(map, nowhere, 3 * PAGE, LOW_MAP_AT);
	/* 256 structs are four pages; 1000 more are 15 pages and a part of one. */
	core.p[HIGH] = segment(0xff11000000100000, 256 * PAGE, 1000 * PAGE, 0x70000000);
	core.p[HIGH_MAP] = segment(map + 4 * PAGE, nowhere, 16 * PAGE, HIGH_MAP_AT);
	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, HIGH_MAP_AT + 16 * PAGE) < 0)
		return -1;
	put_note(note);
	for (uint64_t pfn = 1; pfn < 1256; pfn++)
		if (pfn < 158 || pfn >= 256)
			put_page(pfn, 1, -1);
	return 0;
}

static int unmake(void **state)
{
	if (m.n)
		close(m.fd);
	close(fd);
	return unlink(path);
}

static void test_is_free(void **state)
{
	put_page(1, 0, -1);
	put_page(157, 0, -1);
	put_page(256, 0, -1);
	put_page(1255, 0, -1);
	put_page(600, 0, -129);	      /* on a buddy list, up to 6.11 */
	put_page(601, 0, -184549376); /* slab, and nobody else's */
	put_page(602, 1, 0);
	assert_int_equal(memmap_open(&m, path), 0);
	assert_int_equal(m.n, 2);
	for (uint64_t pfn = 0; pfn < 1300; pfn++)
		assert_int_equal(memmap_is_free(&m, pfn),
				 pfn == 1 || pfn == 157 || pfn == 256 || pfn == 1255);
	assert_false(memmap_is_free(&m, UINT64_MAX));
	/* Backwards, and what has changed meanwhile. */
	assert_true(memmap_is_free(&m, 256));
	put_page(256, 1, -1);
	put_page(257, 0, -1);
	assert_true(memmap_is_free(&m, 256) && !memmap_is_free(&m, 257));
	memmap_refresh(&m);
	assert_true(!memmap_is_free(&m, 256) && memmap_is_free(&m, 257));
}

/* Of a piece of several pages: nobody holds them one by one, and yet they are taken. */
static void test_on_no_list(void **state)
{
	static const uint64_t next[] = { 0xdead000000000100, MAP + 700 * STRUCT + LRU, 0, 0xffd4000000000001 };

	put_page(699, 0, -1);
	put_next(699, MAP + 700 * STRUCT + LRU); /* another page */
	put_page(700, 0, -1);
	assert_int_equal(memmap_open(&m, path), 0);
	assert_true(memmap_is_free(&m, 699) && memmap_is_free(&m, 700));
	for (size_t i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
		put_next(700, next[i]);
		memmap_refresh(&m);
		assert_false(memmap_is_free(&m, 700));
	}
}

/* The file ends where the structs of pfns 1000 and on should be. */
static void test_cut_off(void **state)
{
	put_page(999, 0, -1);
	put_page(1001, 0, -1);
	assert_int_equal(ftruncate(fd, HIGH_MAP_AT + (1000 - 256) * STRUCT), 0);
	assert_int_equal(memmap_open(&m, path), 0);
	assert_true(memmap_is_free(&m, 999));
	assert_false(memmap_is_free(&m, 1001));
}

static void test_bad_notes(void **state)
{
	static const char *const bad[] = {
		"", "\nSIZE(page)=64\n", "\nSIZE(page)=64\nOFFSET(page.lru)=8\nOFFSET(page._refcount)=52\n",
		"\nSIZE(page)=64\nOFFSET(page.lru)=8\nOFFSET(page._refcount)=61\nOFFSET(page._mapcount)=48\n",
		"\nSIZE(page)=64\nOFFSET(page.lru)=8\nOFFSET(page._refcount)=52\nOFFSET(page._mapcount)=-4\n",
		"\nSIZE(page)=0\nOFFSET(page.lru)=8\nOFFSET(page._refcount)=52\nOFFSET(page._mapcount)=48\n",
		"\nSIZE(page)=99999999999999999999\nOFFSET(page.lru)=8\nOFFSET(page._refcount)=52\nOFFSET(page._mapcount)=48\n",
		"\nXSIZE(page)=64\nOFFSET(page.lru)=8\nOFFSET(page._refcount)=52\nOFFSET(page._mapcount)=48\n",
		"\nSIZE(page)=64\nOFFSET(page._refcount)=52\nOFFSET(page._mapcount)=48\n",
		"\nSIZE(page)=64\nOFFSET(page.lru)=49\nOFFSET(page._refcount)=52\nOFFSET(page._mapcount)=48\n",
		/* Another size, which the pieces do not have. */
		"\nSIZE(page)=128\nOFFSET(page.lru)=8\nOFFSET(page._refcount)=52\nOFFSET(page._mapcount)=48\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_note(bad[i]);
		assert_int_equal(memmap_open(&m, path), -1);
		assert_int_equal(m.n, 0);
		assert_false(memmap_is_free(&m, 1));
	}
}

static void test_bad_pieces(void **state)
{
	/* A piece that begins elsewhere in the address space is of another array. */
	core.p[HIGH_MAP].p_vaddr += PAGE;
	put_note(note);
	assert_int_equal(memmap_open(&m, path), 0);
	assert_int_equal(m.n, 1);
	assert_false(memmap_is_free(&m, 300));
	close(m.fd);
	core.p[HIGH_MAP].p_vaddr -= PAGE;
	core.p[LOW_MAP].p_filesz += PAGE;
	core.p[HIGH_MAP].p_offset = UINT64_MAX - 8;
	put_note(note);
	assert_int_equal(memmap_open(&m, path), -1);
	assert_int_equal(m.fd, -1);
	assert_int_equal(ftruncate(fd, sizeof(core) - 1), 0);
	assert_int_equal(memmap_open(&m, path), -1);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(memmap_open(&m, path), -1);
	assert_int_equal(memmap_open(&m, "/no/such/file"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_is_free, make, unmake),
		cmocka_unit_test_setup_teardown(test_on_no_list, make, unmake),
		cmocka_unit_test_setup_teardown(test_cut_off, make, unmake),
		cmocka_unit_test_setup_teardown(test_bad_notes, make, unmake),
		cmocka_unit_test_setup_teardown(test_bad_pieces, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
