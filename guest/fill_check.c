// SPDX-License-Identifier: GPL-2.0-only
#include "guest/fill_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guest/expr_code.h"
#include "guest/job.h"
#include "guest/step_zones.h"

#define HIGH_MOST \
	10000 /* watermark_scale_factor is 1 at least: high is 2/10000 of a zone, or more */

/* Pages of the layout's own, which can be given back one by one. */
static bool holds(const struct job_line *line)
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

static int zone_of(const char *name)
{
	int zone = 0;

	while (zone < EXPR_ZONE_DEVICE && strcmp(expr_zone_names[zone], name) != 0)
		zone++;
	return zone;
}

static int no_zone_of_node(const char *zone, int64_t node, const struct step_context *c,
			   struct step_fault *f)
{
	return step_fault(f, "zone", "node %" PRId64 " has no zone %s: its memory lies in %s", node, zone,
			  step_zones_text(step_zones(c, node)).text);
}

/* Zones that neither a kernel nor a machine can give this guest. */
static int check_zone(const char *name, int64_t node, const struct step_context *c,
		      struct step_fault *f)
{
	int zone = name ? zone_of(name) : EXPR_ZONE_DMA32;

	if (!name || step_zone_bytes(c, zone, node))
		return 0;
	if (zone == EXPR_ZONE_MOVABLE)
		return step_fault(
			f, "zone",
			"this guest has no zone movable; give it one with vm: {movablecore: SIZE}");
	if (node >= 0 && c->nnodes)
		return no_zone_of_node(name, node, c, f);
	return step_fault_of_memory(f, "zone",
				    "this guest of %s has no zone %s, which begins at 4G: its memory lies in %s; give it "
				    "2816M of memory or more",
				    size_text(c->memory_bytes).text, name,
				    step_zones_text(step_zones(c, -1)).text);
}

/* Where the fill counts, and what can be free there at the most. */
struct place {
	char name[32];
	uint64_t bytes;
	bool is_guest;
	bool grows; /* there is more of it in a larger guest */
};

static struct place place_of(const char *zone, int64_t node, const struct step_context *c)
{
	struct place p = { "the guest", c->memory_bytes, true, true };
	uint64_t bytes;

	if (node >= 0 && c->nnodes) {
		snprintf(p.name, sizeof(p.name), "node %" PRId64, node);
		p.bytes = c->node_bytes[node];
		p.is_guest = p.grows = false;
	}
	bytes = zone ? step_zone_bytes(c, zone_of(zone), node) : p.bytes;
	if (bytes < p.bytes) {
		snprintf(p.name, sizeof(p.name), "zone %s", zone);
		p.bytes = bytes;
		p.is_guest = false;
		p.grows &= zone_of(zone) == EXPR_ZONE_NORMAL;
	}
	return p;
}

static int too_much(const struct place *p, const char *leave, const char *has, struct step_fault *f)
{
	if (p->is_guest)
		return step_fault_of_memory(
			f, "leave",
			"leave is %s, and the guest has %s; leave less, or give it more memory",
			leave, has);
	step_fault(f, "leave", "leave is %s, and %s has %s; leave less", leave, p->name, has);
	f->of_memory = p->grows;
	return -1;
}

struct leave {
	enum step_unit unit;
	uint64_t n;
};

static struct leave leave_of(const struct job_line *line)
{
	static const char *const units[] = { [STEP_BYTES] = "bytes",
					     [STEP_PERCENT] = "percent",
					     [STEP_HIGH] = "high",
					     [STEP_BLOCKS] = "blocks" };
	const char *unit = job_get(line, "leave_unit");
	struct leave v = { STEP_BYTES, (uint64_t)job_get_i64(line, "leave", 0) };

	for (int u = STEP_BYTES; unit && u <= STEP_BLOCKS; u++)
		if (strcmp(units[u], unit) == 0)
			v.unit = (enum step_unit)u;
	return v;
}

/* "128M", "5%", "40 pageblocks of 2M" */
static struct leave_text {
	char text[64];
} leave_text(struct leave v)
{
	struct leave_text t;

	if (v.unit == STEP_BYTES)
		snprintf(t.text, sizeof(t.text), "%s", size_text(v.n).text);
	else
		snprintf(t.text, sizeof(t.text), "%" PRIu64 "%s", v.n,
			 v.unit == STEP_PERCENT ? "%" :
			 v.unit == STEP_HIGH	? " times the high watermarks" :
						  " pageblocks of 2M");
	return t;
}

/* A fill that would be over before it begins. */
static int check_takes(struct leave v, const struct place *p, struct step_fault *f)
{
	uint64_t all = v.unit == STEP_BYTES   ? p->bytes :
		       v.unit == STEP_BLOCKS  ? p->bytes / STEP_BLOCK_BYTES :
		       v.unit == STEP_PERCENT ? 100 :
						UINT64_MAX;

	if (v.n < all)
		return 0;
	step_fault(f, "leave", "leave is %s, which is all that %s has: the fill would take nothing; leave less",
		   leave_text(v).text, p->name);
	f->of_memory = p->grows && v.unit != STEP_PERCENT;
	return -1;
}

#define LEAST_BYTES (1u << 20) /* well below the low watermarks of the smallest guest */

/* Of the whole guest. A zone can be filled to the last page, and so can whole pageblocks. */
static int check_enough(struct leave v, struct step_fault *f)
{
	if (v.unit == STEP_BLOCKS || v.n >= (v.unit == STEP_BYTES ? LEAST_BYTES : 1))
		return 0;
	return step_fault(f, "leave",
			  "leave is %s, and a guest cannot go on with less than 1M of free memory; leave "
			  "{high: 2}, say",
			  leave_text(v).text);
}

static int check_leave(struct leave v, const struct place *p, struct step_fault *f)
{
	if (v.unit == STEP_HIGH && v.n > HIGH_MOST)
		return step_fault(f, "leave",
				  "leave is %" PRIu64
				  " times the high watermarks, which is more than any "
				  "guest has; leave {high: 2}, say",
				  v.n);
	if (v.unit == STEP_BLOCKS && v.n > p->bytes / STEP_BLOCK_BYTES) {
		char has[32];

		snprintf(has, sizeof(has), "%" PRIu64, p->bytes / STEP_BLOCK_BYTES);
		return too_much(p, leave_text(v).text, has, f);
	}
	if (v.unit == STEP_BYTES && v.n > p->bytes)
		return too_much(p, size_text(v.n).text, size_text(p->bytes).text, f);
	return check_takes(v, p, f);
}

/* Bytes that the amount does not exceed; UINT64_MAX: unknown. */
static uint64_t bytes_at_most(struct leave v, uint64_t memory)
{
	return v.unit == STEP_BYTES   ? v.n :
	       v.unit == STEP_PERCENT ? memory / 100 * v.n + v.n :
					UINT64_MAX;
}

/* What the kernel manages is less than the memory, and more than half of it. */
static uint64_t bytes_at_least(struct leave v, uint64_t memory)
{
	return v.unit == STEP_BYTES   ? v.n :
	       v.unit == STEP_PERCENT ? memory / 200 * v.n :
	       v.unit == STEP_BLOCKS  ? v.n * STEP_BLOCK_BYTES :
					0;
}

/* Is there more free than the step shall leave, behind the fill before it? */
static int check_left(struct leave v, const struct step_context *c, struct step_fault *f)
{
	struct leave before = { c->left_unit, c->left };

	if (before.unit == STEP_UNKNOWN)
		return 0;
	if (v.unit == before.unit ? v.n <= before.n :
				    bytes_at_least(v, c->memory_bytes) <=
					    bytes_at_most(before, c->memory_bytes))
		return 0;
	return step_fault(f, "leave",
			  "leave is %s, and a fill before has left %s: there is nothing to take; leave less, or "
			  "free pages in between",
			  leave_text(v).text, leave_text(before).text);
}

void fill_after(const struct job_line *line, struct step_context *c)
{
	const char *kind = job_get(line, "kind");
	struct leave v = leave_of(line);

	c->held |= holds(line);
	c->cache |= kind && strcmp(kind, "file") == 0;
	if (job_get(line, "zone") || job_get_i64(line, "node", -1) >= 0)
		return;
	c->left_unit = v.unit;
	c->left = v.n;
}

int fill_check(const struct job_line *line, const struct step_context *c, struct step_fault *f)
{
	const char *zone = job_get(line, "zone");
	int64_t node = job_get_i64(line, "node", -1);
	struct leave v = leave_of(line);
	struct place p;

	if (zone && !holds(line))
		return step_fault(
			f, NULL,
			"zone goes with anon and thp alone, whose pages can be given back one by one");
	if (check_node(node, c, f) < 0 || check_zone(zone, node, c, f) < 0)
		return -1;
	p = place_of(zone, node, c);
	if (check_leave(v, &p, f) < 0)
		return -1;
	if (zone || node >= 0)
		return 0;
	return check_enough(v, f) < 0 ? -1 : check_left(v, c, f);
}
