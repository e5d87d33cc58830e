/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_RUN_FIXTURE_H
#define MMRIG_RUN_FIXTURE_H
/* For unit tests: include after cmocka.h. */
#include <stdlib.h>

#include "results/run.h"
#include "results/util/file.h"
#include "results/util/str.h"

/* A file of results/testdata, from the top of the tree or from wherever the program stands. */
static inline char *fixture_read(const char *name, size_t *len)
{
	char *path = str_printf("results/testdata/%s", name), *text;

	if (!file_exists(path)) {
		char *found = data_path(path, NULL);

		assert_non_null(found);
		free(path);
		path = found;
	}
	text = file_read(path, 0, len, NULL);
	assert_non_null(text);
	free(path);
	return text;
}

static inline void fixture_kernel(struct runset *s, const char *name, const char *release)
{
	s->kernel = xreallocarray(s->kernel, s->nkernels + 1, sizeof(*s->kernel));
	s->kernel[s->nkernels++] = (struct run_kernel){ .name = xstrdup(name),
							.release = xstrdup(release) };
}

static inline void fixture_variant(struct runset *s, const char *label, const char *name,
				   const char *text)
{
	struct run_variant *v;

	s->variant = xreallocarray(s->variant, s->nvariants + 1, sizeof(*s->variant));
	v = &s->variant[s->nvariants++];
	*v = (struct run_variant){ .label = xstrdup(label), .memory_bytes = 8589934592, .cpus = 2 };
	if (!name)
		return;
	v->value = xcalloc(1, sizeof(*v->value));
	v->value[0] = (struct run_value){ xstrdup(name), xstrdup(text) };
	v->nvalues = 1;
}

/* The run that was added; good until the next one. */
static inline struct run *fixture_run(struct runset *s, size_t variant, size_t kernel,
				      enum verdict verdict)
{
	struct run *r;

	s->run = xreallocarray(s->run, s->nruns + 1, sizeof(*s->run));
	r = &s->run[s->nruns++];
	*r = (struct run){ .id = str_printf("%04zu", s->nruns),
			   .kernel = kernel,
			   .variant = variant,
			   .cell = variant * s->nkernels + kernel,
			   .seed = s->nruns,
			   .verdict = verdict,
			   .accel = xstrdup("tcg") };
	for (int i = 0; i < PHASE_COUNT; i++)
		r->phase[i] = -1;
	return r;
}

/* The two rows of the aliasing post, without runs. */
static inline struct runset fixture_set(void)
{
	struct runset s = { .scenario = xstrdup("alias-tmpfs"), .title = xstrdup("Aliasing"),
			    .table_style = xstrdup("seed"), .row_title = xstrdup("free pages at"),
			    .runs = 5 };

	fixture_kernel(&s, "debian:7.3", "7.3.4+deb13-cloud-amd64");
	fixture_variant(&s, "pfn % 8 == 0", "residue", "0");
	fixture_variant(&s, "pfn % 8 == 4", "residue", "4");
	return s;
}

#endif
