/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_DECOMPRESS_H
#define MMRIG_DECOMPRESS_H
#include <stddef.h>

#include "results/util/error.h"
#include "results/util/str.h"

/*
 * One compressed stream (gzip, bzip2, xz, lzma, lz4, zstd: told by its magic) to memory, at most
 * `limit` bytes. Bytes that follow the stream are no error.
 */
int decompress(const void *data, size_t len, size_t limit, struct strbuf *out, struct error *err);

#endif
