/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PATCH_IMPL_H
#define MMRIG_PATCH_IMPL_H
/* One patch on its way into a source. */
#include "harness/build/patch_text.h"
#include "harness/build/source_impl.h"

struct patch_job {
	const struct source *source;
	const char *path; /* as the user gave it */
	char *scratch;
	char *file;  /* a copy of the patch */
	char *index; /* of the object that is patched */
	char *pre;   /* folder of the files that it is for, as they are before */
	struct patch_text text;
};

/* Puts the files of the patch that there are into job->pre. */
int patch_preimages(const struct patch_job *job, struct error *err);
/* Why `git apply` refused it, in words; errors: its stderr. Returns -1. */
int patch_why(const struct patch_job *job, const struct strbuf *errors, struct error *err);

#endif
