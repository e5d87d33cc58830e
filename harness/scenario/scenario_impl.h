/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SCENARIO_IMPL_H
#define MMRIG_SCENARIO_IMPL_H
/* Between the files of this folder, and for their tests. */
#include <sys/types.h>

#include "guest/expr.h"
#include "guest/registry.h"
#include "harness/scenario/node.h"
#include "harness/scenario/scenario.h"

/* What a document is checked against; pointers stay the owner's. */
struct scenario_tables {
	const struct layout_step *const *step;
	size_t nsteps;
	const struct workload *const *workload;
	size_t nworkloads;
	bool (*metric_known)(const char *name);
	const char *(*metric_nearest)(const char *name); /* NULL: none is near */
};

struct scenario {
	struct node *root;
	struct scenario_tables tables;
	bool layout_only; /* there need be no workload, and what there is is left aside */
};

/* The guest's registry and the catalogue of counters. */
struct scenario_tables scenario_tables_real(void);
int scenario_parse_with(const struct scenario_tables *tables, const char *label, const char *text,
			size_t len, struct scenario **s, struct error *err);
int scenario_parse_layout(const char *label, const char *text, size_t len, struct scenario **s,
			  struct error *err);
bool scenario_is_path(const char *name_or_path);
int scenario_load_path(const char *path, bool layout_only, struct scenario **s, struct error *err);
/* layout_only.c: gives a document without a name that of its file. */
void layout_only_complete(struct node *root);
/* Keys without which there is nothing to run, or to build. */
int scenario_check_required(const struct scenario *s, struct error *err);

/* ---- check.c: the form, without values ---- */

int scenario_check(const struct scenario *s, struct error *err);
extern const char *const scenario_keys[];
extern const size_t scenario_key_count;

int check_kind(const struct node *key, const struct node *n, enum node_kind kind, const char *what,
	       struct error *err);
/* A text that is not empty. */
int check_text(const struct scenario *s, const struct node *key, const struct node *n,
	       struct error *err);

/* ---- check_layout.c ---- */

int check_layout(const struct scenario *s, const struct node *key, const struct node *n,
		 struct error *err);
/* The parameters of a step or a workload, by their names and the kinds of their values. */
int check_params(const struct param_spec *spec, size_t nspec, const struct node *name,
		 const struct node *n, struct error *err);

/* ---- read.c: literals ---- */

/* "2%" or "0.02" in millionths, 0 to 100 per cent. */
int read_ppm(const struct node *n, int64_t *ppm, struct error *err);
/* "60s", "10m", "1.5h", "500ms", plain seconds; above 0, at most a week. */
int read_seconds(const struct node *n, double *seconds, struct error *err);
int read_integer(const struct node *n, const char *what, int64_t min, int64_t max, int64_t *value,
		 struct error *err);

/* ---- env.c: the names of one variant ---- */

struct env_var {
	const char *name;
	const struct node *node; /* as written */
	bool may_be_text;	 /* a value of vary need not be a number */
	enum { ENV_WAITS, ENV_NUMBER, ENV_TEXT } state; /* a share is a TEXT, and among the consts */
	int64_t number;
};

struct env {
	const struct node *root; /* the document */
	struct env_var *var;
	size_t n;
	struct expr_const *consts; /* those that are numbers or shares */
	size_t nconsts;
	struct node *memory_option; /* what stands for memory where the option says it, or NULL */
};

#define CPUS_DEFAULT "2"
#define MEMORY_OPTION "--memory"

/*
 * Evaluates constants, vm.memory, vm.cpus and one value of each axis (picks, in the order of
 * `vary`), in whatever order they refer to one another. memory_override 0: as written.
 */
int env_init(struct env *env, const struct scenario *s, const struct node *const *picks,
	     uint64_t memory_override, struct error *err);
void env_free(struct env *env);
const struct env_var *env_find(const struct env *env, const char *name);
/* Gives `round` its value; -1 takes it away. */
void env_set_round(struct env *env, int64_t round);
/* The node itself, or the text that it names. */
const struct node *env_text(const struct env *env, const struct node *n);
/* A value for a message, heap: as it is written where that is one number, else in the unit. */
char *env_shown(const struct node *n, const char *unit, int64_t value);
/* An expression over the names; what and unit (may be NULL) are for the message. max 0: none. */
int env_number(const struct env *env, const struct node *n, const char *what, const char *unit,
	       int64_t min, int64_t max, int64_t *value, struct error *err);
#define PREDICATE_VARS                                                             \
	(1u << EXPR_PFN | 1u << EXPR_BLOCK | 1u << EXPR_OFFSET | 1u << EXPR_ZONE | \
	 1u << EXPR_NODE | 1u << EXPR_RAND | 1u << EXPR_CMA)

/* Only compiles, with variables. */
int env_predicate(const struct env *env, const struct node *n, struct error *err);
/* {name} replaced by its value. */
int env_template(const struct env *env, const struct node *n, char **text, struct error *err);

/* ---- blame.c: where an error in a value is told ---- */

struct blame {
	const struct node *at;	    /* where the error shows */
	int column;		    /* so many characters into its text, 1-based; 0: at its beginning */
	const struct node *made_of; /* what is at fault: a value, or a list or map of them; may be NULL */
	const char *text;	    /* an expression that is; may be NULL */
	const char *also;	    /* a variable that is, whether or not it is named; may be NULL */
};

/*
 * Where a variable that the bad value is made of was written later than the value itself (in `with` or the
 * scenario while the value stands in a named layout; in --set or --memory), the error is told
 * there, with the place of the value behind it.
 */
int env_blame(const struct env *env, const struct blame *b, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Does the expression name a variable? */
bool env_names(const struct env *env, const char *text);

/* ---- where.c: predicates that no page can meet, and those that all do ---- */

/* `name` is the parameter; 0, or -1 with the error at its part that is to blame. */
int where_check(const struct env *env, const struct node *step, const char *name,
		const struct node *written, const struct step_context *c, struct error *err);

/* ---- shape.c: NUMA nodes, zones and swap of one variant ---- */

int shape_check_numa(const struct scenario *s, const struct node *key, const struct node *n,
		     struct error *err);
int shape_check_distances(const struct scenario *s, const struct node *key, const struct node *n,
			  struct error *err);
int shape_check_swap(const struct scenario *s, const struct node *key, const struct node *n,
		     struct error *err);
/*
 * nodes, distances and cmdline of a variant whose memory and cpus are known, and the job's lines for
 * them. resized: the memory is not what the scenario says. *module gets the name of the module that
 * the swap needs, or NULL.
 */
int shape_variant(const struct scenario *s, const struct env *env, bool resized, struct variant *v,
		  const char **module, struct error *err);

/* ---- steps.c: the layout's steps into the job ---- */

/* repeat: {times: N, steps: [...]}; `round`, 0 ... N - 1, is a constant within. */
#define STEP_REPEAT "repeat"
#define STEP_ROUND "round"
/* A step that check.c has seen to exist. */
const struct layout_step *steps_find(const struct scenario *s, const char *name);
/* Does the layout have such a step? */
bool steps_use(const struct scenario *s, const struct layout_step *step);
/* The guest as the layout's last step leaves it; the context points into it. */
struct steps_guest {
	struct step_context context;
	uint64_t node_bytes[VM_NODES_MAX];
};
/*
 * The variant's memory and nodes are known, and what a step asks for is held against them. Fills
 * *g, for the check of the workload.
 */
int steps_to_job(const struct scenario *s, struct env *env, struct variant *v, struct steps_guest *g,
		 struct error *err);
/* Tells a fault of a step or workload, `NAME: {PARAMETERS}`, where the value at fault is written. -1. */
int steps_fault(const struct env *env, const struct node *step, const struct step_fault *f,
		struct error *err);

/* ---- needs.c: what steps and workload need ---- */

/* NULL where the document has none, or where it is left aside. */
const struct workload *workload_of(const struct scenario *s);
/* That of `background`; NULL: none. */
const struct workload *background_of(const struct scenario *s);
void toolbox_own_free(struct toolbox_spec *t);
void needs_collect(const struct scenario *s, struct scenario_plan *plan);
/* Modules that depend on what the steps are given, which only the variant's job tells. */
void needs_of_steps(const struct scenario *s, const struct job *job, struct scenario_plan *plan);

/* ---- axes.c: what is varied ---- */

/* Every axis must change something: the VM, a sysctl, the layout or the workload. */
int axes_check(const struct scenario *s, struct error *err);

/* ---- kernels.c: kernel and kernels ---- */

int kernels_check(const struct scenario *s, const struct node *key, const struct node *n,
		  struct error *err);
/* What --kernel may call them, NULL-terminated heap array of heap strings. */
char **kernels_names(const struct scenario *s, size_t *n);
/* Fills plan->kernel; files that are not there are errors. */
int kernels_expand(const struct scenario *s, struct scenario_plan *plan, struct error *err);
void kernels_free(struct scenario_plan *plan);

/* A text, or a list of texts: as such, how many, and the i'th. */
int texts_check(const struct node *key, const struct node *n, struct error *err);
size_t texts_count(const struct node *n);
const struct node *texts_at(const struct node *n, size_t i);
/* Of a NULL-terminated heap array. */
void texts_free(char **words);

/* ---- paths.c: files that a scenario names ---- */

/* "~" is the home, and what is relative is so to the scenario's file. Heap; NULL: no home. */
char *path_of(const struct node *n, struct error *err);
/* Of a file (S_IFREG) or folder that can be read. What is not there is found out before anything is started. */
char *path_there(const struct node *n, const char *what, mode_t type, struct error *err);
/* The content of a file of text of at most 64 KiB; a value of several lines is that content itself. Heap. */
char *path_text(const struct node *n, const char *what, struct error *err);

/* ---- leave_out.c: cells that are not run ---- */

int leave_out_check(const struct scenario *s, const struct node *key, const struct node *n,
		    struct error *err);
/* Kernels, axes and values that it names are those of the document. */
int leave_out_check_names(const struct scenario *s, struct error *err);
/* Takes away what a --set left without a kernel or value that it names. */
void leave_out_prune(struct scenario *s);
void leave_out_expand(const struct scenario *s, struct scenario_plan *plan);
void leave_out_free(struct scenario_plan *plan);

/* ---- layouts.c, layouts_use.c: named layouts ---- */

/* The document of one of them, checked as far as its keys. */
int layout_load(const char *path, struct node **root, struct error *err);
/*
 * `layout: NAME` or `layout: {use: NAME, with: {constant: value}}` of a document becomes the list of
 * steps of that layout, and its constants become the document's: those of `with` instead where
 * given, and the document's own (of constants or vary) where it has the name already. The same may
 * stand among the steps of a list; a constant that several layouts have must be the same in all.
 */
int layouts_resolve(struct node *root, const struct scenario_tables *tables, struct error *err);
/* In place of what layout the document has, that of the name; on error the document is spoilt. */
int layouts_replace(struct node *root, const struct scenario_tables *tables, struct node *name,
		    struct error *err);
/* Paths of what a folder holds, sorted; dot files are left out. */
int folder_list(const char *dir, char ***path, size_t *n, struct error *err);
#define LAYOUTS_FOLDER "layouts" /* in workloads */

/* ---- params.c: parameters of steps and workloads into a line of the job ---- */

/* params may be NULL (none given); name_node is where a missing one is reported. */
int params_to_job(const struct env *env, const struct param_spec *spec, size_t nspec,
		  const struct node *name_node, const struct node *params, struct job_line *line,
		  struct error *err);

#define AMOUNT_UNITS                                 \
	{                                            \
		"bytes", "percent", "high", "blocks" \
	}

#endif
