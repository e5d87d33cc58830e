// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verdicts of kselftest-mm: a table of the tests, then the sub-tests of which it matters what they
 * came to. A sub-test is held against the base kernel's: it may fail there too, or be skipped for want
 * of something, and neither is the head's fault. One whose verdict differs among the runs of one column
 * decides nothing, and is listed as such.
 */
#include <stdlib.h>
#include <string.h>

#include "results/compare_parts.h"
#include "results/compare_text.h"
#include "results/selftest.h"
#include "results/table_grid.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define LABEL 20 /* at least */
#define LISTED_MAX 200 /* sub-tests in one list; the rest is counted */

/* The ok runs of one column. */
struct column {
	struct selftest_run *run;
	size_t n;
};

/* ---- reading ---- */

/* A run set as it was stored: what comes out of the index has the numbers alone. The last one is kept. */
struct loaded {
	struct store *store;
	const struct frame *frame;
	struct runset set;
};

static const struct run *find_whole(struct loaded *l, const struct compare_run *r)
{
	const struct run *run = &r->frame->set.run[r->index];

	if (run->workload_json)
		return run;
	if (l->frame != r->frame) {
		runset_free(&l->set);
		memset(&l->set, 0, sizeof(l->set));
		l->frame = r->frame;
		if (!l->store || store_load_set(l->store, r->frame->set.id, &l->set, NULL) < 0)
			return NULL;
	}
	for (size_t i = 0; i < l->set.nruns; i++)
		if (strcmp(l->set.run[i].id, run->id) == 0)
			return &l->set.run[i];
	return NULL;
}

static void columns_free(struct column *col, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < col[i].n; k++)
			selftest_run_free(&col[i].run[k]);
		free(col[i].run);
	}
	free(col);
}

/* Names are aligned over all columns, so all runs stand in one array first. */
static struct column *read_columns(const struct compare *c, size_t section, struct store *store)
{
	struct column *col = xcalloc(c->ncols, sizeof(*col));
	struct loaded loaded = { .store = store };
	struct selftest_run *all = NULL;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < c->ncols; i++) {
		const struct compare_cell *cell = &c->section[section].cell[i];

		for (size_t k = 0; k < cell->nruns; k++) {
			const struct compare_run *r = &cell->run[k];
			const struct run *whole;
			struct selftest_run run;

			if (r->frame->set.run[r->index].verdict != VERDICT_OK)
				continue;
			whole = find_whole(&loaded, r);
			if (selftest_read(whole ? whole->workload_json : NULL, &run) < 0) {
				selftest_run_free(&run);
				continue;
			}
			all = xreallocarray(all, n + 1, sizeof(*all));
			all[n++] = run;
			col[i].n++;
		}
	}
	runset_free(&loaded.set);
	selftest_align(all, n);
	for (size_t i = 0; i < c->ncols; i++) {
		col[i].run = xcalloc(col[i].n + 1, sizeof(*col[i].run));
		if (col[i].n)
			memcpy(col[i].run, all + at, col[i].n * sizeof(*all));
		at += col[i].n;
	}
	free(all);
	return col;
}

/* ---- what there is, over all columns ---- */

struct list {
	char **item;
	size_t n;
};

static void list_add(struct list *l, const char *text)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->item[i], text) == 0)
			return;
	l->item = xreallocarray(l->item, l->n + 1, sizeof(*l->item));
	l->item[l->n++] = xstrdup(text);
}

static void list_free(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->item[i]);
	free(l->item);
}
#define cleanup_list __attribute__((cleanup(list_free)))

static void list_tests(const struct column *col, size_t ncols, struct list *l)
{
	for (size_t i = 0; i < ncols; i++)
		for (size_t k = 0; k < col[i].n; k++)
			for (size_t t = 0; t < col[i].run[k].n; t++)
				list_add(l, col[i].run[k].test[t].name);
}

static void list_subs(const struct column *col, size_t ncols, const char *test, struct list *l)
{
	for (size_t i = 0; i < ncols; i++) {
		for (size_t k = 0; k < col[i].n; k++) {
			const struct selftest *t = selftest_find(&col[i].run[k], test);

			for (size_t s = 0; t && s < t->nsubs; s++)
				list_add(l, t->sub[s].id);
		}
	}
}

/* ---- the table ---- */

static size_t count(const struct selftest *t, const char *verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nsubs; i++)
		n += strcmp(t->sub[i].verdict, verdict) == 0;
	return n;
}

/* "fail", or "pass,fail" where the runs do not agree; heap, "-" where none has the test. */
static char *test_verdicts(const struct column *col, const char *test)
{
	struct strbuf sb = STRBUF_INIT;
	cleanup_list struct list seen = { 0 };

	for (size_t k = 0; k < col->n; k++) {
		const struct selftest *t = selftest_find(&col->run[k], test);

		if (t)
			list_add(&seen, t->verdict);
	}
	for (size_t i = 0; i < seen.n; i++)
		strbuf_addf(&sb, "%s%s", i ? "," : "", seen.item[i]);
	if (!seen.n)
		strbuf_adds(&sb, "-");
	return strbuf_steal(&sb);
}

/* Of the first run that has it. */
static const struct selftest *first_of(const struct column *col, const char *test)
{
	for (size_t k = 0; k < col->n; k++) {
		const struct selftest *t = selftest_find(&col->run[k], test);

		if (t)
			return t;
	}
	return NULL;
}

static void put_test(const struct column *col, const char *test, struct strbuf *sb)
{
	const struct selftest *t = first_of(col, test);
	cleanup_free char *verdicts = test_verdicts(col, test);

	if (!t) {
		strbuf_addf(sb, "  %-9s%5s%5s%5s%5s", "-", "-", "-", "-", "-");
		return;
	}
	strbuf_addf(sb, "  %-9s%5zu%5zu%5zu%5zu", verdicts, count(t, "pass") + count(t, "xpass"),
		    count(t, "fail"), count(t, "skip"), count(t, "xfail"));
}

static void put_table(const struct compare *c, const struct column *col, const struct list *tests,
		      struct strbuf *sb)
{
	int label = LABEL;

	for (size_t t = 0; t < tests->n; t++)
		if (strlen(tests->item[t]) > (size_t)label)
			label = (int)strlen(tests->item[t]);
	strbuf_addf(sb, "%-*s", label, "");
	for (size_t i = 0; i < c->ncols; i++)
		strbuf_addf(sb, "  %-*.29s", i + 1 < c->ncols ? 29 : 0, c->col[i]);
	strbuf_addf(sb, "\n%-*s", label, "test");
	for (size_t i = 0; i < c->ncols; i++)
		strbuf_addf(sb, "  %-9s%5s%5s%5s%5s", "verdict", "pass", "fail", "skip", "xfl");
	strbuf_adds(sb, "\n");
	for (size_t t = 0; t < tests->n; t++) {
		strbuf_addf(sb, "%-*s", label, tests->item[t]);
		for (size_t i = 0; i < c->ncols; i++)
			put_test(&col[i], tests->item[t], sb);
		strbuf_adds(sb, "\n");
	}
}

/* ---- the lists ---- */

/* One sub-test, or a whole test where id is NULL, in one column: over its runs. */
struct outcome {
	const char *verdict, *reason; /* of the first run that has it; NULL: none has */
	const char *other;	      /* of the first that came to another; "-" for one that lacks it; NULL: none */
};

static const char *verdict_in(const struct selftest_run *run, const char *test, const char *id,
			      const char **reason)
{
	const struct selftest *t = selftest_find(run, test);
	const struct selftest_sub *s = t && id ? selftest_find_sub(t, id) : NULL;

	if (!t || (id && !s))
		return NULL;
	*reason = id ? s->reason : t->why;
	return id ? s->verdict : t->verdict;
}

static struct outcome outcome_of(const struct column *col, const char *test, const char *id)
{
	struct outcome o = { 0 };
	bool lacks = false;

	for (size_t k = 0; k < col->n; k++) {
		const char *reason = "", *verdict = verdict_in(&col->run[k], test, id, &reason);

		if (!verdict) {
			lacks = true;
		} else if (!o.verdict) {
			o.verdict = verdict;
			o.reason = reason;
		} else if (!o.other && strcmp(o.verdict, verdict) != 0) {
			o.other = verdict;
			/* The reason that is worth reading. */
			if (selftest_is_bad(verdict))
				o.reason = reason;
		}
	}
	if (o.verdict && !o.other && lacks)
		o.other = "-";
	return o;
}

enum kind { NEW_FAILURE, FIXED, FLAKY, OTHER, ONE_SIDED, BOTH_FAIL, SKIPPED, KINDS };

static const char *const titles[KINDS] = {
	"new failures",
	"fixed",
	"differ among runs of one column, and decide nothing",
	"other changes",
	"in one of the two only",
	"failed in the base too",
	"skipped in both",
};
/* Of one column there is nothing to hold it against. */
static const char *const titles_alone[KINDS] = {
	[BOTH_FAIL] = "failed",
	[FLAKY] = "differ among runs, and decide nothing",
	[SKIPPED] = "skipped",
};

/* KINDS: nothing is to be said. */
static enum kind kind_of(const struct outcome *base, const struct outcome *head)
{
	if (!base->verdict && !head->verdict)
		return KINDS;
	if (base->other || head->other)
		return FLAKY;
	if (!base->verdict || !head->verdict)
		return ONE_SIDED;
	if (selftest_is_bad(base->verdict) && selftest_is_bad(head->verdict))
		return BOTH_FAIL;
	if (selftest_is_bad(head->verdict))
		return NEW_FAILURE;
	if (selftest_is_bad(base->verdict))
		return FIXED;
	if (strcmp(base->verdict, head->verdict) != 0)
		return OTHER;
	return strcmp(head->verdict, "skip") == 0 ? SKIPPED : KINDS;
}

/* Skipped ones are many, and few are the reasons. */
struct skipped {
	const char *test, *reason;
	size_t n;
};

struct lists {
	struct strbuf text[KINDS];
	size_t n[KINDS];
	struct skipped *skipped;
	size_t nskipped;
};

static void lists_free(struct lists *l)
{
	free(l->skipped);
	for (int k = 0; k < KINDS; k++)
		strbuf_free(&l->text[k]);
}

static void note_skipped(struct lists *l, const char *test, const char *reason)
{
	size_t i = 0;

	while (i < l->nskipped && (strcmp(l->skipped[i].test, test) || strcmp(l->skipped[i].reason, reason)))
		i++;
	if (i == l->nskipped) {
		l->skipped = xreallocarray(l->skipped, i + 1, sizeof(*l->skipped));
		l->skipped[l->nskipped++] = (struct skipped){ test, reason, 0 };
	}
	l->skipped[i].n++;
	l->n[SKIPPED]++;
}

static void put_reason(const char *reason, bool classify, struct strbuf *sb)
{
	const char *lack = classify ? selftest_lack(reason) : NULL;

	strbuf_addf(sb, "%s%s%s%s\n", reason, lack ? " [wants " : "", lack ? lack : "", lack ? "]" : "");
}

static void put_skipped(struct lists *l)
{
	for (size_t i = 0; i < l->nskipped && i < LISTED_MAX; i++) {
		const struct skipped *s = &l->skipped[i];

		strbuf_addf(&l->text[SKIPPED], "  %s: %zu: ", s->test, s->n);
		put_reason(*s->reason ? s->reason : "no reason is told", true, &l->text[SKIPPED]);
	}
}

/* "pass", "pass or fail" */
static void put_outcome(const struct outcome *o, const char *before, struct strbuf *sb)
{
	strbuf_addf(sb, "%s%s%s%s", before, o->verdict ? o->verdict : "-", o->other ? " or " : "",
		    o->other ? o->other : "");
}

/* "  cow: Basic COW with swap: pass -> skip", and the reason below. */
static void note(struct lists *l, enum kind kind, const char *test, const char *id, const struct outcome *base,
		 const struct outcome *head, bool alone)
{
	const struct outcome *told = head->verdict ? head : base;
	struct strbuf *sb = &l->text[kind];

	if (l->n[kind]++ >= LISTED_MAX)
		return;
	strbuf_addf(sb, "  %s%s%s", test, id ? ": " : "", id ? id : "");
	if (!alone && kind != BOTH_FAIL && kind != SKIPPED) {
		put_outcome(base, ": ", sb);
		put_outcome(head, " -> ", sb);
	} else if (kind == FLAKY ||
		   (strcmp(told->verdict, "fail") != 0 && strcmp(told->verdict, "skip") != 0)) {
		put_outcome(told, ": ", sb);
	}
	strbuf_adds(sb, "\n");
	if (!told->reason || !*told->reason || (id && strcmp(told->reason, id) == 0))
		return;
	strbuf_adds(sb, "      ");
	put_reason(told->reason, selftest_is_bad(told->verdict) || strcmp(told->verdict, "skip") == 0, sb);
}

/*
 * A test as a whole, where its sub-tests do not say it already: it has none, or it came to an end of
 * another kind than they tell.
 */
static bool stands_alone(const struct column *col, const char *test)
{
	for (size_t k = 0; k < col->n; k++) {
		const struct selftest *t = selftest_find(&col->run[k], test);

		if (!t)
			continue;
		if (!t->nsubs || (strcmp(t->verdict, "pass") != 0 && !(strcmp(t->verdict, "fail") == 0 &&
								       count(t, "fail")) &&
				  !(strcmp(t->verdict, "skip") == 0 && count(t, "skip"))))
			return true;
	}
	return false;
}

static void look_at(struct lists *l, const struct column *base, const struct column *head, const char *test,
		    const char *id)
{
	struct outcome b = outcome_of(base, test, id), h = outcome_of(head, test, id);
	enum kind kind = kind_of(&b, &h);

	if (kind == SKIPPED)
		note_skipped(l, test, h.reason);
	else if (kind < KINDS)
		note(l, kind, test, id, &b, &h, base == head);
}

static void put_lists(const struct column *base, const struct column *head, const char *label,
		      const struct list *tests, struct strbuf *sb)
{
	__attribute__((cleanup(lists_free))) struct lists l = { 0 };
	bool alone = base == head, any = false;
	const struct column pair[2] = { *base, *head };

	for (size_t t = 0; t < tests->n; t++) {
		cleanup_list struct list subs = { 0 };

		list_subs(pair, 2, tests->item[t], &subs);
		if (stands_alone(base, tests->item[t]) || stands_alone(head, tests->item[t]))
			look_at(&l, base, head, tests->item[t], NULL);
		for (size_t i = 0; i < subs.n; i++)
			look_at(&l, base, head, tests->item[t], subs.item[i]);
	}
	put_skipped(&l);
	for (int k = 0; k < KINDS; k++) {
		const char *title = alone ? titles_alone[k] : titles[k];

		if (!l.n[k])
			continue;
		any = true;
		strbuf_addf(sb, "\n%s%s%s (%zu):\n%s", alone ? "" : label, alone ? "" : ": ", title, l.n[k],
			    l.text[k].data);
		if (k != SKIPPED && l.n[k] > LISTED_MAX)
			strbuf_addf(sb, "  and %zu more\n", l.n[k] - LISTED_MAX);
	}
	if (!alone && !l.n[NEW_FAILURE])
		strbuf_addf(sb, "\n%s: no new failure\n", label);
	else if (alone && !any)
		strbuf_adds(sb, "\nnone failed, none was skipped\n");
}

static void put_section(const struct compare *c, size_t section, struct store *store, struct strbuf *sb)
{
	struct column *col = read_columns(c, section, store);
	cleanup_list struct list tests = { 0 };

	compare_put_section(c, section, 0, sb);
	list_tests(col, c->ncols, &tests);
	if (!tests.n) {
		strbuf_adds(sb, "no run has verdicts of selftests\n");
	} else {
		put_table(c, col, &tests, sb);
		for (size_t i = 0; i < c->ncols; i++)
			if (i != c->baseline || c->ncols == 1)
				put_lists(&col[c->baseline], &col[i], c->col[i], &tests, sb);
	}
	columns_free(col, c->ncols);
}

int compare_kselftest(const struct compare *c, struct store *s, char **text, struct error *err)
{
	struct strbuf sb = STRBUF_INIT;

	compare_put_title(c, 0, &sb);
	for (size_t i = 0; i < c->nsections; i++)
		put_section(c, i, s, &sb);
	strbuf_adds(&sb, "\nnumbers are sub-tests of the first run; xfl: failed as expected\n");
	compare_put_notes(c, 0, &sb);
	*text = strbuf_steal(&sb);
	return 0;
}
