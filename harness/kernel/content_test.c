// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/kernel/content.h"
#include "harness/kernel/decompress.h"
#include "harness/kernel/test_image.h"
#include "results/util/cleanup.h"

/* printf 'CONFIG_X=y\n' | gzip -n */
static const char gzipped_config[] =
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x73\xf6\xf7\x73\xf3\x74\x8f\x8f\xb0\xad"
	"\xe4\x02\x00\x9b\xa9\x91\xf7\x0b\x00\x00\x00";

static void expect_no_kernel(uint8_t *data, size_t len, const char *what)
{
	struct content c = { 0 };
	char *why = NULL;

	assert_int_equal(content_examine(data, len, &c, &why), -1);
	assert_non_null(why);
	if (!strstr(why, what))
		fail_msg("\"%s\" does not say \"%s\"", why, what);
	free(why);
	content_free(&c);
}

static void bzimage_is_read(void **state)
{
	uint8_t image[TEST_BZIMAGE_BYTES];
	struct content c = { 0 };
	char *why = NULL;

	test_bzimage(image, TEST_BANNER);
	assert_int_equal(content_examine(image, sizeof(image), &c, &why), 0);
	assert_int_equal(c.format, KERNEL_BZIMAGE);
	assert_string_equal(c.release, "7.3.4-test");
	assert_string_equal(c.version, "(me@here) #1 SMP Mon Nov 30");
	assert_null(c.build_id);
	content_free(&c);
}

static void bzimage_may_be_signed(void **state)
{
	uint8_t image[TEST_BZIMAGE_BYTES + 1488] = { 0 };
	struct content c = { 0 };
	char *why = NULL;

	test_bzimage(image, TEST_BANNER);
	assert_int_equal(content_examine(image, sizeof(image), &c, &why), 0);
	content_free(&c);
}

static void every_truncation_is_seen(void **state)
{
	uint8_t image[TEST_BZIMAGE_BYTES];

	test_bzimage(image, TEST_BANNER);
	for (size_t n = 0x206; n < sizeof(image); n++) {
		cleanup_free uint8_t *part = xmalloc(n);

		memcpy(part, image, n);
		expect_no_kernel(part, n, "truncated bzImage");
	}
}

static void bad_bzimages_say_what(void **state)
{
	uint8_t image[TEST_BZIMAGE_BYTES];

	test_bzimage(image, TEST_BANNER);
	test_put16(image + 0x236, 0);
	expect_no_kernel(image, sizeof(image), "32-bit x86 kernel");
	test_bzimage(image, TEST_BANNER);
	test_put16(image + 0x20e, 0xffff);
	expect_no_kernel(image, sizeof(image), "shows no version");
	test_bzimage(image, "");
	expect_no_kernel(image, sizeof(image), "shows no version");
	test_bzimage(image, TEST_BANNER);
	image[0x211] = 0;
	expect_no_kernel(image, sizeof(image), "zImage");
}

/* The payload's place and length are the file's own claims. */
static void hostile_payload_is_survived(void **state)
{
	static const uint32_t odd[] = { 0, 1, 15, 16, 1000, 3072, 3073, 0x7fffffff, 0xffffffff };
	uint8_t image[TEST_BZIMAGE_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		for (size_t k = 0; k < ARRAY_SIZE(odd); k++) {
			struct content c = { 0 };
			char *why = NULL;

			test_bzimage(image, TEST_BANNER);
			memcpy(image + 1024, "\x28\xb5\x2f\xfd garbage", 12);
			test_put32(image + 0x248, odd[i]);
			test_put32(image + 0x24c, odd[k]);
			assert_int_equal(content_examine(image, sizeof(image), &c, &why), 0);
			assert_null(c.build_id);
			content_free(&c);
		}
}

static void vmlinux_is_read(void **state)
{
	uint8_t image[TEST_VMLINUX_BYTES];
	struct content c = { 0 };
	char *why = NULL;

	test_vmlinux(image, "Linux version " TEST_RELEASE " (me@here) (gcc) #1 SMP\n");
	memcpy(image + 0x300, "IKCFG_ST", 8);
	memcpy(image + 0x308, gzipped_config, sizeof(gzipped_config) - 1);
	memcpy(image + 0x308 + sizeof(gzipped_config) - 1, "IKCFG_ED", 8);
	assert_int_equal(content_examine(image, sizeof(image), &c, &why), 0);
	assert_int_equal(c.format, KERNEL_VMLINUX);
	assert_string_equal(c.release, "7.3.4-test");
	assert_string_equal(c.version, "(me@here) (gcc) #1 SMP");
	assert_string_equal(c.build_id, TEST_BUILD_ID);
	assert_string_equal(c.config, "CONFIG_X=y\n");
	content_free(&c);
}

static void other_elf_files_say_what(void **state)
{
	static const struct {
		size_t offset;
		unsigned int value;
		const char *what;
	} changes[] = {
		{ offsetof(Elf64_Ehdr, e_machine), EM_AARCH64, "ELF file for arm64" },
		{ offsetof(Elf64_Ehdr, e_type), ET_REL, "kernel module" },
		{ offsetof(Elf64_Ehdr, e_type), ET_CORE, "core dump" },
		{ offsetof(Elf64_Ehdr, e_phnum), 0, "no kernel" },
		{ 0x600 + 8, 99, "CONFIG_PVH" },
		{ 0x280, 'x', "banner" },
	};
	uint8_t image[TEST_VMLINUX_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		test_vmlinux(image, "Linux version 7.3 (x)\n");
		test_put16(image + changes[i].offset, changes[i].value);
		expect_no_kernel(image, sizeof(image), changes[i].what);
	}
	test_vmlinux(image, "Linux version %s (%s)\n");
	expect_no_kernel(image, sizeof(image), "banner");
	test_vmlinux(image, "Linux version 7.3 (x)\n");
	for (size_t n = SELFMAG; n < 0x600; n++) {
		cleanup_free uint8_t *part = xmalloc(n);

		memcpy(part, image, n);
		expect_no_kernel(part, n, "truncated");
	}
}

static void programs_are_no_kernels(void **state)
{
	uint8_t image[TEST_VMLINUX_BYTES];
	const uint64_t vaddr = 0x400000;
	Elf64_Phdr *note = (Elf64_Phdr *)(image + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));

	/* The text that a program prints does not make it a kernel. */
	test_vmlinux(image, "Linux version 7.3 (x)\n");
	memcpy(image + sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_vaddr), &vaddr, sizeof(vaddr));
	expect_no_kernel(image, sizeof(image), "ELF file that is no kernel");
	note->p_type = PT_INTERP;
	expect_no_kernel(image, sizeof(image), "program or library");
}

static void other_files_are_named(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *what;
	} files[] = {
		{ "", 0, "empty file" },
		{ "hello\n", 6, "text file" },
		{ "#!/bin/sh\n", 10, "script" },
		{ "\x1f\x8b\x08\0\0\0", 6, "gzip" },
		{ "\x28\xb5\x2f\xfd", 4, "zstd" },
		{ "\xfd"
		  "7zXZ\0",
		  6, "an xz" },
		{ "070701000", 9, "cpio" },
		{ "QFI\xfb", 4, "qcow2" },
		{ "\x7f\x01\x02\0", 4, "data" },
		{ "MZ", 2, "EFI" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		uint8_t copy[16];

		memcpy(copy, files[i].bytes, files[i].len);
		expect_no_kernel(copy, files[i].len, files[i].what);
	}
}

static void arm64_image_is_named(void **state)
{
	uint8_t image[128] = "MZ";

	memcpy(image + 0x38, "ARM\x64", 4);
	expect_no_kernel(image, sizeof(image), "arm64");
}

static void decompression_is_limited(void **state)
{
	cleanup_strbuf struct strbuf out = STRBUF_INIT;

	assert_int_equal(decompress(gzipped_config, sizeof(gzipped_config) - 1, 11, &out, NULL), 0);
	assert_string_equal(out.data, "CONFIG_X=y\n");
	strbuf_free(&out);
	assert_int_equal(decompress(gzipped_config, sizeof(gzipped_config) - 1, 10, &out, NULL),
			 -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bzimage_is_read),
		cmocka_unit_test(bzimage_may_be_signed),
		cmocka_unit_test(every_truncation_is_seen),
		cmocka_unit_test(bad_bzimages_say_what),
		cmocka_unit_test(hostile_payload_is_survived),
		cmocka_unit_test(vmlinux_is_read),
		cmocka_unit_test(other_elf_files_say_what),
		cmocka_unit_test(programs_are_no_kernels),
		cmocka_unit_test(other_files_are_named),
		cmocka_unit_test(arm64_image_is_named),
		cmocka_unit_test(decompression_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
