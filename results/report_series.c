// SPDX-License-Identifier: GPL-2.0-only
/* The samples of one run as lines over time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_internal.h"
#include "results/util/cleanup.h"

/*
 * Points kept of one series. When there are more, every other one is dropped: of counters that only
 * grow nothing is lost by that but resolution.
 */
#define POINTS_MAX 16384
#define PAGEBLOCK_BAD_MAX 1000

const char *const report_psi_names[3] = { "pressure/memory", "pressure/io", "pressure/cpu" };

static void track_halve(struct report_track *t)
{
	for (size_t i = 0; 2 * i < t->n; i++) {
		t->t[i] = t->t[2 * i];
		for (size_t l = 0; l < t->nlines; l++)
			t->line[l].v[i] = t->line[l].v[2 * i];
	}
	t->n = (t->n + 1) / 2;
}

/* Room for one point more at the time t; false: time stood still or went back. */
static bool track_next(struct report_track *t, double at, size_t nlines)
{
	if (t->n && !(at > t->t[t->n - 1]))
		return false;
	if (!t->line) {
		t->nlines = nlines;
		t->line = xcalloc(nlines + 1, sizeof(*t->line));
	}
	if (t->n == POINTS_MAX)
		track_halve(t);
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 256;
		t->t = xreallocarray(t->t, t->room, sizeof(*t->t));
		for (size_t l = 0; l < nlines; l++)
			t->line[l].v = xreallocarray(t->line[l].v, t->room, sizeof(*t->line[l].v));
	}
	t->t[t->n++] = at;
	return true;
}

static void track_set(struct report_track *t, size_t line, double v)
{
	t->line[line].v[t->n - 1] = v;
	t->line[line].any |= isfinite(v);
}

static void track_free(struct report_track *t)
{
	for (size_t l = 0; l < t->nlines; l++)
		free(t->line[l].v);
	free(t->line);
	free(t->t);
}

static void add_source(const struct vmstat *v, const char *source, double *sum, bool *found)
{
	const char *key = source + strspn(source, "-");
	bool minus = *source == '-';

	for (size_t i = 0; str_ends(source, "*") && i < v->n; i++) {
		if (!counter_source_matches(source, v->row[i].key))
			continue;
		*sum += minus ? -(double)v->row[i].value : (double)v->row[i].value;
		*found |= !minus;
	}
	if (!str_ends(source, "*") && vmstat_get(v, key)) {
		double value = (double)*vmstat_get(v, key);

		*sum += minus ? -value : value;
		*found |= !minus;
	}
}

static double tracked_value(const struct report_tracked *t, const struct vmstat *v)
{
	double sum = 0;
	bool found = false;

	if (!t->counter)
		add_source(v, t->name, &sum, &found);
	for (size_t i = 0; t->counter && t->counter->sources[i]; i++)
		add_source(v, t->counter->sources[i], &sum, &found);
	return found ? sum : NAN;
}

static void take_vmstat(struct report_reader *r, double at, const struct wire_sample *sample)
{
	struct report_track *t = &r->series->vmstat;
	struct vmstat v;

	if (vmstat_parse(sample->data, sample->len, &v) < 0)
		return;
	if (track_next(t, at, r->ntracked)) {
		for (size_t i = 0; i < r->ntracked; i++) {
			t->line[i].level = r->tracked[i].level;
			track_set(t, i, tracked_value(&r->tracked[i], &v));
		}
	}
	vmstat_free(&v);
}

static void take_psi(struct report_track *t, double at, const struct wire_sample *sample)
{
	struct psi psi;

	if (psi_parse(sample->data, sample->len, &psi) < 0 || !track_next(t, at, 2))
		return;
	track_set(t, 0, psi.some_known ? (double)psi.some_us : NAN);
	track_set(t, 1, psi.full_known ? (double)psi.full_us : NAN);
}

static void buddy_halve(struct report_series *s)
{
	for (size_t i = 0; 2 * i < s->buddy.n; i++) {
		s->buddy.t[i] = s->buddy.t[2 * i];
		memcpy(s->buddy.pages[i], s->buddy.pages[2 * i], sizeof(s->buddy.pages[i]));
	}
	s->buddy.n = (s->buddy.n + 1) / 2;
}

static double *buddy_next(struct report_series *s, double at)
{
	if (s->buddy.n && !(at > s->buddy.t[s->buddy.n - 1]))
		return NULL;
	if (s->buddy.n == POINTS_MAX)
		buddy_halve(s);
	if (s->buddy.n == s->buddy.room) {
		s->buddy.room = s->buddy.room ? 2 * s->buddy.room : 256;
		s->buddy.t = xreallocarray(s->buddy.t, s->buddy.room, sizeof(*s->buddy.t));
		s->buddy.pages = xreallocarray(s->buddy.pages, s->buddy.room, sizeof(*s->buddy.pages));
	}
	s->buddy.t[s->buddy.n] = at;
	memset(s->buddy.pages[s->buddy.n], 0, sizeof(s->buddy.pages[0]));
	return s->buddy.pages[s->buddy.n++];
}

static void take_buddy(struct report_series *s, double at, const struct wire_sample *sample)
{
	struct free_table table;
	double *pages;

	if (buddyinfo_parse(sample->data, sample->len, &table) < 0)
		return;
	pages = buddy_next(s, at);
	for (size_t i = 0; pages && i < table.n; i++) {
		const struct free_row *row = &table.row[i];

		if (row->n > s->buddy.orders)
			s->buddy.orders = row->n;
		for (unsigned int o = 0; o < row->n; o++)
			pages[o] += ldexp((double)row->count[o], (int)o);
	}
	free_table_free(&table);
}

/* The map of the layout stands before the workload's end, the other one behind it. */
static void take_pageblocks(struct report_series *s, const struct wire_sample *sample)
{
	bool after = s->ended || sample->phase == PHASE_COLLECT ||
		     (sample->phase == PHASE_WORKLOAD && sample->edge == EDGE_END);
	struct pageblocks *map = after ? &s->after : &s->before;

	if (map->bad < PAGEBLOCK_BAD_MAX)
		pageblocks_add(map, sample->data, sample->len);
}

static void take_edges(struct report_series *s, double at, const struct wire_sample *sample)
{
	if (sample->phase != PHASE_WORKLOAD)
		return;
	if (sample->edge == EDGE_BEGIN && !s->begun) {
		s->begun = true;
		s->begin_s = at;
	} else if (sample->edge == EDGE_END) {
		s->ended = true;
		s->end_s = at;
	}
}

int report_series_take(void *reader, const struct wire_sample *sample)
{
	struct report_reader *r = reader;
	struct report_series *s = r->series;
	double at = (double)sample->mono_ns * 1e-9;

	if (strcmp(sample->name, "pageblocks") == 0) {
		take_pageblocks(s, sample);
		return 0;
	}
	/* Minutes of filling, with nothing between its edges, would leave no room for the rest. */
	if (sample->phase < PHASE_LAYOUT || (sample->phase == PHASE_LAYOUT && sample->edge != EDGE_END))
		return 0;
	take_edges(s, at, sample);
	s->last_s = fmax(s->last_s, at);
	if (strcmp(sample->name, "vmstat") == 0)
		take_vmstat(r, at, sample);
	else if (strcmp(sample->name, "buddyinfo") == 0)
		take_buddy(s, at, sample);
	for (size_t i = 0; i < ARRAY_SIZE(report_psi_names); i++)
		if (strcmp(sample->name, report_psi_names[i]) == 0)
			take_psi(&s->psi[i], at, sample);
	return 0;
}

static void shift_times(double *t, size_t n, double by)
{
	for (size_t i = 0; i < n; i++)
		t[i] -= by;
}

void report_series_end(struct report_series *s)
{
	double zero = s->begun ? s->begin_s : s->vmstat.n ? s->vmstat.t[0] : 0;

	shift_times(s->vmstat.t, s->vmstat.n, zero);
	shift_times(s->buddy.t, s->buddy.n, zero);
	for (size_t i = 0; i < ARRAY_SIZE(s->psi); i++)
		shift_times(s->psi[i].t, s->psi[i].n, zero);
	s->begin_s -= zero;
	s->end_s -= zero;
	s->last_s -= zero;
}

void report_series_free(struct report_series *s)
{
	if (!s)
		return;
	track_free(&s->vmstat);
	for (size_t i = 0; i < ARRAY_SIZE(s->psi); i++)
		track_free(&s->psi[i]);
	free(s->buddy.t);
	free(s->buddy.pages);
	pageblocks_free(&s->before);
	pageblocks_free(&s->after);
	free(s);
}

int report_series_read(struct store *s, const struct report_run *run,
		       const struct report_tracked *tracked, size_t ntracked,
		       struct report_series **out, struct error *err)
{
	struct report_series *series = xcalloc(1, sizeof(*series));
	struct report_reader reader = { series, tracked, ntracked };

	*out = NULL;
	if (store_each_sample(s, run->set->id, run->run->id, report_series_take, &reader, err) < 0) {
		report_series_free(series);
		return -1;
	}
	report_series_end(series);
	*out = series;
	return 0;
}
