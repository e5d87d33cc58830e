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
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "harness/image/image.h"
#include "harness/kernel/kernel.h"
#include "harness/vm/vm.h"
#include "results/table.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define ROUNDS_MAX 20
#define POPULATE_GUEST "5G" /* holds a layout of 4 GiB with room for the kernel */
#define POPULATE_MEMORY (5ULL << 30)

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
	cleanup_free char *base = vm_default_cmdline(accel);
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

/* mmrig run ... --json, as a user would; the parsed document. */
static json_t *run_mmrig(const char *mmrig, const char *kernel, const char *memory, const char *set)
{
	const char *const argv[] = { mmrig,    "run",	"alias-tmpfs", "--kernel",  kernel, "--runs", "1",
				     "--json", "--quiet", "--memory",  memory,	    "--set",
				     "residue=4", "--set", set,	       NULL };
	int out[2];
	pid_t pid;
	FILE *f;
	json_t *doc;

	if (pipe2(out, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return NULL;
	if (pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		execv(mmrig, (char *const *)argv);
		_exit(127);
	}
	close(out[1]);
	f = fdopen(out[0], "r");
	doc = json_loadf(f, 0, NULL);
	fclose(f);
	waitpid(pid, NULL, 0);
	return doc;
}

static double number_at(json_t *doc, const char *group, const char *key)
{
	json_t *run = json_array_get(
		json_object_get(json_array_get(json_object_get(doc, "cells"), 0), "runs"), 0);

	return json_number_value(json_object_get(json_object_get(run, group), key));
}

/* Pages that the layout's fill steps took. */
static double filled_pages(json_t *doc)
{
	json_t *run = json_array_get(
		json_object_get(json_array_get(json_object_get(doc, "cells"), 0), "runs"), 0);
	json_t *step;
	double sum = 0;
	size_t i;

	json_array_foreach(json_object_get(run, "layout"), i, step)
		sum += json_number_value(json_object_get(json_object_get(step, "got"), "filled_pages"));
	return sum;
}

static int verdict(const char *what, const char *a, double av, const char *b, double bv, double limit)
{
	printf("%-34s %s %.3f s, %s %.3f s: %.3f (limit %.2f) %s\n", what, a, av, b, bv, av / bv, limit,
	       av / bv <= limit ? "ok" : "OVER");
	fflush(stdout);
	return av / bv > limit;
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
	int over = 0;

	if (kernel_resolve(kernel_spec, &k, err) < 0 || accel_probe(NULL, k.image, &accel, err) < 0)
		return -1;
	initrd = image_cached(&k, init, no_modules, NULL, err);
	if (!initrd)
		return -1;
	printf("kernel %s, %s, %zu rounds, medians\n", k.release, accel_name(accel.accel), rounds);
	for (size_t i = 0; i < rounds; i++) {
		double pages;
		json_t *doc;

		/* Another guest size than the workload's own: a layout of 4 GiB, and little else. */
		doc = run_mmrig(mmrig, k.name, POPULATE_GUEST, "spare=460");
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
	over |= verdict("layout of 4 GiB, all steps", "layout", stat_median(layout, rounds), "populate alone",
			stat_median(populate, rounds), 1.25);
	over |= verdict("snapshots and series", "sampling", stat_median(sampling, rounds), "workload",
			stat_median(workload, rounds), 0.01);
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
