// SPDX-License-Identifier: GPL-2.0-only
#include "guest/fill_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guest/job.h"

#define HIGH_MOST \
	10000 /* watermark_scale_factor is 1 at least: high is 2/10000 of a zone, or more */
#define DMA_BYTES (16ull << 20)
#define DMA32_BYTES (4ull << 30)

bool fill_holds(const struct job_line *line)
{
	const char *kind = job_get(line, "kind");

	return !kind || strcmp(kind, "anon") == 0 || strcmp(kind, "thp") == 0;
}

static int check_node(int64_t node, const struct step_context *c, struct step_fault *f)
{
	if (node < 0 || (!node && !c->nnodes))
		return 0;
	if (!c->nnodes)
		return step_fault(
			f, "node",
			"there is no node %" PRId64
			": this guest has one node, 0; list its nodes in vm: {numa: [...]}",
			node);
	if ((uint64_t)node >= c->nnodes)
		return step_fault(f, "node",
				  "there is no node %" PRId64 ": vm: numa has %zu node%s, 0 to %zu",
				  node, c->nnodes, c->nnodes == 1 ? "" : "s", c->nnodes - 1);
	if (!c->node_bytes[node])
		return step_fault(f, "node", "node %" PRId64 " has no memory in vm: numa", node);
	return 0;
}

/* Which zones a kernel has is for the kernel to say; where they end at the most is the machine's. */
static int check_zone(const char *zone, int64_t node, const struct step_context *c,
		      struct step_fault *f)
{
	uint64_t limit = zone && strcmp(zone, "dma") == 0 ? DMA_BYTES : DMA32_BYTES, before = 0;

	if (zone && strcmp(zone, "movable") == 0 && !c->movable)
		return step_fault(
			f, "zone",
			"this guest has no zone movable; give it one with vm: {movablecore: SIZE}");
	if (node < 0 || !zone || strncmp(zone, "dma", 3) != 0)
		return 0;
	for (int64_t i = 0; i < node && (size_t)i < c->nnodes; i++)
		before += c->node_bytes[i];
	if (before < limit)
		return 0;
	return step_fault(f, "zone", "zone %s ends at %s, and node %" PRId64 " lies above it", zone,
			  size_text(limit).text, node);
}

/* Where the fill counts, and what can be free there at the most. */
struct place {
	char name[32];
	uint64_t bytes;
	bool is_guest;
};

static struct place place_of(const char *zone, int64_t node, const struct step_context *c)
{
	struct place p = { "the guest", c->memory_bytes, true };

	if (node >= 0 && c->nnodes) {
		snprintf(p.name, sizeof(p.name), "node %" PRId64, node);
		p.bytes = c->node_bytes[node];
		p.is_guest = false;
	}
	if (zone && strcmp(zone, "dma") == 0 && p.bytes > DMA_BYTES)
		p = (struct place){ "zone dma", DMA_BYTES, false };
	return p;
}

static int too_much(const struct place *p, const char *leave, const char *has, struct step_fault *f)
{
	if (p->is_guest)
		return step_fault_of_memory(
			f, "leave",
			"leave is %s, and the guest has %s; leave less, or give it more memory",
			leave, has);
	return step_fault(f, "leave", "leave is %s, and %s has %s; leave less", leave, p->name,
			  has);
}

static int check_leave(const struct job_line *line, const struct place *p, struct step_fault *f)
{
	const char *unit = job_get(line, "leave_unit");
	uint64_t leave = (uint64_t)job_get_i64(line, "leave", 0);

	unit = unit ? unit : "bytes";
	if (strcmp(unit, "high") == 0 && leave > HIGH_MOST)
		return step_fault(f, "leave",
				  "leave is %" PRIu64
				  " times the high watermarks, which is more than any "
				  "guest has; leave {high: 2}, say",
				  leave);
	if (strcmp(unit, "blocks") == 0 && leave > p->bytes / STEP_BLOCK_BYTES) {
		char blocks[64], has[32];

		snprintf(blocks, sizeof(blocks), "%" PRIu64 " pageblocks of 2M", leave);
		snprintf(has, sizeof(has), "%" PRIu64, p->bytes / STEP_BLOCK_BYTES);
		return too_much(p, blocks, has, f);
	}
	if (strcmp(unit, "bytes") == 0 && leave > p->bytes)
		return too_much(p, size_text(leave).text, size_text(p->bytes).text, f);
	return 0;
}

int fill_check(const struct job_line *line, const struct step_context *c, struct step_fault *f)
{
	const char *zone = job_get(line, "zone");
	int64_t node = job_get_i64(line, "node", -1);
	struct place p;

	if (zone && !fill_holds(line))
		return step_fault(
			f, NULL,
			"zone goes with anon and thp alone, whose pages can be given back one by one");
	if (check_node(node, c, f) < 0 || check_zone(zone, node, c, f) < 0)
		return -1;
	p = place_of(zone, node, c);
	return check_leave(line, &p, f);
}
