/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_KBUILD_BUILD_H
#define MMRIG_KBUILD_BUILD_H
/*
 * A build of a kernel in the guest, with the compiler of the toolbox, in /work/out. What is built is the
 * same on every kernel under test: Debian's linux-source of stable, at one version as long as the
 * toolbox is kept.
 *
 *	setup()		kbuild_setup(): the config, in a new folder, where there is nothing to clean
 *	run()		kbuild_start() drops caches and starts make -jN TARGET; kbuild_poll() until it is
 *			false; kbuild_finish() and kbuild_metrics()
 */
#include "guest/program.h"
#include "guest/workload.h"

#define KBUILD_WORDS_MAX 32
/* For the tmpfs of /work, which takes half of memory: objects of tinyconfig are some 60 MiB. */
#define KBUILD_MEMORY_MIN (256ull << 20)

#define KBUILD_PARAMS                                                                              \
	{ "config", PARAM_TEXT, NULL, "targets of make that make the config", 0, 0, "tinyconfig", NULL }, \
	{ "target", PARAM_TEXT, NULL, "what is built: targets of make, such as mm/ or vmlinux", 0, 0, \
	  "lib/math/", NULL },                                                                           \
	{ "jobs", PARAM_NUMBER, "jobs", "make -j; 0: as many as there are CPUs", 0, 1024, "0", NULL }, \
	{ "scratch", PARAM_BYTES, "bytes", "size of a disk with ext4 for the objects; 0: tmpfs", 0,   \
	  1LL << 40, "0", NULL }

struct kbuild {
	struct program program;
	struct program_spec spec;
	const char *argv[KBUILD_WORDS_MAX + 8];
	char jobs[16];
	int misses_fd; /* perf's counter; -1: this CPU has none */
	uint64_t agent_ns; /* CPU time of the agent when the build began; then: in it. 0: not known */
	bool is_busy;	   /* set by a caller who does more than wait: its CPU time is not the agent's */
	double setup_s;
};

/* The rest of the three returns 0, or -1 after task_fail(). */
int kbuild_setup(struct workload_run *w, struct kbuild *b);
int kbuild_start(struct workload_run *w, struct kbuild *b);
/* true while it runs. */
bool kbuild_poll(struct kbuild *b, int timeout_ms);
int kbuild_finish(struct workload_run *w, struct kbuild *b);
/* "\"kbuild_real\":..." for the metrics; the characters written. */
size_t kbuild_metrics(const struct kbuild *b, char *out, size_t room);

/* struct workload's hooks. */
extern const struct toolbox_spec kbuild_toolbox;
uint64_t kbuild_scratch(const struct job_line *line);
int kbuild_check(const struct job_line *line, const struct step_context *c, struct step_fault *f);

#endif
