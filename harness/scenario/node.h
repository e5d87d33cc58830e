/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SCENARIO_NODE_H
#define MMRIG_SCENARIO_NODE_H
/*
 * The document as a tree that knows where each of its nodes was written. Made from libyaml's
 * document, which resolves aliases by sharing; here they are copied, within a bound.
 */
#include <stdbool.h>
#include <stddef.h>

#include "results/util/error.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	char *label;	  /* the file, or "--set KEY=VALUE" */
	int line, column; /* 1-based, in characters; line 0: the label says it all */
	bool is_default;  /* nobody wrote it */
	/* SCALAR: */
	char *text; /* no NUL inside */
	bool quoted;
	int text_column; /* where the text itself begins; 0 when it cannot be pointed into */
	/* LIST: key is NULL; MAP: key[i] is a SCALAR. */
	struct node **key, **value;
	size_t n;
};

#define NODE_BYTES_MAX (1UL << 20)
#define NODE_COUNT_MAX 10000
#define NODE_DEPTH_MAX 32

/* One YAML document of at most NODE_BYTES_MAX; its top must be a map without duplicate keys. */
int node_parse(const char *label, const char *text, size_t len, struct node **root,
	       struct error *err);
struct node *node_new(enum node_kind kind, const char *label, int line, int column);
struct node *node_scalar(const char *label, int column, const char *text, size_t len);
void node_free(struct node *n);
/* With all below it; the places stay those of the original. */
struct node *node_copy(const struct node *n);
/* Appends; key is NULL for a LIST. Takes both over. */
void node_add(struct node *n, struct node *key, struct node *value);
/* Takes value over; the place and spelling of an existing key stay. */
void node_replace(struct node *map, struct node *key, struct node *value);
/* The index of the key, or -1; also for what is no map. */
long node_index(const struct node *map, const char *key);
const struct node *node_get(const struct node *map, const char *key);
void node_remove(struct node *map, size_t i);
/* Canonical YAML, heap. */
int node_format(const struct node *root, char **text, struct error *err);

/* "file:line:column", heap; `column` (1-based; 0: none) characters into a scalar's text. */
char *node_place(const struct node *n, int column);
/* "file:line:column: text", EXIT_USAGE. */
int node_error(struct error *err, const struct node *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, `column` (1-based) characters into a scalar's text. */
int node_error_at(struct error *err, const struct node *n, int column, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* "unknown WHAT "word"; did you mean X?" or the whole list. `word` is the scalar's text. */
int node_unknown(struct error *err, const struct node *n, const char *what,
		 const char *const *known, size_t nknown);
/* "a list", "text", "a map", "nothing": for messages. */
const char *node_kind_name(const struct node *n);

static inline void cleanup_node_p(struct node **n)
{
	node_free(*n);
}
#define cleanup_node __attribute__((cleanup(cleanup_node_p)))

#endif
