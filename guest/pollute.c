// SPDX-License-Identifier: GPL-2.0-only
#include "guest/pollute.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/region.h"

#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_PFN ((1ULL << 55) - 1)
#define FRAME_BYTES 2048

/* ---- rings of packet sockets: blocks of one order each, that can be mapped ---- */

static int packet_start(unsigned int *order, char *why, size_t why_room)
{
	struct rlimit files = { 65536, 65536 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0) {
		snprintf(why, why_room, "packet sockets: %s", strerror(errno));
		return -1;
	}
	close(fd);
	setrlimit(RLIMIT_NOFILE, &files);
	return 0;
}

/* Which page frames the ring has. */
static int note_ring(struct layout *l, int fd, size_t bytes)
{
	uint8_t *ring = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	int ret = 0;

	if (ring == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < bytes / 4096; i++) {
		off_t at = (off_t)(((uintptr_t)ring / 4096 + i) * 8);
		uint64_t e;

		if (pread(l->pagemap_fd, &e, 8, at) != 8 || !(e & PAGEMAP_PRESENT))
			ret = -1;
		else if ((e & PAGEMAP_PFN) < l->pfn_end)
			bit_set(l->aside, (uint32_t)(e & PAGEMAP_PFN));
	}
	munmap(ring, bytes);
	return ret;
}

static int packet_more(struct layout *l, unsigned int order, unsigned int n, char *why, size_t why_room)
{
	struct tpacket_req req = { .tp_block_size = 4096u << order, .tp_block_nr = n,
				   .tp_frame_size = FRAME_BYTES };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	req.tp_frame_nr = req.tp_block_size / FRAME_BYTES * n;
	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)) < 0 ||
	    note_ring(l, fd, (size_t)req.tp_block_size * n) < 0) {
		snprintf(why, why_room, "a ring of %u blocks of order %u: %s", n, order, strerror(errno));
		return -1;
	}
	return 0; /* the socket stays open: it is what holds the pages */
}

const struct pollute pollute_packet = {
	.name = "packet",
	.how = "rings of packet sockets",
	.migratetype = "unmovable",
	.start = packet_start,
	.more = packet_more,
};

/* ---- page tables: one for each 2 MiB of addresses in which the zero page is mapped ---- */

#define TABLE_SPAN (2u << 20)
#define TABLES_MAP 512

static int order_zero(unsigned int *order, char *why, size_t why_room)
{
	*order = 0;
	return 0;
}

static int tables_more(struct layout *l, unsigned int order, unsigned int n, char *why, size_t why_room)
{
	static uint8_t *next;
	static unsigned int left;

	for (; n; n--, left--, next += TABLE_SPAN) {
		if (!left) {
			next = mmap(NULL, (size_t)TABLES_MAP * TABLE_SPAN, PROT_READ,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			if (next == MAP_FAILED) {
				snprintf(why, why_room, "address space: %s", strerror(errno));
				return -1;
			}
			madvise(next, (size_t)TABLES_MAP * TABLE_SPAN, MADV_NOHUGEPAGE);
			left = TABLES_MAP;
		}
		(void)*(volatile uint8_t *)next;
	}
	return 0;
}

const struct pollute pollute_tables = {
	.name = "pagetables",
	.how = "page tables of sparse mappings",
	.migratetype = "unmovable",
	.start = order_zero,
	.more = tables_more,
};

/* ---- negative dentries of sysfs: a shrinker can take them back ---- */

#define DENTRY_BYTES 192

static int dentries_start(unsigned int *order, char *why, size_t why_room)
{
	int64_t of_slab = file_number("/sys/kernel/slab/dentry/order", 0);

	*order = of_slab >= 0 && of_slab <= 3 ? (unsigned int)of_slab : 0;
	return 0;
}

static int dentries_more(struct layout *l, unsigned int order, unsigned int n, char *why, size_t why_room)
{
	static unsigned long serial;
	char path[64];

	for (unsigned int i = 0; i < n * ((4096u << order) / DENTRY_BYTES); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/mm/mix-%lu", serial++);
		if (access(path, F_OK) == 0 || errno != ENOENT) {
			snprintf(why, why_room, "%s: %s", path, strerror(errno));
			return -1;
		}
	}
	return 0;
}

const struct pollute pollute_dentries = {
	.name = "dentries",
	.how = "negative dentries of sysfs",
	.migratetype = "reclaimable",
	.start = dentries_start,
	.more = dentries_more,
};
