/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_BUILD_FIXTURE_H
#define MMRIG_BUILD_FIXTURE_H
/*
 * For tests: whole builds of a kernel that is a Makefile of a few lines. Where its source comes from
 * and how its config is made is the business of others, and is stood in for here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "harness/build/build.h"
#include "harness/build/kconfig.h"
#include "harness/build/source.h"
#include "harness/kernel/test_image.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

#define WAIT_SECONDS 20
#define COMMIT "0123456789abcdef0123456789abcdef01234567"

/* What a build of the fake kernel makes; $(O) is the obj folder. */
#define MAKE_IMAGE                                                                   \
	"bzImage:\n"                                                                 \
	"\t@echo make >> $(O)/../made\n"                                             \
	"\t@echo '  CC      mm/a.o'\n\t@echo '  CC      mm/b.o'\n"                   \
	"\t@mkdir -p $(O)/arch/x86/boot\n"                                           \
	"\t@cp image $(O)/arch/x86/boot/bzImage\n"                                   \
	"\t@head -c 2000 /dev/zero | tr '\\0' m > $(O)/System.map\n"                 \
	"\t@env > $(O)/../env\n"                                                     \
	"\t@echo \"$(CC)|$(ARCH)|$(KCFLAGS)|$(KCPPFLAGS)|$(LOCALVERSION)|"           \
	"$(KBUILD_BUILD_USER)|$(KBUILD_BUILD_VERSION)\" > $(O)/../variables\n"

/* ---- the source ---- */

static struct {
	char dir[64], *cache, *source;
	const char *config; /* what kconfig makes */
	const char *refuse; /* what kconfig says instead */
	const char *remark; /* and beside */
	const char *hang;   /* where to wait for a signal */
	bool dirty;
	char *kept; /* "NAME OBJECT\n", ... */
} fake;

static void put(const char *dir, const char *name, const void *data, size_t len)
{
	cleanup_free char *path = path_join(dir, name);

	assert_int_equal(file_write_atomic(path, data, len, 0644, NULL), 0);
}

static inline void hang_at(const char *where)
{
	if (!fake.hang || strcmp(fake.hang, where) != 0)
		return;
	put(fake.source, "ready", "", 0);
	for (;;)
		pause();
}

int source_open(const struct source_request *r, struct source *s, struct error *err)
{
	cleanup_free char *lock = path_join(fake.source, ".lock");

	hang_at("source");
	*s = (struct source){ .lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644) };
	assert_true(s->lock >= 0);
	if (flock(s->lock, LOCK_EX | LOCK_NB) < 0) {
		r->progress(r->progress_arg, "waiting for another build", -1);
		put(fake.source, "waiting", "", 0);
		assert_int_equal(flock(s->lock, LOCK_EX), 0);
	}
	s->id = xstrdup("fake");
	s->dir = xstrdup(fake.source);
	s->src = path_join(fake.source, "src");
	s->object = xstrdup("aaaa");
	s->base = xstrdup("aaaa");
	s->commit = fake.dirty ? xstrdup(COMMIT) : NULL;
	s->what = xstrdup("linux-source-7.3 7.3.4-1~bpo13+1");
	s->version = xstrdup("7.3.4");
	s->dirty = fake.dirty;
	s->changes = fake.dirty ? xstrdup("diff --git a/x b/x\n+1\ndiff --git a/y b/y\n+2\n") : NULL;
	return 0;
}

int source_patch(struct source *s, const char *patch, struct error *err)
{
	char *object;

	if (strstr(patch, "stale"))
		return error_set(err, EXIT_USAGE, "%s: hunk 2 does not apply", patch);
	object = str_printf("%s+%s", s->object, strrchr(patch, '/') + 1);
	free(s->object);
	s->object = object;
	return 0;
}

int source_checkout(struct source *s, struct error *err)
{
	hang_at("checkout");
	return 0;
}

int source_keep(const char *id, const char *kernel, const char *object, struct error *err)
{
	char *kept = str_printf("%s%s %s\n", fake.kept ? fake.kept : "", kernel, object);

	assert_string_equal(id, "fake");
	free(fake.kept);
	fake.kept = kept;
	return 0;
}

void source_close(struct source *s)
{
	char *const strings[] = { s->id,     s->dir,  s->src,	  s->object, s->base,
				  s->commit, s->what, s->version, s->changes };

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		free(strings[i]);
	close(s->lock);
}

/* ---- the config ---- */

char *kconfig_find(const char *name, struct error *err)
{
	if (strchr(name, '/') || strcmp(name, "kasan") == 0)
		return xstrdup(name);
	error_set(err, EXIT_USAGE, "no fragment is called %s", name);
	return NULL;
}

char **kconfig_names(void)
{
	char **names = xcalloc(2, sizeof(*names));

	names[0] = xstrdup("kasan");
	return names;
}

char *kconfig_text(const char *base, const char *const *fragment, const struct kconfig_tell *tell,
		   struct error *err)
{
	struct strbuf sb = STRBUF_INIT;

	if (fake.remark)
		tell->line(tell->arg, fake.remark);
	strbuf_addf(&sb, "%s\n", base ? base : "base");
	for (; *fragment; fragment++)
		strbuf_addf(&sb, "%s\n", *fragment);
	return strbuf_steal(&sb);
}

int kconfig_make(const struct kconfig_request *r, struct error *err)
{
	cleanup_free char *path = path_join(r->obj, ".config");

	hang_at("config");
	if (fake.refuse)
		return error_set(err, EXIT_USAGE, "%s", fake.refuse);
	assert_true(file_exists(r->obj));
	return file_write_atomic(path, fake.config, strlen(fake.config), 0644, err);
}

/* ---- the place ---- */

static void put_makefile(const char *text)
{
	cleanup_free char *src = path_join(fake.source, "src");

	put(src, "Makefile", text, strlen(text));
}

static int set_up(void **state)
{
	cleanup_free char *src = NULL;
	uint8_t image[TEST_BZIMAGE_BYTES];

	memset(&fake, 0, sizeof(fake));
	strcpy(fake.dir, "/tmp/build-test-XXXXXX");
	assert_non_null(mkdtemp(fake.dir));
	setenv("XDG_CACHE_HOME", fake.dir, 1);
	fake.cache = path_join(fake.dir, "mmrig");
	fake.source = path_join(fake.cache, "sources/fake");
	fake.config = "CONFIG_A=y\n";
	src = path_join(fake.source, "src");
	assert_int_equal(dir_make(src, 0755, NULL), 0);
	test_bzimage(image, TEST_BANNER);
	put(src, "image", image, sizeof(image));
	put_makefile(MAKE_IMAGE);
	return 0;
}

static int tear_down(void **state)
{
	int ret = dir_remove(fake.dir, NULL);

	free(fake.cache);
	free(fake.source);
	free(fake.kept);
	return ret;
}

static inline char *slurp(const char *dir, const char *name)
{
	cleanup_free char *path = path_join(dir, name);

	return file_read(path, 0, NULL, NULL);
}

static inline bool has(const char *dir, const char *name)
{
	cleanup_free char *path = path_join(dir, name);

	return file_exists(path);
}

/* How often make ran. */
static inline size_t made(void)
{
	cleanup_free char *text = slurp(fake.source, "made");

	return text ? strlen(text) / strlen("make\n") : 0;
}

static void tell(void *arg, const char *text, double percent)
{
	strbuf_addf(arg, percent < 0 ? "%s\n" : "%s %.0f\n", text, percent);
}

static int build_as(struct build_request r, struct kernel *k, struct strbuf *told, struct error *err)
{
	r.source = r.tree ? NULL : "debian:7.3";
	r.progress = told ? tell : NULL;
	r.progress_arg = told;
	r.jobs = 1;
	return build_kernel(&r, k, err);
}

static inline void build_well(struct build_request r, struct kernel *k, struct strbuf *told)
{
	cleanup_error struct error err = ERROR_INIT;

	if (build_as(r, k, told, &err) != 0)
		fail_msg("%s", err.text);
}

static inline void build_badly(struct build_request r, int status, const char *what)
{
	cleanup_error struct error err = ERROR_INIT;
	cleanup_strbuf struct strbuf told = STRBUF_INIT;
	struct kernel k;

	assert_int_equal(build_as(r, &k, &told, &err), -1);
	assert_int_equal(err.status, status);
	if (!strstr(err.text, what))
		fail_msg("\"%s\" does not say \"%s\"", err.text, what);
	assert_null(k.name);
}

static inline size_t count_kernels(void)
{
	struct kernel *list;
	size_t n;

	assert_int_equal(kernel_list(&list, &n, NULL), 0);
	kernel_list_free(list, n);
	return n;
}

/* Path of the one obj folder; heap, or NULL. */
static inline char *obj_folder(void)
{
	cleanup_dir DIR *d = opendir(fake.source);
	struct dirent *e;

	while ((e = readdir(d)))
		if (str_starts(e->d_name, "obj-"))
			return path_join(fake.source, e->d_name);
	return NULL;
}

#endif
