// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/engine.h"

#include "harness/engine/attempt.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "guest/registry.h"
#include "harness/build/selftests.h"
#include "harness/engine/host.h"
#include "harness/image/image.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

/* Deadlines are written for KVM; TCG runs the same guest code about this much slower. */
#define TCG_SCALE 4.0
/* One host thread for all vCPUs, and every instruction counted. */
#define DETERMINISTIC_SCALE 12.0

static void on_signal(uv_signal_t *s, int signum)
{
	struct engine *e = s->data;

	if (e->interrupts++) { /* a second one: at once. QEMU goes with us (PR_SET_PDEATHSIG). */
		for (struct attempt *a = e->attempts; a; a = attempt_next(a))
			attempt_abandon(a);
		_exit(EXIT_INTERRUPTED);
	}
	progress_note(e->progress, "interrupted: ending what runs; finished runs are kept");
	for (struct attempt *a = e->attempts, *next; a; a = next) {
		next = attempt_next(a);
		attempt_interrupt(a);
	}
}

static void watch_signals(struct engine *e)
{
	const struct {
		uv_signal_t *handle;
		int signum;
	} watch[] = { { &e->on_int, SIGINT }, { &e->on_term, SIGTERM }, { &e->on_hup, SIGHUP } };

	for (size_t i = 0; i < ARRAY_SIZE(watch); i++) {
		uv_signal_init(&e->loop, watch[i].handle);
		watch[i].handle->data = e;
		uv_signal_start(watch[i].handle, on_signal, watch[i].signum);
		uv_unref((uv_handle_t *)watch[i].handle);
	}
	/* A file that outgrows `ulimit -f` is an error to report, not an end. */
	signal(SIGXFSZ, SIG_IGN);
}

static void close_loop(struct engine *e)
{
	uv_close((uv_handle_t *)&e->on_int, NULL);
	uv_close((uv_handle_t *)&e->on_term, NULL);
	uv_close((uv_handle_t *)&e->on_hup, NULL);
	uv_run(&e->loop, UV_RUN_DEFAULT);
	uv_loop_close(&e->loop);
}

/* virtio-serial where the kernel is known to have it; a bare image tells nothing: then the serial port. */
static enum vm_channel channel_of(const struct kernel *k)
{
	cleanup_free char *console = kernel_config_value(k, "VIRTIO_CONSOLE");
	cleanup_free char *pci = kernel_config_value(k, "VIRTIO_PCI");
	bool modules = k->modules != NULL;

	if (!console || !pci || (!modules && (*console == 'm' || *pci == 'm')))
		return VM_CHANNEL_SERIAL;
	return VM_CHANNEL_VIRTIO;
}

/* The initramfs for a kernel. A module that the scenario asks for and the kernel lacks is kept. */
static int prepare_kernel(struct engine *e, struct engine_kernel *k, struct error *err)
{
	static const char *const channel[] = { "virtio_pci", "virtio_console" };
	const char *wanted[64];
	char **missing = NULL;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(channel); i++)
		wanted[n++] = channel[i];
	for (char **m = e->plan->modules; m && *m && n + 1 < ARRAY_SIZE(wanted); m++)
		wanted[n++] = *m;
	wanted[n] = NULL;
	k->initrd = image_cached(&k->kernel, e->agent, wanted, &missing, err);
	if (!k->initrd)
		return error_wrap(err, "initramfs for %s", k->kernel.name);
	k->channel = channel_of(&k->kernel);
	for (char **m = missing; m && *m; m++) {
		if (!k->lacks && !str_starts(*m, "virtio_"))
			k->lacks = xstrdup(*m);
		free(*m);
	}
	free(missing);
	return 0;
}

/* Adds what a workload of the job, or its background, wants of which source. */
static int want_selftests(const struct job *job, const char *word, struct selftests_request *r, char **list,
			  size_t *n, struct error *err)
{
	const struct job_line *line = job_next(job, NULL, word);
	const struct workload *w = line ? workload_find(job_get(line, "do")) : NULL;
	const char *source = w && w->toolbox && w->toolbox->selftests ? job_get(line, "source") : NULL;

	if (!source)
		return 0;
	if (r->source && strcmp(r->source, source) != 0)
		return error_set(err, EXIT_USAGE, "the selftests of one run set are of one source, not of %s and %s",
				 r->source, source);
	r->source = source;
	list[(*n)++] = (char *)job_get(line, "tests");
	return 0;
}

/* Those of all variants on one disk. */
static int prepare_selftests(struct engine *e, struct error *err)
{
	const struct scenario_plan *plan = e->plan;
	cleanup_free char **list = xcalloc(2 * plan->nvariants + 1, sizeof(*list));
	struct selftests_request r = { .list = list, .spec = plan->toolbox, .progress = progress_task,
				       .progress_arg = e->progress };
	size_t n = 0;

	for (size_t i = 0; i < plan->nvariants; i++) {
		const struct job *job = &plan->variant[i].job;

		if (want_selftests(job, "workload", &r, list, &n, err) < 0 ||
		    want_selftests(job, "background", &r, list, &n, err) < 0)
			return -1;
	}
	return selftests_get(&r, &e->toolbox, err);
}

static int prepare_toolbox(struct engine *e, struct error *err)
{
	cleanup_free char *note = NULL;
	int ret;

	if (!e->plan->toolbox)
		return 0;
	ret = e->plan->toolbox->selftests ?
		      prepare_selftests(e, err) :
		      toolbox_get(e->plan->toolbox, NULL, progress_task, e->progress, &e->toolbox, err);
	if (ret < 0)
		return -1;
	note = str_printf("toolbox with %s", e->toolbox.what);
	progress_note(e->progress, note);
	return 0;
}

static int resolve_accel(struct engine *e, enum vm_accel wanted, struct error *err)
{
	struct accel_result r;
	cleanup_free char *note = NULL;

	e->accel = wanted;
	if (e->deterministic && wanted == VM_ACCEL_KVM)
		return error_set(err, EXIT_USAGE, "--deterministic needs TCG: KVM runs on real time; leave --accel out");
	if (e->deterministic) {
		e->accel = VM_ACCEL_TCG;
		e->scale = DETERMINISTIC_SCALE;
		progress_note(e->progress, "deterministic: TCG, one CPU, guest time counts instructions");
		return 0;
	}
	if (wanted == VM_ACCEL_AUTO) {
		if (accel_probe(e->qemu, e->kernel[0].kernel.image, &r, err) < 0)
			return -1;
		e->accel = r.accel;
		note = str_printf("accelerator %s", r.reason);
		progress_note(e->progress, note);
	}
	e->scale = e->accel == VM_ACCEL_TCG ? TCG_SCALE : 1.0;
	return 0;
}

static struct run_kernel kernel_record(const struct kernel *k)
{
#define DUP(s) ((s) ? xstrdup(s) : NULL)
	return (struct run_kernel){
		.name = DUP(k->name),	      .release = DUP(k->release),
		.build_id = DUP(k->build_id), .image = DUP(k->image),
		.image_hash = DUP(k->image_hash), .config_hash = DUP(k->config_hash),
		.provenance = DUP(k->provenance),
	};
#undef DUP
}

static struct run_variant variant_record(const struct variant *v)
{
	struct run_variant r = {
		.label = xstrdup(v->label ? v->label : ""),
		.value = xcalloc(v->nvalues, sizeof(*r.value)),
		.nvalues = v->nvalues,
		.memory_bytes = v->memory_bytes,
		.cpus = v->cpus,
	};

	for (size_t i = 0; i < v->nvalues; i++) {
		r.value[i].name = xstrdup(v->value[i].name);
		r.value[i].text = xstrdup(v->value[i].text);
	}
	return r;
}

static char **dup_list(char *const *list)
{
	size_t n = 0;
	char **copy;

	while (list && list[n])
		n++;
	copy = xcalloc(n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = xstrdup(list[i]);
	return copy;
}

static bool *dup_left_out(const struct engine *e, const struct engine_options *o)
{
	size_t n = e->nkernels * e->plan->nvariants;
	bool *copy;

	if (e->ncells == n)
		return NULL;
	copy = xcalloc(n, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = o->left_out[i];
	return copy;
}

static void fill_set(struct engine *e, const struct engine_options *o)
{
	struct runset *set = e->set;
	const struct scenario_plan *p = e->plan;

	set->scenario = xstrdup(p->name);
	set->title = xstrdup(p->title ? p->title : "");
	set->scenario_text = xstrdup(p->text);
	set->command = xstrdup(o->command ? o->command : "");
	set->table_style = p->table_style ? xstrdup(p->table_style) : NULL;
	set->row_title = p->row_title ? xstrdup(p->row_title) : NULL;
	set->metric = dup_list(p->metric);
	set->runs = o->runs;
	set->nkernels = e->nkernels;
	set->kernel = xcalloc(e->nkernels, sizeof(*set->kernel));
	for (size_t i = 0; i < e->nkernels; i++) {
		set->kernel[i] = kernel_record(&e->kernel[i].kernel);
		for (size_t f = 0; o->kept && f < o->kept[i].nkept; f++)
			run_kernel_keep(&set->kernel[i], o->kept[i].kept[f].name, o->kept[i].kept[f].text,
					o->kept[i].kept[f].len);
	}
	set->nvariants = p->nvariants;
	set->variant = xcalloc(p->nvariants, sizeof(*set->variant));
	set->left_out = dup_left_out(e, o);
	for (size_t i = 0; i < p->nvariants; i++)
		set->variant[i] = variant_record(&p->variant[i]);
}

/* The command that makes this one run again. */
static char *reproduce_line(struct engine *e, const struct engine_options *o,
			    const struct engine_cell *cell, uint64_t seed)
{
	const struct variant *v = &e->plan->variant[cell->variant];
	const struct kernel *k = &e->kernel[cell->kernel].kernel;
	/* Outside the cache the name is a path as typed; the line is to be good in any folder. */
	cleanup_free char *given = str_printf("%s ", o->reproduce ? o->reproduce : "");
	cleanup_free char *path = k->disk_bytes ? NULL : realpath(k->name, NULL);
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s --kernel ", o->reproduce ? o->reproduce : "mmrig run");
	strbuf_add_quoted(&sb, path ? path : k->name);
	strbuf_addf(&sb, "%s --seed %llu", o->takes_no_runs ? "" : " --runs 1", (unsigned long long)seed);
	if (e->deterministic)
		strbuf_adds(&sb, " --deterministic");
	if (o->fork)
		strbuf_adds(&sb, " --fork");
	for (size_t i = 0; i < v->nvalues; i++) {
		cleanup_free char *axis = str_printf("%s=%s", v->value[i].name, v->value[i].text);
		cleanup_free char *word = str_printf(" --set %s ", axis);

		if (strstr(given, word))
			continue;

		strbuf_adds(&sb, " --set ");
		strbuf_add_quoted(&sb, axis);
	}
	return strbuf_steal(&sb);
}

struct run engine_new_run(struct engine *e, const struct engine_options *o, unsigned int slot,
			  unsigned int attempt, const struct engine_cell *cell, uint64_t seed)
{
	struct run r = {
		.id = attempt ? str_printf("%04u.%u", slot + 1, attempt + 1) :
				str_printf("%04u", slot + 1),
		.cell = cell->kernel * e->plan->nvariants + cell->variant,
		.kernel = cell->kernel,
		.variant = cell->variant,
		.seed = seed,
		.accel = xstrdup(e->deterministic ? "tcg-icount" : accel_name(e->accel)),
		.qemu_version = xstrdup(e->qemu_version),
		.host = xstrdup(e->host),
		.reproduce = reproduce_line(e, o, cell, seed),
	};

	return r;
}

static int resume_differs(const struct engine_options *o, const struct runset *set, const char *what,
			  struct error *err)
{
	return error_set(err, EXIT_USAGE, "--resume %s: it was made with another %s; give the same arguments as then: %s",
			 o->resume, what, set->command);
}

/* --memory and vm.cpus change the guest without changing the scenario's text. */
static int check_resumed_cells(struct engine *e, const struct engine_options *o, struct error *err)
{
	for (size_t i = 0; i < e->nkernels * e->plan->nvariants; i++)
		if ((e->set->left_out && e->set->left_out[i]) != (o->left_out && o->left_out[i]))
			return resume_differs(o, e->set, "choice of cells", err);
	return 0;
}

static int check_resumed_variants(struct engine *e, const struct engine_options *o, struct error *err)
{
	const struct runset *set = e->set;

	if (set->nvariants != e->plan->nvariants)
		return resume_differs(o, set, "set of variants", err);
	for (size_t i = 0; i < set->nvariants; i++) {
		if (set->variant[i].memory_bytes != e->plan->variant[i].memory_bytes)
			return resume_differs(o, set, "--memory", err);
		if (set->variant[i].cpus != e->plan->variant[i].cpus)
			return resume_differs(o, set, "number of CPUs", err);
	}
	return 0;
}

/* The runs that are there must be runs of this plan: seed, accelerator, forked or not. */
static int check_resumed_runs(struct engine *e, const struct engine_options *o, struct error *err)
{
	const struct runset *set = e->set;
	size_t cells = e->ncells;
	bool forked = false, whole = false;

	for (size_t i = 0; i < set->nruns; i++) {
		const struct run *r = &set->run[i];
		size_t slot = strtoul(r->id, NULL, 10), rep = slot ? (slot - 1) / cells : 0;
		const char *accel = e->deterministic ? "tcg-icount" : accel_name(e->accel);

		if (r->seed != o->seed + (o->verify ? rep / 2 : rep))
			return resume_differs(o, set, "--seed", err);
		if (r->accel && strcmp(r->accel, accel) != 0)
			return resume_differs(o, set, e->deterministic ? "accelerator: not --deterministic" :
									"accelerator or with --deterministic", err);
		if (r->verdict == VERDICT_OK) {
			forked |= r->forked_from != NULL;
			whole |= r->forked_from == NULL;
		}
	}
	if ((forked && !o->fork) || (whole && !forked && o->fork))
		return resume_differs(o, set, forked ? "setting: with --fork" : "setting: without --fork", err);
	return 0;
}

/* A run set goes on only with the same scenario, kernels and number of runs. */
static int resume_set(struct engine *e, const struct engine_options *o, struct error *err)
{
	struct runset *set = e->set;

	if (store_load_set(e->store, o->resume, set, err) < 0)
		return -1;
	if (strcmp(set->scenario, e->plan->name) != 0 || strcmp(set->scenario_text ? set->scenario_text : "", e->plan->text) != 0)
		return error_set(err, EXIT_USAGE,
				 "--resume %s: it was made with scenario %s and other settings; give the same "
				 "arguments as then: %s",
				 o->resume, set->scenario, set->command);
	if (set->nkernels != e->nkernels || set->runs != o->runs)
		return error_set(err, EXIT_USAGE, "--resume %s: it has %zu kernel(s) and %u runs a cell, not %zu and %u",
				 o->resume, set->nkernels, set->runs, e->nkernels, o->runs);
	if (check_resumed_variants(e, o, err) < 0 || check_resumed_cells(e, o, err) < 0 ||
	    check_resumed_runs(e, o, err) < 0)
		return -1;
	for (size_t i = 0; i < e->nkernels; i++)
		if (!set->kernel[i].image_hash ||
		    strcmp(set->kernel[i].image_hash, e->kernel[i].kernel.image_hash) != 0)
			return error_set(err, EXIT_USAGE, "--resume %s: kernel %s is another image now",
					 o->resume, set->kernel[i].name);
	return 0;
}

/* What is resumed lies in a store already; one is not made for the sake of the message. */
static int store_must_exist(const struct engine_options *o, struct error *err)
{
	struct store *store;

	if (store_open(o->results, false, &store, err) < 0)
		return error_wrap(err, "--resume %s", o->resume);
	store_close(store);
	return 0;
}

static uint64_t most_memory(const struct scenario_plan *plan)
{
	uint64_t most = 0;

	for (size_t i = 0; i < plan->nvariants; i++)
		if (plan->variant[i].memory_bytes > most)
			most = plan->variant[i].memory_bytes;
	return most;
}

static uint64_t most_scratch(const struct scenario_plan *plan)
{
	uint64_t most = 0;

	for (size_t i = 0; i < plan->nvariants; i++)
		if (plan->variant[i].scratch_bytes > most)
			most = plan->variant[i].scratch_bytes;
	return most;
}

int engine_check_memory(const struct scenario_plan *plan, struct error *err)
{
	return host_check_memory(most_memory(plan), err);
}

static int prepare(struct engine *e, const struct engine_options *o, struct error *err)
{
	struct utsname u;

	if (e->deterministic && o->fork)
		return error_set(err, EXIT_USAGE,
				 "--deterministic and --fork do not go together: a deterministic guest hears nothing "
				 "from the host, so a fork cannot be told its seed");

	if (e->deterministic && e->plan->toolbox)
		return error_set(err, EXIT_USAGE,
				 "--deterministic does not go with this workload: its programs come from a disk, and "
				 "when a disk answers depends on the host");
	if (engine_check_memory(e->plan, err) < 0)
		return -1;
	e->agent = libexec_path("agent", err);
	e->qemu_version = e->agent ? qemu_version(e->qemu, err) : NULL;
	if (!e->qemu_version || (o->resume && store_must_exist(o, err) < 0) ||
	    store_open(o->results, true, &e->store, err) < 0)
		return -1;
	if (host_check_disk(e->store, o->runs * e->ncells, most_scratch(e->plan), err) < 0)
		return -1;
	for (size_t i = 0; i < e->nkernels; i++)
		if (prepare_kernel(e, &e->kernel[i], err) < 0)
			return -1;
	if (prepare_toolbox(e, err) < 0)
		return -1;
	if (resolve_accel(e, o->accel, err) < 0 ||
	    host_check_addresses(most_memory(e->plan), e->accel == VM_ACCEL_TCG, err) < 0)
		return -1;
	uname(&u);
	e->host = str_printf("%s %s %s, %ld CPUs", u.nodename, u.release, u.machine,
			     sysconf(_SC_NPROCESSORS_ONLN));
	if (o->resume) {
		int ret = resume_set(e, o, err);

		if (ret < 0) { /* nothing of another set is to be shown as if it were this one's */
			runset_free(e->set);
			memset(e->set, 0, sizeof(*e->set));
		}
		return ret;
	}
	fill_set(e, o);
	return store_begin_set(e->store, e->set, err);
}

static void engine_free(struct engine *e)
{
	for (size_t i = 0; i < e->nkernels; i++) {
		free(e->kernel[i].initrd);
		free(e->kernel[i].lacks);
	}
	free(e->kernel);
	free(e->cell);
	free(e->qemu);
	free(e->qemu_version);
	free(e->host);
	free(e->agent);
	toolbox_free(&e->toolbox);
	if (e->store)
		store_close(e->store);
}

int engine_run(const struct engine_options *o, const struct scenario_plan *plan,
	       struct kernel *kernels, size_t nkernels, struct progress *progress,
	       struct runset *set, bool *interrupted, size_t *differing, struct error *err)
{
	struct engine e = {
		.plan = plan,
		.kernel = xcalloc(nkernels, sizeof(*e.kernel)),
		.nkernels = nkernels,
		.qemu = o->qemu ? xstrdup(o->qemu) : NULL,
		.progress = progress,
		.set = set,
		.deterministic = o->deterministic || o->verify,
		.allow_starved = o->allow_starved,
	};
	int ret;

	for (size_t i = 0; i < nkernels; i++)
		e.kernel[i].kernel = kernels[i]; /* the caller keeps and frees them */
	engine_plan_cells(&e, o);
	uv_loop_init(&e.loop);
	watch_signals(&e);
	ret = prepare(&e, o, err);
	if (ret == 0)
		ret = engine_schedule(&e, o, err);
	if (ret == 0 && o->verify && !e.interrupts)
		ret = engine_verify(&e, differing, err);
	*interrupted = e.interrupts > 0;
	close_loop(&e);
	engine_free(&e);
	return ret;
}
