// SPDX-License-Identifier: GPL-2.0-only
/* Lines of the input into records: cut where two are on one, joined where one is on several. */
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"

#define RECORD_MAX 65536 /* bytes; a longer line stays as it is, and none is joined to it */

/* ---- tokens ---- */

const char *record_zone_name(struct cursor *c)
{
	static const char *const names[] = { "DMA32",	"DMA",	   "Normal",
					     "HighMem", "Movable", "Device" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct cursor try = *c;

		if (cursor_take(&try, names[i]) && try.p < try.end && strchr(": ", *try.p)) {
			*c = try;
			return names[i];
		}
	}
	return NULL;
}

static bool take_digits(struct cursor *c, uint64_t *value)
{
	const char *start = c->p;

	for (*value = 0; c->p < c->end && isdigit((unsigned char)*c->p); c->p++)
		if (*value > UINT64_MAX / 10 - 1)
			*value = UINT64_MAX - 1;
		else
			*value = *value * 10 + (uint64_t)(*c->p - '0');
	return c->p > start;
}

static bool take_kb(struct cursor *c)
{
	if (c->end - c->p < 2 || strncasecmp(c->p, "kB", 2) != 0)
		return false;
	c->p += 2;
	return c->p == c->end || strchr(" (,", *c->p);
}

static enum memtype type_of_letter(char letter)
{
	for (int t = 0; t < MEMTYPES; t++)
		if (letter == memtype_letter((enum memtype)t))
			return (enum memtype)t;
	return MEMTYPE_OTHER;
}

static bool take_types(struct cursor *c, uint64_t *types)
{
	*types = 0;
	for (c->p++; c->p < c->end && isupper((unsigned char)*c->p); c->p++)
		*types |= 1u << type_of_letter(*c->p);
	return c->p < c->end && *c->p++ == ')' && *types;
}

enum list_token record_list_token(struct cursor *c, uint64_t *a, uint64_t *b)
{
	struct cursor try = *c;
	enum list_token kind = LIST_NONE;

	cursor_skip_blanks(&try);
	if (try.p == try.end)
		return LIST_NONE;
	if (*try.p == '(') {
		kind = take_types(&try, a) ? LIST_TYPES : LIST_NONE;
	} else if (*try.p == '=') {
		try.p++;
		cursor_skip_blanks(&try);
		kind = LIST_TOTAL;
		if (!take_digits(&try, a) || !take_kb(&try))
			*a = UINT64_MAX;
	} else if (take_digits(&try, a) && try.p < try.end && *try.p++ == '*' &&
		   take_digits(&try, b) && take_kb(&try)) {
		kind = LIST_COUNT;
	}
	if (kind != LIST_NONE)
		*c = try;
	return kind;
}

/* ---- what begins a record ---- */

enum kind {
	KIND_NONE,  /* nothing that we know */
	KIND_DUMP,  /* of a dump or a failure: may go on anywhere */
	KIND_ROW,   /* of a table: goes on with columns */
	KIND_WORDS, /* heading of a table: goes on with words or columns */
	KIND_LINE,  /* never goes on */
};

static const struct {
	const char *start;
	enum kind kind;
} starts[] = {
	{ "Mem-Info:", KIND_DUMP },
	{ "Mem-info:", KIND_DUMP },
	{ "lowmem_reserve[]", KIND_DUMP },
	{ "hugepages_", KIND_DUMP },
	{ "Swap cache", KIND_DUMP },
	{ "Free swap", KIND_LINE },
	{ "Total swap", KIND_LINE },
	{ "CPU:", KIND_DUMP },
	{ "CPU ", KIND_DUMP },
	{ "Linux version", KIND_DUMP },
	{ "Hardware name:", KIND_DUMP },
	{ "Workqueue:", KIND_DUMP },
	{ "Call Trace", KIND_DUMP },
	{ "Call trace", KIND_DUMP },
	{ "Backtrace:", KIND_DUMP },
	{ "RIP:", KIND_DUMP },
	{ "Tasks state", KIND_DUMP },
	{ "[ pid", KIND_DUMP },
	{ "Out of memory", KIND_DUMP },
	{ "oom-kill:", KIND_DUMP },
	{ "Page block order:", KIND_LINE },
	{ "Pages per block:", KIND_LINE },
	{ "Free pages count per", KIND_WORDS },
	{ "Number of blocks type", KIND_WORDS },
	{ "pages free ", KIND_LINE },
	{ "min ", KIND_LINE },
	{ "low ", KIND_LINE },
	{ "high ", KIND_LINE },
	{ "boost ", KIND_LINE }, { "promo ", KIND_LINE },
	{ "spanned ", KIND_LINE },
	{ "present ", KIND_LINE },
	{ "managed ", KIND_LINE },
	{ "cma ", KIND_LINE },
	{ "nr_", KIND_LINE },
	{ "per-node stats", KIND_LINE },
	{ "protection:", KIND_LINE },
	{ "pagesets", KIND_LINE },
	{ "MemTotal:", KIND_LINE },
	{ "MemFree:", KIND_LINE },
	{ "cat /proc", KIND_LINE },
	{ "# ", KIND_LINE },
	{ "$ ", KIND_LINE },
};

static const char *const counters[] = {
	"active_anon",
	"inactive_anon",
	"isolated_anon",
	"active_file",
	"inactive_file",
	"isolated_file",
	"unevictable",
	"dirty",
	"writeback",
	"unstable",
	"slab_reclaimable",
	"slab_unreclaimable",
	"slab",
	"mapped",
	"shmem",
	"pagetables",
	"sec_pagetables",
	"bounce",
	"kernel_misc_reclaimable",
	"free",
	"free_pcp",
	"free_cma",	"Active_anon",
};

/* "free:93 slab_reclaimable:749": numbers of pages, and no kB. */
bool record_is_counters(const char *s)
{
	size_t n = strcspn(s, ": "), digits;

	if (s[n] != ':')
		return false;
	digits = strspn(s + n + 1, "0123456789");
	if (!digits || (s[n + 1 + digits] && s[n + 1 + digits] != ' '))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		if (strlen(counters[i]) == n && memcmp(s, counters[i], n) == 0)
			return true;
	return false;
}

static bool is_event(const char *s)
{
	return strstr(s, "allocation failure") || strstr(s, "invoked oom-killer") ||
	       strstr(s, "sysrq: ") || strstr(s, "SysRq : ") || strstr(s, "INFO: task ") ||
	       strstr(s, "soft lockup") || strstr(s, "memory allocation deadlock");
}

static bool is_pages_line(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n && (str_starts(s + n, " pages ") || str_starts(s + n, " total pagecache"));
}

/* "Node 0 Normal: ...", "Node 0, zone   Normal ...", and those without a node. */
static enum kind zone_kind(const char *s)
{
	struct cursor c = { s, s + strlen(s) };
	uint64_t node;

	if (!cursor_take(&c, "Node"))
		return record_zone_name(&c) && (*c.p == ':' || cursor_take(&c, "free:") ||
						cursor_take(&c, "per-cpu:")) ?
			       KIND_DUMP :
			       KIND_NONE;
	if (c.p == c.end || *c.p != ' ' || !cursor_number(&c, &node))
		return KIND_NONE;
	if (*c.p != ',')
		return KIND_DUMP;
	return KIND_ROW;
}

static enum kind line_kind(const char *s)
{
	enum kind kind = zone_kind(s);

	if (kind != KIND_NONE)
		return kind;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (str_starts(s, starts[i].start))
			return starts[i].kind;
	return is_pages_line(s)			    ? KIND_LINE :
	       record_is_counters(s) || is_event(s) ? KIND_DUMP :
						      KIND_NONE;
}

/* ---- joining ---- */

struct assembly {
	struct strbuf text;
	struct record rec;
	enum kind kind;
	bool prefixed;
	void (*fn)(void *arg, const struct record *rec);
	void *arg;
	struct record_stats *stats;
};

static void record_end(struct assembly *a)
{
	if (a->text.len) {
		a->rec.text = a->text.data;
		a->rec.len = a->text.len;
		a->fn(a->arg, &a->rec);
	}
	a->text.len = 0;
	a->kind = KIND_NONE;
}

static bool goes_on(const struct assembly *a, const struct piece *p)
{
	if (!a->text.len || p->prefixed || a->text.len + strlen(p->text) > RECORD_MAX)
		return false;
	switch (a->kind) {
	case KIND_LINE:
		return false;
	case KIND_ROW:
		return p->text[strspn(p->text, "0123456789> ")] == '\0';
	case KIND_WORDS:
		for (const char *s = p->text; *s; s++)
			if (!isalnum((unsigned char)*s) && *s != ' ')
				return false;
		break;
	case KIND_NONE:
		if (!a->prefixed)
			return false;
		break;
	case KIND_DUMP:
		break;
	}
	return line_kind(p->text) == KIND_NONE;
}

/* "ac" and "tive_file:1284kB" */
static bool is_key_tail(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_()");

	return n && s[n] == ':' && isdigit((unsigned char)s[n + 1]);
}

/*
 * Was the text broken within a token? A wrap that kept the blank shows it; one that ate it can be
 * told by the grammar: counts end with "kB", letters with ")", keys with ":" and a number.
 */
static bool is_glued(const struct strbuf *left, const char *right)
{
	const char *end = left->data + left->len, *word = end;
	char l = end[-1];

	while (word > left->data && word[-1] != ' ' && end - word < 64)
		word--;
	if (l == ' ' || l == '=')
		return false;
	if (l == '*' || l == ':' || strchr("*):", *right))
		return true;
	if (isdigit((unsigned char)l))
		return isdigit((unsigned char)*right) || strncasecmp(right, "kB", 2) == 0;
	if (l == 'k' && end - word > 1 && isdigit((unsigned char)end[-2]))
		return *right == 'B';
	if (memchr(word, '(', (size_t)(end - word)) && !memchr(word, ')', (size_t)(end - word)))
		return true;
	return (islower((unsigned char)*word) || *word == '_') &&
	       !memchr(word, ':', (size_t)(end - word)) && is_key_tail(right);
}

static void take_piece(struct assembly *a, const struct piece *p)
{
	if (!*p->text) {
		record_end(a);
		return;
	}
	if (goes_on(a, p)) {
		if (a->kind == KIND_ROW || p->indented || !is_glued(&a->text, p->text))
			strbuf_adds(&a->text, " ");
		strbuf_adds(&a->text, p->text);
		a->stats->joined++;
		return;
	}
	record_end(a);
	strbuf_adds(&a->text, p->text);
	a->rec = (struct record){ .line = p->line,
				  .has_stamp = p->has_stamp,
				  .stamp_us = p->stamp_us };
	a->prefixed = p->prefixed;
	a->kind = line_kind(p->text);
}

/* ---- lines ---- */

/* "Normal: 12*4kB", "DMA free:15908kB" */
static bool is_zone_text(struct cursor c)
{
	uint64_t number, kb;

	if (!record_zone_name(&c))
		return false;
	if (cursor_take(&c, ":"))
		return record_list_token(&c, &number, &kb) == LIST_COUNT;
	return cursor_take(&c, "free:") && c.p < c.end && isdigit((unsigned char)*c.p);
}

static bool begins_record(const char *s, const char *end)
{
	struct cursor c = { s, end };

	if (isdigit((unsigned char)*s))
		return is_pages_line(s);
	return str_starts(s, "Mem-Info:") || str_starts(s, "lowmem_reserve[]") ||
	       str_starts(s, "CPU: ") ||
	       (str_starts(s, "Node ") && isdigit((unsigned char)s[5 + strspn(s + 5, " ")])) ||
	       is_zone_text(c);
}

/*
 * Where a record begins within the line: a dump whose newlines are lost. Behind "Node 0" and
 * "Node 0, zone" stands the zone of the record itself.
 */
static char *find_record(char *s, const char *end)
{
	struct cursor c = { s, end };
	unsigned int node;
	char name[PROC_NAME_MAX];

	if (!cursor_zone(&c, &node, name)) {
		c.p = s;
		if (cursor_take(&c, "Node ") && !cursor_at_end(&c)) {
			c.p += strcspn(c.p, " ");
			cursor_skip_blanks(&c);
		}
	}
	while ((c.p = strchr(c.p, ' ')) != NULL) {
		c.p += strspn(c.p, " ");
		if (begins_record(c.p, end))
			return s + (c.p - s);
	}
	return NULL;
}

/* A piece of one stamp, which may hold several records. */
static void take_stamped(struct assembly *a, char *text, size_t line)
{
	struct piece p = { .line = line };
	const char *end = text + strlen(text); /* once: there may be very many records */
	char *rest, *next;

	piece_strip(text, &p);
	for (rest = text + (p.text - text); rest; rest = next) {
		next = find_record(rest, end);
		if (next)
			next[-1] = '\0';
		p.text = rest;
		take_piece(a, &p);
		if (next)
			next[-1] = ' ';
	}
}

/*
 * Each stamp begins a piece, since two CPUs may have printed on one line. What stands before the
 * first is a log daemon's prefix or a piece of its own. Cut before it is looked at, so that no
 * look goes beyond the piece.
 */
static void take_line(struct assembly *a, char *text, size_t line)
{
	while (text) {
		char *next = *text ? piece_find_stamp(text + 1) : NULL;

		if (next)
			*next = '\0';
		take_stamped(a, text, line);
		if (next)
			*next = '[';
		text = next;
	}
}

void record_each(const char *text, size_t len, void (*fn)(void *arg, const struct record *rec),
		 void *arg, struct record_stats *stats)
{
	struct assembly a = { .fn = fn, .arg = arg, .stats = stats };
	cleanup_strbuf struct strbuf line = STRBUF_INIT;
	size_t number = 1, begun = 1;

	memset(stats, 0, sizeof(*stats));
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '\n' || c == MAIL_BREAK) {
			strbuf_adds(&line, "");
			take_line(&a, line.data, begun);
			line.len = 0;
			begun = number + (c == '\n');
		} else if (c != MAIL_LINE) {
			strbuf_add(&line, &c, 1);
		}
		number += c == '\n' || c == MAIL_LINE;
	}
	record_end(&a);
	strbuf_free(&a.text);
}
