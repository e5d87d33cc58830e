/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_KCONFIG_IMPL_H
#define MMRIG_KCONFIG_IMPL_H
/* Between the kconfig files of this folder, and for their tests. */
#include <stdbool.h>
#include <stddef.h>

#include "harness/build/kconfig.h"

/* ---- kconfig_text.c: what a config or a fragment says ---- */

struct kconfig_ask {
	char *symbol; /* without CONFIG_ */
	char *value;  /* as it stands behind "=": y, m, 12, "text" in its quotes; n when not set */
	const char *label; /* of the file; belongs to the list */
	unsigned int line;
	unsigned int layer; /* 0 for the base, then one a fragment */
	bool shipped;	    /* of mmrig's own base or fragments */
};

struct kconfig_asks {
	struct kconfig_ask *item; /* in the order of the files */
	size_t n;
	char **label;
	size_t nlabels;
};

/*
 * Adds what a text says. strict: a line that is neither an ask, a comment nor blank is refused
 * ("LABEL:LINE: ...", exit status 2); else it is passed over, as in a .config that a kernel wrote.
 */
int kconfig_asks_parse(struct kconfig_asks *a, const char *label, const char *text, size_t len,
		       unsigned int layer, bool strict, struct error *err);
/* The base (NULL: the shipped one) as layer 0, then the fragments; strict; settled. tell may be NULL. */
int kconfig_asks_read(struct kconfig_asks *a, const char *base, const char *const *fragment,
		      const struct kconfig_tell *tell, struct error *err);
/* Numbers by their value: the kernel keeps leading zeros and the case of digits as they are written. */
bool kconfig_is_same_value(const char *a, const char *b);
/* Of several asks for one symbol the last stays, where it stands. */
void kconfig_asks_settle(struct kconfig_asks *a);
/* By symbol, for kconfig_value(); the order of the files is lost. */
void kconfig_asks_sort(struct kconfig_asks *a);
/* In a sorted list: the value, or NULL where the symbol is absent. */
const char *kconfig_value(const struct kconfig_asks *sorted, const char *symbol);
/* As a .config; heap. */
char *kconfig_asks_text(const struct kconfig_asks *a);
void kconfig_asks_free(struct kconfig_asks *a);
#define cleanup_asks __attribute__((cleanup(kconfig_asks_free)))

/* Path of the shipped base.config; heap. */
char *kconfig_base_path(struct error *err);

/* ---- kconfig_tree.c: what a kernel's Kconfig files define ---- */

struct kconfig_symbol {
	char *name;
	unsigned int choice; /* number of the choice that it is a member of, or 0 */
};

struct kconfig_tree {
	struct kconfig_symbol *symbol; /* by name; one symbol may stand in several places */
	size_t n;
	unsigned int choices;
};

/* Follows SRC/Kconfig as for x86, conditions and help texts left aside. */
int kconfig_tree_read(const char *src, struct kconfig_tree *t, struct error *err);
bool kconfig_tree_has(const struct kconfig_tree *t, const char *symbol);
bool kconfig_tree_same_choice(const struct kconfig_tree *t, const char *a, const char *b);
/* For "did you mean": or NULL. Belongs to t. */
const char *kconfig_tree_nearest(const struct kconfig_tree *t, const char *symbol);
void kconfig_tree_free(struct kconfig_tree *t);
#define cleanup_tree __attribute__((cleanup(kconfig_tree_free)))
/* "7.3.4", "7.3.0-rc2", of SRC/Makefile; heap, "?" when it does not say. */
char *kconfig_tree_version(const char *src);

/* ---- kconfig_run.c: the kernel's own make ---- */

/* Where one kconfig_make() works: OBJ/mmrig-config, emptied by the next. */
struct kconfig_work {
	char *dir, *src, *obj; /* absolute */
	char *asks;	       /* dir/asks.config: what is asked for */
	char *result;	       /* dir/result.config: what came out */
};

int kconfig_work_make(const struct kconfig_request *r, struct kconfig_work *w, struct error *err);
void kconfig_work_free(struct kconfig_work *w);
#define cleanup_work __attribute__((cleanup(kconfig_work_free)))
/* allnoconfig over w->asks, or olddefconfig of it, to w->result. */
int kconfig_run(const struct kconfig_request *r, const struct kconfig_work *w, struct error *err);
/*
 * Why the symbols (asks[i]: what was wanted) did not come out so: text[i], heap, or NULL where it could
 * not be found out. hint: what is to be done to be told, heap, or NULL.
 */
void kconfig_explain(const struct kconfig_request *r, const struct kconfig_work *w,
		     const struct kconfig_ask *const *asks, size_t n, char **text, char **hint);

/* ---- kconfig_check.c ---- */

/* Exit status 2 when an ask did not come out in w->result. */
int kconfig_check(const struct kconfig_request *r, const struct kconfig_work *w,
		  const struct kconfig_asks *asks, struct error *err);

#endif
