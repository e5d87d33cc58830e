/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_JOB_H
#define MMRIG_JOB_H
/*
 * What one run asks of the agent. Written by the host, appended to the initramfs as /job, read by
 * the agent: one word a line, then key=value pairs; a value with blanks, quotes or backslashes is
 * written "..." with \" \\ \n escaped. Order of lines of one kind is kept.
 *
 *	mmrig-job version=1 id=... seed=1
 *	const name=residue value=4
 *	const name=share decimal=25%
 *	need what=sysctl:vm.defrag_mode
 *	sysctl at=boot|workload key=vm.defrag_mode value=1
 *	swap kind=zram|ramdisk size=536870912
 *	step do=fill kind=anon leave=125829120 ...
 *	moves counter=allocstall
 *	toolbox scratch=1073741824
 *	workload do=tmpfs-files files=250000 ...
 *	option name=sample_ms value=100
 *
 * `swap`, at most one, is on before the first step; size is that of the device, in bytes.
 * `need` kinds: sysctl:NAME, file:PATH, fs:NAME (in /proc/filesystems). What is missing ends the
 * run as `unsupported`, naming it. Libc only; the host links this too.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct job_pair {
	char *key, *value;
};

struct job_line {
	char *word;
	struct job_pair *pair;
	size_t npairs;
};

struct job {
	struct job_line *line;
	size_t nlines;
};

/*
 * Adds a line; the NULL-terminated arguments are key, value, key, value ...; all copied. The line
 * moves when another one is added. NULL when out of memory, which job_line_set() takes.
 */
struct job_line *job_add(struct job *job, const char *word, ...) __attribute__((sentinel));
void job_line_set(struct job_line *line, const char *key, const char *value);
/* NULL where absent. */
const char *job_get(const struct job_line *line, const char *key);
/* dflt where absent or not a number. */
int64_t job_get_i64(const struct job_line *line, const char *key, int64_t dflt);
/* The next line with this word after `prev` (NULL: the first), or NULL. */
const struct job_line *job_next(const struct job *job, const struct job_line *prev, const char *word);
/* Drops every line with this word; pointers to lines are stale afterwards. */
void job_remove(struct job *job, const char *word);
/* Value of `option name=NAME`, or dflt. */
int64_t job_option(const struct job *job, const char *name, int64_t dflt);

/* The text form, heap; NULL when out of memory. */
char *job_format(const struct job *job);
/* 0, or -1 with the 1-based line of the fault in *bad_line. */
int job_parse(struct job *job, const char *text, int *bad_line);
void job_free(struct job *job);

#endif
