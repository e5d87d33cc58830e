// SPDX-License-Identifier: GPL-2.0-only
/*
 * kselftest-mm: the mm selftests of a kernel tree, one after the other, each with a limit of time. That
 * one fails is a result and no failure of the run: compare lays the verdicts against each other.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/procfs.h"
#include "guest/program.h"
#include "guest/toolbox.h"
#include "guest/workload.h"
#include "workloads/kselftest-mm/ktap.h"
#include "workloads/kselftest-mm/selftests.h"

/* Of sub-tests in one message: with its frame below TASK_MESSAGE_MAX. */
#define CHUNK_BYTES 24000
#define ENTRY_BYTES_MAX (4 * 6 * KTAP_TEXT_MAX)
#define POLL_MS 200
#define NOT_BUILT_BYTES 16384

enum { EXIT_KSFT_PASS, EXIT_KSFT_FAIL, EXIT_KSFT_XFAIL, EXIT_KSFT_XPASS, EXIT_KSFT_SKIP };

struct bench {
	struct workload_run *w;
	struct program program;
	struct ktap ktap;
	const char *name; /* of the test at work */
	unsigned int chunk, ntests;
	unsigned int total[KTAP_VERDICTS], ended; /* sub-tests; tests that came to no end of their own */
	uint64_t start_ns;
	size_t len;
	char entries[CHUNK_BYTES + ENTRY_BYTES_MAX];
	char not_built[NOT_BUILT_BYTES], all[SELFTESTS_MAX * SELFTESTS_NAME_MAX];
	char text[TASK_MESSAGE_MAX - 1024];
};

/* ---- sub-tests ---- */

static void send_chunk(struct bench *b)
{
	if (!b->len)
		return;
	snprintf(b->text, sizeof(b->text), "\"selftest.%s.%u\":[%s]", b->name, b->chunk++, b->entries);
	workload_partial(b->w, "", b->text);
	b->len = 0;
}

static void add_text(struct bench *b, const char *text, const char *after)
{
	char escaped[6 * KTAP_TEXT_MAX + 8];

	json_escape(escaped, sizeof(escaped), text);
	b->len += (size_t)snprintf(b->entries + b->len, sizeof(b->entries) - b->len, ",\"%s\"%s", escaped,
				   after);
}

static void take_result(void *arg, const struct ktap_result *r)
{
	struct bench *b = arg;

	b->len += (size_t)snprintf(b->entries + b->len, sizeof(b->entries) - b->len, "%s[%u,\"%s\"",
				   b->len ? "," : "", r->number, ktap_verdict_names[r->verdict]);
	add_text(b, r->name, "");
	add_text(b, r->context, "");
	add_text(b, r->reason, "]");
	if (b->len >= CHUNK_BYTES)
		send_chunk(b);
}

static void take_output(void *arg, const char *data, size_t len)
{
	struct bench *b = arg;

	ktap_feed(&b->ktap, data, len);
}

/* ---- one test ---- */

/* The line of a test that the host could not build: its reason. NULL: it is there. */
static const char *why_not_built(struct bench *b, const char *name, char *why, size_t room)
{
	size_t n = strlen(name);

	for (const char *p = b->not_built; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		if (strncmp(p, name, n) != 0 || p[n] != ' ')
			continue;
		p += n + 1;
		snprintf(why, room, "%.*s", (int)strcspn(p, "\n"), p);
		return why;
	}
	return NULL;
}

static const char *verdict_of_status(const struct bench *b)
{
	const struct ktap *k = &b->ktap;

	switch (b->program.exit_status) {
	case EXIT_KSFT_PASS:
		if (k->planned && k->plan > ktap_results(k))
			return SELFTEST_BROKEN;
		/* Some end with 0 whatever their sub-tests came to. */
		return ktap_verdict_names[k->count[KTAP_FAIL] ? KTAP_FAIL : KTAP_PASS];
	case EXIT_KSFT_XFAIL:
		return ktap_verdict_names[KTAP_XFAIL];
	case EXIT_KSFT_XPASS:
		return ktap_verdict_names[KTAP_XPASS];
	case EXIT_KSFT_SKIP:
		return ktap_verdict_names[KTAP_SKIP];
	default:
		return ktap_verdict_names[KTAP_FAIL];
	}
}

static void tell_test(struct bench *b, const char *verdict, const char *why)
{
	char escaped[6 * KTAP_TEXT_MAX + 8], plan[40] = "";

	json_escape(escaped, sizeof(escaped), why);
	if (b->ktap.planned)
		snprintf(plan, sizeof(plan), ",\"plan\":%u", b->ktap.plan);
	snprintf(b->text, sizeof(b->text),
		 "\"selftest.%s\":{\"verdict\":\"%s\",\"exit\":%d,\"seconds\":%.3f,\"results\":%u%s,"
		 "\"why\":\"%s\"}",
		 b->name, verdict, b->program.exit_status, b->program.real_s, ktap_results(&b->ktap), plan,
		 escaped);
	workload_partial(b->w, "", b->text);
	b->ntests++;
}

static void judge(struct bench *b, bool late, uint64_t limit_s)
{
	const struct program *p = &b->program;
	char why[KTAP_TEXT_MAX];
	const char *verdict;

	if (late) {
		b->ended++;
		snprintf(why, sizeof(why), "ended after %u s; last: %.100s", (unsigned int)limit_s, b->ktap.last);
		tell_test(b, SELFTEST_TIMEOUT, why);
		return;
	}
	if (p->signal || p->pids_hit || p->output.total > PROGRAM_OUTPUT_MAX) {
		b->ended++;
		snprintf(why, sizeof(why), "%.40s; last: %.90s",
			 p->signal ? strsignal(p->signal) : "beyond its limit of processes or output",
			 b->ktap.last);
		tell_test(b, SELFTEST_CRASH, why);
		return;
	}
	verdict = verdict_of_status(b);
	if (strcmp(verdict, "pass") == 0)
		tell_test(b, verdict, "");
	else
		tell_test(b, verdict, *b->ktap.bail ? b->ktap.bail : b->ktap.last);
}

static int run_test(struct bench *b, const char *name, uint64_t limit_s)
{
	char path[128], why[KTAP_TEXT_MAX];
	const char *const argv[] = { path, NULL };
	const struct program_spec spec = {
		.argv = argv,
		.memory_max_bytes = (uint64_t)job_get_i64(b->w->line, "memory", 0),
		.take = take_output,
		.take_arg = b,
	};
	uint64_t end_ns = mono_ns() + limit_s * 1000000000ull;
	bool late = false;

	b->name = name;
	b->chunk = 0;
	ktap_begin(&b->ktap, take_result, b);
	memset(&b->program, 0, sizeof(b->program));
	if (why_not_built(b, name, why, sizeof(why))) {
		tell_test(b, SELFTEST_NOT_BUILT, why);
		return 0;
	}
	snprintf(path, sizeof(path), SELFTESTS_DIR "/%s", name);
	if (program_start(&b->program, &spec, b->w->child) < 0)
		return -1;
	while (program_poll(&b->program, POLL_MS)) {
		/* One that waits is ended by us, and is no stall of the guest's. */
		task_progress(b->w->child, (mono_ns() - b->start_ns) / 1000000000, 0);
		if (mono_ns() > end_ns) {
			late = true;
			program_kill(&b->program);
		}
	}
	if (b->program.exec_errno)
		return task_fail(b->w->child, "infra", "%s cannot be run: %s", path,
				 strerror(b->program.exec_errno));
	if (b->program.stopped) /* beside another workload, which has ended: no verdict of the test's */
		return 0;
	ktap_end(&b->ktap);
	send_chunk(b);
	for (int v = 0; v < KTAP_VERDICTS; v++)
		b->total[v] += b->ktap.count[v];
	judge(b, late, limit_s);
	return 0;
}

/* ---- all of them ---- */

static int tell_all(struct bench *b)
{
	char metrics[512];
	size_t n;

	n = (size_t)snprintf(metrics, sizeof(metrics), "\"time\":%.6f,\"selftest_tests\":%u,\"selftest_ended\":%u",
			     (double)(mono_ns() - b->start_ns) / 1e9, b->ntests, b->ended);
	for (int v = 0; v < KTAP_VERDICTS; v++)
		n += (size_t)snprintf(metrics + n, sizeof(metrics) - n, ",\"selftest_%s\":%u",
				      ktap_verdict_names[v], b->total[v]);
	workload_result(b->w, metrics, NULL);
	return 0;
}

/* list: changed. */
static int run_list(struct bench *b, char *list)
{
	uint64_t limit_s = (uint64_t)job_get_i64(b->w->line, "limit", 60);
	char *save = NULL;

	for (char *name = strtok_r(list, " ,\n", &save); name; name = strtok_r(NULL, " ,\n", &save)) {
		int ret;

		if (atomic_load(&b->w->child->shared->stop))
			return 0;
		ret = strcmp(name, SELFTESTS_ALL) == 0 ? run_list(b, b->all) : run_test(b, name, limit_s);
		if (ret < 0)
			return -1;
	}
	return 0;
}

static int run(struct workload_run *w)
{
	struct bench *b = workload_room(w, sizeof(*b));
	char *list = strdup(job_get(w->line, "tests"));

	if (!b || !list)
		return task_fail(w->child, "infra", "no memory for the list of tests");
	b->w = w;
	b->start_ns = mono_ns();
	file_put("/proc/self/oom_score_adj", "-999");
	if (program_file(SELFTESTS_LIST, b->all, sizeof(b->all)) < 0 ||
	    program_file(SELFTESTS_NOT_BUILT, b->not_built, sizeof(b->not_built)) < 0)
		return task_fail(w->child, "infra", "the toolbox has no " SELFTESTS_LIST ", or too long a one");
	return run_list(b, list) < 0 ? -1 : tell_all(b);
}

/* ---- on the host ---- */

static bool is_name(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)p[i]) && !strchr("_-", p[i]))
			return false;
	return n > 0 && n < SELFTESTS_NAME_MAX && *p != '-';
}

static int check(const struct job_line *line, const struct step_context *c, struct step_fault *f)
{
	const char *list = job_get(line, "tests") ? job_get(line, "tests") : "";
	const char *source = job_get(line, "source") ? job_get(line, "source") : "";
	size_t count = 0;

	for (const char *p = list; *p; count++) {
		size_t n = strcspn(p += strspn(p, " ,"), " ,");

		if (!n)
			break;
		if (!is_name(p, n))
			return step_fault(f, "tests", "\"%.*s\" is no name of a test", (int)(n < 60 ? n : 60), p);
		p += n;
	}
	if (!count)
		return step_fault(f, "tests", "no test is named; \"%s\" stands for every one", SELFTESTS_ALL);
	if (count > SELFTESTS_MAX)
		return step_fault(f, "tests", "more than %d tests", SELFTESTS_MAX);
	if (strncmp(source, "debian:", 7) != 0 && strncmp(source, "tree:", 5) != 0)
		return step_fault(f, "source", "source must be debian:VERSION or tree:FOLDER[@REVISION]");
	return 0;
}

static const struct toolbox_spec toolbox = { .selftests = true };

static const struct param_spec params[] = {
	{ "tests", PARAM_TEXT, NULL,
	  "names of tests, by blanks or commas, or all: those of tools/testing/selftests/mm", 0, 0,
	  "compaction_test cow guard-regions gup_longterm hugetlb-madvise hugetlb-mmap madv_populate "
	  "map_fixed_noreplace map_populate mdwe_test memfd_secret merge migration mkdirty mlock2-tests "
	  "mremap_dontunmap mremap_test mseal_test pagemap_ioctl pfnmap prctl_thp_disable process_madv rmap "
	  "soft-dirty uffd-wp-mremap va_high_addr_switch",
	  NULL },
	{ "source", PARAM_TEXT, NULL, "the kernel tree that they are of: debian:VERSION, or tree:FOLDER[@REVISION]",
	  0, 0, "debian:7.3", NULL },
	{ "limit", PARAM_NUMBER, "s", "guest seconds that each may take", 1, 86400, "60", NULL },
	{ "memory", PARAM_BYTES, "bytes", "memory.max of each; 0: none", 0, 0, "0", NULL },
};

const struct workload workload_kselftest_mm = {
	.name = "kselftest-mm",
	.summary = "run the mm selftests of a kernel tree, and read what they say, sub-test by sub-test",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.check = check,
	.run = (void *)run,
	.toolbox = &toolbox,
};
