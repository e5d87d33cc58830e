// SPDX-License-Identifier: GPL-2.0-only
#include "guest/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096u
#define NOWHERE UINT64_MAX /* p_paddr of vmalloc space and of the memory map */

static void add_segment(struct kcore *k, const Elf64_Phdr *p)
{
	struct kcore_range *r = &k->range[k->n];

	if (p->p_type != PT_LOAD || p->p_paddr == NOWHERE || p->p_paddr % PAGE ||
	    p->p_filesz < PAGE || p->p_filesz > NOWHERE - p->p_paddr ||
	    p->p_offset > INT64_MAX - p->p_filesz || k->n == KCORE_RANGES_MAX)
		return;
	r->first = p->p_paddr / PAGE;
	r->end = r->first + p->p_filesz / PAGE;
	r->at = (off_t)p->p_offset;
	k->n++;
}

static int read_segments(struct kcore *k)
{
	Elf64_Ehdr head;
	Elf64_Phdr p;

	if (pread(k->fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(p) || head.e_phoff > INT32_MAX)
		return -1;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		if (pread(k->fd, &p, sizeof(p), (off_t)(head.e_phoff + i * sizeof(p))) != sizeof(p))
			return -1;
		add_segment(k, &p);
	}
	return k->n ? 0 : -1;
}

int kcore_open(struct kcore *k, const char *path)
{
	k->n = 0;
	k->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (k->fd < 0)
		return -1;
	if (read_segments(k) == 0)
		return 0;
	kcore_close(k);
	errno = ENOEXEC;
	return -1;
}

void kcore_close(struct kcore *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
	k->n = 0;
}

/*
 * Of several segments the largest: the kernel's image has one of its own, in which what was given back
 * after boot reads as zeroes.
 */
static const struct kcore_range *range_of(const struct kcore *k, uint64_t pfn)
{
	const struct kcore_range *best = NULL;

	for (const struct kcore_range *r = k->range; r < k->range + k->n; r++) {
		if (pfn < r->first || pfn >= r->end)
			continue;
		if (!best || r->end - r->first > best->end - best->first)
			best = r;
	}
	return best;
}

bool kcore_read(const struct kcore *k, uint64_t pfn, void *buf, size_t n)
{
	const struct kcore_range *r = range_of(k, pfn);

	return r && pread(k->fd, buf, n, r->at + (off_t)((pfn - r->first) * PAGE)) == (ssize_t)n;
}
