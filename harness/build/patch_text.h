/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PATCH_TEXT_H
#define MMRIG_PATCH_TEXT_H
/*
 * Files and hunks of a unified diff, mails around it included, in their order: to name one in a message.
 * Whether it is sound is for git to say.
 */
#include <stdbool.h>
#include <stddef.h>

#include "results/util/str.h"

struct patch_hunk {
	unsigned long line; /* in the old file */
	char *header;	    /* "@@ -100,7 +100,9 @@ static void foo(void)" */
};

struct patch_section {
	char *old_name, *new_name; /* as written: "a/mm/x.c", "/dev/null" */
	struct patch_hunk *hunk;
	size_t n;
};

struct patch_text {
	struct patch_section *item;
	size_t n;
	struct strbuf sources; /* names that files are renamed or copied from, a NUL behind each */
	bool encoded;	       /* a mail in base64 or quoted-printable */
	bool crlf; /* the patch itself has CR LF, and not just lines of files that do */
};

void patch_text_parse(const char *text, struct patch_text *p);
void patch_text_free(struct patch_text *p);
/* The name without its first folder, as -p1 takes it; points into name. */
const char *patch_strip(const char *name);
/* From section `from` on, the first of that file (after -p1); NULL when there is none. */
const struct patch_section *patch_find(const struct patch_text *p, size_t from, const char *file);

#endif
