/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_OUTPUT_H
#define MMRIG_OUTPUT_H
/* The file of -o, before minutes are spent on what is to be in it. */
#include "results/util/error.h"

/*
 * 0 where file_write_atomic() can write `path`: its folder is there and takes a new file, and what has the
 * name already is a regular file that may be written and is none of `input` (NULL-terminated paths that the
 * command reads, those that are no files are passed over; may be NULL). Else -1, EXIT_USAGE,
 * "PATH: what is wrong". Nothing is left behind.
 */
int output_check(const char *path, const char *const *input, struct error *err);

#endif
