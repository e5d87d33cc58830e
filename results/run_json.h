/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_RUN_JSON_H
#define MMRIG_RUN_JSON_H
/*
 * Runs and run sets as JSON: run.json and runset.json. Text that is no UTF-8 is escaped on the way
 * out; numbers outside what JSON can hold are left out. New objects belong to the caller.
 */
#include <jansson.h>

#include "results/run.h"
#include "results/util/error.h"

#define RUN_SCHEMA 1

/* A string, whatever its bytes; null for NULL. */
json_t *run_json_text(const char *s);
/* A whole number where the value is one, so that 86 is not printed as 86.0. */
json_t *run_json_number(double value);
/* A seed: a number up to 2^63 - 1, decimal text above. */
json_t *run_json_u64(uint64_t value);
/* Name -> value of the run's metrics; name -> seconds of the phases that were reached. */
json_t *run_json_metrics(const struct run *r);
json_t *run_json_phases(const struct run *r);
json_t *run_json_strings(char *const *list);
/* {"before", "after", "letters"}, of what is known; NULL when nothing is. */
json_t *run_json_taint(const struct run *r);

/* Stands alone: has the kernel, the variant and the scenario of its set in it. */
json_t *run_to_json(const struct runset *set, const struct run *r);
/* The set without its runs. created: seconds since the epoch. */
json_t *runset_to_json(const struct runset *set, double created);

/* `label` is the path for messages. Errors: EXIT_NO_VERDICT. Indices must fit the set. */
int run_from_json(const char *label, json_t *o, const struct runset *set, struct run *r,
		  struct error *err);
int runset_from_json(const char *label, json_t *o, struct runset *set, double *created,
		     struct error *err);
/* Parses a file of at most 64 MiB. NULL on error. */
json_t *run_json_load(const char *path, struct error *err);

#endif
