// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/kbuild/build.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/procfs.h"
#include "guest/words.h"

#define SOURCE "/usr/src/linux-source-6.12"
#define OUT TOOLBOX_WORK "/out"
#define SCRATCH_BYTES_MIN (256u << 20)
#define DROP_CACHES "/proc/sys/vm/drop_caches"

/* Nothing of the time or the guest gets into what is built. */
static const char *const environment[] = { "KBUILD_BUILD_TIMESTAMP=Thu, 1 Jan 1970 00:00:00 +0000",
					   "KBUILD_BUILD_USER=mmrig", "KBUILD_BUILD_HOST=guest",
					   "KBUILD_BUILD_VERSION=1", NULL };

/* Lines of make that say nothing of their own: of others' errors, or where it is. */
static const char *const chat[] = {
	"make: ***",	  "make: Entering",    "make: Leaving",	   "make[1]: *** [",	"make[1]: Entering",
	"make[1]: Leaving", "make[2]: *** [",   "make[2]: Entering", "make[2]: Leaving", "make[3]: *** [",
	"make[4]: *** [",   NULL
};

static const char *given(const struct job_line *line, const char *key, const char *otherwise)
{
	const char *text = job_get(line, key);

	return text && *text ? text : otherwise;
}

/* ---- one make ---- */

/* words: split in a copy that stays, since the program may still be there when this returns. */
static int make_arguments(struct workload_run *w, struct kbuild *b, const char *words)
{
	long jobs = job_get_i64(w->line, "jobs", 0);
	char *copy = strdup(words);
	int n = 0, more;

	if (jobs < 1)
		jobs = sysconf(_SC_NPROCESSORS_ONLN);
	snprintf(b->jobs, sizeof(b->jobs), "-j%ld", jobs);
	b->argv[n++] = "/usr/bin/make";
	b->argv[n++] = "-C";
	b->argv[n++] = SOURCE;
	b->argv[n++] = "O=" OUT;
	b->argv[n++] = b->jobs;
	more = copy ? words_split(copy, (char **)b->argv + n, KBUILD_WORDS_MAX) : -1;
	if (more < 0)
		return task_fail(w->child, "infra", "kbuild: cannot read \"%s\"", words);
	b->spec = (struct program_spec){ .argv = b->argv, .env = environment };
	return 0;
}

static int check_end(struct workload_run *w, const struct kbuild *b, const char *what)
{
	if (program_check(&b->program, w->child, "make") < 0)
		return -1;
	if (b->program.exit_status == 0)
		return 0;
	return task_fail(w->child, "workload-failed", "make %s ended with status %d: %s", what,
			 b->program.exit_status, program_complaint(&b->program, chat));
}

static int make(struct workload_run *w, struct kbuild *b, const char *words)
{
	if (make_arguments(w, b, words) < 0 || program_run(&b->program, &b->spec, w->child) < 0)
		return -1;
	b->setup_s += b->program.real_s;
	return check_end(w, b, words);
}

int kbuild_setup(struct workload_run *w, struct kbuild *b)
{
	return make(w, b, given(w->line, "config", "tinyconfig"));
}

/* ---- the build that counts ---- */

/* Of what this process forks and runs from now on, not of itself. Not every CPU, nor every emulator, counts. */
static int count_misses(void)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_HW_CACHE_MISSES,
		.inherit = 1,
		.disabled = 1,
		.enable_on_exec = 1,
	};

	return (int)syscall(__NR_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * CPU time in ns of PID 1, which takes the samples (the first number of schedstat), and of this process, where
 * that only waits for the build. 0: not known, since this kernel lacks CONFIG_SCHED_INFO.
 */
static uint64_t agent_cpu_ns(const struct kbuild *b)
{
	char text[128];
	struct rusage ru = { 0 };
	uint64_t ns = 0;

	if (file_slurp("/proc/1/schedstat", text, sizeof(text)) > 0)
		ns = strtoull(text, NULL, 10);
	if (!ns || b->is_busy)
		return ns;
	getrusage(RUSAGE_SELF, &ru);
	return ns + (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000u;
}

int kbuild_start(struct workload_run *w, struct kbuild *b)
{
	if (make_arguments(w, b, given(w->line, "target", "lib/math/")) < 0)
		return -1;
	sync();
	if (file_put(DROP_CACHES, "3") < 0)
		return task_fail(w->child, "infra", DROP_CACHES ": %s", strerror(errno));
	b->misses_fd = count_misses();
	b->agent_ns = agent_cpu_ns(b);
	return program_start(&b->program, &b->spec, w->child);
}

bool kbuild_poll(struct kbuild *b, int timeout_ms)
{
	return program_poll(&b->program, timeout_ms);
}

int kbuild_finish(struct workload_run *w, struct kbuild *b)
{
	b->agent_ns = b->agent_ns ? agent_cpu_ns(b) - b->agent_ns : 0;
	return check_end(w, b, given(w->line, "target", "lib/math/"));
}

static size_t misses_metric(const struct kbuild *b, char *out, size_t room)
{
	uint64_t misses;

	if (b->misses_fd < 0 || read(b->misses_fd, &misses, sizeof(misses)) != sizeof(misses))
		return 0;
	return (size_t)snprintf(out, room, ",\"cache_misses\":%.0f", (double)misses);
}

static size_t agent_metric(const struct kbuild *b, char *out, size_t room)
{
	double agent_s = (double)b->agent_ns / 1e9;

	if (!b->agent_ns)
		return 0;
	return (size_t)snprintf(out, room, ",\"agent_share\":%.4f",
				100 * agent_s / (b->program.user_s + b->program.system_s + agent_s));
}

size_t kbuild_metrics(const struct kbuild *b, char *out, size_t room)
{
	const struct program *p = &b->program;
	size_t n = (size_t)snprintf(out, room,
				    "\"time\":%.6f,\"kbuild_real\":%.6f,\"kbuild_user\":%.6f,\"kbuild_system\":%.6f,"
				    "\"kbuild_setup\":%.3f",
				    p->real_s, p->real_s, p->user_s, p->system_s, b->setup_s);

	n += agent_metric(b, out + n, room - n);
	return n + misses_metric(b, out + n, room - n);
}

/* ---- on the host ---- */

uint64_t kbuild_scratch(const struct job_line *line)
{
	return (uint64_t)job_get_i64(line, "scratch", 0);
}

/* What looks like an option or an assignment would change more than what is built. */
static int check_words(const struct job_line *line, const char *key, struct step_fault *f)
{
	const char *text = given(line, key, "x");
	char *copy = strdup(text), *word[KBUILD_WORDS_MAX + 1];
	int n = copy ? words_split(copy, word, KBUILD_WORDS_MAX) : -1, ret = 0;

	if (n < 1)
		ret = step_fault(f, key, "%s must be 1 to %d targets of make", key, KBUILD_WORDS_MAX);
	for (int i = 0; ret == 0 && i < n; i++)
		if (word[i][0] == '-' || strchr(word[i], '='))
			ret = step_fault(f, key, "%s: \"%.60s\" is no target of make", key, word[i]);
	free(copy);
	return ret;
}

int kbuild_check(const struct job_line *line, const struct step_context *c, struct step_fault *f)
{
	uint64_t scratch = kbuild_scratch(line);

	if (check_words(line, "config", f) < 0 || check_words(line, "target", f) < 0)
		return -1;
	if (scratch && scratch < SCRATCH_BYTES_MIN)
		return step_fault(f, "scratch", "scratch must be 0 or at least %s",
				  size_text(SCRATCH_BYTES_MIN).text);
	if (c->memory_bytes < KBUILD_MEMORY_MIN)
		return step_fault_of_memory(f, NULL, "a build needs a guest of at least %s",
					    size_text(KBUILD_MEMORY_MIN).text);
	return 0;
}

static const char *const packages[] = {
	"linux-source-6.12", "make", "gcc", "libc6-dev", "binutils", "flex", "bison", "bc", "perl",
	"libelf-dev", "libssl-dev", "cpio", "dash", "bash", "coreutils", "findutils", "diffutils", "sed",
	"grep", "mawk", "gzip", "xz-utils", "tar", NULL
};
static const char *const links[] = { "usr/bin/sh dash", "usr/bin/awk mawk", NULL };
static const char *const unpacked[] = { "usr/src/linux-source-6.12.tar.xz", NULL };
const struct toolbox_spec kbuild_toolbox = { packages, links, unpacked };
