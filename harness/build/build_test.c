// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whole builds of a kernel that is a Makefile of a few lines. Where its source comes from and how its
 * config is made is the business of others, and is stood in for here.
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

static void hang_at(const char *where)
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

static char *slurp(const char *dir, const char *name)
{
	cleanup_free char *path = path_join(dir, name);

	return file_read(path, 0, NULL, NULL);
}

static bool has(const char *dir, const char *name)
{
	cleanup_free char *path = path_join(dir, name);

	return file_exists(path);
}

/* How often make ran. */
static size_t made(void)
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

static void build_well(struct build_request r, struct kernel *k, struct strbuf *told)
{
	cleanup_error struct error err = ERROR_INIT;

	if (build_as(r, k, told, &err) != 0)
		fail_msg("%s", err.text);
}

static void build_badly(struct build_request r, int status, const char *what)
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

static size_t count_kernels(void)
{
	struct kernel *list;
	size_t n;

	assert_int_equal(kernel_list(&list, &n, NULL), 0);
	kernel_list_free(list, n);
	return n;
}

/* ---- a build ---- */

static void test_build(void **state)
{
	cleanup_free char *config = NULL, *map = NULL;
	struct build_record record;
	struct kernel k, again;

	build_well((struct build_request){ 0 }, &k, NULL);
	assert_string_equal(k.name, "7.3.4-mmrig");
	assert_string_equal(k.release, TEST_RELEASE);
	assert_string_equal(k.provenance,
			    "built of linux-source-7.3 7.3.4-1~bpo13+1, config base");
	assert_null(k.package_version); /* or it would pass for Debian's own kernel */
	assert_null(k.modules);
	config = file_read(k.config, 0, NULL, NULL);
	assert_string_equal(config, "CONFIG_A=y\n");
	assert_true(file_exists(k.system_map));
	assert_string_equal(fake.kept, "7.3.4-mmrig aaaa\n");
	assert_int_equal(build_record_load(&k, &record, NULL), 1);
	assert_string_equal(record.source_id, "fake");
	assert_string_equal(record.object, "aaaa");
	assert_string_equal(record.config[0], "base");
	assert_null(record.config[1]);
	assert_null(record.patch[0]);
	assert_null(record.commit);
	assert_null(record.changes);
	assert_true(str_starts(record.key, "sha256:"));
	build_record_free(&record);
	assert_int_equal(kernel_resolve("7.3.4-mmrig", &again, NULL), 0);
	assert_string_equal(again.image, k.image);
	kernel_free(&k);
	kernel_free(&again);
}

/* What a user's shell sets for builds of his own must not reach ours. */
static void test_environment(void **state)
{
	static const char *const evil[] = { "MAKEFLAGS", "KBUILD_BUILD_USER", "CC",
					    "O",	 "LOCALVERSION",      "KCFLAGS",
					    "ARCH",	 "CCACHE_DISABLE",    "SOURCE_DATE_EPOCH" };
	cleanup_free char *env = NULL, *variables = NULL, *ccache = NULL, *temporary = NULL;
	struct kernel k;

	for (size_t i = 0; i < ARRAY_SIZE(evil); i++)
		setenv(evil[i], i ? "evil" : "-n", 1);
	build_well((struct build_request){ .align = true }, &k, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(evil); i++)
		unsetenv(evil[i]);
	env = slurp(fake.source, "env");
	variables = slurp(fake.source, "variables");
	assert_null(strstr(env, "evil"));
	assert_null(strstr(variables, "evil"));
	assert_non_null(strstr(variables, "gcc|x86|-falign-functions=64|-ffile-prefix-map="));
	assert_non_null(strstr(variables, "||mmrig|1\n"));
	ccache = str_printf("CCACHE_DIR=%s/ccache\n", fake.cache);
	assert_non_null(strstr(env, ccache));
	temporary = str_printf("CCACHE_TEMPDIR=%s/ccache/tmp\n", fake.cache);
	assert_non_null(strstr(env, temporary));
	assert_string_equal(k.name, "7.3.4-mmrig-align");
	kernel_free(&k);
}

static void test_same_is_instant(void **state)
{
	cleanup_strbuf struct strbuf told = STRBUF_INIT;
	struct kernel k;

	build_well((struct build_request){ 0 }, &k, NULL);
	kernel_free(&k);
	put_makefile("bzImage:\n\tfalse\n");
	build_well((struct build_request){ 0 }, &k, &told);
	assert_string_equal(k.name, "7.3.4-mmrig");
	assert_non_null(strstr(told.data, "built before, as 7.3.4-mmrig\n"));
	assert_int_equal(made(), 1);
	kernel_free(&k);
	build_badly((struct build_request){ .align = true }, EXIT_NO_VERDICT, "the build failed");
	build_badly((struct build_request){ .config = (char *[]){ (char *)"kasan", NULL } },
		    EXIT_NO_VERDICT, "the build failed");
}

/* A second entry, as whole as the first. */
static void test_another_name(void **state)
{
	struct build_record first, second;
	struct kernel a, b;

	build_well((struct build_request){ 0 }, &a, NULL);
	build_well((struct build_request){ .name = "mine" }, &b, NULL);
	assert_string_equal(b.name, "mine");
	assert_int_equal(made(), 1);
	assert_string_equal(a.image_hash, b.image_hash);
	assert_string_not_equal(a.image, b.image);
	assert_int_equal(build_record_load(&a, &first, NULL), 1);
	kernel_free(&b);
	assert_int_equal(kernel_resolve("mine", &b, NULL), 0);
	assert_int_equal(build_record_load(&b, &second, NULL), 1);
	assert_string_equal(first.key, second.key);
	assert_string_equal(fake.kept, "7.3.4-mmrig aaaa\nmine aaaa\n");
	build_record_free(&first);
	build_record_free(&second);
	kernel_free(&b);
	/* Of two that are the same, the one that was named. */
	build_well((struct build_request){ .name = "mine" }, &b, NULL);
	assert_string_equal(b.name, "mine");
	assert_int_equal(count_kernels(), 2);
	kernel_free(&a);
	kernel_free(&b);
}

static void test_name_taken(void **state)
{
	struct kernel k;

	build_well((struct build_request){ .name = "7.3.4-mmrig-align" }, &k, NULL);
	kernel_free(&k);
	build_badly((struct build_request){ .name = "7.3.4-mmrig-align", .align = true }, EXIT_USAGE,
		    "taken in the cache by another kernel; choose another, or remove it (mmrig kernel rm "
		    "7.3.4-mmrig-align)");
	build_badly((struct build_request){ .name = "../x" }, EXIT_USAGE, "not a name for a kernel");
	build_well((struct build_request){ .align = true }, &k, NULL);
	assert_true(str_starts(k.name, "7.3.4-mmrig-align-"));
	assert_int_equal(strlen(k.name), strlen("7.3.4-mmrig-align-") + 8);
	kernel_free(&k);
}

static void test_patches_and_fragments(void **state)
{
	cleanup_free char *one = path_join(fake.dir, "one.patch"), *own = path_join(fake.dir, "my.config");
	cleanup_free char *two = path_join(fake.dir, "two, $(x) <b>.patch"), *hash = hash_bytes("1", 1);
	cleanup_free char *want = str_printf("one.patch %s", hash);
	char *patches[] = { one, two, NULL }, *config[] = { (char *)"kasan", own, NULL };
	struct build_record record;
	struct kernel plain, k;

	put(fake.dir, "one.patch", "1", 1);
	put(fake.dir, "two, $(x) <b>.patch", "2", 1);
	put(fake.dir, "my.config", "CONFIG_A=y\n", 11);
	build_well((struct build_request){ 0 }, &plain, NULL);
	build_well((struct build_request){ .patch = patches, .config = config }, &k, NULL);
	assert_string_equal(k.name, "7.3.4-mmrig-one-twoxb-kasan-my");
	assert_string_equal(k.provenance,
			    "built of linux-source-7.3 7.3.4-1~bpo13+1, patch one.patch + two, $(x) "
			    "<b>.patch, config base+kasan+my.config");
	assert_int_equal(build_record_load(&k, &record, NULL), 1);
	assert_string_equal(record.patch[0], want);
	assert_string_equal(record.object, "aaaa+one.patch+two, $(x) <b>.patch");
	assert_string_equal(record.base, "aaaa");
	assert_string_equal(record.config[1], "kasan");
	assert_true(str_starts(record.config[2], "my.config sha256:"));
	build_record_free(&record);
	assert_int_equal(made(), 2);
	kernel_free(&k);
	kernel_free(&plain);
	/* The same patches in the other order are another source. */
	patches[0] = two;
	patches[1] = one;
	build_well((struct build_request){ .patch = patches, .config = config }, &k, NULL);
	assert_int_equal(made(), 3);
	kernel_free(&k);
}

static void test_local_changes(void **state)
{
	cleanup_strbuf struct strbuf told = STRBUF_INIT;
	cleanup_free char *changes = NULL;
	struct build_record record;
	struct kernel k;

	fake.dirty = true;
	build_well((struct build_request){ .tree = "/x" }, &k, &told);
	assert_string_equal(k.name, "7.3.4-g0123456789ab-dirty-mmrig");
	assert_non_null(strstr(told.data, "warning: built as it stands: 2 files differ from the commit"));
	assert_int_equal(build_record_load(&k, &record, NULL), 1);
	assert_string_equal(record.commit, COMMIT);
	changes = file_read(record.changes, 0, NULL, NULL);
	assert_true(str_starts(changes, "diff --git a/x b/x\n"));
	build_record_free(&record);
	kernel_free(&k);
}

static void test_modules(void **state)
{
	cleanup_free char *link = NULL;
	struct stat st;
	struct kernel k;

	fake.config = "CONFIG_A=y\nCONFIG_B=m\n";
	put_makefile(MAKE_IMAGE "modules: bzImage\nM = $(INSTALL_MOD_PATH)/lib/modules/" TEST_RELEASE "\n"
				"modules_install:\n\t@mkdir -p $(M)\n\t@touch $(M)/modules.order\n"
				"\t@touch $(M)/modules.builtin\n\t@ln -s $(O) $(M)/build\n"
				"\t@echo '  INSTALL x.ko'\n");
	build_well((struct build_request){ 0 }, &k, NULL);
	assert_non_null(k.modules);
	assert_true(has(k.modules, "modules.dep"));
	link = path_join(k.modules, "build");
	assert_int_equal(lstat(link, &st), -1);
	kernel_free(&k);
}

static void test_progress(void **state)
{
	cleanup_strbuf struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	struct kernel k;

	build_well((struct build_request){ 0 }, &k, &first);
	kernel_free(&k);
	assert_non_null(strstr(first.data, "building 7.3.4-mmrig\n"));
	assert_null(strstr(first.data, " 99\n"));
	/* Another obj folder: the count of the first says how far this one is. */
	build_well((struct build_request){ .align = true }, &k, &second);
	kernel_free(&k);
	assert_non_null(strstr(second.data, "building 7.3.4-mmrig-align 0\nbuilding 7.3.4-mmrig-align 50\n"
					    "building 7.3.4-mmrig-align 99\n"));
}

/* ---- refusals ---- */

static void test_bad_requests(void **state)
{
	struct build_request r = { .tree = "/x", .source = "debian:7.3" };
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *blank = path_join(fake.dir, "a b");
	struct kernel k;

	assert_int_equal(build_kernel(&r, &k, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_non_null(strstr(err.text, "both a tree and a source"));
	r.tree = r.source = NULL;
	assert_int_equal(build_kernel(&r, &k, &err), -1);
	assert_non_null(strstr(err.text, "--tree DIR"));
	build_badly((struct build_request){ .rev = "v7.3" }, EXIT_USAGE, "is a revision of a --tree");
	build_badly((struct build_request){ .config = (char *[]){ (char *)"nope", NULL } }, EXIT_USAGE,
		    "no fragment is called nope");
	build_badly((struct build_request){ .cc = "gcc-nope" }, EXIT_USAGE, "no such compiler");
	build_badly((struct build_request){ .patch = (char *[]){ (char *)"/x/stale", NULL } },
		    EXIT_USAGE, "hunk 2 does not apply");
	setenv("XDG_CACHE_HOME", blank, 1);
	build_badly((struct build_request){ 0 }, EXIT_USAGE,
		    "no kernel can be built below a folder with blanks");
	assert_int_equal(made(), 0);
}

/* Said also of a kernel that is there already. */
static void test_config_remark(void **state)
{
	struct kernel k;

	fake.remark = "a.config:1: KSM=y takes the place of \033:2 (n)";
	for (int i = 0; i < 2; i++) {
		cleanup_strbuf struct strbuf told = STRBUF_INIT;

		build_well((struct build_request){ 0 }, &k, &told);
		assert_non_null(strstr(told.data, "warning: a.config:1: KSM=y takes the place of "));
		assert_null(strchr(told.data, '\033'));
		kernel_free(&k);
	}
}

static void test_config_refused(void **state)
{
	struct kernel k;

	fake.refuse = "KSM: wanted y, got n";
	build_badly((struct build_request){ 0 }, EXIT_USAGE, "KSM: wanted y, got n");
	assert_int_equal(made(), 0);
	fake.refuse = NULL;
	build_well((struct build_request){ 0 }, &k, NULL);
	kernel_free(&k);
}

/* ---- failures ---- */

static void test_build_error(void **state)
{
	cleanup_free char *log = NULL, *path = path_join(fake.source, "log-7.3.4-mmrig.txt");
	struct kernel k;

	put_makefile("bzImage:\n\t@echo '  CC      mm/a.o'\n"
		     "\t@echo \"$(CURDIR)/mm/a.c:3:1: error: no such thing\" >&2\n\t@exit 1\n");
	build_badly((struct build_request){ 0 }, EXIT_NO_VERDICT,
		    "7.3.4-mmrig: the build failed:\n      CC      mm/a.o\n"
		    "    mm/a.c:3:1: error: no such thing\n");
	build_badly((struct build_request){ 0 }, EXIT_NO_VERDICT, path);
	log = file_read(path, 0, NULL, NULL);
	assert_non_null(strstr(log, "  CC      mm/a.o\n/tmp/build-test-"));
	assert_int_equal(count_kernels(), 0);
	put_makefile(MAKE_IMAGE);
	build_well((struct build_request){ 0 }, &k, NULL);
	kernel_free(&k);
}

static void test_other_failures(void **state)
{
	put_makefile("bzImage:\n\t@echo 'ld: x: No space left on device'\n\t@exit 1\n");
	build_badly((struct build_request){ 0 }, EXIT_NO_VERDICT, "the disk is full: ");
	put_makefile("bzImage:\n\t@echo 'sh: 1: zstd: not found'; exit 1\n");
	build_badly((struct build_request){ 0 }, EXIT_NO_VERDICT, "zstd: missing; apt-get install zstd");
	put_makefile("bzImage:\n\t@kill -9 $$PPID\n");
	build_badly((struct build_request){ 0 }, EXIT_NO_VERDICT, "make was killed by signal 9");
	/* An image that is none is not taken for a kernel, nor is a missing one. */
	put_makefile("bzImage:\n\t@mkdir -p $(O)/arch/x86/boot\n\t@echo x > $(O)/arch/x86/boot/bzImage\n"
		     "\t@echo x > $(O)/System.map\n");
	build_badly((struct build_request){ 0 }, EXIT_USAGE, "vmlinuz");
	put_makefile("bzImage:\n\t@rm $(O)/arch/x86/boot/bzImage\n");
	build_badly((struct build_request){ 0 }, EXIT_USAGE, "bzImage");
	assert_int_equal(count_kernels(), 0);
}

/* ---- interruptions ---- */

static pid_t start(struct build_request r, const char *tell_file)
{
	pid_t pid = fork();

	if (pid == 0) {
		cleanup_error struct error err = ERROR_INIT;
		cleanup_strbuf struct strbuf told = STRBUF_INIT;
		cleanup_free char *path = path_join(fake.dir, "stderr");
		struct kernel k;
		int ret;

		assert_non_null(freopen(path, "w", stderr));
		ret = build_as(r, &k, &told, &err);
		put(fake.dir, tell_file, told.data, told.len);
		if (ret < 0)
			fprintf(stderr, "mmrig: kernel: %s\n", err.text);
		fflush(stderr);
		_exit(ret == 0 ? 0 : err.status);
	}
	assert_true(pid > 0);
	return pid;
}

static int await_exit(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void await_file(const char *name)
{
	for (int i = 0; i < WAIT_SECONDS * 100 && !has(fake.source, name); i++)
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	assert_true(has(fake.source, name));
}

/* Name of the one obj folder; heap. */
static char *obj_folder(void)
{
	cleanup_dir DIR *d = opendir(fake.source);
	struct dirent *e;

	while ((e = readdir(d)))
		if (str_starts(e->d_name, "obj-"))
			return path_join(fake.source, e->d_name);
	return NULL;
}

#define MAKE_SLOWLY                                                                              \
	"bzImage: $(O)/done.o\n\t@touch $(O)/half.o\n\t@touch $(O)/../ready\n\t@sleep 300\n" \
	"$(O)/done.o:\n\t@touch $@\n.DELETE_ON_ERROR:\n"

/* The objects that are whole stay; nothing of it is a kernel. */
static void test_interrupt(void **state)
{
	cleanup_free char *obj = NULL;
	struct kernel k;
	pid_t pid;

	put_makefile(MAKE_SLOWLY);
	pid = start((struct build_request){ 0 }, "told");
	await_file("ready");
	kill(pid, SIGINT);
	assert_int_equal(await_exit(pid), EXIT_INTERRUPTED);
	obj = obj_folder();
	assert_true(has(obj, "done.o"));
	assert_false(has(obj, ".mmrig-unfinished"));
	assert_int_equal(count_kernels(), 0);
	put_makefile(MAKE_IMAGE);
	build_well((struct build_request){ 0 }, &k, NULL);
	assert_true(has(obj, "done.o"));
	kernel_free(&k);
}

/* Wherever it is at the time, and however often; of a helper as of a whole make. */
static void test_interrupt_is_told_once(void **state)
{
	static const struct {
		const char *where, *next;
	} cases[] = { { "source", "begins anew" },
		      { "checkout", "goes on where it stopped" },
		      { "config", "goes on where it stopped" },
		      { NULL, "goes on where it stopped" } };
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGINT };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *want = str_printf("mmrig: kernel: interrupted; the same command %s\n",
						     cases[i].next);
		cleanup_free char *said = NULL, *ready = path_join(fake.source, "ready");
		pid_t pid;

		fake.hang = cases[i].where;
		put_makefile(MAKE_SLOWLY);
		pid = start((struct build_request){ 0 }, "told");
		await_file("ready");
		kill(pid, sigs[i]);
		kill(pid, sigs[i]);
		assert_int_equal(await_exit(pid), EXIT_INTERRUPTED);
		said = slurp(fake.dir, "stderr");
		assert_string_equal(said, want);
		unlink(ready);
	}
	fake.hang = NULL;
}

/* nohup: what is ignored is ignored here too; and afterwards all is as it was. */
static void test_ignored_signals_stay_so(void **state)
{
	struct sigaction now;
	struct kernel k;
	pid_t pid;

	fake.hang = "config";
	signal(SIGHUP, SIG_IGN);
	pid = start((struct build_request){ 0 }, "told");
	signal(SIGHUP, SIG_DFL);
	await_file("ready");
	kill(pid, SIGHUP);
	nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	kill(pid, SIGTERM);
	assert_int_equal(await_exit(pid), EXIT_INTERRUPTED);
	fake.hang = NULL;
	build_well((struct build_request){ 0 }, &k, NULL);
	kernel_free(&k);
	assert_int_equal(sigaction(SIGINT, NULL, &now), 0);
	assert_ptr_equal(now.sa_handler, SIG_DFL);
}

/* No time to tidy up: what was written since the start cannot be trusted. */
static void test_kill(void **state)
{
	cleanup_free char *obj = NULL;
	struct kernel k;
	pid_t pid;

	put_makefile(MAKE_SLOWLY);
	pid = start((struct build_request){ 0 }, "told");
	await_file("ready");
	kill(pid, SIGKILL);
	assert_int_equal(await_exit(pid), 128 + SIGKILL);
	obj = obj_folder();
	assert_true(has(obj, ".mmrig-unfinished"));
	assert_true(has(obj, "half.o"));
	put_makefile(MAKE_IMAGE);
	build_well((struct build_request){ 0 }, &k, NULL);
	assert_false(has(obj, "half.o"));
	assert_false(has(obj, ".mmrig-unfinished"));
	kernel_free(&k);
}

static void test_two_at_once(void **state)
{
	cleanup_free char *told = NULL, *ready = path_join(fake.source, "ready");
	pid_t first, second;

	put_makefile(MAKE_IMAGE "\t@touch $(O)/../ready; while [ -e $(O)/../ready ]; do sleep 0.02; done\n");
	first = start((struct build_request){ 0 }, "told-first");
	await_file("ready");
	second = start((struct build_request){ 0 }, "told");
	await_file("waiting");
	unlink(ready);
	assert_int_equal(await_exit(first), 0);
	assert_int_equal(await_exit(second), 0);
	told = slurp(fake.dir, "told");
	assert_non_null(strstr(told, "waiting for another build\nbuilt before, as 7.3.4-mmrig\n"));
	assert_int_equal(made(), 1);
	assert_int_equal(count_kernels(), 1);
}

/* ---- what it leaves behind ---- */

static void test_sources_are_removed(void **state)
{
	cleanup_free char *lock = path_join(fake.source, ".lock"), *root = path_join(fake.cache, "sources");
	cleanup_error struct error err = ERROR_INIT;
	struct kernel k;
	int fd;

	build_well((struct build_request){ 0 }, &k, NULL);
	assert_true(build_sources_bytes() >= 4096);
	fd = open(lock, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(build_sources_remove(&err), -1);
	assert_non_null(strstr(err.text, "a build is at work on it"));
	assert_true(has(fake.source, "src"));
	close(fd);
	assert_int_equal(build_sources_remove(&err), 0);
	assert_false(has(root, "fake"));
	assert_true(file_exists(k.image));
	assert_int_equal(build_sources_remove(&err), 0);
	kernel_free(&k);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_build),	   TEST(test_environment),
		TEST(test_same_is_instant), TEST(test_another_name),
		TEST(test_name_taken),	    TEST(test_patches_and_fragments),
		TEST(test_local_changes),   TEST(test_modules),
		TEST(test_progress),	    TEST(test_bad_requests),
		TEST(test_config_remark),   TEST(test_config_refused),
		TEST(test_build_error),
		TEST(test_other_failures),  TEST(test_interrupt),
		TEST(test_interrupt_is_told_once), TEST(test_ignored_signals_stay_so),
		TEST(test_kill),	    TEST(test_two_at_once),
		TEST(test_sources_are_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
