// SPDX-License-Identifier: GPL-2.0-only
/* A core made here: memory map, kernel text, two pieces of RAM, as /proc/kcore has them. */
#include "guest/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define PAGE 4096ull
#define NOTE 0
#define MAP 1
#define TEXT 2
#define LOW 3
#define HIGH 4
#define SEGMENTS 5

/* LOW has pfns 16-31, of which TEXT shows 20-23 again; HIGH has 0x100000-0x100003. */
static struct {
	Elf64_Ehdr head;
	Elf64_Phdr p[SEGMENTS];
} core;

static char path[] = "/tmp/mmrig kcore XXXXXX";
static int fd;

static void put_segment(int i, uint64_t pfn, uint64_t pages, off_t at)
{
	core.p[i] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_paddr = pfn * PAGE, .p_offset = (uint64_t)at,
				  .p_filesz = pages * PAGE, .p_memsz = pages * PAGE };
}

static void put_page(off_t at, const char *text)
{
	assert_int_equal(pwrite(fd, text, 8, at), 8);
}

static void put_head(void)
{
	assert_int_equal(pwrite(fd, &core, sizeof(core), 0), sizeof(core));
}

static int make(void **state)
{
	memset(&core, 0, sizeof(core));
	memcpy(core.head.e_ident, ELFMAG, SELFMAG);
	core.head.e_ident[EI_CLASS] = ELFCLASS64;
	core.head.e_phoff = sizeof(core.head);
	core.head.e_phentsize = sizeof(core.p[0]);
	core.head.e_phnum = SEGMENTS;
	core.p[NOTE] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_paddr = 0, .p_filesz = 64 * PAGE };
	put_segment(MAP, 0, 1000, 4 * PAGE);
	core.p[MAP].p_paddr = UINT64_MAX;
	put_segment(TEXT, 20, 4, 0x1000000);
	put_segment(LOW, 16, 16, 0x2000000);
	put_segment(HIGH, 0x100000, 4, 0x3000000);
	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, 0x3004000) < 0)
		return -1;
	put_head();
	put_page(0x1000000, "text 20");
	put_page(0x2000000, "low  16");
	put_page(0x2004000, "low  20");
	put_page(0x200f000, "low  31");
	put_page(0x3003000, "high  3");
	return 0;
}

static int unmake(void **state)
{
	close(fd);
	return unlink(path);
}

static void expect(const struct kcore *k, uint64_t pfn, const char *text)
{
	char got[8] = "";

	assert_true(kcore_read(k, pfn, got, sizeof(got)));
	assert_string_equal(got, text);
}

static void test_read(void **state)
{
	struct kcore k;
	char got[8];

	assert_int_equal(kcore_open(&k, path), 0);
	assert_int_equal(k.n, 3);
	expect(&k, 16, "low  16");
	expect(&k, 20, "low  20"); /* not that of the text */
	expect(&k, 31, "low  31");
	expect(&k, 0x100003, "high  3");
	expect(&k, 17, "");
	assert_false(kcore_read(&k, 0, got, sizeof(got))); /* no note, and no vmalloc space */
	assert_false(kcore_read(&k, 15, got, sizeof(got)));
	assert_false(kcore_read(&k, 32, got, sizeof(got)));
	assert_false(kcore_read(&k, 0x100004, got, sizeof(got)));
	assert_false(kcore_read(&k, UINT64_MAX, got, sizeof(got)));
	/* The file ends before the segment does. */
	assert_int_equal(ftruncate(fd, 0x3003004), 0);
	assert_false(kcore_read(&k, 0x100003, got, sizeof(got)));
	kcore_close(&k);
	assert_int_equal(k.fd, -1);
	assert_false(kcore_read(&k, 16, got, sizeof(got)));
}

static void expect_refused(void)
{
	struct kcore k;

	put_head();
	errno = 0;
	assert_int_equal(kcore_open(&k, path), -1);
	assert_int_equal(errno, ENOEXEC);
	assert_int_equal(k.fd, -1);
}

static void test_no_core(void **state)
{
	const Elf64_Ehdr good = core.head;
	struct kcore k;

	core.head.e_ident[1] = 'X';
	expect_refused();
	core.head = good;
	core.head.e_ident[EI_CLASS] = ELFCLASS32;
	expect_refused();
	core.head = good;
	core.head.e_phentsize = 32;
	expect_refused();
	core.head = good;
	core.head.e_phoff = UINT64_MAX - 8;
	expect_refused();
	core.head = good;
	core.head.e_phnum = 0;
	expect_refused();
	core.head.e_phnum = 2; /* the note and the memory map */
	expect_refused();
	core.head = good;
	put_head();
	assert_int_equal(kcore_open(&k, path), 0);
	kcore_close(&k);
	assert_int_equal(ftruncate(fd, sizeof(core) - 1), 0);
	assert_int_equal(kcore_open(&k, path), -1);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(kcore_open(&k, path), -1);
	assert_int_equal(kcore_open(&k, "/no/such/file"), -1);
	assert_int_equal(errno, ENOENT);
}

/* Segments that cannot be are passed over; the others stay. */
static void test_bad_segments(void **state)
{
	struct kcore k;

	core.p[TEXT].p_paddr += 8;
	core.p[MAP].p_paddr = UINT64_MAX - PAGE + 1;
	core.p[HIGH].p_offset = INT64_MAX - PAGE;
	put_head();
	assert_int_equal(kcore_open(&k, path), 0);
	assert_int_equal(k.n, 1);
	expect(&k, 20, "low  20");
	kcore_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, make, unmake),
		cmocka_unit_test_setup_teardown(test_no_core, make, unmake),
		cmocka_unit_test_setup_teardown(test_bad_segments, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
