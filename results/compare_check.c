// SPDX-License-Identifier: GPL-2.0-only
/* May these runs be laid together, and what has a reader of the table to know? */
#include <string.h>

#include "results/compare_internal.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"

/* The first ok run at each value of an axis, among those of a section. */
static size_t values_in(const struct points *p, const struct axis *a, const size_t *section_of,
			size_t section, size_t *first)
{
	size_t n = 0;

	for (size_t v = 0; v < a->n; v++)
		first[v] = SIZE_MAX;
	for (size_t i = 0; i < p->nruns; i++) {
		if (section_of[i] != section || points_run(p, i)->verdict != VERDICT_OK ||
		    first[a->at[i]] != SIZE_MAX)
			continue;
		first[a->at[i]] = i;
		n++;
	}
	return n;
}

/* "memory: 4G (20261130-193417-alias-tmpfs-c00e), 8G (...)". */
static char *describe(const struct points *p, const struct axis *a, const size_t *first)
{
	struct strbuf sb = STRBUF_INIT;
	const char *between = "";

	strbuf_addf(&sb, "%s: ", a->name);
	for (size_t v = 0; v < a->n; v++) {
		cleanup_free char *clean = NULL;

		if (first[v] == SIZE_MAX)
			continue;
		clean = run_text_printable(a->value[v]);
		strbuf_addf(&sb, "%s%s (%s)", between, clean, p->run[first[v]].frame->set.id);
		between = ", ";
	}
	return strbuf_steal(&sb);
}

/* Heap, or NULL where all runs of every section share the value. */
static char *mismatch(const struct points *p, const struct axis *a, const size_t *section_of,
		      size_t nsections)
{
	cleanup_free size_t *first = xcalloc(a->n ? a->n : 1, sizeof(*first));

	if (!axis_varies(a))
		return NULL;
	for (size_t s = 0; s < nsections; s++)
		if (values_in(p, a, section_of, s, first) > 1)
			return describe(p, a, first);
	return NULL;
}

/* The points of a variant may have memory and CPUs of their own. */
static bool belongs(const struct axis *a, const struct axis *by)
{
	return a == by || ((strcmp(by->name, AXIS_VARIANT) == 0 || strcmp(by->name, AXIS_CELL) == 0) &&
			   (strcmp(a->name, "memory") == 0 || strcmp(a->name, "cpus") == 0));
}

int compare_check(const struct points *p, const struct axis *by, const size_t *section_of,
		  size_t nsections, bool force, struct strbuf *warning, struct error *err)
{
	cleanup_strbuf struct strbuf all = STRBUF_INIT;
	const char *only = NULL;
	size_t n = 0;

	for (size_t i = 0; i < p->naxes; i++) {
		const struct axis *a = &p->axis[i];
		cleanup_free char *what = a->kind == AXIS_SHARED && !belongs(a, by) ?
						  mismatch(p, a, section_of, nsections) : NULL;

		if (!what)
			continue;
		strbuf_addf(&all, "%s%s", n++ ? "; " : "", what);
		only = a->name;
		if (force)
			strbuf_addf(warning, "forced, the runs differ in %s\n", what);
	}
	if (!n || force)
		return 0;
	error_set(err, EXIT_USAGE, "the runs differ in what they should share: %s", all.data);
	if (n == 1)
		return error_hint(err, "make it the columns (--by %s), or compare all the same with --force",
				  only);
	return error_hint(err, "compare runs that differ in one thing only, or use --force");
}

/* Run sets whose runs stand in one cell: made at another time, perhaps on a warmer host. */
static void note_pooled(const struct points *p, const struct axis *by, const size_t *section_of,
			size_t nsections, struct strbuf *warning)
{
	const struct axis *set = points_find(p, AXIS_RUNSET);
	size_t ncells = nsections * by->n;
	cleanup_free size_t *first = NULL;

	if (set == by || !axis_varies(set))
		return;
	first = xcalloc(ncells ? ncells : 1, sizeof(*first));
	for (size_t i = 0; i < p->nruns; i++) {
		size_t *cell;

		if (section_of[i] == SIZE_MAX || points_run(p, i)->verdict != VERDICT_OK)
			continue;
		cell = &first[section_of[i] * by->n + by->at[i]];
		if (*cell && set->at[*cell - 1] != set->at[i]) {
			strbuf_addf(warning, "runs of %zu run sets stand together in one column\n", set->n);
			return;
		}
		*cell = *cell ? *cell : i + 1;
	}
}

/* A set that was interrupted, or is under way. */
static void note_unfinished(const struct points *p, struct strbuf *warning)
{
	for (size_t i = 0; i < p->nruns; i++) {
		const struct runset *set = &p->run[i].frame->set;
		size_t asked = (size_t)set->runs * runset_cells(set);

		if ((!i || p->run[i - 1].frame != p->run[i].frame) && set->nruns < asked)
			strbuf_addf(warning, "unfinished: %zu of the %zu runs of %s were made\n", set->nruns, asked,
				    set->id);
	}
}

void compare_hints(const struct points *p, const struct axis *by, const size_t *section_of,
		   size_t nsections, struct strbuf *warning)
{
	const struct axis *host = points_find(p, "host"), *forked = points_find(p, "forked");
	cleanup_free char *hosts = host != by ? mismatch(p, host, section_of, nsections) : NULL;
	cleanup_free char *forks = forked != by ? mismatch(p, forked, section_of, nsections) : NULL;

	note_pooled(p, by, section_of, nsections, warning);
	note_unfinished(p, warning);
	if (hosts)
		strbuf_addf(warning, "not all on one host, so times say little: %s\n", hosts);
	if (forks)
		strbuf_adds(warning, "some runs are forks of a layout, others booted and built their own\n");
}

/* The value that all share, or NULL. */
static const char *shared(const struct points *p, const struct axis *by, const char *name)
{
	const struct axis *a = points_find(p, name);

	return a && a != by && a->n == 1 && strcmp(a->value[0], "-") != 0 ? a->value[0] : NULL;
}

static void put_part(struct strbuf *sb, const char *between, const char *before, const char *value,
		     const char *after)
{
	cleanup_free char *clean = value ? run_text_printable(value) : NULL;

	if (clean)
		strbuf_addf(sb, "%s%s%s%s", sb->len ? between : "", before, clean, after);
}

char *compare_context(const struct points *p, const struct axis *by)
{
	const char *cpus = shared(p, by, "cpus");
	struct strbuf sb = STRBUF_INIT;

	put_part(&sb, "", "kernel ", shared(p, by, AXIS_KERNEL), "");
	put_part(&sb, "; ", "", shared(p, by, "memory"), "");
	put_part(&sb, ", ", "", cpus, cpus && strcmp(cpus, "1") == 0 ? " CPU" : " CPUs");
	put_part(&sb, ", ", "", shared(p, by, "accel"), "");
	return strbuf_steal(&sb);
}
