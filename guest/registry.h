/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_REGISTRY_H
#define MMRIG_REGISTRY_H
/*
 * The tables of workloads and layout steps. Each is one const struct beside its code; the host
 * links the same structs to check scenarios and to print lists and manuals.
 * A new workload: workloads/NAME/NAME.c with a `const struct workload workload_NAME`, which the build
 * finds; workloads/template/README.md.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/step_check.h"
#include "guest/toolbox.h"

struct job;
struct job_line;

enum param_kind {
	PARAM_NUMBER,	 /* an integer expression over the scenario's constants, memory and cpus */
	PARAM_BYTES,	 /* the same, in bytes; units K M G T */
	PARAM_AMOUNT,	 /* an amount of memory: {bytes|percent|high|blocks: EXPR}; a plain string is
			  * bytes, "5%" per cent of RAM. In the job: KEY_unit=..., KEY=number */
	PARAM_PREDICATE, /* an expression over pfn, block, offset, zone, node, rand, cma */
	PARAM_CHOICE,	 /* one of choices[] */
	PARAM_BOOL,	 /* true/false; in the job 1/0 */
	PARAM_SHARE,	 /* "30%", "0.3", or an expression and a per cent sign; in the job millionths */
	PARAM_TEXT,	 /* as it is written; {name} of a constant or axis stands for its value */
	PARAM_FILE,	 /* a file of text, relative to the scenario's, or its lines; in the job those */
};

struct param_spec {
	const char *name;
	enum param_kind kind;
	const char *unit;    /* "files", "bytes", NULL */
	const char *summary; /* one line */
	int64_t min, max;    /* NUMBER and BYTES; max 0 means no upper limit */
	const char *dflt;    /* as YAML text; NULL: must be given; "": absent unless given */
	const char *const *choices;
};

struct layout_step {
	const char *name, *summary;
	const struct param_spec *params; /* nparams of them */
	size_t nparams;
	const char *const *needs; /* as `need` lines of the job; NULL-terminated, may be NULL */
	const char *const *moves; /* canonical counters that it must move; NULL-terminated */
	void *run;		  /* guest: layout_step_fn of guest/layout.h */
	/* On the host, before anything is started: guest/step_check.h. 0, or -1 with *f. May be NULL. */
	int (*check)(const struct job_line *line, const struct step_context *c, struct step_fault *f);
	/* On the host: what such a step makes of the guest, for the checks of those behind it. May be NULL. */
	void (*after)(const struct job_line *line, struct step_context *c);
	/*
	 * On the host: a module that these parameters need where the kernel does not have it built in;
	 * NULL: none. May be NULL.
	 */
	const char *(*module)(const struct job_line *line);
};

struct workload {
	const char *name, *summary;
	const struct param_spec *params;
	size_t nparams;
	const char *const *needs;
	const char *const *moves;
	/* As a layout_step's; the context is that behind the layout's last step. May be NULL. */
	int (*check)(const struct job_line *line, const struct step_context *c, struct step_fault *f);
	void *prepare; /* guest: workload_fn of guest/workload.h; may be NULL */
	void *setup;   /* the same, in the settle phase: what takes long and is not measured; may be NULL */
	void *run;
	/* Modules that it needs where the kernel does not have them built in; may be NULL. */
	const char *const *modules;
	const struct toolbox_spec *toolbox; /* programs that it runs, guest/toolbox.h; NULL: none */
	/* On the host: size of its scratch disk with these parameters; 0: none. May be NULL. */
	uint64_t (*scratch_bytes)(const struct job_line *line);
};

extern const struct layout_step *const layout_steps[];
extern const size_t layout_step_count;
extern const struct workload *const workload_table[];
extern const size_t workload_count;

const struct layout_step *layout_step_find(const char *name);
const struct workload *workload_find(const char *name);

#endif
