// SPDX-License-Identifier: GPL-2.0-only
/* Builds that are interrupted or meet each other, and what is left behind. */
#include "harness/build/build_fixture.h"

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

/* How many obj folders and logs there are. */
static size_t count_left(const char *start)
{
	cleanup_dir DIR *d = opendir(fake.source);
	struct dirent *e;
	size_t n = 0;

	while ((e = readdir(d)))
		n += str_starts(e->d_name, start);
	return n;
}

static void take_record(const char *name, struct build_record *b)
{
	struct kernel k;

	assert_int_equal(kernel_resolve(name, &k, NULL), 0);
	assert_int_equal(build_record_load(&k, b, NULL), 1);
	kernel_free(&k);
}

/* As one that was written before records said which objects they are of. */
static void forget_objects(const char *name)
{
	cleanup_free char *path = str_printf("%s/kernels/%s/kernel.json", fake.cache, name);
	json_t *o = json_load_file(path, 0, NULL);

	assert_int_equal(json_object_del(json_object_get(o, "build"), "obj"), 0);
	assert_int_equal(json_dump_file(o, path, 0), 0);
	json_decref(o);
}

static void test_objects_are_shared(void **state)
{
	struct build_request patched = { 0 };
	cleanup_free char *patch = path_join(fake.dir, "fix.patch");
	cleanup_free char *lock = path_join(fake.source, ".lock");
	cleanup_error struct error err = ERROR_INIT;
	struct build_objects o;
	struct build_record b;
	struct kernel k;
	int fd;

	put(fake.dir, "fix.patch", "x", 1);
	patched.patch = (char *[]){ patch, NULL };
	build_well((struct build_request){ 0 }, &k, NULL);
	kernel_free(&k);
	build_well(patched, &k, NULL);
	kernel_free(&k);
	assert_int_equal(count_left("obj-"), 1);
	assert_int_equal(count_left("log-"), 2);
	take_record("7.3.4-mmrig", &b);
	assert_int_equal(kernel_remove("7.3.4-mmrig", NULL), 0);
	build_log_remove(&b, "7.3.4-mmrig");
	assert_int_equal(count_left("log-"), 1);
	build_objects_find(&b, &o);
	assert_string_equal(o.user, "7.3.4-mmrig-fix");
	assert_true(o.bytes >= TEST_BZIMAGE_BYTES);
	build_objects_free(&o);
	/* Of one whose record does not say it, its config may do. */
	forget_objects("7.3.4-mmrig-fix");
	build_objects_find(&b, &o);
	assert_string_equal(o.user, "7.3.4-mmrig-fix");
	build_objects_free(&o);
	assert_int_equal(kernel_remove("7.3.4-mmrig-fix", NULL), 0);
	build_objects_find(&b, &o);
	assert_null(o.user);
	build_objects_free(&o);
	fd = open(lock, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(build_objects_remove(&b, &err), -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	assert_int_equal(count_left("obj-"), 1);
	close(fd);
	assert_int_equal(build_objects_remove(&b, NULL), 0);
	assert_int_equal(count_left("obj-"), 0);
	assert_int_equal(count_left(".rm-"), 0);
	assert_int_equal(build_objects_remove(&b, NULL), 0);
	build_objects_find(&b, &o);
	assert_int_equal(o.bytes, 0);
	build_record_free(&b);
}

/* A record comes from a file: a folder that it names is one of ours, or none. */
static void test_objects_of_a_bad_record(void **state)
{
	struct build_record b = { .source_id = (char *)"fake", .obj = (char *)"../../x" };
	struct build_objects o;

	build_objects_find(&b, &o);
	assert_int_equal(o.bytes, 0);
	b.obj = (char *)"src";
	assert_int_equal(build_objects_remove(&b, NULL), 0);
	assert_true(has(fake.source, "src"));
	b = (struct build_record){ .source_id = (char *)"..", .obj = (char *)"obj-1" };
	assert_int_equal(build_objects_remove(&b, NULL), 0);
	b.source_id = (char *)"gone";
	build_log_remove(&b, "x");
}

static void test_unused_objects_are_pruned(void **state)
{
	cleanup_free char *lock = path_join(fake.source, ".lock");
	cleanup_error struct error err = ERROR_INIT;
	uint64_t bytes;
	struct kernel k;
	int fd;

	build_well((struct build_request){ 0 }, &k, NULL);
	kernel_free(&k);
	put_makefile("bzImage:\n\t@head -c 8192 /dev/zero > $(O)/half.o; exit 1\n");
	build_badly((struct build_request){ .align = true }, EXIT_NO_VERDICT, "the build failed");
	assert_int_equal(count_left("obj-"), 2);
	assert_int_equal(count_left("log-"), 2);
	fd = open(lock, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(build_objects_prune(&bytes, &err), -1);
	assert_non_null(strstr(err.text, "a build is at work on it; its objects stay"));
	assert_int_equal(count_left("obj-"), 2);
	close(fd);
	assert_int_equal(build_objects_prune(&bytes, NULL), 0);
	assert_true(bytes >= 8192 && bytes < 65536);
	assert_int_equal(count_left("obj-"), 1);
	assert_int_equal(count_left("log-"), 1);
	assert_true(has(fake.source, "log-7.3.4-mmrig.txt"));
	assert_true(has(fake.source, "src"));
	/* The kernel without its record's word is still known by its config. */
	forget_objects("7.3.4-mmrig");
	assert_int_equal(build_objects_prune(&bytes, NULL), 0);
	assert_int_equal(bytes, 0);
	assert_int_equal(count_left("obj-"), 1);
	assert_int_equal(kernel_remove("7.3.4-mmrig", NULL), 0);
	assert_int_equal(build_objects_prune(&bytes, NULL), 0);
	assert_int_equal(count_left("obj-") + count_left("log-"), 0);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_interrupt),
		TEST(test_interrupt_is_told_once),
		TEST(test_ignored_signals_stay_so),
		TEST(test_kill),
		TEST(test_two_at_once),
		TEST(test_sources_are_removed),
		TEST(test_objects_are_shared),
		TEST(test_objects_of_a_bad_record),
		TEST(test_unused_objects_are_pruned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
