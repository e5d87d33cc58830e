// SPDX-License-Identifier: GPL-2.0-only
/*
 * make bench: what is made of stored runs.
 *
 *	bench-results MMRIG VMSTAT
 *
 * Compares 10,000 runs of 300 metrics, parses the file VMSTAT, and writes the report of the newest 20
 * runs in $MMRIG_RESULTS. The limits are those that were asked for on two cores; exit status 1 when
 * one is missed.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results/metrics_bench.h"
#include "results/store_bench.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define RUNS 10000
#define METRICS 300
#define TRIES 3

struct cost {
	double wall_s;
	double rss_mib;
	int status;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void run(const char *const *argv, const char *results, struct cost *c)
{
	double start = now_s();
	struct rusage usage;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		if (results)
			setenv("MMRIG_RESULTS", results, 1);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	wait4(pid, &c->status, 0, &usage);
	c->wall_s = now_s() - start;
	c->rss_mib = (double)usage.ru_maxrss / 1024;
}

static int judge(const char *what, double value, const char *unit, double limit, bool most)
{
	bool ok = most ? value <= limit : value >= limit;

	printf("%-44s %10.4g %-6s (%s %.4g) %s\n", what, value, unit, most ? "limit" : "at least", limit,
	       ok ? "ok" : "MISSED");
	return !ok;
}

/* The least of a few tries: a busy machine can only add. */
static int best_of(const char *const *argv, const char *results, struct cost *best)
{
	for (int i = 0; i < TRIES; i++) {
		struct cost c;

		run(argv, results, &c);
		if (c.status)
			return -1;
		if (!i || c.wall_s < best->wall_s)
			*best = c;
	}
	return 0;
}

static int unlink_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

static int bench_compare(const char *mmrig, struct error *err)
{
	const char *argv[] = { mmrig, "compare", "last", "--all", "--format", "csv", NULL };
	char root[] = "/tmp/mmrig-bench-store.XXXXXX";
	struct cost c;
	int ret;

	if (!mkdtemp(root))
		return error_errno(err, EXIT_NO_VERDICT, "%s", root);
	ret = store_bench_make(root, RUNS, METRICS, err);
	if (ret == 0 && best_of(argv, root, &c) < 0)
		ret = error_set(err, EXIT_NO_VERDICT, "mmrig compare failed");
	nftw(root, unlink_one, 16, FTW_DEPTH | FTW_PHYS);
	if (ret < 0)
		return ret;
	ret = judge("compare, 10,000 runs x 300 metrics", c.wall_s, "s", 2, true);
	return ret | judge("its memory", c.rss_mib, "MiB", 200, true);
}

static int bench_parse(const char *path, struct error *err)
{
	size_t len;
	cleanup_free char *text = file_read(path, 1 << 20, &len, err);

	if (!text)
		return -1;
	return judge("vmstat snapshots parsed", bench_vmstat_parse(text, len, 20000), "/s", 50000, false);
}

static int bench_report(const char *mmrig, struct error *err)
{
	const char *argv[] = { mmrig, "report", "last", "-o", "-", NULL };
	struct cost c;

	if (best_of(argv, NULL, &c) < 0)
		return error_set(err, EXIT_NO_VERDICT, "mmrig report failed");
	return judge("report of 20 runs", c.wall_s, "s", 5, true);
}

int main(int argc, char **argv)
{
	cleanup_error struct error err = ERROR_INIT;
	int over = 0, ret;

	if (argc != 3) {
		fprintf(stderr, "usage: bench-results MMRIG VMSTAT\n");
		return EXIT_USAGE;
	}
	if ((ret = bench_parse(argv[2], &err)) >= 0)
		over |= ret;
	if (ret >= 0 && (ret = bench_compare(argv[1], &err)) >= 0)
		over |= ret;
	if (ret >= 0 && (ret = bench_report(argv[1], &err)) >= 0)
		over |= ret;
	if (ret >= 0)
		return over;
	fprintf(stderr, "bench-results: %s\n", err.text);
	return err.status;
}
