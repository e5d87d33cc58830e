/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SCENARIO_H
#define MMRIG_SCENARIO_H
/*
 * A scenario: YAML checked against the registry (guest/registry.h), then expanded by its `vary`
 * matrix and --set into variants, each with the job for the guest.
 *
 *	name: alias-tmpfs
 *	title: one line
 *	kernel: debian:7.3			# when no --kernel is given; several: kernels, below
 *	vm: {memory: 8G, cpus: 4, least: 2G}	# a guest smaller than least is refused; more keys below
 *	constants: {step: 8, files: "memory * 1000000 / 32G"}
 *	vary: {residue: [0, 4]}			# cartesian product, in the order written
 *	layout:
 *	  - fill: {kind: anon, leave: {blocks: "files / 2000"}}
 *	  - pin: {per: pageblock, where: "..."}
 *	  - free: {where: "pfn % step == residue"}
 *	  - repeat: {times: 3, steps: [{free: {where: "pfn % 8 == round"}}]}	# round: 0, 1, 2
 *	tolerance: 2%				# of asked versus got, per step; 0%: exactly as asked
 *	sysctl: {boot: {vm.x: 1}, workload: {vm.defrag_mode: 1}}	# workload: after the layout
 *	workload:
 *	  tmpfs-files: {files: files, per_dir: 1000}
 *	sample_ms: 100
 *	profile: true				# hot functions, harness/engine/profile.h
 *	runs: 5
 *	needs: ["sysctl:vm.defrag_mode"]	# beyond those of the steps, workload and sysctls
 *	modules: [ext4]				# beyond virtio and the needed file systems
 *	table: {style: seed, rows: "free pages at", label: "pfn % 8 == {residue}", columns: [time]}
 *						# rows: heading of the first column; style: seed, plain
 *	metrics: [allocstall, time, ...]	# shown first, behind the columns; canonical names
 *	limits: {boot: 60s, layout: 10m, workload: 10m}	# for KVM; scaled for TCG
 *
 * kernels: several, each a column of the tables; a text as --kernel takes it, or one to be built:
 *
 *	kernels:
 *	  - debian:7.3
 *	  - {source: debian:7.3, patch: resample.patch, name: patched}	# Debian's source package
 *	  - {tree: ~/linux, rev: v7.3, config: [kasan], cc: gcc-12, align: true, base: my.config}
 *	leave_out: [{kernel: patched, residue: 0}]	# cells that are not run; a value or a list of them
 *
 * rev: without it the tree is built as it stands. patch and config are a text or a list: files, or of
 * config the name of a fragment that mmrig brings. align: functions on lines of 64 bytes, so that a
 * patch moves no other one. name: without it one is made of the rest; --kernel takes it. Relative
 * paths are so to the scenario's file, and ~ is the home. How it is built: harness/build/build.h.
 *
 * layout: may also name one: `layout: alias` or `layout: {use: alias, with: {residue: 4}}`. It stands in
 * workloads/layouts/NAME.yaml or a folder of $MMRIG_LAYOUTS, with the keys name, title, constants
 * and layout (a list). Its constants are the scenario's where that has no such name. Both forms may be
 * an item of the list of steps too, also within repeat: the layout's steps take its place. A constant
 * that several of them have must be the same in all, or be the scenario's.
 *
 * Keys of vm, all of them expressions, none of them required:
 *
 *	memory: 2G
 *	cpus: 2
 *	numa: [1G, 1G, {size: 0, cpus: 2}]	# NUMA nodes: a size, or a map of size and cpus
 *	distances: [[10, 20, 30], [20, 10, 30], [30, 30, 10]]	# row: from; without it 10 and 20
 *	movablecore: 512M			# the kernel's own option: so much ZONE_MOVABLE
 *	cma: 64M				# the kernel's own option: an area for movable pages only
 *	swap: {kind: zram, size: 512M}		# zram or ramdisk; on before the layout is built
 *
 * The sizes of nodes add up to memory. Where --memory or --set memory=... changes it, sizes that
 * are plain numbers (1G, not memory / 2) share what is left by expressions in their proportion, in
 * whole pageblocks. A node of size 0 is memory-less. CPUs are given to nodes in order; those that
 * no `cpus` claims are dealt out evenly to the nodes without that key. Each CPU of a NUMA guest is
 * a socket of its own. A kernel without NUMA, that CMA area or the swap device makes the run unsupported.
 *
 * Values are integers, strings, or expressions over constants, vary, memory (bytes) and cpus.
 * A value of vary that is no expression is a text: it may stand, by its axis' name alone, for a
 * choice, a predicate or a sysctl's value. A constant or value such as 25% is a share, which may also be
 * compared with rand. What nothing uses cannot be varied. Required are name and workload; of a layout
 * that is only built (mmrig layout check) neither is.
 * Every error is file:line:column: what; and the nearest known word. A value that shows to be bad where
 * it is used is told where it was written last (with, --set, --memory), and "(in file:line:column)". EXIT_USAGE.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/job.h"
#include "harness/vm/numa.h"
#include "results/util/error.h"

struct scenario; /* opaque: the checked document */

/* A name (looked up in $MMRIG_SCENARIOS, then workloads/NAME/NAME.yaml and workloads/NAME.yaml of
 * data_path()) or a path ending in .yaml/.yml. Unknown: EXIT_USAGE with the nearest. */
int scenario_load(const char *name_or_path, struct scenario **s, struct error *err);
/* From memory, `label` standing for the file name. */
int scenario_parse(const char *label, const char *text, size_t len, struct scenario **s,
		   struct error *err);
/*
 * The same for its layout alone: the workload may be missing, and is left aside where it is not; so may
 * the name, for which that of the file is taken; and the name of a layout (layout_list()) will do.
 */
int scenario_load_layout(const char *name_or_path, struct scenario **s, struct error *err);
void scenario_free(struct scenario *s);

/*
 * KEY=VALUE of --set. KEY: a constant or vary name (VALUE "0,4" lists make it an axis), a dotted
 * path (vm.cpus, workload.files, layout.0.leave.blocks, sysctl.workload.vm.defrag_mode), `memory`,
 * `cpus`, or `layout` (VALUE the name of one: constants that the layout before brought go, those of the
 * new one come). On error the scenario is as before; values are judged by scenario_expand().
 */
int scenario_set(struct scenario *s, const char *assignment, struct error *err);

struct scenario_value {
	char *name;
	char *text;	/* as shown: "4" */
	int64_t number; /* its value where it is a number */
	int is_number;
};

struct variant {
	struct scenario_value *value; /* one per axis, in order; may be none */
	size_t nvalues;
	char *label;	/* table.label with {name} replaced, or "residue=4", or "" */
	struct job job; /* everything but `mmrig-job` (id, seed), which the engine adds */
	uint64_t memory_bytes;
	unsigned int cpus;
	uint64_t scratch_bytes; /* of the workload's scratch disk; 0: none */
	struct vm_node *node; /* nnodes of them; none: no NUMA */
	size_t nnodes;
	uint8_t *distance;    /* [from * nnodes + to], or NULL */
	char *cmdline;	      /* for the kernel, each word with a blank before it; "" */
};

#define SCENARIO_KERNELS_MAX 16

struct scenario_kernel {
	char *name; /* as tables and --kernel call it; of a spec its text */
	char *spec; /* what --kernel takes; NULL: it is built, of what follows */
	char *source, *tree, *rev, *base, *cc; /* each may be NULL; just one of source and tree */
	char **patch, **config;		       /* NULL-terminated */
	bool align;
	char *place; /* "FILE:LINE:COLUMN", for messages */
};

struct scenario_limits { /* seconds, as written, unscaled */
	double boot, layout, settle, workload, collect, silence;
};

struct scenario_plan {
	char *name, *title;
	struct scenario_kernel *kernel; /* of `kernel` or `kernels`; may be none */
	size_t nkernels;
	struct scenario_rule *rule; /* of `leave_out` */
	size_t nrules;
	char *file;
	char **read;		     /* NULL-terminated: every file that it is made of */
	char *text;		     /* canonical YAML of the whole after --set, for run.json */
	struct variant *variant;
	size_t nvariants;
	unsigned int runs;
	char **modules;		     /* NULL-terminated: what the initramfs must bring */
	char **metric;		     /* NULL-terminated */
	char **needs;		     /* NULL-terminated, `need` of guest/job.h */
	char **moves;		     /* NULL-terminated canonical counters of the workload */
	const struct toolbox_spec *toolbox; /* what the workloads run; NULL: nothing, and no disk */
	struct toolbox_spec *toolbox_own;   /* heap: that of two workloads in one; else NULL */
	struct scenario_limits limits;
	bool profile;
	char *table_style;	     /* "seed", "plain" or "sizes" */
	char *table_form;	     /* of compare_formats[], printed below that; NULL: none */
	char *row_title;	     /* heading of the first column of the table, may be NULL */
};
/*
 * The memory of a guest, bytes. The most is what the agent's page frame numbers of 30 bits reach
 * (guest/layout.h), less the 4 GiB in which the hole for devices lies.
 */
#define MEMORY_DEFAULT "2G" /* where neither the scenario nor an option says it */
#define GUEST_MEMORY_MIN (256ULL << 20)
#define GUEST_MEMORY_MAX (4092ULL << 30)
#define GUEST_MEMORY_MUST "must be 256M to 4092G, in whole pageblocks of 2M"
/* NULL when a guest can have so much, or "memory is 100M; it must be ...", heap. */
char *guest_memory_why(uint64_t bytes);

/* memory_override 0 keeps the scenario's. Checks everything that can be checked without a guest. */
int scenario_expand(const struct scenario *s, uint64_t memory_override, struct scenario_plan *plan,
		    struct error *err);
void scenario_plan_free(struct scenario_plan *plan);
/* Is this cell left out? kernel: its name in plan->kernel, or NULL for one that is not of the plan. */
bool scenario_leaves_out(const struct scenario_plan *plan, const char *kernel, size_t variant);

/* All scenarios that can be named: names and titles, sorted. */
struct scenario_entry {
	char *name, *title, *path;
	char **kernel; /* names, NULL-terminated; may be NULL */
};
int scenario_list(struct scenario_entry **list, size_t *n, struct error *err);
void scenario_list_free(struct scenario_entry *list, size_t n);

/* All layouts that can be named in `layout:`, sorted by name. constants: "step=8, residue=4". */
struct layout_entry {
	char *name, *title, *constants, *path;
};
int layout_list(struct layout_entry **list, size_t *n, struct error *err);
void layout_list_free(struct layout_entry *list, size_t n);

#endif
