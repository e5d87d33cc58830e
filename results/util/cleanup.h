/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CLEANUP_H
#define MMRIG_CLEANUP_H
/* Scope-bound release, so that an early return is always safe. STEAL hands a value over. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "results/util/error.h"
#include "results/util/str.h"

static inline void cleanup_free_p(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close_p(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_file_p(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_dir_p(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define cleanup_free __attribute__((cleanup(cleanup_free_p)))
#define cleanup_close __attribute__((cleanup(cleanup_close_p)))
#define cleanup_file __attribute__((cleanup(cleanup_file_p)))
#define cleanup_dir __attribute__((cleanup(cleanup_dir_p)))
#define cleanup_strbuf __attribute__((cleanup(strbuf_free)))
#define cleanup_error __attribute__((cleanup(error_clear)))

#define STEAL(p) ({ __typeof__(p) steal_tmp = (p); (p) = NULL; steal_tmp; })
#define STEAL_FD(fd) ({ int steal_tmp = (fd); (fd) = -1; steal_tmp; })
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
