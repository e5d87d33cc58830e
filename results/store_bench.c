// SPDX-License-Identifier: GPL-2.0-only
#include "results/store_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "results/counter.h"
#include "results/run_json.h"
#include "results/store_internal.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

struct bench {
	struct store *s;
	struct runset set;
	char *set_dir;
	char **metric;
	size_t nmetrics;
	char *samples; /* a stream without samples */
	size_t samples_len;
};

/* splitmix64: a number in [0, 1) for every place. */
static double noise(uint64_t place)
{
	uint64_t z = place * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double value_of(size_t metric, size_t run, size_t kernel)
{
	double x = noise((uint64_t)metric << 32 | run),
	       shift = kernel && metric % 10 == 0 ? 1.1 : 1;

	switch (metric % 4) {
	case 0:
		return x < 0.9 ? 0 : floor(100 * x * shift);
	case 1:
		return floor(8 * x * shift);
	case 2:
		return (1000 + 200 * x) * shift;
	default:
		return floor(1e6 * exp(x) * shift);
	}
}

static void name_metrics(struct bench *b, size_t n)
{
	b->metric = xcalloc(n, sizeof(*b->metric));
	for (size_t i = 0; i < counter_count && b->nmetrics < n; i++)
		if (!strchr(counter_table[i].name, '<'))
			b->metric[b->nmetrics++] = xstrdup(counter_table[i].name);
	for (size_t i = 0; b->nmetrics < n; i++)
		b->metric[b->nmetrics++] = str_printf("bench_%03zu", i);
}

static void describe_set(struct runset *set, size_t runs)
{
	set->scenario = xstrdup("bench");
	set->title = xstrdup("a set made for the benchmark");
	set->table_style = xstrdup("seed");
	set->row_title = xstrdup("kernel");
	set->runs = (unsigned int)((runs + 1) / 2);
	set->nkernels = 2;
	set->kernel = xcalloc(2, sizeof(*set->kernel));
	for (size_t i = 0; i < 2; i++)
		set->kernel[i] = (struct run_kernel){ .name = str_printf("kernel-%zu", i),
						      .release = str_printf("6.%zu.0", i) };
	set->nvariants = 1;
	set->variant = xcalloc(1, sizeof(*set->variant));
	*set->variant = (struct run_variant){ .label = xstrdup("all"),
					      .value = xcalloc(1, sizeof(struct run_value)),
					      .memory_bytes = 1ULL << 30,
					      .cpus = 1 };
}

static int put_file(const char *dir, const char *name, const void *data, size_t len,
		    struct error *err)
{
	cleanup_free char *path = path_join(dir, name);
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot write", path);
	return 0;
}

static int put_folder(struct bench *b, const struct run *r, struct error *err)
{
	cleanup_free char *dir = path_join(b->set_dir, r->id);
	json_t *o = run_to_json(&b->set, r);
	char *json = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	int ret;

	json_decref(o);
	if (mkdir(dir, 0755) < 0)
		ret = error_errno(err, EXIT_NO_VERDICT, "%s: cannot create folder", dir);
	else
		ret = put_file(dir, "run.json", json, strlen(json), err);
	if (ret == 0)
		ret = put_file(dir, "console.log", "", 0, err);
	if (ret == 0)
		ret = put_file(dir, "samples.zst", b->samples, b->samples_len, err);
	free(json);
	return ret;
}

static int put_run(struct bench *b, size_t i, struct error *err)
{
	struct run r = { .id = str_printf("%04zu", i + 1),
			 .cell = i % 2,
			 .kernel = i % 2,
			 .seed = i / 2 + 1,
			 .verdict = VERDICT_OK,
			 .accel = xstrdup("tcg"),
			 .started = 1.8e9 + 10.0 * (double)i,
			 .ended = 1.8e9 + 10.0 * (double)i + 8 };
	int ret;

	r.metric = xcalloc(b->nmetrics, sizeof(*r.metric));
	for (; r.nmetrics < b->nmetrics; r.nmetrics++)
		r.metric[r.nmetrics] = (struct metric){ xstrdup(b->metric[r.nmetrics]),
							value_of(r.nmetrics, i, i % 2) };
	ret = put_folder(b, &r, err);
	if (ret == 0)
		ret = index_put_run(b->s, &b->set, &r, err);
	run_free(&r);
	return ret;
}

static int empty_samples(struct bench *b, struct error *err)
{
	cleanup_free char *path = path_join(b->set_dir, "samples");
	struct sample_writer *w = sample_writer_open(path, err);

	if (!w || sample_writer_finish(w, err) < 0)
		return -1;
	b->samples = file_read(path, 0, &b->samples_len, err);
	unlink(path);
	return b->samples ? 0 : -1;
}

static int make_set(struct bench *b, size_t runs, struct error *err)
{
	int ret;

	if (store_begin_set(b->s, &b->set, err) < 0)
		return -1;
	b->set_dir = path_join(store_root(b->s), b->set.id);
	if (empty_samples(b, err) < 0 || index_begin(b->s, err) < 0)
		return -1;
	ret = 0;
	for (size_t i = 0; ret == 0 && i < runs; i++)
		ret = put_run(b, i, err);
	if (ret == 0)
		ret = index_commit(b->s, err);
	if (ret < 0)
		index_rollback(b->s);
	return ret;
}

int store_bench_make(const char *root, size_t runs, size_t metrics, struct error *err)
{
	struct bench b = { 0 };
	int ret;

	if (store_open(root, true, &b.s, err) < 0)
		return -1;
	name_metrics(&b, metrics);
	describe_set(&b.set, runs);
	ret = make_set(&b, runs, err);
	for (size_t i = 0; i < b.nmetrics; i++)
		free(b.metric[i]);
	free(b.metric);
	free(b.samples);
	free(b.set_dir);
	runset_free(&b.set);
	store_close(b.s);
	return ret;
}
