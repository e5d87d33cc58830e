// SPDX-License-Identifier: GPL-2.0-only
/* The kernels of a plan without building any: the .c is included, and what it calls is defined here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define build_kernel fake_build_kernel
#define build_record_load fake_record_load
#define build_record_free fake_record_free
#define kconfig_find fake_kconfig_find
#define source_diff fake_source_diff
#define kernel_resolve_with fake_resolve
#include "harness/cmd/plan_kernels.c"
#undef kernel_resolve_with

#define MINIMAL "name: m\nworkload: {tmpfs-files: {files: 7}}\nvary: {x: [0, 4]}\n"
#define USES "sysctl: {workload: {vm.x: x}}\n"

static struct {
	char *dir;
	struct strbuf log;     /* "build debian:7.3 name, resolve x, " */
	const char *changes;   /* path of local changes that a build says it had */
	const char *image;     /* hash of every image; NULL: one each */
	const char *no_source; /* why the source's objects cannot be had */
	bool fails, edit;      /* a build; it changes b.patch while it builds */
	int made;
} world;

static void make_kernel(struct kernel *k, const char *name)
{
	*k = (struct kernel){ .name = xstrdup(name), .disk_bytes = 1 };
	k->image_hash = world.image ? xstrdup(world.image) : str_printf("sha256:%d", world.made++);
	k->config = path_join(world.dir, "config");
}

static void write_file(const char *name, const char *text)
{
	cleanup_free char *path = path_join(world.dir, name);

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

int fake_build_kernel(const struct build_request *r, struct kernel *k, struct error *err)
{
	strbuf_addf(&world.log, "build %s", r->source ? r->source : r->tree);
	for (char *const *p = r->patch; *p; p++)
		strbuf_addf(&world.log, " %s", strrchr(*p, '/') + 1);
	for (char *const *c = r->config; *c; c++)
		strbuf_addf(&world.log, " +%s", *c);
	strbuf_adds(&world.log, ", ");
	assert_null(r->name); /* content names it, so that an edited patch is no conflict */
	if (r->progress)
		r->progress(r->progress_arg, "compiling", 50);
	if (world.fails)
		return error_set(err, EXIT_NO_VERDICT, "the build failed");
	if (world.edit)
		write_file("b.patch", "another\n");
	make_kernel(k, "built-1234");
	return 0;
}

int fake_resolve(const char *spec, const struct kernel_fetch_options *o, struct kernel *k,
		 struct error *err)
{
	strbuf_addf(&world.log, "resolve %s, ", spec);
	if (strstr(spec, "nosuch"))
		return error_set(err, EXIT_USAGE, "%s: neither a file nor a kernel of the cache", spec);
	make_kernel(k, str_starts(spec, "debian:") ? spec + strlen("debian:") : spec);
	return 0;
}

static char **one_text(const char *text)
{
	char **list = xcalloc(2, sizeof(*list));

	list[0] = xstrdup(text);
	return list;
}

/* Built by mmrig are all whose name says so, and those of the list. */
int fake_record_load(const struct kernel *k, struct build_record *b, struct error *err)
{
	cleanup_free char *hash = hash_bytes("diff b\n", 7), *line = str_printf("b.patch %s", hash);

	if (k->name[0] >= '0' && k->name[0] <= '9')
		return 0;
	*b = (struct build_record){ .source_id = xstrdup("id"),
				    .base = xstrdup("1"),
				    .object = xstrdup("2"),
				    .patch = one_text(line),
				    .changes = world.changes ? xstrdup(world.changes) : NULL };
	return 1;
}

void fake_record_free(struct build_record *b)
{
	free(b->source_id);
	free(b->base);
	free(b->object);
	free(b->changes);
	free(b->patch[0]);
	free(b->patch);
}

char *fake_kconfig_find(const char *name, struct error *err)
{
	if (strcmp(name, "kasam") != 0)
		return xstrdup(name);
	error_set(err, EXIT_USAGE, "kasam: no such fragment");
	return NULL;
}

char *fake_source_diff(const char *id, const char *from, const char *to, bool stat,
		       struct error *err)
{
	assert_string_equal(id, "id");
	assert_string_equal(from, "1");
	assert_string_equal(to, "2");
	assert_false(stat);
	if (!world.no_source)
		return xstrdup("diff of objects\n");
	error_set(err, EXIT_NO_VERDICT, "%s", world.no_source);
	return NULL;
}

static int setup(void **state)
{
	char name[] = "/tmp/mmrig plan,test XXXXXX";

	memset(&world, 0, sizeof(world));
	if (!mkdtemp(name))
		return -1;
	world.dir = xstrdup(name);
	write_file("b.patch", "diff b\n");
	write_file("config", "CONFIG_X=y\n");
	write_file("changes", "local\n");
	return 0;
}

static int teardown(void **state)
{
	int ret = dir_remove(world.dir, NULL);

	free(world.dir);
	strbuf_free(&world.log);
	return ret;
}

static void expand(const char *more, struct scenario_plan *plan)
{
	cleanup_free char *label = path_join(world.dir, "f.yaml"),
			  *text = str_printf("%s%s" USES, MINIMAL, more);
	cleanup_error struct error err = ERROR_INIT;
	struct scenario *s;

	if (scenario_parse(label, text, strlen(text), &s, &err) < 0 ||
	    scenario_expand(s, 0, plan, &err) < 0)
		fail_msg("%s", err.text);
	scenario_free(s);
}

/* given: names of --kernel, with commas between, or NULL. */
static int get_kernels(const char *more, const char *given, struct plan_kernels *pk,
		       struct error *err)
{
	struct scenario_plan plan;
	cleanup_free char *words = given ? xstrdup(given) : NULL;
	struct opt_list list = { 0 };
	const char *item[20];
	int ret;

	for (char *w = words ? strtok(words, ",") : NULL; w; w = strtok(NULL, ","))
		item[list.n++] = w;
	list.item = item;
	expand(more, &plan);
	ret = plan_kernels_get(&list, &plan, NULL, pk, err);
	scenario_plan_free(&plan);
	return ret;
}

static void good(const char *more, const char *given, struct plan_kernels *pk, const char *log)
{
	cleanup_error struct error err = ERROR_INIT;

	if (get_kernels(more, given, pk, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(world.log.data, log);
}

static void bad(const char *more, const char *given, int status, const char *want, const char *log)
{
	cleanup_error struct error err = ERROR_INIT;
	struct plan_kernels pk;

	world.log.len = 0;
	assert_int_equal(get_kernels(more, given, &pk, &err), -1);
	if (!strstr(err.text, want))
		fail_msg("\"%s\" is not in: %s", want, err.text);
	assert_int_equal(err.status, status);
	if (world.log.len)
		assert_string_equal(world.log.data, log);
	else
		assert_string_equal("", log);
	plan_kernels_free(&pk);
}

static void bad_exactly(const char *more, const char *given, const char *want)
{
	cleanup_error struct error err = ERROR_INIT;
	struct plan_kernels pk;

	assert_int_equal(get_kernels(more, given, &pk, &err), -1);
	assert_string_equal(err.text, want);
	plan_kernels_free(&pk);
}

#define LIST \
	"kernels:\n  - debian:7.3\n  - {source: debian:7.3, patch: b.patch, config: kasan, name: patched}\n"

static void test_default(void **state)
{
	struct plan_kernels pk;

	good("", NULL, &pk, "resolve debian:7.3, ");
	assert_int_equal(pk.n, 1);
	assert_int_equal(pk.kept[0].nkept, 0);
	plan_kernels_free(&pk);
}

static void test_list(void **state)
{
	struct plan_kernels pk;

	good(LIST, NULL, &pk, "resolve debian:7.3, build debian:7.3 b.patch +kasan, ");
	assert_int_equal(pk.n, 2);
	assert_string_equal(pk.kernel[0].name, "7.3");
	assert_string_equal(pk.kernel[1].name, "patched"); /* not that of the cache */
	assert_int_equal(pk.kept[0].nkept, 0);
	assert_int_equal(pk.kept[1].nkept, 2);
	assert_string_equal(pk.kept[1].kept[0].name, "b.patch");
	assert_string_equal(pk.kept[1].kept[0].text, "diff b\n");
	assert_string_equal(pk.kept[1].kept[1].name, "config");
	assert_string_equal(pk.kept[1].kept[1].text, "CONFIG_X=y\n");
	for (size_t i = 0; i < 4; i++)
		assert_false(pk.left_out[i]);
	plan_kernels_free(&pk);
}

/* The line that repeats a run has a name of the list; others replace the list, as ever. */
static void test_given(void **state)
{
	struct plan_kernels pk;

	good(LIST, "patched,x", &pk, "build debian:7.3 b.patch +kasan, resolve x, ");
	assert_string_equal(pk.kernel[0].name, "patched");
	assert_int_equal(pk.kept[0].nkept, 2);
	plan_kernels_free(&pk);
	world.log.len = 0;
	good(LIST, "debian:7.3", &pk, "resolve debian:7.3, ");
	plan_kernels_free(&pk);
	bad(LIST, "patched,patched", EXIT_USAGE, "--kernel patched: the same kernel twice",
	    "build debian:7.3 b.patch +kasan, build debian:7.3 b.patch +kasan, ");
	bad(LIST, "nosuch", EXIT_USAGE,
	    "nosuch: neither a file nor a kernel of the cache; scenario m has debian:7.3, patched",
	    "resolve nosuch, ");
	bad_exactly("", "nosuch", "nosuch: neither a file nor a kernel of the cache");
	bad_exactly(LIST, "/nosuch", "/nosuch: neither a file nor a kernel of the cache");
	world.log.len = 0;
	bad(LIST, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", EXIT_USAGE,
	    "17 kernels; at most 16 in one run set", "");
}

static void test_leave_out(void **state)
{
	struct plan_kernels pk;

	good(LIST "leave_out: [{kernel: patched, x: 0}]\n", NULL, &pk,
	     "resolve debian:7.3, build debian:7.3 b.patch +kasan, ");
	assert_false(pk.left_out[0] || pk.left_out[1] || pk.left_out[3]);
	assert_true(pk.left_out[2]);
	plan_kernels_free(&pk);
	/* By its name it is the same kernel; one that is not of the list is none of it. */
	world.log.len = 0;
	good(LIST "leave_out: [{kernel: patched, x: 0}]\n", "y,patched", &pk,
	     "resolve y, build debian:7.3 b.patch +kasan, ");
	assert_true(!pk.left_out[0] && !pk.left_out[1] && pk.left_out[2] && !pk.left_out[3]);
	plan_kernels_free(&pk);
	/* A kernel without a cell is not built, and the rows of the others move up. */
	world.log.len = 0;
	good("kernels:\n  - {source: debian:7.3, patch: b.patch}\n  - debian:7.3\n"
	     "leave_out: [{kernel: 7.3-b}, {kernel: debian:7.3, x: 4}]\n",
	     NULL, &pk, "resolve debian:7.3, ");
	assert_int_equal(pk.n, 1);
	assert_true(!pk.left_out[0] && pk.left_out[1]);
	plan_kernels_free(&pk);
	bad(LIST "leave_out: [{x: [0, 4]}]\n", NULL, EXIT_USAGE,
	    "m: its leave_out leaves no cell to run", "");
}

/* Before the first of them is built; and with the place, whatever goes wrong. */
static void test_bad(void **state)
{
	bad("kernels: [debian:7.3, {source: debian:7.3, config: kasam}]\n", NULL, EXIT_USAGE,
	    "f.yaml:4:23: kasam: no such fragment", "");
	world.fails = true;
	bad(LIST, NULL, EXIT_NO_VERDICT, "f.yaml:6:5: kernel patched: the build failed",
	    "resolve debian:7.3, build debian:7.3 b.patch +kasan, ");
	world.fails = false;
	world.edit = true;
	bad(LIST, "patched", EXIT_USAGE,
	    "b.patch: changed while a kernel was built of it; start again",
	    "build debian:7.3 b.patch +kasan, ");
	world.edit = false;
	bad("kernels: [debian:7.3, 7.3]\n", NULL, EXIT_USAGE, "f.yaml:4:23: the same kernel twice",
	    "resolve debian:7.3, resolve 7.3, ");
}

/* Built earlier and named by its name: the patch files may be gone, the difference is not. */
static void test_built_earlier(void **state)
{
	cleanup_free char *changes = path_join(world.dir, "changes");
	struct plan_kernels pk;

	world.changes = changes;
	good("", "mine", &pk, "resolve mine, ");
	assert_int_equal(pk.kept[0].nkept, 3);
	assert_string_equal(pk.kept[0].kept[0].name, "patches.diff");
	assert_string_equal(pk.kept[0].kept[0].text, "diff of objects\n");
	assert_string_equal(pk.kept[0].kept[1].name, "changes.patch");
	assert_string_equal(pk.kept[0].kept[1].text, "local\n");
	plan_kernels_free(&pk);
	/* Its source may have been removed: the runs are made all the same. */
	world.log.len = 0;
	world.no_source = "its objects are gone";
	good("", "mine", &pk, "resolve mine, ");
	assert_int_equal(pk.kept[0].nkept, 2);
	plan_kernels_free(&pk);
	unlink(changes);
	bad("", "mine", EXIT_USAGE, "what a kernel was built of is kept with its runs",
	    "resolve mine, ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_default, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list, setup, teardown),
		cmocka_unit_test_setup_teardown(test_given, setup, teardown),
		cmocka_unit_test_setup_teardown(test_leave_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad, setup, teardown),
		cmocka_unit_test_setup_teardown(test_built_earlier, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
