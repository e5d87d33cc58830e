/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SOURCE_FIXTURE_H
#define MMRIG_SOURCE_FIXTURE_H
/* For tests: a small kernel tree in a folder of its own, and what was told on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/build/source.h"
#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static char *top; /* holds everything, the cache too */
static struct strbuf told;
static int waiting_fd = -1; /* gets a byte when somebody is waited for */

static void note_progress(void *arg, const char *text, double percent)
{
	strbuf_addf(&told, "%s\n", text);
	if (waiting_fd >= 0 && strstr(text, "waiting"))
		assert_int_equal(write(waiting_fd, "w", 1), 1);
}

static inline bool was_told(const char *text)
{
	return told.len && strstr(told.data, text);
}

static inline void add_text(void *arg, const char *line)
{
	strbuf_addf(arg, "%s\n", line);
}

/* Runs a shell script in `top`; its stdout on the heap. It must succeed. */
static char *shell(const char *script)
{
	const char *const argv[] = { "sh", "-ec", script, NULL };
	struct strbuf out = STRBUF_INIT, errors = STRBUF_INIT;
	int status = child_run(argv, top, add_text, &out, &errors, NULL);

	if (status)
		fail_msg("status %d of: %s\n%s", status, script, errors.len ? errors.data : "");
	strbuf_free(&errors);
	strbuf_add(&out, "", 0);
	return out.data ? strbuf_steal(&out) : xstrdup("");
}

static void run(const char *script)
{
	free(shell(script));
}

#define TREE_SCRIPT                                                                                  \
	"rm -rf linux; mkdir -p linux/arch/x86 linux/scripts linux/mm && cd linux\n"                 \
	"printf 'VERSION = 7\\nPATCHLEVEL = 3\\nSUBLEVEL = 0\\nEXTRAVERSION = -rc2\\n"               \
	"NAME = x\\n\\nall:\\n' >Makefile\n"                                                         \
	"echo 'obj-y += mm/' >Kbuild; echo 'mainmenu \"x\"' >Kconfig\n"                              \
	"echo x86 >arch/x86/Makefile; echo '#!/bin/sh' >scripts/x.sh\n"                              \
	"chmod 755 scripts/x.sh; ln -s ../mm scripts/link; printf '*.o\\n/vmlinux\\n' >.gitignore\n" \
	"seq -f 'line %g' 60 >mm/compaction.c; seq -f 'other %g' 60 >mm/other.c\n"

#define GIT_SCRIPT                                                                       \
	TREE_SCRIPT                                                                      \
	"git init -q -b main . && git add . && git commit -qm one && git tag v7.3-rc2\n" \
	"sed -i 's/^line 30$/line thirty/' mm/compaction.c && git commit -qam two\n"

static inline int fixture_setup(void **state)
{
	char name[] = "/tmp/mmrig source,XXXXXX";
	cleanup_free char *cache = NULL, *home = NULL;

	if (!mkdtemp(name))
		return -1;
	top = xstrdup(name);
	cache = path_join(top, "cache");
	home = path_join(top, "home");
	setenv("XDG_CACHE_HOME", cache, 1);
	setenv("HOME", home, 1);
	setenv("GIT_AUTHOR_NAME", "a", 1);
	setenv("GIT_AUTHOR_EMAIL", "a@example.org", 1);
	setenv("GIT_COMMITTER_NAME", "a", 1);
	setenv("GIT_COMMITTER_EMAIL", "a@example.org", 1);
	unsetenv("XDG_CONFIG_HOME");
	setenv("TZ", "UTC", 1);
	return dir_make(home, 0755, NULL);
}

/* Before each test: nothing is left of the one before. */
static inline int fixture_fresh(void **state)
{
	run("chmod -R u+w . && rm -rf ./* && mkdir home");
	strbuf_free(&told);
	return 0;
}

static inline int fixture_teardown(void **state)
{
	run("chmod -R u+w .");
	dir_remove(top, NULL);
	free(top);
	strbuf_free(&told);
	return 0;
}

static inline struct source_request request_of(const char *tree, const char *rev)
{
	return (struct source_request){ .tree = tree, .rev = rev, .progress = note_progress };
}

#define fixture_test(f) cmocka_unit_test_setup(f, fixture_fresh)

/* Opens DIR below top; must succeed. */
static inline void open_tree_at(const char *dir, const char *rev, struct source *s)
{
	cleanup_free char *path = path_join(top, dir);
	cleanup_error struct error err = ERROR_INIT;
	struct source_request r = request_of(path, rev);

	strbuf_free(&told);
	if (source_open(&r, s, &err) < 0)
		fail_msg("%s", err.text);
}

static inline void expect_error(const struct error *err, int status, const char *text)
{
	assert_non_null(err->text);
	if (!strstr(err->text, text))
		fail_msg("\"%s\" lacks \"%s\"", err->text, text);
	assert_int_equal(err->status, status);
}

/* The opening must fail so. */
static inline void refuse_tree(const char *dir, const char *rev, const char *text)
{
	cleanup_free char *path = path_join(top, dir);
	cleanup_error struct error err = ERROR_INIT;
	struct source_request r = request_of(path, rev);
	struct source s;

	assert_int_equal(source_open(&r, &s, &err), -1);
	expect_error(&err, EXIT_USAGE, text);
	assert_null(s.dir);
}

static inline void checkout(struct source *s)
{
	cleanup_error struct error err = ERROR_INIT;

	if (source_checkout(s, &err) < 0)
		fail_msg("%s", err.text);
}

/* All that can be seen of a tree, times included. */
#define FINGERPRINT                                                                              \
	"cd linux && find . -printf '%p %y %m %T@ %s %l\\n' | sort && find . -type f -print0 | " \
	"sort -z | xargs -0 sha256sum"

#endif
