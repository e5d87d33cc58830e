/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CPIO_H
#define MMRIG_CPIO_H
/*
 * A newc cpio archive in memory, whose bytes depend on nothing but what is added: times are 0,
 * owners root, inode numbers count from 1. Its length is a multiple of 512, so that the kernel
 * finds a further archive behind it. Device nodes are entries only; no privilege is needed.
 * Errors: EXIT_NO_VERDICT.
 */
#include <stdint.h>
#include <sys/types.h>

#include "results/util/error.h"
#include "results/util/str.h"

struct cpio; /* opaque; cpio_free() */

/* The bytes go to *out, which must outlive the archive. */
struct cpio *cpio_new(struct strbuf *out, struct error *err);
int cpio_dir(struct cpio *c, const char *name, mode_t mode, struct error *err);
int cpio_file(struct cpio *c, const char *name, mode_t mode, const void *data, size_t len,
	      struct error *err);
int cpio_char_device(struct cpio *c, const char *name, mode_t mode, unsigned int major,
		     unsigned int minor, struct error *err);
/* Writes the trailer. */
int cpio_finish(struct cpio *c, struct error *err);
void cpio_free(struct cpio **c);
#define cleanup_cpio __attribute__((cleanup(cpio_free)))

#endif
