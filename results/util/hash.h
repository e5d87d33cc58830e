/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_HASH_H
#define MMRIG_HASH_H
/* SHA-256 as text: "sha256:" and 64 hex digits, on the heap. */
#include <stddef.h>

#include "results/util/error.h"

char *hash_bytes(const void *data, size_t len);
/* NULL on error. */
char *hash_file(const char *path, struct error *err);

#endif
