// SPDX-License-Identifier: GPL-2.0-only
#include "guest/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096u
#define NOWHERE UINT64_MAX /* p_paddr of vmalloc space and of the memory map */

static void add_segment(struct kcore *k, const struct kcore_segment *s)
{
	struct kcore_range *r = &k->range[k->n];

	if (!s->load || s->paddr == NOWHERE || s->paddr % PAGE || s->bytes < PAGE ||
	    s->bytes > NOWHERE - s->paddr || s->at > INT64_MAX - s->bytes || k->n == KCORE_RANGES_MAX)
		return;
	r->first = s->paddr / PAGE;
	r->end = r->first + s->bytes / PAGE;
	r->at = (off_t)s->at;
	k->n++;
}

static int read_head(int fd, Elf64_Ehdr *head)
{
	if (pread(fd, head, sizeof(*head), 0) != sizeof(*head) ||
	    memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phoff > INT32_MAX)
		return -1;
	return 0;
}

int kcore_segments(int fd)
{
	Elf64_Ehdr head;

	return read_head(fd, &head) < 0 ? -1 : head.e_phnum;
}

int kcore_segment(int fd, int i, struct kcore_segment *s)
{
	Elf64_Ehdr head;
	Elf64_Phdr p;

	if (read_head(fd, &head) < 0 ||
	    pread(fd, &p, sizeof(p), (off_t)(head.e_phoff + (uint64_t)i * sizeof(p))) != sizeof(p))
		return -1;
	*s = (struct kcore_segment){ p.p_type == PT_LOAD, p.p_type == PT_NOTE, p.p_vaddr, p.p_paddr,
				     p.p_filesz, p.p_offset };
	return 0;
}

static int read_segments(struct kcore *k)
{
	int n = kcore_segments(k->fd);
	struct kcore_segment s;

	for (int i = 0; i < n; i++) {
		if (kcore_segment(k->fd, i, &s) < 0)
			return -1;
		add_segment(k, &s);
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
