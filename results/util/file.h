/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_FILE_H
#define MMRIG_FILE_H
/* Files and folders. All errors carry the path; the status given is that of the error object. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "results/util/error.h"

/* dir + "/" + name; caller frees. */
char *path_join(const char *dir, const char *name);
/* The folder that a path stands in, "." for a plain name; heap. */
char *file_parent(const char *path);
/* Where a file is written before it is renamed to `path`; heap. */
char *file_temporary(const char *path);
/* Reads a whole file of at most `limit` bytes (0: 256 MiB); NUL added behind, not counted. */
char *file_read(const char *path, size_t limit, size_t *len, struct error *err);
/* Writes beside, fsyncs, renames over `path`, fsyncs the folder: the file is old or new, never half. */
int file_write_atomic(const char *path, const void *data, size_t len, mode_t mode,
		      struct error *err);
/* mkdir -p; fine where it exists already. */
int dir_make(const char *path, mode_t mode, struct error *err);
/* rm -r of one tree, never following symbolic links; fine where it does not exist. */
int dir_remove(const char *path, struct error *err);
int dir_fsync(const char *path, struct error *err);
bool file_exists(const char *path);
/* $XDG_CACHE_HOME/mmrig/NAME or ~/.cache/mmrig/NAME, created. Caller frees; NULL on error. */
char *cache_dir(const char *name, struct error *err);
/*
 * A file or folder that belongs to the program: in a source tree (program at build/mmrig) NAME
 * below the tree's root, once installed PREFIX/share/mmrig/NAME. Caller frees; NULL on error.
 */
char *data_path(const char *name, struct error *err);
/* build/NAME in a source tree, PREFIX/libexec/mmrig/NAME once installed. */
char *libexec_path(const char *name, struct error *err);

#endif
