/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_BUILD_IMPL_H
#define MMRIG_BUILD_IMPL_H
/* What the files of a build share. */
#include "harness/build/build.h"
#include "harness/build/source.h"
#include "harness/build/toolchain.h"

/* NULL-terminated words on the heap, one after the other. */
struct words {
	char **item;
	size_t n;
};
void words_add(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void words_free(struct words *w);
#define cleanup_words __attribute__((cleanup(words_free)))

struct build {
	const struct build_request *r;
	struct toolchain tools;
	struct words fragment; /* paths, without the base */
	char *config_text;     /* kconfig_text() */
	struct source source;
	struct build_record record;
	char *name; /* in the cache */
	char *obj;
	char *log;
};

/* What an interrupted one is told, once it has its source. */
#define BUILD_GOES_ON "the same command goes on where it stopped"

void build_tell(const struct build *b, double percent, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- build_key.c ---- */

/* Fills b->record and b->obj, of the opened source, fragments and toolchain. */
int build_describe(struct build *b, struct error *err);
/* "7.3.4-mmrig-NAME OF PATCH-FRAGMENT...", as a name for the cache; heap. */
char *build_default_name(const struct build *b);
/* "built of WHAT, patch x.patch, config base+kasan"; heap. */
char *build_provenance(const struct build *b);

/* ---- build_record.c ---- */

/* Adds it to the kernel.json of a finished folder. */
int build_record_save(const char *dir, const struct build_record *b, struct error *err);

/* ---- build_obj.c ---- */

/*
 * An obj folder with a build at work in it is marked. One that is found marked was cut off hard: what
 * was written since may be half, with a time that says it is new, and is removed; all of it when the
 * machine itself went down.
 */
int build_obj_begin(const char *obj, struct error *err);
/* Everything in it is whole; has it on disk and takes the mark away. */
int build_obj_end(const char *obj, struct error *err);

/* ---- build_run.c ---- */

/* For kconfig_make(); the compiler without ccache, which .config need not know of. */
void build_config_args(const struct build *b, struct words *w);
/* src/ and obj/.config -> image and modules. */
int build_make(const struct build *b, struct error *err);
/* lib/modules/RELEASE below dir. */
int build_install_modules(const struct build *b, const char *dir, struct error *err);
/* Whether a config has modules. */
bool build_has_modules(const char *config_text);

/* ---- build_log.c ---- */

/*
 * The lines of a build's log around its first error, indented, each at most 240 bytes; heap, NULL when
 * there is none. *line: the error itself, heap.
 */
char *build_first_error(const char *log, char **line);
bool build_is_disk_full(const char *log);

/* ---- build_install.c ---- */

/* obj/ -> a kernel in the cache. */
int build_install(struct build *b, struct kernel *k, struct error *err);
/* Another name for a kernel of the cache, with a copy of its folder. */
int build_copy(struct build *b, const struct kernel *from, struct kernel *k, struct error *err);

#endif
