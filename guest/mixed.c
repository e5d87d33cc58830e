// SPDX-License-Identifier: GPL-2.0-only
#include "guest/mixed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guest/mix_blocks.h"

static const char *const names[MIXED_KINDS] = { "unmovable", "reclaimable" };

/* ---- what the kernel calls its pageblocks ---- */

static uint64_t *count_of(struct block_types *t, const char *name)
{
	if (strcmp(name, "Unmovable") == 0)
		return &t->unmovable;
	if (strcmp(name, "Movable") == 0)
		return &t->movable;
	return strcmp(name, "Reclaimable") == 0 ? &t->reclaimable : &t->other;
}

#define TYPES_MAX 16

/* The names of the columns, in the order of the kernel, which has changed. */
static size_t read_columns(const char *at, struct block_types *t, uint64_t *column[TYPES_MAX])
{
	char name[32];
	size_t n = 0;

	for (int len; n < TYPES_MAX && sscanf(at, "%*[ ]%31[^ \n]%n", name, &len) == 1; at += len)
		column[n++] = count_of(t, name);
	return n;
}

bool block_types_parse(const char *text, struct block_types *t)
{
	static const char head[] = "Number of blocks type";
	const char *at = strstr(text, head);
	uint64_t *column[TYPES_MAX];
	bool any = false;
	size_t n;

	memset(t, 0, sizeof(*t));
	n = at ? read_columns(at + strlen(head), t, column) : 0;
	while (n && (at = strchr(at, '\n'))) {
		int len = 0;

		at++;
		if (sscanf(at, "Node %*d, zone %*s%n", &len) < 0 || !len)
			break;
		at += len;
		for (size_t i = 0; i < n; i++) {
			uint64_t count;

			if (sscanf(at, "%*[ ]%" SCNu64 "%n", &count, &len) != 1)
				break;
			*column[i] += count;
			at += len;
		}
		any = true;
	}
	return any;
}

static bool read_types(struct block_types *t)
{
	static char text[65536];

	return file_slurp("/proc/pagetypeinfo", text, sizeof(text)) > 0 && block_types_parse(text, t);
}

/* ---- asked and got ---- */

uint64_t mixed_off(const struct mixed_kind *k, uint64_t got)
{
	uint64_t most = k->before > k->asked ? k->before : k->asked;

	if (got > most)
		return got - most;
	return got < k->asked ? k->asked - got : 0;
}

static void add(char *out, size_t room, const char *key, const char *suffix, uint64_t n)
{
	size_t len = strlen(out);

	snprintf(out + len, room - len, "%s\"%s%s\":%" PRIu64, len ? "," : "", key, suffix, n);
}

static void say_types(const struct layout *l, const struct block_types *t, struct step_report *r)
{
	const uint64_t got[MIXED_KINDS] = { t->unmovable, t->reclaimable };
	uint64_t all = t->unmovable + t->movable + t->reclaimable + t->other, asked = 0;

	for (int i = 0; i < MIXED_KINDS; i++) {
		const struct mixed_kind *k = &l->mixed.kind[i];
		uint64_t n = (all * k->type_ppm + 500000) / 1000000;

		asked += n;
		if (k->any)
			add(r->asked, sizeof(r->asked), "type_", names[i], n);
		add(r->got, sizeof(r->got), "type_", names[i], got[i]);
	}
	add(r->asked, sizeof(r->asked), "type_", "movable", asked < all ? all - asked : 0);
	add(r->got, sizeof(r->got), "type_", "movable", t->movable);
}

static bool slab_follows(const struct job *job)
{
	const struct job_line *line = NULL;
	bool mixed = false, slab = false;

	while ((line = job_next(job, line, "step"))) {
		const char *name = job_get(line, "do"), *kind = job_get(line, "kind");

		if (name && strcmp(name, "mix") == 0)
			mixed = true;
		slab |= mixed && name && strcmp(name, "fill") == 0 && kind && strcmp(kind, "slab") == 0;
	}
	return slab;
}

/* Of all pageblocks, as the share that was asked for is. */
static void judge(struct layout *l, int i, uint64_t all, uint64_t got, struct step_report *r)
{
	const struct mixed_kind *k = &l->mixed.kind[i];

	if (got > k->asked && slab_follows(l->job))
		return;
	if (layout_within_ppm(l, judge_ppm(mixed_off(k, got), all), l->tolerance_ppm))
		return;
	r->ok = false;
	snprintf(r->why, sizeof(r->why),
		 "%" PRIu64 " of %" PRIu64 " pageblocks hold %s pages of the kernel's in the end, and %" PRIu64
		 " were asked for (%" PRIu64 " did before the step)",
		 got, all, names[i], k->asked, k->before);
}

static void say_kind(struct layout *l, int i, uint64_t all, struct step_report *r)
{
	const struct mixed_kind *k = &l->mixed.kind[i];
	uint64_t got = mix_blocks_held(l, i == MIXED_RECLAIMABLE);

	if (k->any)
		add(r->asked, sizeof(r->asked), names[i], "_blocks", k->asked);
	add(r->got, sizeof(r->got), names[i], "_blocks", got);
	if (k->any)
		judge(l, i, all, got, r);
}

static void say_how(const struct layout *l, bool types, struct step_report *r)
{
	const struct mixed_kind *k = &l->mixed.kind[MIXED_UNMOVABLE];
	int n = snprintf(r->how, sizeof(r->how),
			 "compared: pageblocks with pages of the kernel's in them (/proc/kpageflags)");

	if (k->before > k->asked)
		n += snprintf(r->how + n, sizeof(r->how) - (size_t)n,
			      "; %" PRIu64 " had them before the step", k->before);
	if (types)
		snprintf(r->how + n, sizeof(r->how) - (size_t)n,
			 "; not compared: type_, what the kernel calls its pageblocks "
			 "(/proc/pagetypeinfo): it renames one only where it finds half of it free");
}

int mixed_report(struct layout *l, int *index)
{
	struct step_report r = { .ok = true };
	uint64_t start = mono_ns(), all = mix_blocks_all(l);
	struct block_types types;
	bool have;

	if (!l->mixed.kind[MIXED_UNMOVABLE].any && !l->mixed.kind[MIXED_RECLAIMABLE].any)
		return 0;
	layout_begin(l, *index, "mixed");
	for (int i = 0; i < MIXED_KINDS; i++)
		say_kind(l, i, all, &r);
	add(r.got, sizeof(r.got), "blocks", "", all);
	have = read_types(&types);
	if (have)
		say_types(l, &types, &r);
	say_how(l, have, &r);
	if (!r.ok)
		layout_complete_why(l, &r);
	layout_report(l, (*index)++, "mixed", start, &r);
	return r.ok ? 0 : task_fail(l->child, "infra", "layout: %s", r.why);
}
