// SPDX-License-Identifier: GPL-2.0-only
/* Records into reports: which report a record belongs to, and what is kept of a zone. */
#include <ctype.h>
#include <stdlib.h>

#include "harness/report/memreport_impl.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"

#define WORD_SHOWN 40 /* bytes */
#define STAMP_JUMP_US 30000000 /* a slow console took 2.7 s for a dump */
#define STAMP_BACK_US 1000000

/* ---- reports ---- */

/* The log is of one machine until it says otherwise. */
static void inherit(struct memreport *r, const struct memreport *before)
{
	strcpy(r->release, before->release);
	strcpy(r->arch, before->arch);
	r->page_kb = before->page_kb;
	r->page_size_known = before->page_size_known;
}

/* A kernel counts pages. */
static void to_pages(struct memreport *r, struct memzone *z, enum memzone_field f)
{
	uint64_t kb = z->value[f];

	z->value[f] /= r->page_kb;
	if (kb % r->page_kb)
		memreport_remark(r, z->field_line[f],
				 "node %u %s: %s of %llu kB is no whole number of pages of %u kB: it is "
				 "taken for %llu kB",
				 z->node, z->name, memzone_field_name(f), (unsigned long long)kb, r->page_kb,
				 (unsigned long long)(z->value[f] * r->page_kb));
}

/* What dumps print is kB; all else is pages, as all becomes now. */
static void report_end(struct reader *rd)
{
	struct memreport *r = rd->r;

	for (size_t i = 0; r && i < r->nzones; i++)
		for (int f = 0; f < MEMZONE_FIELDS; f++)
			if (rd->source[i].in_kb >> f & 1)
				to_pages(r, &r->zone[i], (enum memzone_field)f);
}

static struct memreport *room_for_report(struct reader *rd)
{
	struct memreport_set *set = rd->set;

	if (set->n >= MEMREPORT_REPORTS_MAX) {
		set->left_out++;
		memreport_free(&rd->spill);
		return &rd->spill;
	}
	if ((set->n & (set->n - 1)) == 0)
		set->report =
			xreallocarray(set->report, set->n ? 2 * set->n : 1, sizeof(*set->report));
	return memset(&set->report[set->n++], 0, sizeof(*set->report));
}

static void report_begin(struct reader *rd)
{
	report_end(rd);
	rd->r = room_for_report(rd);
	rd->r->line = rd->rec.line;
	rd->r->page_kb = 4;
	if (rd->set->n > 1 && rd->r != &rd->spill)
		inherit(rd->r, rd->r - 1);
	memset(rd->source, 0, sizeof(rd->source));
	rd->list = rd->last = rd->typed = rd->zoneinfo = -1;
	rd->have_last = rd->page_size_read = false;
	rd->nheading = 0;
}

struct memreport *reader_report(struct reader *rd)
{
	if (!rd->r)
		report_begin(rd);
	return rd->r;
}

void reader_split(struct reader *rd)
{
	reader_list_end(rd);
	if (rd->r && rd->r->nzones)
		report_begin(rd);
}

/* ---- zones ---- */

static long zone_find(const struct memreport *r, unsigned int node, const char *name)
{
	for (size_t i = 0; i < r->nzones; i++)
		if (r->zone[i].node == node && strcmp(r->zone[i].name, name) == 0)
			return (long)i;
	return -1;
}

static bool is_zone_name(const char *name)
{
	cleanup_free char *text = str_printf("%s:", name);
	struct cursor c = { text, text + strlen(text) };

	return record_zone_name(&c) && *c.p == ':';
}

static long zone_add(struct reader *rd, unsigned int node, const char *name)
{
	struct memreport *r = rd->r;
	struct memzone *z;

	if (r->nzones >= MEMREPORT_ZONES_MAX) {
		if (!r->lists_lost++)
			memreport_remark(r, rd->rec.line, "more than %d zones: the others are left out",
					 MEMREPORT_ZONES_MAX);
		return -1;
	}
	if (!is_zone_name(name))
		memreport_remark(r, rd->rec.line,
				 "node %u %s: no kernel has a zone of that name; it is taken for one", node,
				 name);
	if ((r->nzones & (r->nzones - 1)) == 0)
		r->zone = xreallocarray(r->zone, r->nzones ? 2 * r->nzones : 1, sizeof(*r->zone));
	z = memset(&r->zone[r->nzones], 0, sizeof(*z));
	z->node = node;
	z->line = rd->rec.line;
	snprintf(z->name, sizeof(z->name), "%s", name);
	return (long)r->nzones++;
}

/* Dumps of two moments follow each other in a log that lost the heads of both. */
static bool stamp_jumped(const struct reader *rd)
{
	return rd->have_last && rd->rec.has_stamp &&
	       (rd->rec.stamp_us + STAMP_BACK_US < rd->last_us ||
		rd->rec.stamp_us > rd->last_us + STAMP_JUMP_US);
}

long reader_zone(struct reader *rd, unsigned int node, const char *name, unsigned int from)
{
	bool of_dump = from & (FROM_LIST | FROM_DUMP);
	long zone = zone_find(reader_report(rd), node, name);

	if ((zone >= 0 && rd->source[zone].from & from) || (of_dump && stamp_jumped(rd))) {
		reader_split(rd);
		zone = zone_find(rd->r, node, name);
	}
	if (zone < 0)
		zone = zone_add(rd, node, name);
	if (zone < 0)
		return -1;
	if (of_dump && rd->rec.has_stamp) {
		rd->have_last = true;
		rd->last_us = rd->rec.stamp_us;
	}
	rd->r->of_dump |= of_dump;
	rd->source[zone].from |= from;
	return zone;
}

void reader_field(struct reader *rd, long zone, enum memzone_field f, uint64_t value, bool in_kb)
{
	struct memzone *z = &rd->r->zone[zone];

	if (z->have >> f & 1)
		return;
	if (value >= MEMREPORT_NONSENSE) {
		cleanup_free char *typed = reader_typed(rd, value);

		memreport_remark(rd->r, rd->rec.line, "node %u %s: %s %s is nonsense, and left out",
				 z->node, z->name, memzone_field_name(f), typed);
		return;
	}
	z->have |= 1u << f;
	z->value[f] = value;
	z->field_line[f] = rd->rec.line;
	if (in_kb)
		rd->source[zone].in_kb |= 1u << f;
}

void reader_total(struct reader *rd, enum memtotal t, uint64_t value)
{
	struct memreport *r = reader_report(rd);

	if (r->have_total >> t & 1)
		return;
	if (value >= MEMREPORT_NONSENSE) {
		cleanup_free char *typed = reader_typed(rd, value);

		memreport_remark(r, rd->rec.line, "%s %s is nonsense, and left out", memtotal_name(t),
				 typed);
		return;
	}
	r->have_total |= 1u << t;
	r->total[t] = value;
	r->total_line[t] = rd->rec.line;
}

/* ---- numbers ---- */

bool reader_number(struct reader *rd, struct cursor *c, uint64_t *value)
{
	struct cursor *w = &rd->word;

	cursor_skip_blanks(c);
	*w = (struct cursor){ c->p, c->p };
	while (w->end < c->end && !memchr(" \t\r", *w->end, 3))
		w->end++;
	*value = 0;
	for (const char *p = w->p; p < w->end; p++) {
		if (*p < '0' || *p > '9')
			return false;
		if (*value == UINT64_MAX || __builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*p - '0'), value))
			*value = UINT64_MAX;
	}
	if (w->p == w->end)
		return false;
	c->p = w->end;
	return true;
}

char *reader_text(const struct cursor *word)
{
	size_t len = (size_t)(word->end - word->p);
	cleanup_free char *part = str_printf("%.*s%s", (int)(len > WORD_SHOWN ? WORD_SHOWN : len),
					     word->p, len > WORD_SHOWN ? "..." : "");

	return run_text_printable(part);
}

void reader_bad(struct reader *rd, const char *of, const char *done)
{
	cleanup_free char *word = reader_text(&rd->word);

	memreport_remark(reader_report(rd), rd->rec.line, "\"%s\" is no %s: %s", word, of, done);
}

char *reader_typed(const struct reader *rd, uint64_t value)
{
	struct cursor digits = rd->word;

	if (value < UINT64_MAX - 1)
		return str_printf("%llu", (unsigned long long)value);
	while (digits.p < digits.end && !isdigit((unsigned char)*digits.p))
		digits.p++;
	digits.end = digits.p;
	while (digits.end < rd->word.end && isdigit((unsigned char)*digits.end))
		digits.end++;
	return reader_text(&digits);
}

/* ---- the end ---- */

/* The header of a dump that scrolled away: the failure repeats itself often enough. */
static void borrow_events(struct memreport_set *set)
{
	for (size_t i = 0; i + 1 < set->n; i++) {
		struct memreport *r = &set->report[i], *next = r + 1;

		if (r->event.kind || !r->of_dump || next->nzones ||
		    next->event.kind == MEMEVENT_NONE || next->event.kind == MEMEVENT_STALL)
			continue;
		r->event = next->event;
		r->event.borrowed = true;
		memreport_remark(r, next->event.line,
				 "the failure is that of the next report: the header of this one "
				 "is lost");
	}
}

static void choose_best(struct memreport_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->report[i].data > set->report[set->best].data)
			set->best = i;
}

void reader_finish(struct reader *rd)
{
	reader_list_end(rd);
	report_end(rd);
	memreport_free(&rd->spill);
	borrow_events(rd->set);
	for (size_t i = 0; i < rd->set->n; i++)
		memreport_judge(&rd->set->report[i]);
	choose_best(rd->set);
}

void memreport_remark(struct memreport *r, size_t line, const char *fmt, ...)
{
	struct strbuf sb = STRBUF_INIT;
	cleanup_free char *text = NULL;
	va_list ap;

	if (r->nremarks >= MEMREPORT_REMARKS_MAX) {
		r->remarks_left_out++;
		return;
	}
	va_start(ap, fmt);
	text = str_vprintf(fmt, ap);
	va_end(ap);
	if (line)
		strbuf_addf(&sb, "line %zu: ", line);
	strbuf_adds(&sb, text);
	r->remark = xreallocarray(r->remark, r->nremarks + 1, sizeof(*r->remark));
	r->remark[r->nremarks++] = strbuf_steal(&sb);
}

void reader_record(void *arg, const struct record *rec)
{
	struct reader *rd = arg;
	struct cursor text = { rec->text, rec->text + rec->len };

	rd->rec = *rec;
	if (!event_read(rd, text) && !procfile_read(rd, text))
		showmem_read(rd, text);
}
