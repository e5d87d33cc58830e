// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "harness/build/kconfig_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define SHOWN 3

/* Asks that did not come out; the list is the owner's, the asks are not. */
struct unmet {
	const struct kconfig_ask **ask;
	const char **got; /* NULL: absent */
	char **why;	  /* after explain_all() */
	size_t n;
};

static void unmet_free(struct unmet *u)
{
	for (size_t i = 0; u->why && i < u->n; i++)
		free(u->why[i]);
	free(u->ask);
	free(u->got);
	free(u->why);
}

static void unmet_add(struct unmet *u, const struct kconfig_ask *ask, const char *got)
{
	u->ask = xreallocarray(u->ask, u->n + 1, sizeof(*u->ask));
	u->got = xreallocarray(u->got, u->n + 1, sizeof(*u->got));
	u->ask[u->n] = ask;
	u->got[u->n++] = got;
}

static bool is_met(const struct kconfig_ask *ask, const char *got)
{
	return kconfig_is_same_value(ask->value, got ? got : "n");
}

static bool is_on(const struct kconfig_ask *ask)
{
	return !strcmp(ask->value, "y") || !strcmp(ask->value, "m");
}

/* A later file that asks for another member of the same choice says no to this one. */
static const struct kconfig_ask *outvoted_by(const struct kconfig_tree *t,
					     const struct kconfig_asks *asks,
					     const struct kconfig_ask *ask)
{
	for (size_t i = 0; is_on(ask) && i < asks->n; i++) {
		const struct kconfig_ask *other = &asks->item[i];

		if (other->layer > ask->layer && is_on(other) &&
		    kconfig_tree_same_choice(t, ask->symbol, other->symbol))
			return other;
	}
	return NULL;
}

/* ---- telling ---- */

static void add_one(struct strbuf *sb, const struct unmet *u, size_t i,
		    const struct kconfig_tree *t, const char *version)
{
	const struct kconfig_ask *ask = u->ask[i];
	const char *nearest, *got = u->got[i] ? u->got[i] : is_on(ask) ? "n" : "nothing";

	strbuf_addf(sb, "%s:%u: %s=%s", ask->label, ask->line, ask->symbol, ask->value);
	if (kconfig_tree_has(t, ask->symbol)) {
		strbuf_addf(sb, " came out as %s", got);
		if (u->why[i])
			strbuf_addf(sb, ": it %s", u->why[i]);
		return;
	}
	strbuf_addf(sb, ": no such symbol in %s", version);
	nearest = kconfig_tree_nearest(t, ask->symbol);
	if (nearest)
		strbuf_addf(sb, "; did you mean %s?", nearest);
}

/* Those that the kernel knows; nothing can be said of the others. */
static void explain_all(const struct kconfig_request *r, const struct kconfig_work *w,
			struct unmet *u, const struct kconfig_tree *t, char **hint)
{
	cleanup_free const struct kconfig_ask **known = xcalloc(u->n + 1, sizeof(*known));
	cleanup_free char **text = xcalloc(u->n + 1, sizeof(*text));
	size_t n = 0;

	u->why = xcalloc(u->n + 1, sizeof(*u->why));
	for (size_t i = 0; i < u->n; i++)
		if (kconfig_tree_has(t, u->ask[i]->symbol))
			known[n++] = u->ask[i];
	kconfig_explain(r, w, known, n, text, hint);
	for (size_t i = 0, k = 0; i < u->n; i++)
		if (k < n && known[k] == u->ask[i])
			u->why[i] = text[k++];
}

static int tell(const struct kconfig_request *r, const struct kconfig_work *w, struct unmet *u,
		const struct kconfig_tree *t, struct error *err)
{
	cleanup_strbuf struct strbuf all = STRBUF_INIT, first = STRBUF_INIT;
	cleanup_free char *version = kconfig_tree_version(w->src), *hint = NULL;

	explain_all(r, w, u, t, &hint);
	for (size_t i = 0; i < u->n; i++) {
		size_t start = all.len;

		add_one(&all, u, i, t, version);
		if (i < SHOWN)
			strbuf_addf(&first, "%s%s", u->n > 1 ? "\n  " : "", all.data + start);
		strbuf_adds(&all, "\n");
	}
	if (u->n > SHOWN) {
		strbuf_addf(&first, "\n  and %zu others", u->n - SHOWN);
		if (file_write_atomic(r->list, all.data, all.len, 0644, NULL) == 0)
			strbuf_addf(&first, "; all are in %s", r->list);
	}
	if (u->n == 1)
		error_set(err, EXIT_USAGE, "%s", first.data);
	else
		error_set(err, EXIT_USAGE, "%zu symbols of the config did not come out as asked:%s",
			  u->n, first.data);
	return hint ? error_hint(err, "%s", hint) : -1;
}

/* ---- checking ---- */

static void tell_outvoted(const struct kconfig_request *r, const struct kconfig_ask *ask,
			  const struct kconfig_ask *by)
{
	cleanup_free char *text = NULL;

	if (!r->tell.line || !ask->layer)
		return;
	text = str_printf("%s:%u: %s=%s takes the place of %s:%u (%s=%s)", by->label, by->line,
			  by->symbol, by->value, ask->label, ask->line, ask->symbol, ask->value);
	r->tell.line(r->tell.arg, text);
}

/* Of those that look unmet: what is left when the tree is asked. */
static void drop_excused(const struct kconfig_request *r, struct unmet *u,
			 const struct kconfig_tree *t, const struct kconfig_asks *asks)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->n; i++) {
		const struct kconfig_ask *ask = u->ask[i], *by;
		bool known = kconfig_tree_has(t, ask->symbol);

		/* Of ours, older kernels lack some. */
		if (!known ? ask->shipped : is_met(ask, u->got[i]))
			continue;
		by = known ? outvoted_by(t, asks, ask) : NULL;
		if (by) {
			tell_outvoted(r, ask, by);
			continue;
		}
		u->ask[kept] = ask;
		u->got[kept++] = u->got[i];
	}
	u->n = kept;
}

int kconfig_check(const struct kconfig_request *r, const struct kconfig_work *w,
		  const struct kconfig_asks *asks, struct error *err)
{
	__attribute__((cleanup(unmet_free))) struct unmet u = { 0 };
	cleanup_asks struct kconfig_asks result = { 0 };
	cleanup_tree struct kconfig_tree tree = { 0 };
	size_t len = 0;
	cleanup_free char *text = file_read(w->result, 0, &len, err);

	if (!text)
		return -1;
	kconfig_asks_parse(&result, w->result, text, len, 0, false, NULL);
	kconfig_asks_sort(&result);
	for (size_t i = 0; i < asks->n; i++) {
		const struct kconfig_ask *ask = &asks->item[i];
		const char *got = kconfig_value(&result, ask->symbol);
		/* A whole config of the user's may be of another version: it is a start, no ask. */
		bool asked = ask->layer || !r->base;

		/* What is not there may be off, or misspelt. */
		if (asked && (!is_met(ask, got) || (!ask->shipped && !got)))
			unmet_add(&u, ask, got);
	}
	if (!u.n)
		return 0;
	if (kconfig_tree_read(w->src, &tree, err) < 0)
		return -1;
	drop_excused(r, &u, &tree, asks);
	return u.n ? tell(r, w, &u, &tree, err) : 0;
}
