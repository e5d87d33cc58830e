// SPDX-License-Identifier: GPL-2.0-only
#include "guest/cma.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/pagetype.h"
#include "guest/procfs.h"

#define MIB_PAGES 256
#define MIB_MAX (1ULL << 32) /* of 2^52 bytes, the most that x86 addresses */

static char text[65536];

/* ---- what the kernel writes ---- */

/*
 * "cma: Reserved 64 MiB at 0x000000003b400000"; 6.6 to 6.14 put " on node -1" behind it. The digits of
 * the address are as many as phys_addr_t has.
 */
bool cma_parse_line(struct cma *c, const char *line)
{
	static const char head[] = "cma: Reserved ", middle[] = " MiB at 0x";
	const char *p = strstr(line, head);
	uint64_t mib, at;
	char *end;

	if (!p || c->n == CMA_AREAS_MAX)
		return false;
	p += strlen(head);
	if (*p < '0' || *p > '9')
		return false;
	mib = strtoull(p, &end, 10);
	if (!mib || mib > MIB_MAX || strncmp(end, middle, strlen(middle)) != 0)
		return false;
	p = end + strlen(middle);
	at = strtoull(p, &end, 16);
	if (end == p || at % 4096 || at >> 52)
		return false;
	c->area[c->n++] = (struct cma_range){ at / 4096, at / 4096 + mib * MIB_PAGES };
	c->pages += mib * MIB_PAGES;
	return true;
}

uint64_t cma_parse_total(const char *meminfo)
{
	const char *p = strstr(meminfo, "\nCmaTotal:");

	return p ? strtoull(p + strlen("\nCmaTotal:"), NULL, 10) * 1024 : 0;
}

/* ---- reading it ---- */

uint64_t cma_total(void)
{
	return file_slurp("/proc/meminfo", text, sizeof(text)) < 0 ? 0 : cma_parse_total(text);
}

/* The log, from its oldest record on; one read gives one record. */
static int read_log(struct cma *c)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	for (;;) {
		n = read(fd, text, sizeof(text) - 1);
		if (n < 0 && errno != EPIPE) /* EPIPE: records were overwritten meanwhile */
			break;
		if (n <= 0)
			continue;
		text[n] = '\0';
		cma_parse_line(c, text);
	}
	close(fd);
	return 0;
}

int cma_read(struct cma *c, uint32_t block_pages, char *why, size_t room)
{
	uint64_t total = cma_total() / 4096;
	int64_t blocks;

	if (c->read)
		return 0;
	*c = (struct cma){ 0 };
	if (!total || read_log(c) < 0) {
		snprintf(why, room, "cma: %s",
			 total ? "cannot read /dev/kmsg" : "this guest has no CMA area (CmaTotal)");
		return -1;
	}
	blocks = pagetype_blocks("CMA");
	if (c->pages != total || blocks < 0 || (uint64_t)blocks * block_pages != total) {
		snprintf(why, room,
			 "cma: the kernel's log tells where %" PRIu64 " pages are, CmaTotal is %" PRIu64
			 " pages, and %" PRId64 " pageblocks are of type CMA",
			 c->pages, total, blocks);
		return -1;
	}
	c->read = true;
	return 0;
}

bool cma_has(const struct cma *c, uint64_t pfn)
{
	for (size_t i = 0; i < c->n; i++)
		if (pfn >= c->area[i].first && pfn < c->area[i].end)
			return true;
	return false;
}
