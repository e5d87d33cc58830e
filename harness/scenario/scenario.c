// SPDX-License-Identifier: GPL-2.0-only
#include "harness/scenario/scenario.h"

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

static int resolve_and_check(struct scenario *s, struct error *err)
{
	if (s->layout_only)
		layout_only_complete(s->root);
	return layouts_resolve(s->root, &s->tables, err) < 0 ? -1 : scenario_check(s, err);
}

static int parse(const struct scenario_tables *tables, bool layout_only, const char *label, const char *text,
		 size_t len, struct scenario **s, struct error *err)
{
	struct scenario *made = xcalloc(1, sizeof(*made));

	made->tables = *tables;
	made->layout_only = layout_only;
	if (node_parse(label, text, len, &made->root, err) < 0 || resolve_and_check(made, err) < 0) {
		scenario_free(made);
		return -1;
	}
	*s = made;
	return 0;
}

int scenario_parse_with(const struct scenario_tables *tables, const char *label, const char *text,
			size_t len, struct scenario **s, struct error *err)
{
	return parse(tables, false, label, text, len, s, err);
}

int scenario_parse_layout(const char *label, const char *text, size_t len, struct scenario **s,
			  struct error *err)
{
	struct scenario_tables tables = scenario_tables_real();

	return parse(&tables, true, label, text, len, s, err);
}

int scenario_parse(const char *label, const char *text, size_t len, struct scenario **s,
		   struct error *err)
{
	struct scenario_tables tables = scenario_tables_real();

	return scenario_parse_with(&tables, label, text, len, s, err);
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	node_free(s->root);
	free(s);
}
