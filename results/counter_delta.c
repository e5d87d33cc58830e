// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "results/counter.h"
#include "results/formula.h"
#include "results/util/cleanup.h"

static const char note_wrapped[] = "32-bit counters that wrapped, left out";
static const char note_negative[] = "levels and derived metrics below zero, left out";

struct sum {
	double value;
	bool found, lacking;
	const char *backwards, *wrapped, *negative; /* the key that did */
};

struct notes {
	struct strbuf backwards, wrapped, negative;
};

/* The guest's unsigned long is 32 bits wide as far as these two values tell. */
static bool looks_wrapped(uint64_t begin, uint64_t end)
{
	return begin >> 31 == 1 && end < UINT64_C(1) << 31;
}

static void add_row(struct sum *sum, bool gauge, bool minus, const struct vmstat_row *end,
		    const uint64_t *begin)
{
	double step;

	if (gauge) {
		if (end->value >> 63) {
			sum->negative = end->key;
			return;
		}
		step = (double)end->value;
	} else if (!begin) {
		return;
	} else if (end->value < *begin) {
		if (looks_wrapped(*begin, end->value))
			sum->wrapped = end->key;
		else
			sum->backwards = end->key;
		return;
	} else {
		step = (double)(end->value - *begin);
	}
	sum->value += minus ? -step : step;
	/* What is only subtracted does not make the counter exist. */
	sum->found |= !minus;
}

static const struct vmstat_row *row_of(const struct vmstat *v, const char *key)
{
	const uint64_t *value = vmstat_get(v, key);

	return value ? (const struct vmstat_row *)((const char *)value -
						   offsetof(struct vmstat_row, value)) :
		       NULL;
}

static struct sum counter_sum(const struct counter *c, const struct vmstat *begin,
			      const struct vmstat *end)
{
	struct sum sum = { 0 };

	for (const char *const *s = c->sources; *s; s++) {
		bool minus = **s == '-';
		const struct vmstat_row *row;

		if (str_ends(*s, "*")) {
			for (size_t i = 0; i < end->n; i++)
				if (counter_source_matches(*s, end->row[i].key))
					add_row(&sum, c->gauge, minus, &end->row[i],
						vmstat_get(begin, end->row[i].key));
			continue;
		}
		row = row_of(end, *s + strspn(*s, "-"));
		if (row)
			add_row(&sum, c->gauge, minus, row, vmstat_get(begin, row->key));
		sum.lacking |= !row && str_starts(*s, "--");
	}
	return sum;
}

static void note_add(struct strbuf *sb, const char *name, const char *key)
{
	strbuf_addf(sb, "%s%s", sb->len ? ", " : "", name);
	if (strcmp(name, key) != 0)
		strbuf_addf(sb, " (%s)", key);
}

void counter_note(struct run *r, const char *what, const struct strbuf *names)
{
	char *joined;

	if (!names->len)
		return;
	joined = str_printf("%s%s%s: %s", r->detail ? r->detail : "", r->detail ? "\n" : "", what,
			    names->data);
	free(r->detail);
	r->detail = joined;
}

bool counter_is_note(const char *line)
{
	return str_starts(line, COUNTER_BACKWARDS) || str_starts(line, note_wrapped) ||
	       str_starts(line, note_negative) || str_starts(line, COUNTER_BOUNDS);
}

static void notes_end(struct notes *n, struct run *r)
{
	counter_note(r, COUNTER_BACKWARDS, &n->backwards);
	counter_note(r, note_wrapped, &n->wrapped);
	counter_note(r, note_negative, &n->negative);
	strbuf_free(&n->backwards);
	strbuf_free(&n->wrapped);
	strbuf_free(&n->negative);
}

static void take_sum(const struct sum *sum, const char *name, struct notes *notes, struct run *r)
{
	if (sum->backwards)
		note_add(&notes->backwards, name, sum->backwards);
	else if (sum->wrapped)
		note_add(&notes->wrapped, name, sum->wrapped);
	else if (sum->negative)
		note_add(&notes->negative, name, sum->negative);
	else if (sum->found && !sum->lacking && sum->value < 0)
		note_add(&notes->backwards, name, name);
	else if (sum->found && !sum->lacking)
		run_set_metric(r, name, sum->value);
}

/* Marks the rows of the end that some entry of the catalogue reads. */
static void mark_sources(const struct vmstat *end, bool *known)
{
	for (size_t i = 0; i < counter_count; i++) {
		if (counter_table[i].from_meminfo)
			continue;
		for (const char *const *s = counter_table[i].sources; *s; s++) {
			const struct vmstat_row *row = row_of(end, *s + strspn(*s, "-"));

			if (row)
				known[row - end->row] = true;
			for (size_t k = 0; str_ends(*s, "*") && k < end->n; k++)
				known[k] |= counter_source_matches(*s, end->row[k].key);
		}
	}
}

void counter_deltas(const struct vmstat *begin, const struct vmstat *end, struct run *r)
{
	cleanup_free bool *known = xcalloc(end->n + 1, sizeof(*known));
	struct notes notes = { 0 };

	for (size_t i = 0; i < counter_count; i++) {
		const struct counter *c = &counter_table[i];
		struct sum sum;

		if (c->from_meminfo || !*c->sources)
			continue;
		sum = counter_sum(c, begin, end);
		take_sum(&sum, c->name, &notes, r);
	}
	mark_sources(end, known);
	for (size_t i = 0; i < end->n; i++) {
		const struct vmstat_row *row = &end->row[i];
		struct sum sum = { 0 };

		if (known[i])
			continue;
		add_row(&sum, str_starts(row->key, "nr_"), false, row, vmstat_get(begin, row->key));
		take_sum(&sum, row->key, &notes, r);
	}
	notes_end(&notes, r);
}

void counter_meminfo(const struct vmstat *end, struct run *r)
{
	struct notes notes = { 0 };

	for (size_t i = 0; i < counter_count; i++) {
		const struct counter *c = &counter_table[i];
		struct sum sum;

		if (!c->from_meminfo)
			continue;
		sum = counter_sum(c, end, end);
		take_sum(&sum, c->name, &notes, r);
	}
	notes_end(&notes, r);
}

struct derive {
	const struct run *r;
	double seconds;
};

static const double *derive_get(void *arg, const char *name)
{
	const struct derive *d = arg;

	if (strcmp(name, "seconds") == 0)
		return d->seconds > 0 ? &d->seconds : NULL;
	return run_metric(d->r, name);
}

void counter_formulas(double seconds, struct run *r)
{
	struct derive d = { r, seconds };
	struct notes notes = { 0 };

	/* In the table's order, so that one may stand on one further up. */
	for (size_t i = 0; i < counter_count; i++) {
		const struct counter *c = &counter_table[i];
		struct formula_env env = { derive_get, &d, c->at_zero };
		double value;

		if (!c->formula || formula_eval(c->formula, &env, &value) != FORMULA_VALUE)
			continue;
		if (value < 0)
			note_add(&notes.negative, c->name, c->name);
		else
			run_set_metric(r, c->name, value);
	}
	notes_end(&notes, r);
}
