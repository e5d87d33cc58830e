// SPDX-License-Identifier: GPL-2.0-only
#include "harness/report/memreport.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/memreport_impl.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

/* ---- names ---- */

static const struct {
	const char *name;
	char letter;
} types[MEMTYPES] = {
	[MEMTYPE_UNMOVABLE] = { "Unmovable", 'U' },
	[MEMTYPE_MOVABLE] = { "Movable", 'M' },
	[MEMTYPE_RECLAIMABLE] = { "Reclaimable", 'E' },
	[MEMTYPE_HIGHATOMIC] = { "HighAtomic", 'H' },
	[MEMTYPE_CMA] = { "CMA", 'C' },
	[MEMTYPE_ISOLATE] = { "Isolate", 'I' },
	[MEMTYPE_RESERVE] = { "Reserve", 'R' },
	[MEMTYPE_OTHER] = { "other", '?' },
};

const char *memtype_name(enum memtype t)
{
	return types[t].name;
}

char memtype_letter(enum memtype t)
{
	return types[t].letter;
}

bool memtype_find(const char *name, enum memtype *t)
{
	for (*t = MEMTYPE_UNMOVABLE; *t < MEMTYPE_OTHER; (*t)++)
		if (strcmp(name, types[*t].name) == 0)
			return true;
	return false;
}

const char *memzone_field_name(enum memzone_field f)
{
	static const char *const names[MEMZONE_FIELDS] = {
		"free",	   "min",     "low",	 "high",     "boost",
		"spanned", "present", "managed", "free_cma", "listed",
	};

	return names[f];
}

const char *memtotal_name(enum memtotal t)
{
	static const char *const names[MEMTOTALS] = {
		"pages_ram", "pages_reserved", "free",	     "free_pcp",
		"free_cma",  "pages_cma",      "meminfo_kb", "nr_free_pages",
	};

	return names[t];
}

const char *memevent_name(enum memevent_kind k)
{
	static const char *const names[] = {
		"none",
		"page allocation failure",
		"vmalloc allocation failure",
		"kmalloc deadlock",
		"OOM kill",
		"sysrq-m",
		"stall",
	};

	return names[k];
}

/* ---- descriptions ---- */

char *memevent_describe(const struct memevent *e)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, memevent_name(e->kind));
	if (*e->text)
		strbuf_addf(&sb, " (%s)", e->text);
	if (e->bytes)
		strbuf_addf(&sb, " of %" PRIu64 " bytes", e->bytes);
	if (e->have_order)
		strbuf_addf(&sb, ", order %u", e->order);
	if (e->have_gfp)
		strbuf_addf(&sb, ", %s", e->mask);
	return strbuf_steal(&sb);
}

static void add_part(struct strbuf *sb, const char *text)
{
	strbuf_addf(sb, "%s%s", sb->len ? ", " : "", text);
}

char *memreport_describe(const struct memreport *r)
{
	static const struct {
		enum memtotal t;
		const char *text;
	} totals[] = {
		{ MEMTOTAL_FREE, "counters of Mem-Info" },
		{ MEMTOTAL_RAM, "pages of RAM" },
		{ MEMTOTAL_MEMINFO_KB, "meminfo" },
		{ MEMTOTAL_VMSTAT_FREE, "vmstat" },
	};
	cleanup_free char *event = memevent_describe(&r->event);
	struct strbuf sb = STRBUF_INIT;
	uint64_t kb;
	size_t lists = memreport_lists(r, &kb);

	if (r->event.kind)
		add_part(&sb, event);
	if (*r->release)
		strbuf_addf(&sb, "%skernel %s", sb.len ? ", " : "", r->release);
	if (lists)
		strbuf_addf(&sb, "%sfree lists of %zu zone%s", sb.len ? ", " : "", lists,
			    lists == 1 ? "" : "s");
	if (r->nzones > lists)
		strbuf_addf(&sb, "%s%zu zone%s without a free list", sb.len ? ", " : "",
			    r->nzones - lists, r->nzones - lists == 1 ? "" : "s");
	for (size_t i = 0; i < ARRAY_SIZE(totals); i++)
		if (r->have_total >> totals[i].t & 1)
			add_part(&sb, totals[i].text);
	if (!sb.len)
		add_part(&sb, "nothing");
	return strbuf_steal(&sb);
}

int memreport_need_lists(const char *label, const struct memreport *r, struct error *err)
{
	cleanup_free char *understood = memreport_describe(r);
	uint64_t kb;
	size_t lists = memreport_lists(r, &kb);

	if (kb || memreport_any_unlisted(r))
		return 0;
	if (lists)
		return error_set(err, EXIT_USAGE,
				 "%s: nothing to build: the free lists of %zu zone%s are empty "
				 "(understood: %s)",
				 label, lists, lists == 1 ? "" : "s", understood);
	error_set(err, EXIT_USAGE, "%s: no free list in it (understood: %s)", label, understood);
	return error_hint(
		err, "add /proc/buddyinfo, /proc/pagetypeinfo, or the lines of a Mem-Info such "
		     "as \"Node 0 Normal: 12*4kB (UM) ...\"");
}

/* ---- the whole ---- */

static void strings_free(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

void memreport_free(struct memreport *r)
{
	free(r->zone);
	strings_free(r->remark, r->nremarks);
	memset(r, 0, sizeof(*r));
}

void memreport_set_free(struct memreport_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		memreport_free(&set->report[i]);
	free(set->report);
	strings_free(set->remark, set->nremarks);
	memset(set, 0, sizeof(*set));
}

static void set_remark(struct memreport_set *set, char *text)
{
	set->remark = xreallocarray(set->remark, set->nremarks + 1, sizeof(*set->remark));
	set->remark[set->nremarks++] = text;
}

static void remark_input(struct memreport_set *set, const struct mail *m,
			 const struct record_stats *stats)
{
	if (m->quoted_printable)
		set_remark(set, xstrdup("quoted-printable was decoded"));
	if (m->html)
		set_remark(set, xstrdup("HTML tags and entities were undone"));
	if (m->escapes)
		set_remark(set, xstrdup("newlines that were written out (\\x0a) were undone"));
	if (stats->joined)
		set_remark(set, str_printf("%zu wrapped lines were put together", stats->joined));
	if (*m->dropped) {
		cleanup_free char *word = run_text_printable(m->dropped);

		set_remark(set,
			   str_printf("the input ends within a word, which is left out: \"%s\"",
				      word));
	}
	if (set->left_out)
		set_remark(set, str_printf("%zu more reports were not read: cut out the part of the log "
					   "that is meant",
					   set->left_out));
}

int memreport_parse(const char *label, const void *data, size_t len, struct memreport_set *set,
		    struct error *err)
{
	struct reader rd = { .set = set, .list = -1, .last = -1, .typed = -1, .zoneinfo = -1 };
	struct record_stats stats;
	struct mail mail;

	memset(set, 0, sizeof(*set));
	if (mail_decode(label, data, len, &mail, err) < 0)
		return -1;
	record_each(mail.text.data, mail.text.len, reader_record, &rd, &stats);
	strbuf_free(&mail.text);
	reader_finish(&rd);
	if (!set->n) {
		memreport_set_free(set);
		return error_set(
			err, EXIT_USAGE,
			"%s: says nothing about memory that is understood (Mem-Info, a page "
			"allocation failure, /proc/buddyinfo, pagetypeinfo, zoneinfo)",
			label);
	}
	remark_input(set, &mail, &stats);
	return 0;
}
