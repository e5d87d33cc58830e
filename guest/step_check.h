/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STEP_CHECK_H
#define MMRIG_STEP_CHECK_H
/*
 * layout_step.check and workload.check: what is asked for and cannot be had, as far as it is certain
 * before the boot.
 * Called on the host, on a line whose parameters are each in their range.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/size_text.h"

struct expr_domain;
struct job_line;

#define STEP_BLOCK_BYTES (2u << 20) /* a pageblock */

enum step_unit { STEP_UNKNOWN, STEP_BYTES, STEP_PERCENT, STEP_HIGH, STEP_BLOCKS };

/* The guest, and what the steps before have made of it. */
struct step_context {
	uint64_t memory_bytes;
	const uint64_t *node_bytes; /* nnodes of them; none: no NUMA, all memory is node 0 */
	size_t nnodes;
	bool movable; /* ZONE_MOVABLE */
	bool swap;
	bool cma; /* a CMA area */
	bool held;  /* there are pages of the layout's own, which can be pinned and given back */
	bool cache; /* there is memory that can be reclaimed without swap */
	/* No more than so much is free: what a fill has left, and nobody has given back since. */
	enum step_unit left_unit;
	uint64_t left;
};

struct step_fault {
	const char *param; /* whose value it is, static text; NULL: the step as a whole */
	bool of_memory;	   /* a guest of another size would do */
	bool of_others;	   /* another parameter of the step is at fault as well */
	bool of_literal;   /* only where it is written so: by a name it is what others are compared with */
	char why[256];
};

/* Fills the fault; -1, so that it can be returned. */
int step_fault(struct step_fault *f, const char *param, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, of_memory. */
int step_fault_of_memory(struct step_fault *f, const char *param, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The ranges of a predicate's variables in this guest. */
void step_domain(const struct step_context *c, struct expr_domain *d);
/* Memory was given back: what is free now is not known. */
void step_gives_back(const struct job_line *line, struct step_context *c);

/* Are there pages of the layout's own? `done` is what cannot be done else: "pinned". 0 or -1. */
int step_check_held(const struct step_context *c, const char *done, struct step_fault *f);
/* A share or count of 0: `what` is what the step would do then, "pin nothing". 0 or -1. */
int step_check_some(const struct job_line *line, const char *param, const char *what,
		    struct step_fault *f);
/* `count` and `share`: one of them, and the count no more than there can be of `unit`. 0 or -1. */
int step_check_sample(const struct job_line *line, uint64_t most, const char *unit,
		      struct step_fault *f);

#endif
