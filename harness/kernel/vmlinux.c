// SPDX-License-Identifier: GPL-2.0-only
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "harness/kernel/content.h"
#include "harness/kernel/decompress.h"
#include "results/util/cleanup.h"

#define KERNEL_VADDR_MIN 0xffffffff80000000ULL /* __START_KERNEL_map of x86-64 */
#define XEN_ELFNOTE_PHYS32_ENTRY \
	18 /* the PVH entry point, the only way that QEMU enters a vmlinux */
#define CONFIG_MAX (16UL << 20)

static void elf_end_p(Elf **e)
{
	elf_end(*e);
}
#define cleanup_elf __attribute__((cleanup(elf_end_p)))

bool vmlinux_detect(const uint8_t *data, size_t len)
{
	return len >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG);
}

static int fail(char **why, char *text)
{
	*why = text;
	return -1;
}

static Elf *open_elf(uint8_t *data, size_t len)
{
	elf_version(EV_CURRENT);
	return elf_memory((char *)data, len);
}

static const char *machine_name(unsigned int machine)
{
	switch (machine) {
	case EM_AARCH64:
		return "arm64";
	case EM_ARM:
		return "arm";
	case EM_386:
		return "32-bit x86";
	case EM_RISCV:
		return "riscv";
	case EM_PPC64:
		return "powerpc64";
	case EM_S390:
		return "s390";
	case EM_LOONGARCH:
		return "loongarch";
	case EM_BPF:
		return "BPF";
	default:
		return "another machine";
	}
}

/* Every part that the program headers and the section table name lies inside the file. */
static bool is_whole(Elf *elf, const GElf_Ehdr *eh, size_t len)
{
	size_t phnum = 0, shnum = 0;

	if (elf_getphdrnum(elf, &phnum) < 0 || elf_getshdrnum(elf, &shnum) < 0)
		return false;
	/* libelf counts only the program headers that fit. */
	if (eh->e_phoff > len || (size_t)eh->e_phnum * eh->e_phentsize > len - eh->e_phoff)
		return false;
	if (eh->e_shoff > len || shnum * eh->e_shentsize > len - eh->e_shoff)
		return false;
	for (size_t i = 0; i < phnum; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_offset > len ||
		    ph.p_filesz > len - ph.p_offset)
			return false;
	}
	return true;
}

struct notes {
	char *build_id;
	bool pvh;
};

static void read_note_data(Elf_Data *d, struct notes *n)
{
	size_t at = 0, name, desc, next;
	GElf_Nhdr nh;

	while ((next = gelf_getnote(d, at, &nh, &name, &desc)) > at) {
		const char *who = (const char *)d->d_buf + name;
		const uint8_t *bytes = (const uint8_t *)d->d_buf + desc;

		at = next;
		if (nh.n_namesz == 4 && !memcmp(who, "GNU", 4) && nh.n_type == NT_GNU_BUILD_ID &&
		    !n->build_id && nh.n_descsz && nh.n_descsz <= 64) {
			struct strbuf sb = STRBUF_INIT;

			for (size_t i = 0; i < nh.n_descsz; i++)
				strbuf_addf(&sb, "%02x", bytes[i]);
			n->build_id = strbuf_steal(&sb);
		}
		if (nh.n_namesz == 4 && !memcmp(who, "Xen", 4) &&
		    nh.n_type == XEN_ELFNOTE_PHYS32_ENTRY)
			n->pvh = true;
	}
}

static struct notes read_notes(Elf *elf)
{
	struct notes n = { NULL, false };
	size_t phnum = 0;

	if (elf_getphdrnum(elf, &phnum) < 0)
		return n;
	for (size_t i = 0; i < phnum; i++) {
		GElf_Phdr ph;
		Elf_Data *d;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_NOTE || !ph.p_filesz)
			continue;
		d = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz,
					 ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (d)
			read_note_data(d, &n);
	}
	return n;
}

/* IKCONFIG: a gzip stream between two marks. The marks also stand in scripts, hence the magic. */
static char *read_config(const uint8_t *data, size_t len)
{
	static const char start[] = "IKCFG_ST\x1f\x8b", end[] = "IKCFG_ED";
	const uint8_t *s = memmem(data, len, start, sizeof(start) - 1), *e;
	cleanup_strbuf struct strbuf out = STRBUF_INIT;

	if (!s)
		return NULL;
	s += 8;
	e = memmem(s, len - (size_t)(s - data), end, sizeof(end) - 1);
	if (!e || decompress(s, (size_t)(e - s), CONFIG_MAX, &out, NULL) < 0 || !out.len)
		return NULL;
	return strbuf_steal(&out);
}

/* "Linux version 7.3.4 (user@host) ... #1 SMP ...\n" somewhere in a loaded segment. */
static bool read_banner(const uint8_t *data, size_t len, struct content *c)
{
	static const char mark[] = "Linux version ";
	const uint8_t *p = data, *end = data + len;

	while ((p = memmem(p, (size_t)(end - p), mark, sizeof(mark) - 1))) {
		const char *s = (const char *)p + sizeof(mark) - 1;
		size_t room = (size_t)(end - (const uint8_t *)s), n, word;
		cleanup_free char *line = NULL;

		p = (const uint8_t *)s;
		n = strnlen(s, room < 1024 ? room : 1024);
		line = xstrndup(s, n);
		line[strcspn(line, "\n")] = '\0';
		word = strcspn(line, " ");
		if (line[0] < '0' || line[0] > '9' || !str_starts(line + word, " ("))
			continue;
		c->release = xstrndup(line, word);
		c->version = xstrdup(line + word + 1);
		return true;
	}
	return false;
}

struct segments {
	bool kernel; /* a segment at the addresses of the kernel */
	bool interpreter;
};

static struct segments read_segments(Elf *elf, uint8_t *data, struct content *c)
{
	struct segments s = { false, false };
	size_t phnum = 0;

	if (elf_getphdrnum(elf, &phnum) < 0)
		return s;
	for (size_t i = 0; i < phnum; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph))
			continue;
		s.interpreter |= ph.p_type == PT_INTERP || ph.p_type == PT_DYNAMIC;
		if (ph.p_type != PT_LOAD || ph.p_vaddr < KERNEL_VADDR_MIN)
			continue;
		s.kernel = true;
		if (!c->release)
			read_banner(data + ph.p_offset, ph.p_filesz, c);
		if (!c->config)
			c->config = read_config(data + ph.p_offset, ph.p_filesz);
	}
	return s;
}

static int check_header(Elf *elf, const GElf_Ehdr *eh, size_t len, char **why)
{
	if (eh->e_machine != EM_X86_64)
		return fail(why, str_printf("an ELF file for %s: mmrig runs x86-64 kernels",
					    machine_name(eh->e_machine)));
	if (eh->e_type == ET_REL)
		return fail(why, xstrdup("an ELF object file or a kernel module, not a kernel"));
	if (eh->e_type == ET_CORE)
		return fail(why, xstrdup("a core dump"));
	if (!is_whole(elf, eh, len))
		return fail(why, xstrdup("a truncated x86-64 ELF file"));
	return 0;
}

int vmlinux_examine(uint8_t *data, size_t len, struct content *c, char **why)
{
	cleanup_elf Elf *elf = open_elf(data, len);
	struct segments seg;
	struct notes notes;
	GElf_Ehdr eh;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh))
		return fail(why, xstrdup("a truncated or damaged ELF file"));
	if (check_header(elf, &eh, len, why) < 0)
		return -1;
	c->format = KERNEL_VMLINUX;
	seg = read_segments(elf, data, c);
	if (!seg.kernel)
		return fail(why, xstrdup(seg.interpreter || eh.e_type == ET_DYN ?
						 "an x86-64 program or library, not a kernel" :
						 "an x86-64 ELF file that is no kernel"));
	if (!c->release)
		return fail(why, xstrdup("an x86-64 ELF file without a \"Linux version\" banner"));
	notes = read_notes(elf);
	c->build_id = notes.build_id;
	if (!notes.pvh)
		return fail(why, xstrdup("a vmlinux that QEMU cannot enter (no PVH note): set "
					 "CONFIG_PVH=y, or give its arch/x86/boot/bzImage"));
	return 0;
}

void vmlinux_notes(uint8_t *data, size_t len, struct content *c)
{
	cleanup_elf Elf *elf = NULL;

	if (!vmlinux_detect(data, len))
		return;
	elf = open_elf(data, len);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		return;
	c->build_id = read_notes(elf).build_id;
	c->config = read_config(data, len);
}
