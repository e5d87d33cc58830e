// SPDX-License-Identifier: GPL-2.0-only
/* What a machine is made of besides memory and CPUs: NUMA nodes, ZONE_MOVABLE, a CMA area, swap. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

#define BLOCK (2 << 20) /* a pageblock */
#define NODE_MIN (64 << 20)
#define SWAP_MIN (1 << 20)
#define SWAP_MAX ((int64_t)1 << 40)

/* ---- the form ---- */

static int check_scalar(const struct node *n, const char *what, struct error *err)
{
	if (n->kind == NODE_SCALAR && *n->text)
		return 0;
	return node_error(err, n, "%s must be a number, not %s", what,
			  n->kind == NODE_SCALAR ? "empty" : node_kind_name(n));
}

/* A map with known keys, all of them plain values; `required` is the one that may not lack. */
static int check_small_map(const struct node *n, const char *what, const char *const *known,
			   size_t nknown, const char *required, struct error *err)
{
	for (size_t i = 0; i < n->n; i++) {
		size_t k = 0;

		while (k < nknown && strcmp(known[k], n->key[i]->text) != 0)
			k++;
		if (k == nknown)
			return node_unknown(err, n->key[i], what, known, nknown);
		if (n->value[i]->kind != NODE_SCALAR || !*n->value[i]->text)
			return node_error(err, n->value[i], "%s must be a value, not %s",
					  n->key[i]->text,
					  n->value[i]->kind == NODE_SCALAR ?
						  "empty" :
						  node_kind_name(n->value[i]));
	}
	if (!node_get(n, required))
		return node_error(err, n, "%s: is missing", required);
	return 0;
}

int shape_check_numa(const struct scenario *s, const struct node *key, const struct node *n,
		     struct error *err)
{
	static const char *const known[] = { "size", "cpus" };

	if (n->kind != NODE_LIST || !n->n)
		return node_error(err, n,
				  "numa must be a list of nodes such as [1G, {size: 1G, cpus: 2}]");
	if (n->n > VM_NODES_MAX)
		return node_error(err, n->value[VM_NODES_MAX], "more than %d nodes", VM_NODES_MAX);
	for (size_t i = 0; i < n->n; i++) {
		const struct node *v = n->value[i];
		int ret = v->kind == NODE_MAP ? check_small_map(v, "key of a node", known,
								ARRAY_SIZE(known), "size", err) :
						check_scalar(v, "a node", err);

		if (ret < 0)
			return -1;
	}
	return 0;
}

int shape_check_distances(const struct scenario *s, const struct node *key, const struct node *n,
			  struct error *err)
{
	const struct node *numa = node_get(node_get(s->root, "vm"), "numa");

	if (!numa)
		return node_error(err, key, "distances need nodes; list them in numa");
	if (numa->kind != NODE_LIST) /* which is told of where numa stands */
		return 0;
	if (n->kind != NODE_LIST || n->n != numa->n)
		return node_error(err, n, "distances must be a list of %zu rows, one for each node",
				  numa->n);
	for (size_t i = 0; i < n->n; i++) {
		const struct node *row = n->value[i];

		if (row->kind != NODE_LIST || row->n != numa->n)
			return node_error(err, row,
					  "a row of distances must be a list of %zu numbers",
					  numa->n);
		for (size_t k = 0; k < row->n; k++)
			if (check_scalar(row->value[k], "a distance", err) < 0)
				return -1;
	}
	return 0;
}

int shape_check_swap(const struct scenario *s, const struct node *key, const struct node *n,
		     struct error *err)
{
	static const char *const known[] = { "kind", "size" };

	if (n->kind != NODE_MAP)
		return node_error(err, n,
				  "swap must be a map such as {kind: zram, size: 512M}, not %s",
				  node_kind_name(n));
	return check_small_map(n, "key of swap", known, ARRAY_SIZE(known), "size", err);
}

/* ---- nodes ---- */

static const struct node *size_of(const struct node *n)
{
	return n->kind == NODE_MAP ? node_get(n, "size") : n;
}

/* "1G", "0.5G", "1024": no expression, which would follow the memory by itself. */
static bool is_plain(const char *text)
{
	text += strspn(text, "0123456789.");
	return !*text || (strchr("kKmMgGtT", *text) && !text[1]);
}

static int node_bytes(const struct env *env, const struct node *n, int64_t *bytes,
		      struct error *err)
{
	const struct node *size = env_text(env, size_of(n));

	return env_number(env, size, "a node's size", "bytes", 0, (int64_t)1 << 44, bytes, err);
}

/* Plain sizes share what expressions leave; the last of them takes what rounding leaves over. */
static int scale(const struct env *env, const struct node *numa, uint64_t memory, int64_t *bytes,
		 struct error *err)
{
	uint64_t plain = 0, fixed = 0, left;
	size_t last = 0;

	for (size_t i = 0; i < numa->n; i++) {
		if (is_plain(size_of(numa->value[i])->text) && bytes[i]) {
			plain += (uint64_t)bytes[i];
			last = i;
		} else {
			fixed += (uint64_t)bytes[i];
		}
	}
	if (!plain)
		return 0;
	if (fixed >= memory)
		return env_blame(env,
				 &(struct blame){ .at = numa, .made_of = numa, .also = "memory" },
				 err,
				 "memory is too small for the nodes whose sizes are expressions");
	left = memory - fixed;
	for (size_t i = 0; i < numa->n; i++) {
		if (!bytes[i] || !is_plain(size_of(numa->value[i])->text))
			continue;
		if (i == last)
			bytes[i] = (int64_t)left;
		else
			bytes[i] = (int64_t)((unsigned __int128)(memory - fixed) *
					     (uint64_t)bytes[i] / plain / BLOCK * BLOCK);
		left -= (uint64_t)bytes[i];
	}
	return 0;
}

static int check_sizes(const struct env *env, const struct node *numa, const struct variant *v,
		       const int64_t *bytes, struct error *err)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < numa->n; i++) {
		cleanup_free char *shown = str_format_bytes((uint64_t)bytes[i]);
		const struct node *size = size_of(numa->value[i]);

		if (bytes[i] % BLOCK || (bytes[i] && bytes[i] < NODE_MIN))
			return env_blame(
				env,
				&(struct blame){ .at = size,
						 .made_of = size,
						 .also = is_plain(size->text) ? "memory" : NULL },
				err,
				"node %zu has %s; it must be 0, or 64M and more in whole "
				"pageblocks of 2M",
				i, shown);
		sum += (uint64_t)bytes[i];
	}
	if (sum != v->memory_bytes) {
		cleanup_free char *is = str_format_bytes(sum),
				  *must = str_format_bytes(v->memory_bytes);

		return env_blame(env,
				 &(struct blame){ .at = numa, .made_of = numa, .also = "memory" },
				 err, "the nodes add up to %s, but memory is %s", is, must);
	}
	return 0;
}

static int node_cpus(const struct env *env, const struct node *numa, struct variant *v,
		     struct error *err)
{
	unsigned int left = v->cpus, takers = 0;

	for (size_t i = 0; i < numa->n; i++) {
		const struct node *n = node_get(numa->value[i], "cpus");
		int64_t cpus = 0;

		takers += !n;
		if (n && env_number(env, n, "cpus of a node", NULL, 0, 255, &cpus, err) < 0)
			return -1;
		if (cpus > left)
			return env_blame(env,
					 &(struct blame){ .at = n, .made_of = n, .also = "cpus" },
					 err, "the nodes want more CPUs than the %u that there are",
					 v->cpus);
		v->node[i].cpus = (unsigned int)cpus;
		left -= (unsigned int)cpus;
	}
	if (left && !takers)
		return env_blame(env,
				 &(struct blame){ .at = numa, .made_of = numa, .also = "cpus" },
				 err, "%u of %u CPUs belong to no node", left, v->cpus);
	for (size_t i = 0; i < numa->n; i++) {
		if (node_get(numa->value[i], "cpus"))
			continue;
		v->node[i].cpus = left / takers + (left % takers != 0);
		left -= v->node[i].cpus;
		takers--;
	}
	for (size_t i = 0; i < numa->n; i++)
		if (!v->node[i].cpus && !v->node[i].memory_bytes)
			return node_error(err, numa->value[i],
					  "node %zu has neither memory nor CPUs", i);
	return 0;
}

static int add_nodes(const struct env *env, const struct node *numa, bool resized,
		     struct variant *v, struct error *err)
{
	int64_t bytes[VM_NODES_MAX];

	for (size_t i = 0; i < numa->n; i++)
		if (node_bytes(env, numa->value[i], &bytes[i], err) < 0)
			return -1;
	if ((resized && scale(env, numa, v->memory_bytes, bytes, err) < 0) ||
	    check_sizes(env, numa, v, bytes, err) < 0)
		return -1;
	v->nnodes = numa->n;
	v->node = xcalloc(numa->n, sizeof(*v->node));
	for (size_t i = 0; i < numa->n; i++)
		v->node[i].memory_bytes = (uint64_t)bytes[i];
	return node_cpus(env, numa, v, err);
}

/* The kernel throws the whole table away when one is out of bounds. */
static int add_distances(const struct env *env, const struct node *table, struct variant *v,
			 struct error *err)
{
	v->distance = xcalloc(v->nnodes * v->nnodes, sizeof(*v->distance));
	for (size_t i = 0; i < v->nnodes * v->nnodes; i++) {
		size_t from = i / v->nnodes, to = i % v->nnodes;
		int64_t least = from == to ? VM_NODE_LOCAL : VM_NODE_LOCAL + 1;
		int64_t most = from == to ? VM_NODE_LOCAL : VM_NODE_FARTHEST, value;

		if (env_number(env, table->value[from]->value[to],
			       from == to ? "the distance of a node to itself" : "a distance", NULL,
			       least, most, &value, err) < 0)
			return -1;
		v->distance[i] = (uint8_t)value;
	}
	return 0;
}

/* A kernel without NUMA takes all memory for one node and says nothing. */
static void need_nodes(struct variant *v)
{
	cleanup_free char *need =
		str_printf("file:/sys/devices/system/node/node%zu", v->nnodes - 1);

	job_add(&v->job, "need", "what", need, NULL);
}

/* ---- swap ---- */

static int add_swap(const struct env *env, const struct node *swap, struct variant *v,
		    struct strbuf *cmdline, const char **module, struct error *err)
{
	static const char *const kinds[] = { "zram", "ramdisk" };
	const struct node *kind = node_get(swap, "kind"), *size = node_get(swap, "size");
	const char *word = kinds[0];
	cleanup_free char *text = NULL;
	int64_t bytes;

	if (kind) {
		kind = env_text(env, kind);
		word = kind->text;
		if (strcmp(word, kinds[0]) != 0 && strcmp(word, kinds[1]) != 0)
			return node_unknown(err, kind, "kind of swap", kinds, ARRAY_SIZE(kinds));
	}
	if (env_number(env, size, "size of swap", "bytes", SWAP_MIN, SWAP_MAX, &bytes, err) < 0)
		return -1;
	if (bytes % BLOCK)
		return node_error(err, size, "size of swap must be in whole pageblocks of 2M");
	text = str_printf("%" PRId64, bytes);
	job_add(&v->job, "need", "what", "file:/proc/swaps", NULL);
	job_add(&v->job, "swap", "kind", word, "size", text, NULL);
	*module = strcmp(word, "zram") == 0 ? "zram" : "brd";
	if (strcmp(word, "ramdisk") == 0)
		strbuf_addf(cmdline, " brd.rd_nr=1 brd.rd_size=%" PRId64, bytes / 1024);
	return 0;
}

/* ---- all of it ---- */

static int add_movable(const struct env *env, const struct node *n, const struct variant *v,
		       struct strbuf *cmdline, struct error *err)
{
	int64_t bytes, most = (int64_t)v->memory_bytes - BLOCK;

	if (env_number(env, n, "movablecore", "bytes", INT64_MIN, 0, &bytes, err) < 0)
		return -1;
	if (bytes < BLOCK || bytes > most) {
		cleanup_free char *shown = env_shown(n, "bytes", bytes),
				  *limit = str_format_bytes((uint64_t)most);

		return env_blame(env,
				 &(struct blame){ .at = n, .made_of = n, .also = bytes > most ? "memory" : NULL },
				 err, "movablecore is %s; allowed are 2M to %s", shown, limit);
	}
	strbuf_addf(cmdline, " movablecore=%" PRId64, bytes);
	return 0;
}

static int add_cma(const struct env *env, const struct node *n, struct variant *v,
		   struct strbuf *cmdline, struct error *err)
{
	int64_t bytes, most = (int64_t)(v->memory_bytes / 2);
	cleanup_free char *need = NULL;

	if (env_number(env, n, "cma", "bytes", INT64_MIN, 0, &bytes, err) < 0)
		return -1;
	if (bytes < BLOCK || bytes > most || bytes % BLOCK) {
		cleanup_free char *shown = env_shown(n, "bytes", bytes),
				  *limit = str_format_bytes((uint64_t)most);

		return env_blame(env, &(struct blame){ .at = n, .made_of = n, .also = "memory" }, err,
				 "cma is %s; allowed are 2M to %s, half of memory, in whole pageblocks of 2M",
				 shown, limit);
	}
	strbuf_addf(cmdline, " cma=%" PRId64, bytes);
	need = str_printf("cma:%" PRId64, bytes);
	job_add(&v->job, "need", "what", need, NULL);
	return 0;
}

int shape_variant(const struct scenario *s, const struct env *env, bool resized, struct variant *v,
		  const char **module, struct error *err)
{
	const struct node *vm = node_get(s->root, "vm");
	const struct node *numa = node_get(vm, "numa"), *distances = node_get(vm, "distances");
	const struct node *movable = node_get(vm, "movablecore"), *swap = node_get(vm, "swap");
	const struct node *cma = node_get(vm, "cma");
	cleanup_strbuf struct strbuf cmdline = STRBUF_INIT;

	*module = NULL;
	if (numa) {
		if (add_nodes(env, numa, resized, v, err) < 0)
			return -1;
		need_nodes(v);
	}
	if (distances && add_distances(env, distances, v, err) < 0)
		return -1;
	if (movable && add_movable(env, movable, v, &cmdline, err) < 0)
		return -1;
	if (cma && add_cma(env, cma, v, &cmdline, err) < 0)
		return -1;
	if (swap && add_swap(env, swap, v, &cmdline, module, err) < 0)
		return -1;
	v->cmdline = strbuf_steal(&cmdline);
	return 0;
}
