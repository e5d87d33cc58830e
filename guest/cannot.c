// SPDX-License-Identifier: GPL-2.0-only
#include "guest/cannot.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int step_cannot(struct step_report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->why, sizeof(r->why), fmt, ap);
	va_end(ap);
	r->cannot = true;
	return -1;
}

int step_divides_by_zero(struct step_report *r)
{
	return step_cannot(r, "where: division by zero");
}

/* Pages in one zone, and between which pfns they stand. */
struct stand {
	uint64_t pages, first, last;
};

static void note(struct stand *s, uint64_t pfn)
{
	if (!s->pages++ || pfn < s->first)
		s->first = pfn;
	if (pfn > s->last)
		s->last = pfn;
}

/* Pages held that are not pinned, by zone of l->zones; *pinned: those that are. */
static uint64_t find(const struct layout *l, struct stand at[ZONES_MAX], uint64_t *pinned)
{
	uint64_t n = 0;

	*pinned = 0;
	for (size_t i = 0; i < l->filled_pages; i++) {
		uint32_t pfn = LAYOUT_PFN(l->pfn[i]);
		const struct zone *z;

		if (pfn == LAYOUT_GONE)
			continue;
		if (l->pfn[i] & LAYOUT_PINNED) {
			(*pinned)++;
			continue;
		}
		n++;
		z = zones_of_pfn(&l->zones, pfn);
		if (z)
			note(&at[z - l->zones.zone], pfn);
	}
	return n;
}

static bool has_nodes(const struct zones *z)
{
	for (size_t i = 0; i < z->n; i++)
		if (z->zone[i].node)
			return true;
	return false;
}

/* ": 4000 pages in DMA32 (pfn 4096 to 130000), ...", as many zones as there is room for. */
static void say_stands(const struct layout *l, const struct stand at[ZONES_MAX], struct step_report *r)
{
	bool nodes = has_nodes(&l->zones), any = false;

	for (size_t i = 0; i < l->zones.n; i++) {
		const struct zone *z = &l->zones.zone[i];
		char part[128], node[24] = "";
		size_t n = strlen(r->why);

		if (!at[i].pages)
			continue;
		if (nodes)
			snprintf(node, sizeof(node), " of node %d", z->node);
		snprintf(part, sizeof(part), "%s%" PRIu64 " pages in %s%s (pfn %" PRIu64 " to %" PRIu64 ")",
			 any ? ", " : ": ", at[i].pages, z->name, node, at[i].first, at[i].last);
		if (n + strlen(part) + sizeof(", ...") > sizeof(r->why)) {
			strcat(r->why, ", ...");
			return;
		}
		strcat(r->why, part);
		any = true;
	}
}

int step_no_page(const struct layout *l, struct step_report *r)
{
	struct stand at[ZONES_MAX] = { 0 };
	uint64_t pinned, n = find(l, at, &pinned);

	if (!n)
		return step_cannot(r, "the layout holds no page that is not pinned; pinned are %" PRIu64, pinned);
	step_cannot(r, "where selects no page of the fill%s", pinned ? " that is not pinned" : "");
	say_stands(l, at, r);
	return -1;
}

int step_any_page(const struct layout *l, struct step_report *r)
{
	for (size_t i = 0; i < l->pfn_end / 8 + 1; i++)
		if (l->avail[i])
			return 0;
	return step_no_page(l, r);
}

static void all_zones(const struct layout *l, struct stand at[ZONES_MAX])
{
	for (size_t i = 0; i < l->zones.n; i++) {
		const struct zone *z = &l->zones.zone[i];

		if (z->managed)
			at[i] = (struct stand){ z->managed, z->start_pfn, z->start_pfn + z->spanned - 1 };
	}
}

int step_no_block(const struct layout *l, struct step_report *r)
{
	struct stand at[ZONES_MAX] = { 0 };

	all_zones(l, at);
	step_cannot(r, "where selects no page of the guest");
	say_stands(l, at, r);
	return -1;
}

int step_no_memory(const struct layout *l, const char *zone, int64_t node, struct step_report *r)
{
	struct stand at[ZONES_MAX] = { 0 };
	char of_node[32] = "";

	if (node >= 0)
		snprintf(of_node, sizeof(of_node), "%snode %" PRId64, zone ? " of " : "", node);
	all_zones(l, at);
	step_cannot(r, "this guest has no memory in %s%s%s", zone ? "zone " : "", zone ? zone : "", of_node);
	say_stands(l, at, r);
	return -1;
}
