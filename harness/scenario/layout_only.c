// SPDX-License-Identifier: GPL-2.0-only
/* A layout without a workload: what `mmrig layout check` takes beside a whole scenario. */
#include <ctype.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define NAME_MAX_LEN 64 /* as check.c wants it */

/* "my layout.yaml" becomes my-layout. */
static char *name_of_file(const char *path)
{
	const char *base = strrchr(path, '/');
	char *name = xstrdup(base ? base + 1 : path), *dot = strrchr(name, '.');

	if (dot && dot != name)
		*dot = '\0';
	if (strlen(name) > NAME_MAX_LEN)
		name[NAME_MAX_LEN] = '\0';
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
			*p = '-';
	if (!isalnum((unsigned char)*name)) {
		free(name);
		name = xstrdup("layout");
	}
	return name;
}

void layout_only_complete(struct node *root)
{
	cleanup_free char *name = NULL;
	struct node *value;

	if (root->kind != NODE_MAP || node_get(root, "name"))
		return;
	name = name_of_file(root->label);
	value = node_scalar(root->label, 1, name, strlen(name));
	value->is_default = true;
	node_add(root, node_scalar(root->label, 1, "name", strlen("name")), value);
}

/* ---- what must be there ---- */

int scenario_check_required(const struct scenario *s, struct error *err)
{
	bool name = node_get(s->root, "name"), workload = s->layout_only || node_get(s->root, "workload");

	if (s->layout_only && !node_get(s->root, "layout"))
		return node_error(err, s->root,
				  "layout: is missing; write one, as in layout: [fill: {leave: 100M}], or name one that "
				  "`mmrig list layouts` shows");
	if (name && workload)
		return 0;
	if (workload)
		return node_error(err, s->root, "name: is missing; any word will do, as in name: mine");
	node_error(err, s->root, "%s missing; write one, as in workload: {tmpfs-files: {files: 1000}}",
		   name ? "workload: is" : "name: and workload: are");
	return !node_get(s->root, "layout") ?
		       -1 :
		       error_hint(err, "`mmrig layout check %s` builds the layout alone", s->root->label);
}

/* ---- by name ---- */

/* "did you mean": of scenarios and layouts. */
static int unknown(const char *name, const struct scenario_entry *scenario, size_t nscenarios,
		   const struct layout_entry *layout, size_t nlayouts, struct error *err)
{
	cleanup_free const char **names = xcalloc(nscenarios + nlayouts, sizeof(*names));
	const char *nearest;

	for (size_t i = 0; i < nlayouts; i++)
		names[i] = layout[i].name;
	for (size_t i = 0; i < nscenarios; i++)
		names[nlayouts + i] = scenario[i].name;
	nearest = str_nearest(name, names, nscenarios + nlayouts);
	error_set(err, EXIT_USAGE, "unknown scenario or layout \"%s\"", name);
	if (nearest)
		return error_hint(err, "did you mean %s?", nearest);
	return error_hint(err, "`mmrig list scenarios` and `mmrig list layouts` list them, and a path ends in "
			       ".yaml");
}

int scenario_load_layout(const char *name_or_path, struct scenario **s, struct error *err)
{
	struct scenario_entry *scenario = NULL;
	struct layout_entry *layout = NULL;
	size_t nscenarios = 0, nlayouts = 0;
	const char *path = scenario_is_path(name_or_path) ? name_or_path : NULL;
	int ret = -1;

	if (path)
		return scenario_load_path(path, true, s, err);
	if (scenario_list(&scenario, &nscenarios, err) < 0)
		return -1;
	if (layout_list(&layout, &nlayouts, err) == 0) {
		/* A scenario first: what has both names is run by it too. */
		for (size_t i = 0; !path && i < nscenarios; i++)
			path = strcmp(scenario[i].name, name_or_path) == 0 ? scenario[i].path : NULL;
		for (size_t i = 0; !path && i < nlayouts; i++)
			path = strcmp(layout[i].name, name_or_path) == 0 ? layout[i].path : NULL;
		ret = path ? scenario_load_path(path, true, s, err) :
			     unknown(name_or_path, scenario, nscenarios, layout, nlayouts, err);
		layout_list_free(layout, nlayouts);
	}
	scenario_list_free(scenario, nscenarios);
	return ret;
}
