// SPDX-License-Identifier: GPL-2.0-only
/* What a build makes, and what it refuses. */
#include "harness/build/build_fixture.h"

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
	cleanup_free char *patch = path_join(fake.dir, "x.patch"), *obj = NULL;
	struct kernel k;

	put(fake.dir, "x.patch", "x", 1);
	fake.refuse = "KSM: wanted y, got n";
	build_badly((struct build_request){ 0 }, EXIT_USAGE, "KSM: wanted y, got n");
	assert_int_equal(made(), 0);
	assert_null(obj_folder());
	fake.refuse = NULL;
	build_well((struct build_request){ 0 }, &k, NULL);
	kernel_free(&k);
	/* Objects that were there before are not thrown away. */
	fake.refuse = "KSM: wanted y, got n";
	build_badly((struct build_request){ .patch = (char *[]){ patch, NULL } }, EXIT_USAGE,
		    "KSM: wanted y, got n");
	obj = obj_folder();
	assert_true(has(obj, ".config"));
	assert_false(has(obj, ".mmrig-unfinished"));
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

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_build),
		TEST(test_environment),
		TEST(test_same_is_instant),
		TEST(test_another_name),
		TEST(test_name_taken),
		TEST(test_patches_and_fragments),
		TEST(test_local_changes),
		TEST(test_modules),
		TEST(test_progress),
		TEST(test_bad_requests),
		TEST(test_config_remark),
		TEST(test_config_refused),
		TEST(test_build_error),
		TEST(test_other_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
