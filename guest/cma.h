/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CMA_H
#define MMRIG_CMA_H
/*
 * CMA areas: where they lie, by the kernel's log (mm/cma.c, cma_declare_contiguous_nid()), and how large
 * they are by its other accounts, which must say the same. No allocation.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CMA_AREAS_MAX 64 /* CONFIG_CMA_AREAS is 20 at most by default */

struct cma {
	struct cma_range {
		uint64_t first, end; /* pfns [first, end) */
	} area[CMA_AREAS_MAX];
	size_t n;
	uint64_t pages; /* of all */
	bool read;
};

/*
 * One line of the log, with or without what stands before the message. True where it tells of an area,
 * which is added. "in 2 ranges" (hugetlb_cma since 6.15) tells of no place and is false.
 */
bool cma_parse_line(struct cma *c, const char *line);
/* CmaTotal of /proc/meminfo in bytes; 0 where it is absent. */
uint64_t cma_parse_total(const char *meminfo);
uint64_t cma_total(void);
/* Reads the areas, once. 0, or -1 with `why`: none, or the kernel's accounts contradict each other. */
int cma_read(struct cma *c, uint32_t block_pages, char *why, size_t room);
bool cma_has(const struct cma *c, uint64_t pfn);

#endif
