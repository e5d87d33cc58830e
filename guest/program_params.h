/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PROGRAM_PARAMS_H
#define MMRIG_PROGRAM_PARAMS_H
/* The parameters that workloads which are one program have in common. */
#include "guest/program.h"
#include "guest/workload.h"

#define PROGRAM_ARGS_MAX 256

/* For the table of parameters; what: its job file, in a word or two. */
#define PROGRAM_PARAMS(what)                                                                       \
	{ "args", PARAM_TEXT, NULL, "arguments, quoted as in a shell; nothing is expanded", 0, 0,  \
	  "", NULL },                                                                              \
	{ "job", PARAM_FILE, NULL, what, 0, 0, "", NULL },                                         \
	{ "scratch", PARAM_BYTES, "bytes",                                                         \
	  "size of a disk with ext4 for what it writes; 0: tmpfs", 0, 1LL << 40, "0", NULL },      \
	{ "memory", PARAM_BYTES, "bytes", "its memory.max; 0: none", 0, 0, "0", NULL },            \
	{ "processes", PARAM_NUMBER, "processes",                                                  \
	  "processes and threads that it may have; with more it is ended; 0: 4096, or half of "    \
	  "kernel.threads-max", 0, 1000000, "0", NULL }

/*
 * Takes argv, with the words of before[] first and then those of args; limits too. The words of args are
 * split in a copy that stays. 0, or -1 after task_fail().
 */
struct program_params {
	struct program_spec spec;
	const char *argv[PROGRAM_ARGS_MAX + 1];
	int argc;
};
int program_params_take(struct program_params *p, const struct workload_run *w, const char *program);
/* Appends a word, which must stay. */
void program_params_add(struct program_params *p, const char *word);
/* Writes the parameter `job` to a file in the toolbox, where given. 1 done, 0 none, -1 after task_fail(). */
int program_params_put_job(const struct workload_run *w, const char *path);

/* Host. struct workload's hooks. */
uint64_t program_params_scratch(const struct job_line *line);
int program_params_check(const struct job_line *line, const struct step_context *c,
			 struct step_fault *f);

/*
 * After program_check(): one that ended with another status than 0 fails the run with what it complains of;
 * where that is a call that the kernel does not have, as unsupported. -1 then.
 */
int program_params_status(const struct program *p, const struct workload_run *w, const char *name,
			  const char *const *skip);
/* ",\"program_user\":..." for the metrics; the characters written. */
size_t program_params_metrics(const struct program *p, char *out, size_t room);

#endif
