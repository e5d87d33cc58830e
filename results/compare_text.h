/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_COMPARE_TEXT_H
#define MMRIG_COMPARE_TEXT_H
/*
 * The forms of a comparison. Heap strings, never NULL. Every one carries the warnings. Text from
 * outside is escaped as the form needs it; no NaN is ever printed: absent is "-" (an empty field in
 * CSV, null in JSON).
 */
#include "results/compare.h"
#include "results/store.h"

char *compare_lkml(const struct compare *c);	 /* plain text, 78 columns, fit for a commit message */
char *compare_changes(const struct compare *c);	 /* of it the changes alone, to stand below another table */
char *compare_mmtests(const struct compare *c);	 /* and the block "MMTests Statistics: vmstat" */
char *compare_markdown(const struct compare *c); /* GitHub's tables */
char *compare_csv(const struct compare *c);	 /* RFC 4180; a row a section, metric and column */
char *compare_json(const struct compare *c);	 /* one document, with every value */

/* The looks of the five posts, by the name of what they show. */
char *compare_stalls(const struct compare *c);	   /* aliasing: median and max of allocstall, range of time */
char *compare_highalloc(const struct compare *c);  /* Pass 1, Pass 2, while Rested; the vmstat rows */
char *compare_defrag(const struct compare *c);	   /* means and stddev, (+11.02%) */
char *compare_thpscale(const struct compare *c);   /* fault-both-N, Percentage huge-N */
/*
 * buddyinfo and unusable_index before and after, of the median over the runs; reads samples, so it
 * needs the store.
 */
int compare_buddy(const struct compare *c, struct store *s, char **text, struct error *err);
/* Verdicts of kselftest-mm; reads what its runs told, so it needs the store too. */
int compare_kselftest(const struct compare *c, struct store *s, char **text, struct error *err);

/* What they show of their own accord: compare_format.metrics and .tested. In static storage. */
const char *const *compare_mmtests_metrics(void);
const char *const *compare_stalls_metrics(void);
const char *const *compare_highalloc_metrics(void);
const char *const *compare_defrag_metrics(void);
const char *const *compare_thpscale_metrics(void);
const char *const *compare_thpscale_tested(void);

/* lkml, mmtests, ... as `--format` takes them; in the order above. */
struct compare_format {
	const char *name, *summary;
	char *(*make)(const struct compare *c);
	int (*make_from_store)(const struct compare *c, struct store *s, char **text, struct error *err);
	/*
	 * Metrics that the form shows whatever is asked for; NULL-terminated, or NULL. They are
	 * quiet unless they are asked for, but for those in `tested`. A pattern of the catalogue
	 * ("fault_both_<threads>") stands for every metric of it that a run has. What no run has is
	 * no error.
	 */
	const char *const *(*metrics)(void);
	const char *const *(*tested)(void);
	/* Says something of one column too: values, where others have only differences. */
	bool alone;
	bool post; /* the look of a post's table: a scenario may ask for it (table: {form: NAME}) */
};
extern const struct compare_format compare_formats[];
extern const size_t compare_format_count;

/* NULL: no such form. */
const struct compare_format *compare_format_find(const char *name);
/* Heap text; s: the store of the run sets, needed where the form wants their samples. 0 or -1. */
int compare_text(const struct compare_format *format, const struct compare *c, struct store *s, char **text,
		 struct error *err);

#endif
