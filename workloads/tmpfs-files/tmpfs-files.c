// SPDX-License-Identifier: GPL-2.0-only
/* tmpfs-files: creates empty files on tmpfs, in folders of so many, and times each create. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/histogram.h"
#include "guest/workload.h"

#define TOP "/tmp/tmpfs-files"

static int prepare(struct workload_run *w)
{
	struct histogram *h = malloc(sizeof(*h));

	if (!h)
		return task_fail(w->child, "infra", "tmpfs-files: no memory for the histogram");
	memset(h, 0, sizeof(*h)); /* faulted in now, not while it runs */
	w->data = h;
	mkdir("/tmp", 0755);
	mkdir(TOP, 0755);
	/* No limits of tmpfs's own: what ends the workload is to be the memory. */
	if (mount("tmpfs", TOP, "tmpfs", 0, "size=0,nr_inodes=0") < 0)
		return task_fail(w->child, "unsupported", "tmpfs: cannot mount: %s", strerror(errno));
	return 0;
}

static int report(struct workload_run *w, const struct histogram *h, double seconds)
{
	static char metrics[1024], extra[24000];
	size_t n = (size_t)snprintf(extra, sizeof(extra), "\"histogram\":");

	histogram_json(h, extra + n, sizeof(extra) - n);
	snprintf(metrics, sizeof(metrics),
		 "\"time\":%.6f,\"files\":%" PRIu64 ",\"create_median\":%" PRIu64
		 ",\"create_p99\":%" PRIu64 ",\"create_p999\":%" PRIu64 ",\"create_max\":%" PRIu64,
		 seconds, h->n, histogram_quantile(h, 500000), histogram_quantile(h, 990000),
		 histogram_quantile(h, 999000), h->max);
	workload_result(w, metrics, extra);
	return 0;
}

static int create(struct workload_run *w, int dir, uint64_t i, uint64_t files)
{
	struct histogram *h = w->data;
	char name[32];
	uint64_t start;
	int fd;

	snprintf(name, sizeof(name), "f%" PRIu64, i);
	start = mono_ns();
	fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	histogram_add(h, mono_ns() - start);
	if (fd < 0)
		return task_fail(w->child, "workload-failed",
				 "tmpfs-files: file %" PRIu64 " of %" PRIu64 ": %s", i + 1, files,
				 strerror(errno));
	close(fd);
	return 0;
}

static int open_folder(struct workload_run *w, uint64_t number, uint64_t *random)
{
	char path[64];
	int dir;

	workload_pause(random); /* with 1000 files a folder under 1 % of the time */
	snprintf(path, sizeof(path), TOP "/d%" PRIu64, number);
	if (mkdir(path, 0755) < 0 || (dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return task_fail(w->child, "workload-failed", "tmpfs-files: folder %" PRIu64 ": %s", number,
				 strerror(errno));
	return dir;
}

static int run(struct workload_run *w)
{
	uint64_t files = (uint64_t)job_get_i64(w->line, "files", 1000);
	uint64_t per_dir = (uint64_t)job_get_i64(w->line, "per_dir", 1000);
	uint64_t start = mono_ns(), random = w->seed;
	int dir = -1;

	for (uint64_t i = 0; i < files; i++) {
		if (i % per_dir == 0) {
			if (dir >= 0)
				close(dir);
			dir = open_folder(w, i / per_dir, &random);
			if (dir < 0)
				return -1;
		}
		if (create(w, dir, i, files) < 0)
			return -1;
		if (i % 64 == 0)
			task_progress(w->child, i, files);
	}
	task_progress(w->child, files, files);
	return report(w, w->data, (double)(mono_ns() - start) / 1e9);
}

static const struct param_spec params[] = {
	{ "files", PARAM_NUMBER, "files", "how many files", 1, 1000000000, NULL, NULL },
	{ "per_dir", PARAM_NUMBER, "files", "files in a folder", 1, 1000000, "1000", NULL },
};
static const char *const needs[] = { "fs:tmpfs", NULL };
static const char *const moves[] = { "pgalloc_normal|pgalloc_dma32|pgalloc_dma|pgalloc_movable", NULL };

const struct workload workload_tmpfs_files = {
	.name = "tmpfs-files",
	.summary = "create empty files on tmpfs and time each create",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.needs = needs,
	.moves = moves,
	.prepare = (void *)prepare,
	.run = (void *)run,
};
