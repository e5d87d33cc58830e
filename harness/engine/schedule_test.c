// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler without VMs: an attempt is a timer, and what comes of it is scripted. The .c is
 * included, and what it calls of attempts, templates and the host is defined here. A log tells what
 * was started and dropped: W0001 a whole run, T0001/L1 a template, F0001/L1 a fork, ~L1 dropped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long fake_cpus;

#define sysconf(name) fake_cpus
#include "harness/engine/schedule.c"
#undef sysconf

#define STARTS_MAX 64
#define QEMU_MIB 192ull
#define RESERVE_MIB 256ull

/* What comes of an attempt; without a line: VERDICT_OK. */
struct script {
	const char *start; /* as in the log, without the layout: "T0001" */
	enum verdict verdict;
	enum attempt_again again;
	enum { IN_TIME, AT_ONCE, NEVER } when; /* NEVER: it cannot even be recorded */
	const char *failed;		       /* the store says so when it ends */
	uint64_t dirty_mib;
	bool interrupt; /* the user does, as it ends */
};

struct attempt {
	struct engine *e;
	struct attempt_spec spec;
	attempt_done_fn done;
	void *arg;
	struct attempt *next;
	uv_timer_t timer;
	struct script script;
	bool interrupted, open; /* open: it has a timer */
	uint64_t mib;		/* what it may take, by the test's own account */
};

struct start {
	enum attempt_kind kind;
	struct engine_cell cell;
	uint64_t seed;
	char layout[8];
	int cpu_first, cpu_count;
};

static struct {
	const struct script *script; /* ends with start NULL */
	uint64_t available_mib, template_mib;
	const char *no_template; /* its memory cannot be had: this is why */
	struct strbuf log;
	struct start start[STARTS_MAX];
	size_t nstarts, air, air_most, ends, air_at_first_fork_end;
	size_t templates, templates_most;
	uint64_t held_mib; /* by attempts and templates that were made */
	bool over;	   /* more than the budget with more than one in the air */
} world;

uint64_t host_memory_available(void)
{
	return world.available_mib * MIB;
}

struct run engine_new_run(struct engine *e, const struct engine_options *o, unsigned int slot,
			  unsigned int attempt, const struct engine_cell *cell, uint64_t seed)
{
	return (struct run){
		.id = attempt ? str_printf("%04u.%u", slot + 1, attempt + 1) :
				str_printf("%04u", slot + 1),
		.kernel = cell->kernel,
		.variant = cell->variant,
		.seed = seed,
	};
}

/* ---- templates: their memory is what stands in it ---- */

struct vm_template {
	uint64_t mib; /* 0: not made yet */
};

struct layout_template *layout_template_new(const char *id, const struct variant *v,
					    struct error *err)
{
	struct layout_template *t;

	if (world.no_template) {
		error_set(err, EXIT_NO_VERDICT, "%s", world.no_template);
		return NULL;
	}
	t = xcalloc(1, sizeof(*t));
	t->id = xstrdup(id);
	t->memory = xcalloc(1, sizeof(*t->memory));
	world.templates++;
	if (world.templates > world.templates_most)
		world.templates_most = world.templates;
	return t;
}

void layout_template_free(struct layout_template *t)
{
	if (!t)
		return;
	strbuf_addf(&world.log, "~%s ", t->id);
	world.templates--;
	world.held_mib -= t->memory->mib;
	free(t->memory);
	free(t->id);
	free(t);
}

uint64_t vm_template_bytes(const struct vm_template *t)
{
	return t->mib * MIB;
}

/* ---- attempts ---- */

static struct script script_of(const struct attempt_spec *spec)
{
	char name[24];

	snprintf(name, sizeof(name), "%c%s", "WTF"[spec->kind], spec->run.id);
	for (const struct script *s = world.script; s && s->start; s++)
		if (strcmp(s->start, name) == 0)
			return *s;
	return (struct script){ name, VERDICT_OK };
}

static void unlist(struct attempt *a)
{
	struct attempt **p = &a->e->attempts;

	while (*p != a)
		p = &(*p)->next;
	*p = a->next;
}

static void closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void end(struct attempt *a)
{
	cleanup_error struct error failed = ERROR_INIT;
	struct run *run = xmalloc(sizeof(*run));
	enum verdict verdict = a->interrupted ? VERDICT_INTERRUPTED : a->script.verdict;

	if (a->spec.kind == ATTEMPT_FORK && !world.air_at_first_fork_end)
		world.air_at_first_fork_end = world.air;
	world.ends++;
	world.air--;
	world.held_mib -= a->mib;
	unlist(a);
	*run = a->spec.run;
	run->verdict = verdict;
	run->dirty_bytes = a->script.dirty_mib * MIB;
	if (a->script.failed)
		error_set(&failed, EXIT_NO_VERDICT, "%s", a->script.failed);
	if (a->script.interrupt)
		a->e->interrupts++;
	if (a->spec.kind == ATTEMPT_TEMPLATE && verdict == VERDICT_OK) {
		a->spec.layout->memory->mib = world.template_mib;
		world.held_mib += world.template_mib;
		run_free(run);
		free(run);
		run = NULL;
	}
	a->done(a->arg, &a->spec, run, a->interrupted ? AGAIN_NO : a->script.again,
		failed.text ? &failed : NULL);
	if (a->open)
		uv_close((uv_handle_t *)&a->timer, closed);
	else
		free(a);
}

static void on_time(uv_timer_t *timer)
{
	end(timer->data);
}

static void note_start(const struct attempt_spec *spec)
{
	struct start *s = &world.start[world.nstarts++];

	assert_true(world.nstarts < STARTS_MAX);
	*s = (struct start){ .kind = spec->kind, .cell = spec->cell, .seed = spec->run.seed,
			     .cpu_first = spec->cpu_first, .cpu_count = spec->cpu_count };
	strbuf_addf(&world.log, "%c%s", "WTF"[spec->kind], spec->run.id);
	if (spec->kind != ATTEMPT_WHOLE) {
		assert_non_null(spec->layout);
		snprintf(s->layout, sizeof(s->layout), "%s", spec->layout->id);
		strbuf_addf(&world.log, "/%s", spec->layout->id);
	}
	strbuf_adds(&world.log, " ");
}

/* A fork may dirty a quarter of its guest, or a quarter more than any fork before it did. */
static uint64_t mib_of(const struct engine *e, const struct attempt_spec *spec)
{
	uint64_t guest = e->plan->variant[spec->cell.variant].memory_bytes / MIB, dirty;

	if (spec->kind != ATTEMPT_FORK)
		return guest + QEMU_MIB;
	dirty = spec->layout->dirty_bytes / MIB;
	return (dirty ? dirty * 5 / 4 : guest / 4) + QEMU_MIB;
}

static void no_shared_cpus(const struct engine *e, const struct attempt *a)
{
	for (const struct attempt *b = e->attempts; b; b = b->next)
		if (b != a && a->spec.cpu_count)
			assert_true(b->spec.cpu_first + b->spec.cpu_count <= a->spec.cpu_first ||
				    a->spec.cpu_first + a->spec.cpu_count <= b->spec.cpu_first);
}

int attempt_start(struct engine *e, const struct attempt_spec *spec, attempt_done_fn done, void *arg,
		  struct error *err)
{
	struct attempt *a = xcalloc(1, sizeof(*a));

	note_start(spec);
	*a = (struct attempt){ .e = e, .spec = *spec, .done = done, .arg = arg, .next = e->attempts,
			       .script = script_of(spec), .mib = mib_of(e, spec) };
	if (a->script.when == NEVER) {
		run_free(&a->spec.run);
		free(a);
		return error_set(err, EXIT_NO_VERDICT, "cannot be recorded");
	}
	e->attempts = a;
	no_shared_cpus(e, a);
	world.held_mib += a->mib;
	if (++world.air > world.air_most)
		world.air_most = world.air;
	world.over |= world.air > 1 && world.held_mib + RESERVE_MIB > world.available_mib;
	if (a->script.when == AT_ONCE) {
		end(a);
		return 0;
	}
	a->open = true;
	uv_timer_init(&e->loop, &a->timer);
	a->timer.data = a;
	uv_timer_start(&a->timer, on_time, 1, 0);
	return 0;
}

struct attempt *attempt_next(const struct attempt *a)
{
	return a->next;
}

void attempt_tick(struct attempt *a)
{
}

void attempt_interrupt(struct attempt *a)
{
	a->interrupted = true;
}

void attempt_abandon(struct attempt *a)
{
}

/* ---- a bench: an engine, and what is asked of it ---- */

struct bench {
	struct engine e;
	struct engine_options o;
	struct scenario_plan plan;
	struct variant variant[3];
	struct engine_kernel kernel[3];
	struct runset set;
	struct error err;
};

static void bench_open(struct bench *b, size_t kernels, size_t variants, unsigned int runs)
{
	static char names[][12] = { "debian:7.3", "debian:6.12", "mine" };

	memset(b, 0, sizeof(*b));
	memset(&world, 0, sizeof(world));
	fake_cpus = 2;
	world.available_mib = 100000;
	world.template_mib = 900;
	b->e = (struct engine){ .plan = &b->plan, .kernel = b->kernel, .nkernels = kernels,
				.set = &b->set };
	b->o = (struct engine_options){ .runs = runs, .seed = 7, .jobs = 1 };
	b->plan = (struct scenario_plan){ .name = (char *)"test", .variant = b->variant,
					  .nvariants = variants };
	b->set.nvariants = variants;
	b->set.variant = xcalloc(variants, sizeof(*b->set.variant));
	for (size_t i = 0; i < variants; i++) {
		b->variant[i] = (struct variant){ .memory_bytes = 1024 * MIB, .cpus = 2 };
		b->set.variant[i].label = str_printf("variant %zu", i);
	}
	for (size_t i = 0; i < kernels; i++)
		b->kernel[i].kernel.name = names[i];
	assert_int_equal(uv_loop_init(&b->e.loop), 0);
}

/* Whatever happens: nothing stays in the air, no template stays, and memory was kept to. */
static int bench_run(struct bench *b)
{
	int ret;

	free(b->e.cell);
	engine_plan_cells(&b->e, &b->o);
	ret = engine_schedule(&b->e, &b->o, &b->err);

	assert_int_equal(world.air, 0);
	assert_int_equal(world.templates, 0);
	assert_int_equal(world.held_mib, 0);
	assert_false(world.over);
	assert_null(b->e.attempts);
	uv_run(&b->e.loop, UV_RUN_DEFAULT);
	return ret;
}

static void bench_close(struct bench *b)
{
	free(b->e.cell);
	assert_int_equal(uv_loop_close(&b->e.loop), 0);
	runset_free(&b->set);
	error_clear(&b->err);
	strbuf_free(&world.log);
}

static void bench_go(struct bench *b)
{
	if (bench_run(b) < 0)
		fail_msg("%s", b->err.text);
	assert_null(b->err.text);
}

static void expect_log(const char *want)
{
	assert_non_null(world.log.data);
	assert_string_equal(world.log.data, want);
}

/* The records, in the order of the plan, whatever the order of their ends: "0001 ok, 0002 stall, ". */
static void expect_runs(const struct bench *b, const char *want)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < b->set.nruns; i++)
		strbuf_addf(&sb, "%s %s, ", b->set.run[i].id, verdict_name(b->set.run[i].verdict));
	assert_string_equal(sb.data ? sb.data : "", want);
	strbuf_free(&sb);
}

/* ---- order and number ---- */

static void kernels_alternate(void **state)
{
	/* kernel, variant, seed */
	static const unsigned int want[12][3] = {
		{ 0, 0, 7 }, { 1, 0, 7 }, { 0, 1, 7 }, { 1, 1, 7 }, { 0, 0, 8 }, { 1, 0, 8 },
		{ 0, 1, 8 }, { 1, 1, 8 }, { 0, 0, 9 }, { 1, 0, 9 }, { 0, 1, 9 }, { 1, 1, 9 },
	};
	struct bench b;

	bench_open(&b, 2, 2, 3);
	bench_go(&b);
	expect_log("W0001 W0002 W0003 W0004 W0005 W0006 W0007 W0008 W0009 W0010 W0011 W0012 ");
	assert_int_equal(b.set.nruns, 12);
	for (size_t i = 0; i < 12; i++) {
		assert_int_equal(world.start[i].cell.kernel, want[i][0]);
		assert_int_equal(world.start[i].cell.variant, want[i][1]);
		assert_int_equal(world.start[i].seed, want[i][2]);
		assert_int_equal(b.set.run[i].seed, want[i][2]);
	}
	assert_int_equal(world.air_most, 1);
	bench_close(&b);
}

/* Nothing stands where a cell is left out: the ids go on, and forks of the others share their layouts. */
static void cells_are_left_out(void **state)
{
	static const bool left_out[4] = { false, false, true, false }; /* kernel 1, variant 0 */
	static const unsigned int want[6][3] = {
		{ 0, 0, 7 }, { 0, 1, 7 }, { 1, 1, 7 }, { 0, 0, 8 }, { 0, 1, 8 }, { 1, 1, 8 },
	};
	struct bench b;

	bench_open(&b, 2, 2, 2);
	b.o.left_out = left_out;
	bench_go(&b);
	assert_int_equal(b.e.ncells, 3);
	expect_log("W0001 W0002 W0003 W0004 W0005 W0006 ");
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(world.start[i].cell.kernel, want[i][0]);
		assert_int_equal(world.start[i].cell.variant, want[i][1]);
		assert_int_equal(world.start[i].seed, want[i][2]);
	}
	bench_close(&b);

	bench_open(&b, 2, 2, 2);
	b.o.left_out = left_out;
	b.o.fork = true;
	bench_go(&b);
	expect_log("T0001/L1 F0001/L1 T0002/L2 F0002/L2 T0003/L3 F0003/L3 F0004/L1 ~L1 F0005/L2 ~L2 F0006/L3 ~L3 ");
	bench_close(&b);

	/* A wide variant that is not run takes no CPUs from the others. */
	bench_open(&b, 1, 2, 2);
	fake_cpus = 4;
	b.o.jobs = 0;
	b.variant[0].cpus = 4;
	b.o.left_out = (const bool[]){ true, false };
	bench_go(&b);
	assert_int_equal(world.air_most, 2);
	bench_close(&b);
}

static void pairs_have_one_seed(void **state)
{
	static const unsigned int want[8] = { 7, 7, 7, 7, 8, 8, 8, 8 };
	struct bench b;

	bench_open(&b, 2, 1, 4); /* two pairs for each of two kernels */
	b.o.verify = true;
	bench_go(&b);
	assert_int_equal(world.nstarts, 8);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(world.start[i].seed, want[i]);
		assert_int_equal(world.start[i].cell.kernel, i % 2);
	}
	bench_close(&b);
}

static void check_jobs(unsigned int jobs, long cpus, unsigned int wide, size_t runs, size_t at_once,
		       int cpu_count)
{
	struct bench b;

	bench_open(&b, 1, 2, (unsigned int)(runs / 2));
	fake_cpus = cpus;
	b.o.jobs = jobs;
	b.variant[1].cpus = wide;
	bench_go(&b);
	assert_int_equal(world.air_most, at_once);
	assert_int_equal(world.nstarts, runs);
	for (size_t i = 0; i < runs; i++) {
		const struct start *s = &world.start[i];

		assert_int_equal(s->cpu_count, cpu_count);
		assert_true(s->cpu_first >= 0 && s->cpu_first + s->cpu_count <= cpus);
	}
	expect_log("W0001 W0002 W0003 W0004 W0005 W0006 W0007 W0008 W0009 W0010 ");
	bench_close(&b);
}

static void jobs_and_cpus(void **state)
{
	check_jobs(3, 64, 2, 10, 3, 2);
	check_jobs(1, 64, 2, 10, 1, 0);	  /* alone: where it likes */
	check_jobs(40, 64, 2, 10, 10, 2); /* no more than there are runs */
	check_jobs(5, 8, 2, 10, 5, 0);	  /* five of two CPUs on eight: they share */
	check_jobs(4, 8, 2, 10, 4, 2);
	/* By itself: as many as have CPUs of their own, by the widest. */
	check_jobs(0, 8, 2, 10, 4, 2);
	check_jobs(0, 9, 2, 10, 4, 2);
	check_jobs(0, 8, 4, 10, 2, 4);
	check_jobs(0, 4, 4, 10, 1, 0);
	check_jobs(0, 1, 2, 10, 1, 0);
}

/* Guests of 1 GiB take 1216 MiB, and 256 stay with the host. */
static void check_memory(uint64_t available_mib, size_t at_once)
{
	struct bench b;

	bench_open(&b, 1, 1, 6);
	b.o.jobs = 4;
	world.available_mib = available_mib;
	bench_go(&b);
	assert_int_equal(world.air_most, at_once);
	assert_int_equal(b.set.nruns, 6);
	bench_close(&b);
}

static void no_more_than_memory_allows(void **state)
{
	check_memory(256 + 4 * 1216, 4);
	check_memory(256 + 3 * 1216, 3);
	check_memory(256 + 3 * 1216 - 1, 2);
	check_memory(256 + 2 * 1216 - 1, 1);
	check_memory(256 + 1216 - 1, 1); /* one always */
	check_memory(100, 1);
	check_memory(0, 1); /* not known */
}

/* The large ones wait until they fit, the small ones pass them, and none is left out. */
static void small_ones_pass_large_ones(void **state)
{
	struct bench b;

	bench_open(&b, 1, 2, 4);
	b.o.jobs = 3;
	b.variant[0].memory_bytes = 4096 * MIB;
	world.available_mib = 256 + 4288 + 1216 - 1;
	bench_go(&b);
	assert_int_equal(b.set.nruns, 8);
	/* 1 alone; then 3 and 5 do not fit beside 2. */
	assert_true(str_starts(world.log.data, "W0001 W0002 W0004 W0006 "));
	assert_int_equal(world.air_most, 3);
	bench_close(&b);
}

/* ---- forks ---- */

static void template_comes_first_and_goes_last(void **state)
{
	struct bench b;

	bench_open(&b, 1, 2, 2);
	b.o.fork = true;
	bench_go(&b);
	expect_log("T0001/L1 F0001/L1 T0002/L2 F0002/L2 F0003/L1 ~L1 F0004/L2 ~L2 ");
	expect_runs(&b, "0001 ok, 0002 ok, 0003 ok, 0004 ok, ");
	assert_int_equal(world.start[0].seed, 7); /* T0001 */
	assert_int_equal(world.start[1].seed, 7); /* F0001 */
	assert_int_equal(world.start[4].seed, 8); /* F0003 */
	bench_close(&b);
	/* A template a cell: kernels have their own. */
	bench_open(&b, 2, 1, 2);
	b.o.fork = true;
	bench_go(&b);
	expect_log("T0001/L1 F0001/L1 T0002/L2 F0002/L2 F0003/L1 ~L1 F0004/L2 ~L2 ");
	bench_close(&b);
}

/* While a template is made its forks wait, and the other cell goes on. */
static void forks_wait_for_their_template(void **state)
{
	struct bench b;

	bench_open(&b, 1, 2, 3);
	b.o.fork = true;
	b.o.jobs = 3;
	bench_go(&b);
	assert_memory_equal(world.log.data, "T0001/L1 T0002/L2 F", 19);
	assert_int_equal(world.templates_most, 2);
	assert_int_equal(world.nstarts, 2 + 6);
	assert_int_equal(world.air_most, 3);
	bench_close(&b);
}

static void check_layouts(unsigned int layouts, const char *log)
{
	struct bench b;

	bench_open(&b, 1, 1, 5);
	b.o.fork = true;
	b.o.layouts = layouts;
	bench_go(&b);
	expect_log(log);
	assert_int_equal(world.templates_most, 1);
	assert_int_equal(b.set.nruns, 5);
	bench_close(&b);
}

static void runs_are_shared_among_layouts(void **state)
{
	static const char one[] = "T0001/L1 F0001/L1 F0002/L1 F0003/L1 F0004/L1 F0005/L1 ~L1 ";

	check_layouts(0, one);
	check_layouts(1, one);
	check_layouts(2, "T0001/L1 F0001/L1 F0002/L1 F0003/L1 ~L1 T0004/L2 F0004/L2 F0005/L2 ~L2 ");
	check_layouts(3, "T0001/L1 F0001/L1 F0002/L1 ~L1 T0003/L2 F0003/L2 F0004/L2 ~L2 "
			 "T0005/L3 F0005/L3 ~L3 ");
	check_layouts(9, "T0001/L1 F0001/L1 ~L1 T0002/L2 F0002/L2 ~L2 T0003/L3 F0003/L3 ~L3 "
			 "T0004/L4 F0004/L4 ~L4 T0005/L5 F0005/L5 ~L5 ");
}

/* Two layouts a cell, two cells: four templates, each with its own two forks. */
static void layouts_belong_to_cells(void **state)
{
	struct bench b;

	bench_open(&b, 2, 1, 4);
	b.o.fork = true;
	b.o.layouts = 2;
	bench_go(&b);
	expect_log("T0001/L1 F0001/L1 T0002/L2 F0002/L2 F0003/L1 ~L1 F0004/L2 ~L2 "
		   "T0005/L3 F0005/L3 T0006/L4 F0006/L4 F0007/L3 ~L3 F0008/L4 ~L4 ");
	bench_close(&b);
}

/* Making one takes 4288 MiB, one that is made holds 4096, a fork takes 1216. */
static void check_two_large_cells(uint64_t budget_mib, unsigned int jobs)
{
	struct bench b;

	bench_open(&b, 1, 2, 2);
	b.o.fork = true;
	b.o.jobs = jobs;
	b.variant[0].memory_bytes = b.variant[1].memory_bytes = 4096 * MIB;
	world.template_mib = 4096;
	world.available_mib = RESERVE_MIB + budget_mib;
	bench_go(&b);
	assert_int_equal(world.templates_most, 1);
	assert_int_equal(world.air_most, 1);
	expect_log("T0001/L1 F0001/L1 F0003/L1 ~L1 T0002/L2 F0002/L2 F0004/L2 ~L2 ");
	expect_runs(&b, "0001 ok, 0002 ok, 0003 ok, 0004 ok, ");
	bench_close(&b);
}

static void large_templates_come_one_after_the_other(void **state)
{
	for (unsigned int jobs = 1; jobs <= 4; jobs++) {
		check_two_large_cells(4096 + 1216, jobs);
		check_two_large_cells(4096 + 2 * 1216 - 1, jobs);
		/* For the template, but by the guess not for a fork beside it: still all are made. */
		check_two_large_cells(4288, jobs);
		check_two_large_cells(0, jobs);
	}
}

/* The first forks are judged by a guess, the others by what the first have dirtied. */
static void forks_are_judged_by_what_they_dirty(void **state)
{
	static const struct script script[] = {
		{ "F0001", VERDICT_OK, .dirty_mib = 100 },
		{ "F0002", VERDICT_OK, .dirty_mib = 40 },
		{ NULL },
	};
	struct bench b;

	bench_open(&b, 1, 1, 12);
	b.o.fork = true;
	b.o.jobs = 8;
	b.variant[0].memory_bytes = 1000 * MIB;
	world.script = script;
	world.template_mib = 1000;
	world.available_mib = RESERVE_MIB + 1000 + 2100;
	bench_go(&b);
	/* Into 2100 go 4 of 250 + 192; then, as these end, up to 6 of 125 + 192 and no 7. */
	assert_int_equal(world.air_at_first_fork_end, 4);
	assert_true(world.air_most == 5 || world.air_most == 6);
	assert_int_equal(b.set.nruns, 12);
	bench_close(&b);
}

static void failed_template_uses_up_a_slot(void **state)
{
	static const struct script one[] = { { "T0001", VERDICT_STALL }, { NULL } };
	static const struct script all[] = {
		{ "T0001", VERDICT_STALL }, { "T0002", VERDICT_SPLAT }, { "T0003", VERDICT_STALL },
		{ NULL },
	};
	struct bench b;

	bench_open(&b, 1, 1, 3);
	b.o.fork = true;
	world.script = one;
	bench_go(&b);
	expect_log("T0001/L1 ~L1 T0002/L2 F0002/L2 F0003/L2 ~L2 ");
	expect_runs(&b, "0001 stall, 0002 ok, 0003 ok, ");
	bench_close(&b);
	bench_open(&b, 1, 1, 3);
	b.o.fork = true;
	world.script = all;
	bench_go(&b);
	expect_log("T0001/L1 ~L1 T0002/L2 ~L2 T0003/L3 ~L3 ");
	expect_runs(&b, "0001 stall, 0002 splat, 0003 stall, ");
	bench_close(&b);
}

/* ---- once more ---- */

static void one_that_says_nothing_is_repeated(void **state)
{
	static const struct script once[] = { { "W0001", VERDICT_INFRA, AGAIN_SAME }, { NULL } };
	static const struct script always[] = {
		{ "W0002", VERDICT_INFRA, AGAIN_SAME },	  { "W0002.2", VERDICT_INFRA, AGAIN_SAME },
		{ "W0002.3", VERDICT_INFRA, AGAIN_SAME }, { NULL },
	};
	struct bench b;

	bench_open(&b, 1, 1, 2);
	world.script = once;
	bench_go(&b);
	expect_log("W0001 W0001.2 W0002 ");
	expect_runs(&b, "0001 infra, 0001.2 ok, 0002 ok, ");
	assert_int_equal(world.start[1].seed, 7);
	bench_close(&b);
	bench_open(&b, 1, 1, 3);
	world.script = always;
	bench_go(&b);
	expect_log("W0001 W0002 W0002.2 W0002.3 W0003 ");
	expect_runs(&b, "0001 ok, 0002 infra, 0002.2 infra, 0002.3 infra, 0003 ok, ");
	bench_close(&b);
}

static void forks_and_templates_are_repeated_too(void **state)
{
	static const struct script template[] = { { "T0001", VERDICT_INFRA, AGAIN_SAME }, { NULL } };
	static const struct script last_fork[] = { { "F0002", VERDICT_INFRA, AGAIN_SAME }, { NULL } };
	struct bench b;

	bench_open(&b, 1, 1, 2);
	b.o.fork = true;
	world.script = template;
	bench_go(&b);
	expect_log("T0001/L1 ~L1 T0001.2/L2 F0001.2/L2 F0002/L2 ~L2 ");
	expect_runs(&b, "0001 infra, 0001.2 ok, 0002 ok, ");
	bench_close(&b);
	bench_open(&b, 1, 1, 2);
	b.o.fork = true;
	world.script = last_fork;
	bench_go(&b);
	expect_log("T0001/L1 F0001/L1 F0002/L1 F0002.2/L1 ~L1 ");
	bench_close(&b);
}

static void what_cannot_be_saved_runs_unforked(void **state)
{
	static const struct script script[] = { { "T0001", VERDICT_INFRA, AGAIN_UNFORKED }, { NULL } };
	struct bench b;

	bench_open(&b, 1, 2, 2); /* the other cell's can be */
	b.o.fork = true;
	world.script = script;
	bench_go(&b);
	expect_log("T0001/L1 ~L1 W0001.2 T0002/L2 F0002/L2 W0003 F0004/L2 ~L2 ");
	expect_runs(&b, "0001 infra, 0001.2 ok, 0002 ok, 0003 ok, 0004 ok, ");
	assert_int_equal(world.start[1].seed, 7);
	bench_close(&b);
}

/* ---- ends ---- */

static void interrupt_starts_nothing_more(void **state)
{
	static const struct script script[] = { { "W0003", VERDICT_OK, .interrupt = true }, { NULL } };
	static const struct script fork[] = {
		{ "F0001", VERDICT_INTERRUPTED, .interrupt = true }, { NULL },
	};
	struct bench b;

	bench_open(&b, 1, 1, 9);
	world.script = script;
	bench_go(&b);
	expect_log("W0001 W0002 W0003 ");
	expect_runs(&b, "0001 ok, 0002 ok, 0003 ok, ");
	bench_close(&b);
	bench_open(&b, 1, 1, 9);
	b.o.fork = true;
	world.script = fork;
	bench_go(&b);
	expect_log("T0001/L1 F0001/L1 ~L1 ");
	expect_runs(&b, "0001 interrupted, ");
	bench_close(&b);
	bench_open(&b, 1, 1, 9); /* before the first */
	b.e.interrupts = 1;
	bench_go(&b);
	assert_int_equal(world.nstarts, 0);
	bench_close(&b);
}

static void on_user(uv_timer_t *timer)
{
	struct engine *e = timer->data;

	e->interrupts++;
	for (struct attempt *a = e->attempts; a; a = attempt_next(a))
		attempt_interrupt(a);
	uv_close((uv_handle_t *)timer, NULL);
}

static void interrupted_ones_are_kept_as_such(void **state)
{
	uv_timer_t timer;
	struct bench b;

	bench_open(&b, 1, 1, 9);
	b.o.jobs = 3;
	uv_timer_init(&b.e.loop, &timer);
	timer.data = &b.e;
	uv_timer_start(&timer, on_user, 0, 0); /* due before the attempts are */
	bench_go(&b);
	expect_log("W0001 W0002 W0003 ");
	expect_runs(&b, "0001 interrupted, 0002 interrupted, 0003 interrupted, ");
	bench_close(&b);
}

static void check_failure(const struct script *script, unsigned int jobs, const char *why,
			  const char *log, size_t kept)
{
	struct bench b;

	bench_open(&b, 1, 1, 9);
	b.o.jobs = jobs;
	world.script = script;
	assert_int_equal(bench_run(&b), -1);
	assert_string_equal(b.err.text, why);
	assert_int_equal(b.err.status, EXIT_NO_VERDICT);
	expect_log(log);
	assert_int_equal(b.set.nruns, kept);
	bench_close(&b);
}

static void store_failure_ends_the_set(void **state)
{
	static const struct script late[] = { { "W0002", VERDICT_OK, .failed = "disk full" }, { NULL } };
	static const struct script last[] = { { "W0009", VERDICT_OK, .failed = "disk full" }, { NULL } };
	static const struct script at_once[] = {
		{ "W0002", VERDICT_UNSUPPORTED, .when = AT_ONCE, .failed = "disk full" }, { NULL },
	};
	static const struct script never[] = { { "W0003", VERDICT_OK, .when = NEVER }, { NULL } };
	static const struct script two[] = {
		{ "W0001", VERDICT_OK, .failed = "the first" },
		{ "W0002", VERDICT_OK, .failed = "the second" },
		{ NULL },
	};

	check_failure(late, 1, "disk full", "W0001 W0002 ", 2);
	check_failure(last, 1, "disk full", "W0001 W0002 W0003 W0004 W0005 W0006 W0007 W0008 W0009 ", 9);
	check_failure(at_once, 1, "disk full", "W0001 W0002 ", 2);
	check_failure(at_once, 3, "disk full", "W0001 W0002 ", 2);
	/* No record can be begun: what is in the air is waited for and kept. */
	check_failure(never, 1, "cannot be recorded", "W0001 W0002 W0003 ", 2);
	check_failure(never, 4, "cannot be recorded", "W0001 W0002 W0003 ", 2);
	check_failure(two, 2, "the first", "W0001 W0002 ", 2);
}

static void no_memory_for_a_template_ends_the_set(void **state)
{
	struct bench b;

	bench_open(&b, 1, 1, 3);
	b.o.fork = true;
	world.no_template = "no memory";
	assert_int_equal(bench_run(&b), -1);
	assert_string_equal(b.err.text, "no memory");
	assert_int_equal(world.nstarts, 0);
	bench_close(&b);
}

/* A kernel that lacks something: every run ends as it starts. */
static void ends_at_once(void **state)
{
	static const struct script script[] = {
		{ "T0001", VERDICT_UNSUPPORTED, .when = AT_ONCE },
		{ "T0002", VERDICT_UNSUPPORTED, .when = AT_ONCE },
		{ "W0001", VERDICT_UNSUPPORTED, .when = AT_ONCE },
		{ "W0002", VERDICT_UNSUPPORTED, .when = AT_ONCE },
		{ NULL },
	};
	struct bench b;

	for (int fork = 0; fork < 2; fork++) {
		bench_open(&b, 1, 1, 2);
		b.o.fork = fork;
		world.script = script;
		bench_go(&b);
		expect_runs(&b, "0001 unsupported, 0002 unsupported, ");
		bench_close(&b);
	}
}

/* ---- resumed ---- */

static void was(struct bench *b, const char *id, enum verdict verdict)
{
	b->set.run = xreallocarray(b->set.run, b->set.nruns + 1, sizeof(*b->set.run));
	b->set.run[b->set.nruns++] = (struct run){ .id = xstrdup(id), .verdict = verdict };
}

static void resume_makes_what_is_missing(void **state)
{
	struct bench b;

	bench_open(&b, 1, 1, 6);
	was(&b, "0001", VERDICT_OK);
	was(&b, "0002", VERDICT_INTERRUPTED);
	was(&b, "0003", VERDICT_SPLAT);
	was(&b, "0004", VERDICT_INFRA); /* said nothing; its repeat was interrupted */
	was(&b, "0004.2", VERDICT_INTERRUPTED);
	was(&b, "0005", VERDICT_INTERRUPTED);
	was(&b, "0005.2", VERDICT_STALL);
	bench_go(&b);
	expect_log("W0002.2 W0004.3 W0006 ");
	assert_int_equal(world.start[0].seed, 8);
	assert_int_equal(world.start[1].seed, 10);
	assert_int_equal(world.start[2].seed, 12);
	assert_int_equal(b.set.nruns, 10);
	bench_close(&b);
}

static void resume_has_tries_of_its_own(void **state)
{
	static const struct script script[] = {
		{ "W0001.4", VERDICT_INFRA, AGAIN_SAME }, { "W0001.5", VERDICT_INFRA, AGAIN_SAME },
		{ "W0001.6", VERDICT_INFRA, AGAIN_SAME }, { NULL },
	};
	struct bench b;

	bench_open(&b, 1, 1, 1);
	was(&b, "0001", VERDICT_INTERRUPTED);
	was(&b, "0001.2", VERDICT_INTERRUPTED);
	was(&b, "0001.3", VERDICT_INTERRUPTED);
	world.script = script;
	bench_go(&b);
	expect_log("W0001.4 W0001.5 W0001.6 ");
	bench_close(&b);
}

/* No template for a group that is done; the others are as they would have been. */
static void resume_with_forks(void **state)
{
	struct bench b;

	bench_open(&b, 1, 1, 5);
	b.o.fork = true;
	b.o.layouts = 2;
	was(&b, "0001", VERDICT_OK);
	was(&b, "0002", VERDICT_OK);
	was(&b, "0003", VERDICT_OK);
	was(&b, "0004", VERDICT_INTERRUPTED);
	for (int i = 0; i < 4; i++)
		b.set.run[i].forked_from = xstrdup(i < 3 ? "L9" : "L10");
	bench_go(&b);
	/* The old L10 is gone, and this one is another layout: it must not share its name. */
	expect_log("T0004.2/L11 F0004.2/L11 F0005/L11 ~L11 ");
	assert_int_equal(world.start[1].seed, 10);
	bench_close(&b);
}

static void resume_of_a_whole_set_does_nothing(void **state)
{
	struct bench b;

	bench_open(&b, 1, 1, 1);
	was(&b, "0001", VERDICT_OK);
	bench_go(&b);
	assert_int_equal(world.nstarts, 0);
	assert_int_equal(b.set.nruns, 1);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_alternate), cmocka_unit_test(cells_are_left_out),
		cmocka_unit_test(pairs_have_one_seed),
		cmocka_unit_test(jobs_and_cpus),
		cmocka_unit_test(no_more_than_memory_allows),
		cmocka_unit_test(small_ones_pass_large_ones),
		cmocka_unit_test(template_comes_first_and_goes_last),
		cmocka_unit_test(forks_wait_for_their_template),
		cmocka_unit_test(runs_are_shared_among_layouts),
		cmocka_unit_test(layouts_belong_to_cells),
		cmocka_unit_test(large_templates_come_one_after_the_other),
		cmocka_unit_test(forks_are_judged_by_what_they_dirty),
		cmocka_unit_test(failed_template_uses_up_a_slot),
		cmocka_unit_test(one_that_says_nothing_is_repeated),
		cmocka_unit_test(forks_and_templates_are_repeated_too),
		cmocka_unit_test(what_cannot_be_saved_runs_unforked),
		cmocka_unit_test(interrupt_starts_nothing_more),
		cmocka_unit_test(interrupted_ones_are_kept_as_such),
		cmocka_unit_test(store_failure_ends_the_set),
		cmocka_unit_test(no_memory_for_a_template_ends_the_set),
		cmocka_unit_test(ends_at_once),
		cmocka_unit_test(resume_makes_what_is_missing),
		cmocka_unit_test(resume_has_tries_of_its_own),
		cmocka_unit_test(resume_with_forks),
		cmocka_unit_test(resume_of_a_whole_set_does_nothing),
	};

	alarm(60); /* nothing here may hang */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
