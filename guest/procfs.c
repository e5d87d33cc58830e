// SPDX-License-Identifier: GPL-2.0-only
#include "guest/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/expr.h"

long file_slurp(const char *path, char *buf, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	while (len + 1 < room && (n = read(fd, buf + len, room - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	if (n < 0 && !len)
		return -1;
	buf[len] = '\0';
	return (long)len;
}

int64_t file_number(const char *path, int64_t dflt)
{
	char text[64], *end;
	long long v;

	if (file_slurp(path, text, sizeof(text)) <= 0)
		return dflt;
	v = strtoll(text, &end, 10);
	return end == text ? dflt : v;
}

int file_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;
	int saved;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	saved = errno;
	close(fd);
	errno = saved;
	return n < 0 ? -1 : 0;
}

static int zone_index(const char *name)
{
	static const struct {
		const char *name;
		int index;
	} table[] = {
		{ "DMA", EXPR_ZONE_DMA },	  { "DMA32", EXPR_ZONE_DMA32 },
		{ "Normal", EXPR_ZONE_NORMAL },	  { "HighMem", EXPR_ZONE_HIGHMEM },
		{ "Movable", EXPR_ZONE_MOVABLE }, { "Device", EXPR_ZONE_DEVICE },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].index;
	return EXPR_ZONE_NORMAL;
}

static uint64_t last_number(const char *list)
{
	uint64_t v = 0;

	for (const char *p = list; *p && *p != '\n' && *p != ')';) {
		char *end;
		uint64_t x = strtoull(p, &end, 10);

		if (end == p) {
			p++;
		} else {
			v = x;
			p = end;
		}
	}
	return v;
}

static void zone_line(struct zone *z, const char *line)
{
	static const struct {
		const char *key;
		size_t offset;
	} keys[] = {
		{ "pages free ", offsetof(struct zone, free) }, { "min ", offsetof(struct zone, min) },
		{ "low ", offsetof(struct zone, low) },	  { "high ", offsetof(struct zone, high) },
		{ "spanned ", offsetof(struct zone, spanned) },
		{ "managed ", offsetof(struct zone, managed) },
		{ "start_pfn: ", offsetof(struct zone, start_pfn) },
		{ "nr_free_cma ", offsetof(struct zone, cma) },
	};

	line += strspn(line, " ");
	if (strncmp(line, "protection: ", 12) == 0) {
		z->reserve = last_number(line + 12);
		return;
	}
	/* "count:" is a pageset's; "high:" with a colon is the pageset's too, hence the blanks above. */
	if (strncmp(line, "count:", 6) == 0) {
		z->pcp += strtoull(line + 6, NULL, 10);
		return;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t n = strlen(keys[i].key);

		if (strncmp(line, keys[i].key, n) == 0)
			*(uint64_t *)((char *)z + keys[i].offset) = strtoull(line + n, NULL, 10);
	}
}

void zones_parse_zoneinfo(struct zones *z, const char *text)
{
	struct zone *cur = NULL;

	z->n = 0;
	while (*text) {
		char name[16];
		int node;

		/* sscanf() measures all the rest of the text: not for every line. */
		if (strncmp(text, "Node ", 5) == 0 &&
		    sscanf(text, "Node %d, zone %15s", &node, name) == 2) {
			if (z->n == ZONES_MAX)
				return;
			cur = &z->zone[z->n++];
			memset(cur, 0, sizeof(*cur));
			cur->node = node;
			memcpy(cur->name, name, sizeof(name));
			cur->index = zone_index(name);
		} else if (cur) {
			zone_line(cur, text);
		}
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

void zones_parse_buddyinfo(struct zones *z, const char *text, unsigned int pageblock_order)
{
	while (*text) {
		char name[16];
		int node, used = 0;

		if (sscanf(text, "Node %d, zone %15s%n", &node, name, &used) == 2) {
			const char *p = text + used;
			uint64_t whole = 0;

			for (unsigned int order = 0; order < 32; order++) {
				char *end;
				uint64_t count = strtoull(p, &end, 10);

				if (end == p || memchr(p, '\n', (size_t)(end - p)))
					break;
				if (order >= pageblock_order)
					whole += count << order;
				p = end;
			}
			for (size_t i = 0; i < z->n; i++)
				if (z->zone[i].node == node && strcmp(z->zone[i].name, name) == 0)
					z->zone[i].whole = whole;
		}
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

/* Of the file that is being parsed. One for all: it is locked in memory, and no parser reads another. */
static char text[262144];

int zones_read(struct zones *z, unsigned int pageblock_order)
{
	if (file_slurp("/proc/zoneinfo", text, sizeof(text)) < 0)
		return -1;
	zones_parse_zoneinfo(z, text);
	if (file_slurp("/proc/buddyinfo", text, sizeof(text)) < 0)
		return -1;
	zones_parse_buddyinfo(z, text, pageblock_order);
	return z->n ? 0 : -1;
}

/* The numbers of one line, behind "Node N, zone NAME". */
static void add_blocks(const char *p, uint64_t blocks[ORDERS])
{
	for (unsigned int order = 0; order < 32; order++) {
		char *end;
		uint64_t count = strtoull(p, &end, 10);

		if (end == p || memchr(p, '\n', (size_t)(end - p)))
			return;
		if (order < ORDERS)
			blocks[order] += count;
		else
			blocks[ORDERS - 1] += count << (order - ORDERS + 1);
		p = end;
	}
}

void free_blocks_parse(const char *text, uint64_t blocks[ORDERS])
{
	memset(blocks, 0, ORDERS * sizeof(*blocks));
	while (*text) {
		int node, used = 0;

		if (sscanf(text, "Node %d, zone %*15s%n", &node, &used) == 1 && used)
			add_blocks(text + used, blocks);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

int free_blocks_read(uint64_t blocks[ORDERS])
{
	if (file_slurp("/proc/buddyinfo", text, sizeof(text)) < 0)
		return -1;
	free_blocks_parse(text, blocks);
	return 0;
}

uint64_t vmstat_parse_sum(const char *text, const char *const *prefix, size_t n)
{
	uint64_t sum = 0;

	while (*text) {
		size_t len = strcspn(text, "\n"), word = strcspn(text, " \n");

		for (size_t i = 0; i < n; i++)
			if (strncmp(text, prefix[i], strlen(prefix[i])) == 0 && text[word] == ' ')
				sum += strtoull(text + word + 1, NULL, 10);
		text += len + (text[len] == '\n');
	}
	return sum;
}

uint64_t vmstat_sum(const char *const *prefix, size_t n)
{
	return file_slurp("/proc/vmstat", text, sizeof(text)) < 0 ? 0 : vmstat_parse_sum(text, prefix, n);
}

#define ZONES_SUM(field)                                   \
	uint64_t zones_##field(const struct zones *z)      \
	{                                                  \
		uint64_t sum = 0;                          \
                                                           \
		for (size_t i = 0; i < z->n; i++)          \
			sum += z->zone[i].field;           \
		return sum;                                \
	}
ZONES_SUM(free)
ZONES_SUM(pcp)
ZONES_SUM(low)
ZONES_SUM(high)
ZONES_SUM(managed)
ZONES_SUM(cma)

uint64_t zones_whole_blocks(const struct zones *z)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < z->n; i++)
		if (z->zone[i].reserve < z->zone[i].managed)
			sum += z->zone[i].whole;
	return sum;
}

uint64_t zones_room(const struct zones *z)
{
	uint64_t room = 0;

	for (size_t i = 0; i < z->n; i++) {
		uint64_t keep = z->zone[i].low + z->zone[i].reserve + z->zone[i].cma;

		room += z->zone[i].free > keep ? z->zone[i].free - keep : 0;
	}
	return room;
}

const struct zone *zones_of_pfn(const struct zones *z, uint64_t pfn)
{
	for (size_t i = 0; i < z->n; i++)
		if (pfn >= z->zone[i].start_pfn && pfn - z->zone[i].start_pfn < z->zone[i].spanned)
			return &z->zone[i];
	return NULL;
}

void ram_parse(struct ram *r, const char *text)
{
	r->n = 0;
	for (; *text && r->n < RAM_RANGES_MAX; text += strcspn(text, "\n"), text += *text == '\n') {
		char *end;
		uint64_t from = strtoull(text, &end, 16), to;

		if (*end != '-')
			continue;
		to = strtoull(end + 1, &end, 16);
		if (strncmp(end, " : System RAM", 13) != 0)
			continue;
		from = (from + 4095) / 4096;
		to = (to + 1) / 4096;
		/* A line within another tells of memory that is there already. */
		if (r->n && from < r->range[r->n - 1].end)
			from = r->range[r->n - 1].end;
		if (from < to)
			r->range[r->n++] = (struct ram_range){ from, to };
	}
}

int ram_read(struct ram *r)
{
	r->n = 0;
	if (file_slurp("/proc/iomem", text, sizeof(text)) < 0)
		return -1;
	ram_parse(r, text);
	return r->n ? 0 : -1;
}

unsigned int pageblock_order(void)
{
	const char *p;

	if (file_slurp("/proc/pagetypeinfo", text, sizeof(text)) < 0)
		return 9;
	p = strstr(text, "Page block order:");
	return p ? (unsigned int)strtoul(p + 17, NULL, 10) : 9;
}
