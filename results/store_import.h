/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STORE_IMPORT_H
#define MMRIG_STORE_IMPORT_H
/* Between the two files that import; nobody else includes this. */
#include <stddef.h>

#include "results/util/error.h"

struct unpacked {
	char *id; /* the caller frees, also after an error */
	size_t runs;
};

/* Unpacks the one set of an archive into dir/ID. */
int import_unpack(int fd, const char *label, const char *dir, struct unpacked *out,
		  struct error *err);

#endif
