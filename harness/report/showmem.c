// SPDX-License-Identifier: GPL-2.0-only
/* The dump that show_mem() prints: zones, counters, totals. */
#include <ctype.h>
#include <strings.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"

/* ---- zones ---- */

static const struct {
	const char *key;
	enum memzone_field field;
} zone_keys[] = {
	{ "free:", MEMZONE_FREE },	 { "boost:", MEMZONE_BOOST },
	{ "min:", MEMZONE_MIN },	 { "low:", MEMZONE_LOW },
	{ "high:", MEMZONE_HIGH },	 { "present:", MEMZONE_PRESENT },
	{ "managed:", MEMZONE_MANAGED }, { "free_cma:", MEMZONE_FREE_CMA },
	{ "spanned:", MEMZONE_SPANNED },
};

/* "16264kB" and nothing behind it. UINT64_MAX: it overflows. */
static bool take_kb_value(struct reader *rd, struct cursor c, uint64_t *kb)
{
	uint64_t value = 0;
	const char *start = c.p;

	rd->word = c;
	for (; c.p < c.end && isdigit((unsigned char)*c.p); c.p++)
		if (value == UINT64_MAX || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*c.p - '0'), &value))
			value = UINT64_MAX;
	*kb = value;
	return c.p > start && c.end - c.p == 2 && strncasecmp(c.p, "kB", 2) == 0;
}

static bool next_word(struct cursor *c, struct cursor *word)
{
	if (cursor_at_end(c))
		return false;
	word->p = c->p;
	while (c->p < c->end && *c->p != ' ')
		c->p++;
	word->end = c->p;
	return true;
}

/* The last word of a line is cut off where it is no number, and what goes before it is not. */
static void word_bad(struct reader *rd, const struct cursor *rest, const char *of, const char *key)
{
	cleanup_free char *done = NULL;

	if (rd->word.p == rd->word.end || rest->p == rest->end)
		return;
	done = str_printf("%s is left out", key);
	reader_bad(rd, of, done);
}

static void take_zone_line(struct reader *rd, unsigned int node, const char *name,
			   struct cursor text)
{
	long zone = reader_zone(rd, node, name, FROM_DUMP);
	struct cursor word;
	uint64_t kb;

	while (zone >= 0 && next_word(&text, &word))
		for (size_t i = 0; i < ARRAY_SIZE(zone_keys); i++) {
			struct cursor value = word;

			if (!cursor_take(&value, zone_keys[i].key))
				continue;
			if (take_kb_value(rd, value, &kb))
				reader_field(rd, zone, zone_keys[i].field, kb, true);
			else
				word_bad(rd, &text, "number of kB", zone_keys[i].key);
		}
}

/* A name of letters and digits before ":" or a blank. */
static bool take_name(struct cursor *c, char name[MEMREPORT_NAME_MAX])
{
	size_t n = 0;

	cursor_skip_blanks(c);
	for (; c->p < c->end && isalnum((unsigned char)*c->p); c->p++) {
		if (n == MEMREPORT_NAME_MAX - 1)
			return false;
		name[n++] = *c->p;
	}
	name[n] = '\0';
	return n && isupper((unsigned char)*name) && c->p < c->end && strchr(": ", *c->p);
}

/* "DMA: preallocated 256 KiB pool" is no list, a name whose counts were printed apart is one. */
static bool is_list_head(bool with_node, struct cursor text)
{
	uint64_t count, kb;

	return with_node || cursor_at_end(&text) ||
	       record_list_token(&text, &count, &kb) == LIST_COUNT;
}

/* Behind the node, if any: what is said of one zone. */
static bool take_zone(struct reader *rd, bool with_node, unsigned int node, const char *name,
		      struct cursor text)
{
	struct cursor after = text;

	if (cursor_take(&after, ":")) {
		if (is_list_head(with_node, after))
			freelist_begin(rd, node, name, after);
		return true;
	}
	if (!cursor_take(&after, "free:"))
		return false;
	take_zone_line(rd, node, name, text);
	return true;
}

static bool take_node(struct reader *rd, struct cursor text)
{
	char name[MEMREPORT_NAME_MAX];
	uint64_t node;

	if (!cursor_take(&text, "Node") || !cursor_number(&text, &node) || node > PROC_NODE_MAX)
		return false;
	if (cursor_at_end(&text)) {
		rd->have_node = true;
		rd->node = (unsigned int)node;
		return true;
	}
	if (take_name(&text, name))
		take_zone(rd, true, (unsigned int)node, name, text);
	return true;
}

/* ---- counters and totals ---- */

static const struct {
	const char *key;
	enum memtotal total;
} counter_keys[] = {
	{ "free:", MEMTOTAL_FREE },
	{ "free_pcp:", MEMTOTAL_FREE_PCP },
	{ "free_cma:", MEMTOTAL_FREE_CMA },
};

static bool take_counters(struct reader *rd, struct cursor text)
{
	struct cursor word;
	uint64_t pages;

	if (!record_is_counters(text.p))
		return false;
	while (next_word(&text, &word))
		for (size_t i = 0; i < ARRAY_SIZE(counter_keys); i++) {
			struct cursor value = word;

			if (!cursor_take(&value, counter_keys[i].key))
				continue;
			if (reader_number(rd, &value, &pages))
				reader_total(rd, counter_keys[i].total, pages);
			else
				word_bad(rd, &text, "number of pages", counter_keys[i].key);
		}
	return true;
}

static bool take_total_line(struct reader *rd, struct cursor text)
{
	uint64_t pages;

	if (!reader_number(rd, &text, &pages)) {
		text.p = rd->word.end;
		if (!cursor_take(&text, "pages RAM") && !cursor_take(&text, "pages reserved"))
			return false;
		reader_bad(rd, "number of pages", "the line is left out");
		return true;
	}
	if (!cursor_take(&text, "pages"))
		return false;
	if (cursor_take(&text, "RAM") || cursor_take(&text, "of RAM"))
		reader_total(rd, MEMTOTAL_RAM, pages);
	else if (cursor_take(&text, "reserved"))
		reader_total(rd, MEMTOTAL_RESERVED, pages);
	else if (cursor_take(&text, "cma reserved"))
		reader_total(rd, MEMTOTAL_CMA, pages);
	return true;
}

bool showmem_read(struct reader *rd, struct cursor text)
{
	struct cursor zone;
	const char *name;

	if (cursor_take(&text, "Mem-Info:") || cursor_take(&text, "Mem-info:")) {
		reader_split(rd);
		reader_report(rd);
	}
	freelist_take(rd, &text);
	cursor_skip_blanks(&text);
	if (take_counters(rd, text) || take_total_line(rd, text))
		return true;
	zone = text;
	name = record_zone_name(&zone);
	if (name) {
		bool have = rd->have_node;

		rd->have_node = false;
		return take_zone(rd, have, have ? rd->node : 0, name, zone);
	}
	return take_node(rd, text);
}
