// SPDX-License-Identifier: GPL-2.0-only
/* Which metrics a comparison is of. */
#include <string.h>

#include "results/compare_internal.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"

struct choice {
	const struct frame *frame;
	size_t nframes;
	struct compare *c;
};

static bool any_frame_has(const struct choice *ch, const char *name)
{
	for (size_t f = 0; f < ch->nframes; f++)
		if (frame_column(&ch->frame[f], name))
			return true;
	return false;
}

static void add(struct choice *ch, const char *name, bool quiet)
{
	const struct counter *known = counter_find(name);
	struct compare *c = ch->c;

	for (size_t i = 0; i < c->nmetrics; i++)
		if (strcmp(c->metric[i].name, name) == 0)
			return;
	c->metric = xreallocarray(c->metric, c->nmetrics + 1, sizeof(*c->metric));
	c->metric[c->nmetrics++] = (struct compare_metric){
		.name = name,
		.title = known ? counter_title(name) : xstrdup(name),
		.unit = known ? known->unit : "",
		.better = known ? known->better : BETTER_NEITHER,
		.quiet = quiet,
	};
}

static const char *nearest(const struct choice *ch, const char *name)
{
	for (size_t f = 0; f < ch->nframes; f++) {
		const char *near = str_nearest(name, (const char *const *)ch->frame[f].metric,
					       ch->frame[f].nmetrics);

		if (near)
			return near;
	}
	return counter_nearest(name);
}

static int add_asked(struct choice *ch, const char *const *name, struct strbuf *warning,
		     struct error *err)
{
	for (; *name; name++) {
		const char *near;

		if (!any_frame_has(ch, *name)) {
			cleanup_free char *clean = run_text_printable(*name);

			if (!counter_find(*name)) {
				error_set(err, EXIT_USAGE, "no such metric: %s", clean);
				near = nearest(ch, *name);
				return near ? error_hint(err, "did you mean %s?", near) :
					      error_hint(err, "mmrig list metrics shows those that are known");
			}
			strbuf_addf(warning, "no run has the metric %s\n", clean);
		}
		add(ch, *name, false);
	}
	return 0;
}

/* The metrics that the scenarios show; of none, the time. */
static void add_shown(struct choice *ch, struct strbuf *warning)
{
	for (size_t f = 0; f < ch->nframes; f++)
		for (char **m = ch->frame[f].set.metric; m && *m; m++) {
			cleanup_free char *clean = NULL;
			size_t before = ch->c->nmetrics;

			add(ch, *m, false);
			if (ch->c->nmetrics == before || any_frame_has(ch, *m))
				continue;
			clean = run_text_printable(*m);
			strbuf_addf(warning, "no run has the metric %s\n", clean);
		}
	if (!ch->c->nmetrics)
		add(ch, "time", false);
}

static void add_all(struct choice *ch)
{
	for (size_t f = 0; f < ch->nframes; f++)
		for (size_t i = 0; i < ch->frame[f].nmetrics; i++)
			add(ch, ch->frame[f].metric[i], false);
}

/* What a form shows of its own accord, where a run has it. */
static void add_of_form(struct choice *ch, const char *const *list, bool quiet)
{
	for (; list && *list; list++) {
		bool pattern = strchr(*list, '<') != NULL;

		if (!pattern && any_frame_has(ch, *list))
			add(ch, *list, quiet);
		for (size_t f = 0; pattern && f < ch->nframes; f++)
			for (size_t i = 0; i < ch->frame[f].nmetrics; i++) {
				const struct counter *known = counter_find(ch->frame[f].metric[i]);

				if (known && strcmp(known->name, *list) == 0)
					add(ch, ch->frame[f].metric[i], quiet);
			}
	}
}

int compare_choose_metrics(const struct frame *frame, size_t nframes,
			   const struct compare_options *opt, struct compare *c,
			   struct strbuf *warning, struct error *err)
{
	struct choice ch = { frame, nframes, c };

	if (opt->metric && *opt->metric) {
		if (add_asked(&ch, opt->metric, warning, err) < 0)
			return -1;
	} else {
		add_shown(&ch, warning);
	}
	if (opt->all_metrics)
		add_all(&ch);
	add_of_form(&ch, opt->tested, false);
	add_of_form(&ch, opt->quiet, true);
	return 0;
}
