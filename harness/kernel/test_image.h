/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_TEST_IMAGE_H
#define MMRIG_TEST_IMAGE_H
/* Small files that look like kernels, for the tests of this folder. */
#include <elf.h>
#include <stdint.h>
#include <string.h>

#define TEST_BZIMAGE_BYTES 4096
#define TEST_RELEASE "7.3.4-test"
#define TEST_BANNER TEST_RELEASE " (me@here) #1 SMP Mon Nov 30"

static inline void test_put16(uint8_t *p, unsigned int v)
{
	p[0] = v & 0xff;
	p[1] = v >> 8 & 0xff;
}

static inline void test_put32(uint8_t *p, uint32_t v)
{
	test_put16(p, v & 0xffff);
	test_put16(p + 2, v >> 16);
}

/* One setup sector behind the boot sector, 3072 bytes of system, the banner at 0x300. */
static inline void test_bzimage(uint8_t *image, const char *banner)
{
	memset(image, 0, TEST_BZIMAGE_BYTES);
	image[0x1f1] = 1;
	test_put32(image + 0x1f4, (TEST_BZIMAGE_BYTES - 1024) / 16);
	test_put16(image + 0x1fe, 0xaa55);
	memcpy(image + 0x202, "HdrS", 4);
	test_put16(image + 0x206, 0x20f);
	test_put16(image + 0x20e, 0x100);
	image[0x211] = 1;
	test_put16(image + 0x236, 1);
	strcpy((char *)image + 0x300, banner);
}

#define TEST_VMLINUX_BYTES 2048
#define TEST_BUILD_ID "0123456789abcdef"

static inline size_t test_note(uint8_t *p, const char *name, uint32_t type, const void *desc,
			       uint32_t n)
{
	test_put32(p, 4);
	test_put32(p + 4, n);
	test_put32(p + 8, type);
	memcpy(p + 12, name, 4);
	memcpy(p + 16, desc, n);
	return 16 + (n + 3) / 4 * 4;
}

/* A loaded segment at 0x200 with a banner, and at 0x600 notes: build id and PVH entry. */
static inline void test_vmlinux(uint8_t *image, const char *banner)
{
	static const uint8_t id[] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
	Elf64_Ehdr eh = { .e_type = ET_EXEC,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phoff = sizeof(eh),
			  .e_ehsize = sizeof(eh),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 2,
			  .e_shentsize = sizeof(Elf64_Shdr) };
	Elf64_Phdr load = { .p_type = PT_LOAD,
			    .p_offset = 0x200,
			    .p_filesz = 0x400,
			    .p_memsz = 0x400,
			    .p_vaddr = 0xffffffff81000000ULL,
			    .p_paddr = 0x1000000 };
	Elf64_Phdr note = { .p_type = PT_NOTE, .p_offset = 0x600, .p_align = 4 };
	size_t n;

	memset(image, 0, TEST_VMLINUX_BYTES);
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	n = test_note(image + 0x600, "Xen", 18, "\0\0\0\1", 4);
	n += test_note(image + 0x600 + n, "GNU", NT_GNU_BUILD_ID, id, sizeof(id));
	note.p_filesz = note.p_memsz = n;
	memcpy(image, &eh, sizeof(eh));
	memcpy(image + sizeof(eh), &load, sizeof(load));
	memcpy(image + sizeof(eh) + sizeof(load), &note, sizeof(note));
	strcpy((char *)image + 0x280, banner);
}

#endif
