/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_EXPR_TREE_H
#define MMRIG_EXPR_TREE_H
/* A compiled expression as a tree again, for what is said about it (expr_truth.c, expr_finding.c). */
#include "guest/expr_truth.h"
#include "guest/expr_value.h"

#define TREE_NODES_MAX 128 /* of a larger expression nothing is said */
#define TREE_FACTS_MAX 16
#define TREE_BUDGET 4000 /* nodes that are looked at; then a value may be anything */

struct tree_node {
	uint8_t op;	   /* OP_CONST, OP_VAR or an operator; no skips */
	int16_t kid[3];	   /* indices of nodes; -1 */
	uint32_t from, to; /* the text that it stands for; none for constants made up */
	int64_t imm;	   /* OP_CONST: the value; OP_VAR: enum expr_var */
};

/* What is taken for granted of a part, wherever it stands again. */
struct tree_fact {
	int node;
	struct expr_value value;
};

struct tree {
	const struct expr_domain *domain;
	struct tree_node node[TREE_NODES_MAX];
	int n, root;
	struct tree_fact fact[TREE_FACTS_MAX];
	int nfacts;
	int budget;
};

/* false where the expression is too large. */
bool tree_make(struct tree *t, const struct expr *e, const struct expr_domain *d);
/* What node i may come to, given the facts. */
struct expr_value tree_value(struct tree *t, int i);
enum expr_truth tree_truth(struct tree *t, int i);
/* Adds the facts that follow when node i is true, or false. */
void tree_assume(struct tree *t, int i, bool truth);
/* Of a tree whose root is EXPR_NEVER. */
void tree_find(struct tree *t, const char *text, struct expr_finding *f);

#endif
