// SPDX-License-Identifier: GPL-2.0-only
/*
 * make bench: what mmrig costs, as ratios of medians measured alternately within one run.
 *
 *	bench MMRIG BENCH-INIT KERNEL [ROUNDS]
 *
 * Exit status 1 when a ratio is over its limit.
 */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/engine/host.h"
#include "harness/image/image.h"
#include "harness/kernel/kernel.h"
#include "harness/vm/vm.h"
#include "results/table.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define ROUNDS_MAX 20
#define POPULATE_GUEST "9G" /* holds a layout of 8 GiB with room for the kernel */
#define POPULATE_MEMORY (9ULL << 30)

struct probe {
	uv_loop_t loop;
	struct strbuf console;
	double start, up;
	bool exited;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void on_console(void *arg, const uint8_t *data, size_t len)
{
	struct probe *p = arg;

	strbuf_add(&p->console, data, len);
	if (!p->up && strstr(p->console.data, "mmrig-bench up"))
		p->up = now_s() - p->start;
}

static void on_wire(void *arg, const uint8_t *data, size_t len)
{
}

static void on_exited(void *arg, int status)
{
	((struct probe *)arg)->exited = true;
}

/* Boots the small init; *up gets seconds from exec to its line, *populated those of the populate. */
static int boot_init(const struct kernel *k, const char *initrd, enum vm_accel accel, uint64_t memory,
		     uint64_t populate_pages, double *up, double *populated, struct error *err)
{
	struct probe p = { .console = STRBUF_INIT };
	const struct vm_handlers h = { &p, on_console, on_wire, on_exited };
	cleanup_free char *base = vm_default_cmdline(accel, false);
	cleanup_free char *cmdline =
		populate_pages ? str_printf("%s mmrig_populate_pages=%llu", base,
					    (unsigned long long)populate_pages) : xstrdup(base);
	const struct vm_config c = {
		.kernel = k->image, .initrd = initrd, .cmdline = cmdline, .memory_bytes = memory,
		.cpus = 2, .accel = accel, .channel = VM_CHANNEL_VIRTIO,
	};
	struct vm *vm;
	const char *line;

	uv_loop_init(&p.loop);
	p.start = now_s();
	if (vm_start(&p.loop, &c, &h, &vm, err) < 0)
		return -1;
	while (!p.exited)
		uv_run(&p.loop, UV_RUN_ONCE);
	vm_free(vm);
	uv_run(&p.loop, UV_RUN_DEFAULT);
	uv_loop_close(&p.loop);
	*up = p.up;
	line = p.console.data ? strstr(p.console.data, "mmrig-bench populated ") : NULL;
	*populated = line ? strtod(line + strlen("mmrig-bench populated "), NULL) : 0;
	strbuf_free(&p.console);
	return *up > 0 && (!populate_pages || *populated > 0) ? 0 :
		error_set(err, EXIT_NO_VERDICT, "the small init did not come up");
}

/* What a call of mmrig took, seen from outside. */
struct cost {
	double wall_s, cpu_s; /* cpu: its own and that of the QEMUs that it reaped */
	double memory_bytes;  /* by how much MemAvailable fell at the most */
};

static double available(void)
{
	return (double)host_memory_available();
}

/* mmrig run alias-tmpfs ... --json, as a user would; the parsed document, NULL when there is none. */
static json_t *run_mmrig(const char *mmrig, const char *const *extra, struct cost *cost)
{
	const char *argv[32] = { mmrig, "run", "alias-tmpfs", "--json", "--quiet", "--set", "residue=4" };
	char name[] = "/tmp/mmrig-bench.XXXXXX";
	double start = now_s(), before = available(), least = before;
	int n = 7, out = mkstemp(name);
	struct rusage usage;
	json_t *doc;
	pid_t pid;

	while (*extra && n < 31)
		argv[n++] = *extra++;
	pid = out < 0 ? -1 : fork();
	if (pid < 0)
		return NULL;
	if (pid == 0) {
		dup2(out, STDOUT_FILENO);
		execv(mmrig, (char *const *)argv);
		_exit(127);
	}
	while (wait4(pid, NULL, WNOHANG, &usage) == 0) {
		double now = available();

		if (now < least)
			least = now;
		usleep(50000);
	}
	cost->wall_s = now_s() - start;
	cost->memory_bytes = before - least;
	cost->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	doc = json_load_file(name, 0, NULL);
	unlink(name);
	close(out);
	return doc;
}

static json_t *runs_of(json_t *doc)
{
	return json_object_get(json_array_get(json_object_get(doc, "cells"), 0), "runs");
}

/* The first that is ok: one that ended in QEMU's race is kept, and tried again. */
static json_t *run_of(json_t *doc)
{
	json_t *run;
	size_t i;

	json_array_foreach(runs_of(doc), i, run) {
		const char *verdict = json_string_value(json_object_get(run, "verdict"));

		if (verdict && strcmp(verdict, "ok") == 0)
			return run;
	}
	return NULL;
}

static double number_at(json_t *doc, const char *group, const char *key)
{
	return json_number_value(json_object_get(json_object_get(run_of(doc), group), key));
}

/* Pages that the layout's fill steps took. */
static double filled_pages(json_t *doc)
{
	json_t *step;
	double sum = 0;
	size_t i;

	json_array_foreach(json_object_get(run_of(doc), "layout"), i, step)
		sum += json_number_value(json_object_get(json_object_get(step, "got"), "filled_pages"));
	return sum;
}

static double sum_of(json_t *doc, const char *group, const char *key)
{
	double sum = 0;
	json_t *run;
	size_t i;

	json_array_foreach(runs_of(doc), i, run)
		sum += json_number_value(
			json_object_get(group ? json_object_get(run, group) : run, key));
	return sum;
}

static double largest_of(json_t *doc, const char *key)
{
	double most = 0;
	json_t *run;
	size_t i;

	json_array_foreach(runs_of(doc), i, run)
		if (json_number_value(json_object_get(run, key)) > most)
			most = json_number_value(json_object_get(run, key));
	return most;
}

static int verdict(const char *what, const char *a, double av, const char *b, double bv, double limit)
{
	printf("%-34s %s %.3f s, %s %.3f s: %.3f (limit %.2f) %s\n", what, a, av, b, bv, av / bv, limit,
	       av / bv <= limit ? "ok" : "OVER");
	fflush(stdout);
	return av / bv > limit;
}

#define FORKS "10"
#define PLAIN 3 /* unforked runs, for scale */

static void print_memory(const char *what, double got, double limit, int *over)
{
	printf("%-34s %.0f MiB of %.0f MiB: %.3f (limit 1.00) %s\n", what, got / (1 << 20), limit / (1 << 20),
	       got / limit, got <= limit ? "ok" : "OVER");
	*over |= got > limit;
}

/* Forks of a 4 GiB template: their time, their memory, and what mmrig itself costs. */
static int bench_forks(const char *mmrig, const char *kernel)
{
	struct cost forked, plain, four;
	json_t *f = run_mmrig(mmrig, (const char *[]){ "--kernel", kernel, "--memory", "4G", "--fork", "--runs",
						       FORKS, NULL }, &forked);
	json_t *p = run_mmrig(mmrig, (const char *[]){ "--kernel", kernel, "--memory", "4G", "--runs", "3",
						       NULL }, &plain);
	json_t *m = run_mmrig(mmrig, (const char *[]){ "--kernel", kernel, "--memory", "4G", "--fork", "--runs",
						       "4", "--jobs", "4", NULL }, &four);
	size_t n = json_array_size(runs_of(f));
	double parts, own;
	int over = 0;

	if (!f || !p || !m || n < strtoul(FORKS, NULL, 10)) {
		printf("forks: mmrig run gave no runs\n");
		return 1;
	}
	parts = number_at(f, "phases", "boot") + number_at(f, "phases", "layout") +
		sum_of(f, "phases", "settle") + sum_of(f, "phases", "workload") +
		sum_of(f, "phases", "collect");
	over |= verdict("10 forked runs of 4 GiB", "wall", forked.wall_s, "boot + layout + 10 workloads", parts,
			1.10);
	printf("%-34s forked %.1f s, unforked %.1f s (from %d): %.3f\n", "10 runs, forked to unforked",
	       forked.wall_s, plain.wall_s / PLAIN * 10, PLAIN, forked.wall_s / (plain.wall_s / PLAIN * 10));
	printf("%-34s %.3f s at the most (limit 0.50) %s\n", "restore, exec to first word",
	       largest_of(f, "restore"), largest_of(f, "restore") < 0.5 ? "ok" : "OVER");
	over |= largest_of(f, "restore") >= 0.5;
	print_memory("4 forks at once, host memory", four.memory_bytes,
		     1.10 * ((double)(4ULL << 30) + sum_of(m, NULL, "dirty_bytes")), &over);
	own = plain.cpu_s - sum_of(p, NULL, "host_cpu");
	over |= verdict("mmrig itself, of one core", "cpu", own, "wall", plain.wall_s, 0.02);
	json_decref(f);
	json_decref(p);
	json_decref(m);
	return over;
}

/*
 * Layouts of guests of 1, 2, 4 and 8 GiB, each beside a populate of as many pages in such a guest: what
 * a page costs there grows by itself (the host's TLB and cache, and memory that it has not touched yet).
 * What the layout adds to that must not.
 */
static int bench_growth(const char *mmrig, const struct kernel *k, const char *initrd, enum vm_accel accel,
			struct error *err)
{
	double ratio[4], up, populate;

	for (size_t i = 0; i < ARRAY_SIZE(ratio); i++) {
		cleanup_free char *size = str_printf("%zuG", (size_t)1 << i);
		struct cost cost;
		/* Few files, and blocks left above the watermarks of each: else the smallest has not room for them. */
		json_t *doc = run_mmrig(mmrig, (const char *[]){ "--kernel", k->name, "--runs", "1", "--memory",
								 size, "--set", "vm.least=1G", "--set",
								 "files=1000", "--set", "spare=64", NULL },
					&cost);
		double layout = number_at(doc, "phases", "layout"), pages = filled_pages(doc);

		json_decref(doc);
		if (layout <= 0 || pages <= 0)
			return error_set(err, EXIT_NO_VERDICT, "mmrig run --memory %s gave no ok run", size);
		if (boot_init(k, initrd, accel, (uint64_t)1 << (30 + i), (uint64_t)pages, &up, &populate, err) < 0)
			return -1;
		ratio[i] = layout / populate;
		printf("layout of %-24s layout %.3f s, populate alone %.3f s: %.3f\n", size, layout, populate,
		       ratio[i]);
	}
	printf("%-34s 8G %.3f, 2G %.3f: %.3f (limit 1.25) %s\n", "what a layout adds to it", ratio[3], ratio[1],
	       ratio[3] / ratio[1], ratio[3] / ratio[1] <= 1.25 ? "ok" : "OVER");
	fflush(stdout);
	return ratio[3] / ratio[1] > 1.25;
}

static int bench(const char *mmrig, const char *init, const char *kernel_spec, size_t rounds,
		 struct error *err)
{
	static const char *const no_modules[] = { NULL };
	struct kernel k;
	struct accel_result accel;
	cleanup_free char *initrd = NULL;
	double hello[ROUNDS_MAX], up[ROUNDS_MAX], layout[ROUNDS_MAX], populate[ROUNDS_MAX];
	double sampling[ROUNDS_MAX], workload[ROUNDS_MAX];
	struct cost cost;
	int over = 0, growth;

	if (kernel_resolve(kernel_spec, &k, err) < 0 || accel_probe(NULL, k.image, &accel, err) < 0)
		return -1;
	initrd = image_cached(&k, init, no_modules, NULL, err);
	if (!initrd)
		return -1;
	printf("kernel %s, %s, %zu rounds, medians\n", k.release, accel_name(accel.accel), rounds);
	/*
	 * Not counted: where the host is a VM itself, the first to touch its memory pays for that. It
	 * made a populate of 8 GiB 33 s instead of 25.
	 */
	if (boot_init(&k, initrd, accel.accel, POPULATE_MEMORY, (8ULL << 30) / 4096, &up[0], &populate[0], err) < 0)
		return -1;
	for (size_t i = 0; i < rounds; i++) {
		double pages;
		json_t *doc;

		/* Another guest size than the workload's own: a layout of 8 GiB, and little else. */
		doc = run_mmrig(mmrig, (const char *[]){ "--kernel", k.name, "--runs", "1", "--memory",
							 POPULATE_GUEST, "--set", "spare=460", NULL },
				&cost);
		hello[i] = number_at(doc, "phases", "boot");
		layout[i] = number_at(doc, "phases", "layout");
		workload[i] = number_at(doc, "phases", "workload");
		sampling[i] = number_at(doc, "metrics", "sampling");
		pages = filled_pages(doc);
		json_decref(doc);
		if (hello[i] <= 0 || layout[i] <= 0 || workload[i] <= 0 || pages <= 0)
			return error_set(err, EXIT_NO_VERDICT, "mmrig run gave no ok run");
		if (boot_init(&k, initrd, accel.accel, POPULATE_MEMORY, (uint64_t)pages, &up[i],
			      &populate[i], err) < 0)
			return -1;
	}
	over |= verdict("boot, exec to hello", "agent", stat_median(hello, rounds), "small init",
			stat_median(up, rounds), 1.10);
	over |= verdict("layout of 8 GiB, all steps", "layout", stat_median(layout, rounds), "populate alone",
			stat_median(populate, rounds), 1.15);
	over |= verdict("snapshots and series", "sampling", stat_median(sampling, rounds), "workload",
			stat_median(workload, rounds), 0.01);
	growth = bench_growth(mmrig, &k, initrd, accel.accel, err);
	if (growth < 0)
		return -1;
	over |= growth;
	over |= bench_forks(mmrig, k.name);
	kernel_free(&k);
	return over;
}

int main(int argc, char **argv)
{
	cleanup_error struct error err = ERROR_INIT;
	size_t rounds = argc > 4 ? strtoul(argv[4], NULL, 10) : 3;
	int ret;

	if (argc < 4 || !rounds || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: bench MMRIG BENCH-INIT KERNEL [ROUNDS]\n");
		return EXIT_USAGE;
	}
	ret = bench(argv[1], argv[2], argv[3], rounds, &err);
	if (ret < 0) {
		fprintf(stderr, "bench: %s\n", err.text);
		return err.status;
	}
	return ret;
}
