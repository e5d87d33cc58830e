// SPDX-License-Identifier: GPL-2.0-only
#include "harness/scenario/scenario.h"

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

int scenario_parse_with(const struct scenario_tables *tables, const char *label, const char *text,
			size_t len, struct scenario **s, struct error *err)
{
	struct scenario *made = xcalloc(1, sizeof(*made));

	made->tables = *tables;
	if (node_parse(label, text, len, &made->root, err) < 0 ||
	    layouts_resolve(made->root, tables, err) < 0 || scenario_check(made, err) < 0) {
		scenario_free(made);
		return -1;
	}
	*s = made;
	return 0;
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
