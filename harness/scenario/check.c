// SPDX-License-Identifier: GPL-2.0-only
/* The form of a document: every key known, every value of its kind. Values: env.c, params.c. */
#include <ctype.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/compare_text.h"
#include "results/util/cleanup.h"

#define NAMES_MAX 64 /* constants and axes */
#define NAME_LEN_MAX 31

typedef int check_fn(const struct scenario *s, const struct node *key, const struct node *value,
		     struct error *err);

struct field {
	const char *name;
	check_fn *check;
};

int check_kind(const struct node *key, const struct node *n, enum node_kind kind,
		     const char *what, struct error *err)
{
	if (n->kind == kind)
		return 0;
	return node_error(err, n, "%s must be %s, not %s", key->text, what, node_kind_name(n));
}

int check_text(const struct scenario *s, const struct node *key, const struct node *n,
		      struct error *err)
{
	if (n->kind != NODE_SCALAR || !*n->text)
		return node_error(err, n, "%s must be text, not %s", key->text,
				  n->kind == NODE_SCALAR ? "empty" : node_kind_name(n));
	return 0;
}

/* Known keys only, each with its own check. `what` names the map in messages: "key of vm". */
static int check_fields(const struct scenario *s, const struct node *map, const char *what,
			const struct field *field, size_t nfields, struct error *err)
{
	const char *names[32];

	for (size_t i = 0; i < nfields; i++)
		names[i] = field[i].name;
	for (size_t i = 0; i < map->n; i++) {
		size_t f = 0;

		while (f < nfields && strcmp(field[f].name, map->key[i]->text) != 0)
			f++;
		if (f == nfields)
			return node_unknown(err, map->key[i], what, names, nfields);
		if (field[f].check(s, map->key[i], map->value[i], err) < 0)
			return -1;
	}
	return 0;
}

static bool name_is_word(const char *text, const char *more)
{
	size_t n = 0;

	for (; text[n]; n++)
		if (!isalnum((unsigned char)text[n]) && !strchr(more, text[n]))
			return false;
	return n > 0;
}

static int check_name(const struct scenario *s, const struct node *key, const struct node *n,
		      struct error *err)
{
	if (check_text(s, key, n, err) < 0)
		return -1;
	if (!name_is_word(n->text, "-_.") || !isalnum((unsigned char)*n->text) ||
	    strlen(n->text) > 64)
		return node_error(err, n,
				  "a scenario's name is letters, digits, - _ and . (64 at most), "
				  "beginning with a letter or digit");
	return 0;
}

static int check_vm(const struct scenario *s, const struct node *key, const struct node *n,
		    struct error *err)
{
	static const struct field fields[] = {
		{ "memory", check_text },	     { "cpus", check_text },
		{ "least", check_text },
		{ "numa", shape_check_numa },	     { "distances", shape_check_distances },
		{ "movablecore", check_text },	     { "swap", shape_check_swap },
		{ "cma", check_text },
	};

	if (check_kind(key, n, NODE_MAP, "a map such as {memory: 2G, cpus: 2}", err) < 0)
		return -1;
	return check_fields(s, n, "key of vm", fields, ARRAY_SIZE(fields), err);
}

/* A name of constants or vary: a word that means nothing else in expressions. */
static int check_variable_name(const struct node *key, struct error *err)
{
	static const char *const reserved[] = { "pfn",	   "block",   "offset", "order", "zone",
						"node",	   "rand",    "dma",	"dma32", "normal",
						"highmem", "movable", "device", "min",	 "max",
						"in",	   "and",     "or",	"not",	 "mod",
						"memory",  "cpus",    "cma",    STEP_ROUND };

	if (!name_is_word(key->text, "_") || isdigit((unsigned char)*key->text) ||
	    strlen(key->text) > NAME_LEN_MAX)
		return node_error(err, key,
				  "a constant's name is letters, digits and _ (%d at most), "
				  "beginning with a letter",
				  NAME_LEN_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (strcmp(key->text, reserved[i]) == 0)
			return node_error(err, key,
					  "\"%s\" has a meaning of its own in expressions; "
					  "take another name",
					  key->text);
	return 0;
}

static int check_constants(const struct scenario *s, const struct node *key, const struct node *n,
			   struct error *err)
{
	if (check_kind(key, n, NODE_MAP, "a map of names to numbers", err) < 0)
		return -1;
	if (n->n > NAMES_MAX)
		return node_error(err, n->key[NAMES_MAX], "more than %d constants", NAMES_MAX);
	for (size_t i = 0; i < n->n; i++)
		if (check_variable_name(n->key[i], err) < 0 ||
		    check_text(s, n->key[i], n->value[i], err) < 0)
			return -1;
	return 0;
}

static int check_axis(const struct scenario *s, const struct node *key, const struct node *n,
		      struct error *err)
{
	if (check_variable_name(key, err) < 0 ||
	    check_kind(key, n, NODE_LIST, "a list of values such as [0, 4]", err) < 0)
		return -1;
	if (!n->n)
		return node_error(err, n, "%s has no values; list one at least, as in [0, 4]",
				  key->text);
	if (node_get(node_get(s->root, "constants"), key->text))
		return node_error(err, key,
				  "\"%s\" is a constant already; remove it there to vary it",
				  key->text);
	for (size_t i = 0; i < n->n; i++) {
		if (check_text(s, key, n->value[i], err) < 0)
			return -1;
		for (size_t k = 0; k < i; k++)
			if (strcmp(n->value[i]->text, n->value[k]->text) == 0)
				return node_error(err, n->value[i], "%s is listed twice in %s",
						  n->value[i]->text, key->text);
	}
	return 0;
}

static int check_vary(const struct scenario *s, const struct node *key, const struct node *n,
		      struct error *err)
{
	if (check_kind(key, n, NODE_MAP, "a map of names to lists such as {residue: [0, 4]}", err) <
	    0)
		return -1;
	if (n->n > NAMES_MAX)
		return node_error(err, n->key[NAMES_MAX], "more than %d names to vary", NAMES_MAX);
	for (size_t i = 0; i < n->n; i++)
		if (check_axis(s, n->key[i], n->value[i], err) < 0)
			return -1;
	return 0;
}

static int check_workload(const struct scenario *s, const struct node *key, const struct node *n,
			  struct error *err)
{
	cleanup_free const char **names = xcalloc(s->tables.nworkloads, sizeof(*names));

	if (check_kind(key, n, NODE_MAP,
		      "one name with parameters, as in tmpfs-files: {files: 1000}", err) < 0)
		return -1;
	if (n->n != 1)
		return node_error(err, n->n ? n->key[1] : n,
				  "workload must be one name with parameters; "
				  "here are %zu",
				  n->n);
	for (size_t i = 0; i < s->tables.nworkloads; i++) {
		names[i] = s->tables.workload[i]->name;
		if (strcmp(names[i], n->key[0]->text) == 0)
			return check_params(s->tables.workload[i]->params,
					    s->tables.workload[i]->nparams, n->key[0], n->value[0],
					    err);
	}
	return node_unknown(err, n->key[0], "workload", names, s->tables.nworkloads);
}

static int check_seconds(const struct scenario *s, const struct node *key, const struct node *n,
			 struct error *err);

static int check_background(const struct scenario *s, const struct node *key, const struct node *n,
			    struct error *err)
{
	static const struct field fields[] = { { "workload", check_workload }, { "warm_up", check_seconds } };

	if (check_kind(key, n, NODE_MAP, "a map such as {workload: {stress-ng: {args: --vm 1}}, warm_up: 2s}", err) < 0)
		return -1;
	if (check_fields(s, n, "key of background", fields, ARRAY_SIZE(fields), err) < 0)
		return -1;
	return node_get(n, "workload") ? 0 : node_error(err, key, "background has no workload: say what runs there");
}

static int check_tolerance(const struct scenario *s, const struct node *key, const struct node *n,
			   struct error *err)
{
	int64_t ppm;

	return read_ppm(n, &ppm, err);
}

/* The guest makes a path of it: at least two parts, and nothing that could climb. */
static bool is_sysctl_name(const char *text)
{
	bool dot = false;

	if (!name_is_word(text, "._-") || strlen(text) > 128)
		return false;
	for (const char *p = text; *p; p++) {
		if (*p != '.')
			continue;
		dot = true;
		if (p == text || p[1] == '.' || !p[1])
			return false;
	}
	return dot;
}

static int check_sysctls(const struct scenario *s, const struct node *key, const struct node *n,
			 struct error *err)
{
	if (check_kind(key, n, NODE_MAP, "a map such as {vm.defrag_mode: 1}", err) < 0)
		return -1;
	for (size_t i = 0; i < n->n; i++) {
		if (!is_sysctl_name(n->key[i]->text))
			return node_error(err, n->key[i],
					  "\"%.60s\" is not the name of a sysctl; write it "
					  "as in vm.defrag_mode",
					  n->key[i]->text);
		if (check_text(s, n->key[i], n->value[i], err) < 0)
			return -1;
	}
	return 0;
}

static int check_sysctl(const struct scenario *s, const struct node *key, const struct node *n,
			struct error *err)
{
	static const struct field fields[] = { { "boot", check_sysctls },
					       { "workload", check_sysctls } };

	if (check_kind(key, n, NODE_MAP, "a map of boot: and workload:", err) < 0)
		return -1;
	return check_fields(s, n, "key of sysctl", fields, ARRAY_SIZE(fields), err);
}

static int check_sample(const struct scenario *s, const struct node *key, const struct node *n,
			struct error *err)
{
	int64_t v;

	return read_integer(n, "sample_ms", 0, 60000, &v, err);
}

static int check_profile(const struct scenario *s, const struct node *key, const struct node *n,
			 struct error *err)
{
	if (check_text(s, key, n, err) < 0)
		return -1;
	if (strcmp(n->text, "true") != 0 && strcmp(n->text, "false") != 0)
		return node_error(err, n, "profile must be true or false");
	return 0;
}

static int check_runs(const struct scenario *s, const struct node *key, const struct node *n,
		      struct error *err)
{
	int64_t v;

	return read_integer(n, "runs", 1, 10000, &v, err);
}

static int check_metrics(const struct scenario *s, const struct node *key, const struct node *n,
			 struct error *err)
{
	if (check_kind(key, n, NODE_LIST, "a list of metrics such as [allocstall, time]", err) < 0)
		return -1;
	for (size_t i = 0; i < n->n; i++) {
		const char *nearest;

		if (check_text(s, key, n->value[i], err) < 0)
			return -1;
		if (s->tables.metric_known(n->value[i]->text))
			continue;
		nearest = s->tables.metric_nearest(n->value[i]->text);
		return node_error(err, n->value[i], "unknown metric \"%.60s\"; %s%s%s",
				  n->value[i]->text,
				  nearest ? "did you mean " : "`mmrig list metrics` lists them",
				  nearest ? nearest : "", nearest ? "?" : "");
	}
	return 0;
}

static int check_style(const struct scenario *s, const struct node *key, const struct node *n,
		       struct error *err)
{
	static const char *const styles[] = { "seed", "plain", "sizes" };

	if (check_text(s, key, n, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(styles); i++)
		if (strcmp(n->text, styles[i]) == 0)
			return 0;
	return node_unknown(err, n, "style of a table", styles, ARRAY_SIZE(styles));
}

/* A form of mmrig compare, printed below the table. */
static int check_form(const struct scenario *s, const struct node *key, const struct node *n, struct error *err)
{
	const char *known[32];
	size_t nknown = 0;

	if (check_text(s, key, n, err) < 0)
		return -1;
	for (size_t i = 0; i < compare_format_count && nknown < ARRAY_SIZE(known); i++) {
		if (!compare_formats[i].post)
			continue;
		if (strcmp(n->text, compare_formats[i].name) == 0)
			return 0;
		known[nknown++] = compare_formats[i].name;
	}
	return node_unknown(err, n, "form of a table", known, nknown);
}

static int check_table(const struct scenario *s, const struct node *key, const struct node *n,
		       struct error *err)
{
	static const struct field fields[] = { { "style", check_style },
					       { "form", check_form },
					       { "rows", check_text },
					       { "label", check_text },
					       { "columns", check_metrics } };

	if (check_kind(key, n, NODE_MAP, "a map of style:, form:, rows:, label: and columns:", err) < 0)
		return -1;
	return check_fields(s, n, "key of table", fields, ARRAY_SIZE(fields), err);
}

static int check_seconds(const struct scenario *s, const struct node *key, const struct node *n,
			 struct error *err)
{
	double seconds;

	return read_seconds(n, &seconds, err);
}

static int check_limits(const struct scenario *s, const struct node *key, const struct node *n,
			struct error *err)
{
	static const struct field fields[] = {
		{ "boot", check_seconds },    { "layout", check_seconds },
		{ "settle", check_seconds },  { "workload", check_seconds },
		{ "collect", check_seconds }, { "silence", check_seconds }
	};

	if (check_kind(key, n, NODE_MAP, "a map such as {workload: 10m}", err) < 0)
		return -1;
	return check_fields(s, n, "limit", fields, ARRAY_SIZE(fields), err);
}

static int check_need(const struct node *n, struct error *err)
{
	static const char *const kinds[] = { "sysctl:", "file:", "fs:" };

	if (n->kind == NODE_SCALAR)
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			if (str_starts(n->text, kinds[i]) && n->text[strlen(kinds[i])])
				return str_starts(n->text, "sysctl:") &&
						       !is_sysctl_name(n->text + 7) ?
					       node_error(err, n,
							  "\"%.60s\" is not the name of a sysctl",
							  n->text + 7) :
					       0;
	return node_error(err, n, "a need is sysctl:NAME, file:PATH or fs:NAME");
}

static int check_needs(const struct scenario *s, const struct node *key, const struct node *n,
		       struct error *err)
{
	if (check_kind(key, n, NODE_LIST, "a list such as [\"sysctl:vm.defrag_mode\"]", err) < 0)
		return -1;
	for (size_t i = 0; i < n->n; i++)
		if (check_need(n->value[i], err) < 0)
			return -1;
	return 0;
}

static int check_modules(const struct scenario *s, const struct node *key, const struct node *n,
			 struct error *err)
{
	if (check_kind(key, n, NODE_LIST, "a list of kernel modules", err) < 0)
		return -1;
	for (size_t i = 0; i < n->n; i++) {
		if (check_text(s, key, n->value[i], err) < 0)
			return -1;
		if (!name_is_word(n->value[i]->text, "-_"))
			return node_error(err, n->value[i], "\"%.60s\" is not the name of a module",
					  n->value[i]->text);
	}
	return 0;
}

static const struct field top_fields[] = {
	{ "name", check_name },		  { "title", check_text },
	{ "kernel", check_text },	  { "vm", check_vm },
	{ "constants", check_constants }, { "vary", check_vary },
	{ "layout", check_layout },	  { "tolerance", check_tolerance },
	{ "sysctl", check_sysctl },	  { "workload", check_workload },
	{ "sample_ms", check_sample },	  { "runs", check_runs },
	{ "table", check_table },	  { "metrics", check_metrics },
	{ "limits", check_limits },	  { "needs", check_needs },
	{ "modules", check_modules },	  { "kernels", kernels_check },
	{ "leave_out", leave_out_check }, { "profile", check_profile },
	{ "background", check_background },
};

const char *const scenario_keys[] = { "name",	   "title",  "kernel",	  "vm",	     "constants",
				      "vary",	   "layout", "tolerance", "sysctl",  "workload",
				      "sample_ms", "runs",   "table",	  "metrics", "limits",
				      "needs",	   "modules", "kernels",	  "leave_out",
				      "profile", "background" };
const size_t scenario_key_count = ARRAY_SIZE(scenario_keys);

int scenario_check(const struct scenario *s, struct error *err)
{
	if (check_fields(s, s->root, "key", top_fields, ARRAY_SIZE(top_fields), err) < 0)
		return -1;
	if (scenario_check_required(s, err) < 0)
		return -1;
	return leave_out_check_names(s, err);
}
