/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STORE_BENCH_H
#define MMRIG_STORE_BENCH_H
/* For the benchmark only. */
#include <stddef.h>

#include "results/util/error.h"

/*
 * Makes a store at `root` with one new run set in it: two kernels and one variant, `runs` runs that
 * are ok, of `metrics` metrics each, folders and index alike. Their values depend on nothing but
 * their place: of four metrics one is mostly zero, one has many ties, two are continuous; every
 * tenth differs between the kernels. Nothing is synced to the disk.
 */
int store_bench_make(const char *root, size_t runs, size_t metrics, struct error *err);

#endif
