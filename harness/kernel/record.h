/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_RECORD_H
#define MMRIG_RECORD_H
/*
 * What is remembered of an image, as JSON: its identity, and the stamp of the file (size, mtime,
 * inode) for which that holds. Paths are not part of it.
 */
#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "harness/kernel/kernel.h"

json_t *record_pack(const struct kernel *k, const struct stat *st);
/* Fills the identity; false (k untouched) when it is not complete. */
bool record_unpack(const json_t *record, struct kernel *k);
bool record_is_of(const json_t *record, const struct stat *st);

int record_write(const char *path, const json_t *record, struct error *err);
/* NULL when it is not there or not readable as JSON (err then says why). */
json_t *record_read(const char *path, struct error *err);

#endif
