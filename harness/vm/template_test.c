// SPDX-License-Identifier: GPL-2.0-only
/* Templates as memory, and saving and restoring against ci/fake-qemu. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness/vm/template.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static char *top, *fake;

static int make_top(void **state)
{
	const char *tmp = getenv("TMPDIR");
	uv_loop_t first; /* libuv opens something for all loops to come */

	assert_int_equal(uv_loop_init(&first), 0);
	assert_int_equal(uv_loop_close(&first), 0);
	top = str_printf("%s/mmrig-template-test-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(top));
	setenv("XDG_CACHE_HOME", top, 1);
	fake = data_path("ci/fake-qemu", NULL);
	assert_non_null(fake);
	return 0;
}

static int remove_top(void **state)
{
	assert_int_equal(dir_remove(top, NULL), 0);
	free(top);
	free(fake);
	return 0;
}

static size_t count_fds(void)
{
	cleanup_dir DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(d))
		n++;
	return n;
}

/* ---- memory ---- */

static off_t size_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

static void memory_is_a_file_a_node(void **state)
{
	static const struct vm_node node[] = { { 3 << 20, 1 }, { 0, 2 }, { 1 << 20, 0 } };
	cleanup_error struct error err = ERROR_INIT;
	size_t before = count_fds();
	struct vm_template *t = vm_template_new(4 << 20, node, 3, &err);
	const int *fd;

	assert_non_null(t);
	assert_int_equal(template_memory_fds(t, &fd), 3);
	assert_int_equal(size_of(fd[0]), 3 << 20);
	assert_int_equal(size_of(fd[1]), 0);
	assert_int_equal(size_of(fd[2]), 1 << 20);
	assert_int_equal(count_fds(), before + 4);
	vm_template_free(t);
	t = vm_template_new(5 << 20, NULL, 0, &err);
	assert_int_equal(template_memory_fds(t, &fd), 1);
	assert_int_equal(size_of(fd[0]), 5 << 20);
	vm_template_free(t);
	vm_template_free(NULL);
	assert_int_equal(count_fds(), before);
}

static void impossible_memory_is_refused(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	size_t before = count_fds();

	assert_null(vm_template_new(UINT64_MAX, NULL, 0, &err));
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	assert_string_equal(err.text, "template: cannot create its memory: Invalid argument");
	assert_int_equal(count_fds(), before);
}

/* Only what was touched counts. */
static void holds_what_was_written(void **state)
{
	struct vm_template *t = vm_template_new(1 << 30, NULL, 0, NULL);
	cleanup_close int state_fd = -1;
	char page[4096] = "x";
	const int *fd;

	assert_int_equal(vm_template_bytes(t), 0);
	template_memory_fds(t, &fd);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pwrite(fd[0], page, 4096, (off_t)i << 28), 4096);
	assert_int_equal(vm_template_bytes(t), 3 * 4096);
	state_fd = template_state_fd(t, false, NULL);
	assert_int_equal(write(state_fd, page, 4096), 4096);
	assert_int_equal(write(state_fd, page, 1), 1);
	assert_int_equal(vm_template_bytes(t), 5 * 4096);
	vm_template_free(t);
}

/* Each reader begins at the start, whatever others have read; a writer begins anew. */
static void state_is_read_from_its_start(void **state)
{
	struct vm_template *t = vm_template_new(4096, NULL, 0, NULL);
	char got[16];
	int fd = template_state_fd(t, false, NULL), other;

	assert_int_equal(write(fd, "device state", 12), 12);
	close(fd);
	fd = template_state_fd(t, true, NULL);
	other = template_state_fd(t, true, NULL);
	assert_int_equal(read(fd, got, sizeof(got)), 12);
	assert_memory_equal(got, "device state", 12);
	assert_int_equal(read(other, got, sizeof(got)), 12);
	assert_int_equal(write(other, "x", 1), -1);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	close(other);
	fd = template_state_fd(t, false, NULL);
	assert_int_equal(size_of(fd), 0);
	close(fd);
	vm_template_free(t);
}

/* ---- save and restore ---- */

struct trial {
	uv_loop_t loop;
	struct vm *vm;
	struct vm_template *template;
	struct strbuf console;
	const char *stop_at; /* SIGKILL once this stands on the console */
	char *why;
	int done, exits;
};

static void on_console(void *arg, const uint8_t *data, size_t len)
{
	struct trial *t = arg;

	strbuf_add(&t->console, data, len);
	if (t->stop_at && strstr(t->console.data, t->stop_at))
		vm_stop(t->vm, 0);
}

static void on_done(void *arg, const char *why)
{
	struct trial *t = arg;

	assert_int_equal(t->exits, 0);
	t->done++;
	t->why = why ? xstrdup(why) : NULL;
	vm_stop(t->vm, 5000);
}

/* The vm is no more from here on: whatever still wants to ask it something goes wrong. */
static void on_exited(void *arg, int status)
{
	struct trial *t = arg;

	assert_int_equal(t->done, 1);
	t->exits++;
	vm_free(t->vm);
	t->vm = NULL;
}

static void trial_run(struct trial *t, const char *mode, bool save, const char *stop_at)
{
	const struct vm_handlers handlers = { t, on_console, NULL, on_exited };
	struct vm_config config = {
		.qemu = fake, .kernel = "vmlinuz", .cmdline = "", .memory_bytes = 4096, .cpus = 1,
		.accel = VM_ACCEL_TCG, .role = save ? VM_MAKES_TEMPLATE : VM_FORKS,
	};
	cleanup_error struct error err = ERROR_INIT;

	memset(t, 0, sizeof(*t));
	setenv("MMRIG_FAKE_QEMU", mode, 1);
	t->stop_at = stop_at;
	t->template = config.template = vm_template_new(4096, NULL, 0, &err);
	assert_int_equal(uv_loop_init(&t->loop), 0);
	if (vm_start(&t->loop, &config, &handlers, &t->vm, &err) < 0)
		fail_msg("%s", err.text);
	if (save)
		vm_save(t->vm, t->template, on_done, t);
	else
		vm_resume(t->vm, on_done, t);
	uv_run(&t->loop, UV_RUN_DEFAULT);
	assert_int_equal(t->exits, 1);
	assert_int_equal(t->done, 1);
	assert_int_equal(uv_loop_close(&t->loop), 0);
	vm_template_free(t->template);
}

static void trial_free(struct trial *t)
{
	strbuf_free(&t->console);
	free(t->why);
}

#define CAPABILITY                                                                      \
	"migrate-set-capabilities {\"capabilities\":[{\"capability\":\"x-ignore-shared\"," \
	"\"state\":true}]}\n"
#define SAVE_HEAD "qmp_capabilities\nstop\n" CAPABILITY "getfd {\"fdname\":\"state\"}\n" \
		  "migrate {\"uri\":\"fd:state\"}\n"
#define RESUME_HEAD "qmp_capabilities\n" CAPABILITY "migrate-incoming {\"uri\":\"fd:6\"}\n"
#define POLLS "query-migrate\nquery-migrate\nquery-migrate\n"

/* why NULL: it succeeds. asked: the whole conversation; NULL: whatever it is. */
static void check(const char *mode, bool save, const char *why, const char *asked)
{
	size_t before = count_fds();
	struct trial t;

	trial_run(&t, mode, save, NULL);
	if (why)
		assert_string_equal(t.why ? t.why : "success", why);
	else
		assert_null(t.why);
	if (asked)
		assert_string_equal(t.console.data, asked);
	trial_free(&t);
	assert_int_equal(count_fds(), before);
}

static void save_succeeds(void **state)
{
	check("migrate well", true, NULL, SAVE_HEAD POLLS "quit\n");
}

/* The guest runs on only once all of its state is there. */
static void resume_succeeds(void **state)
{
	check("migrate well", false, NULL, RESUME_HEAD POLLS "cont\nquit\n");
}

static void refusals_say_why(void **state)
{
	static const char *const save[] = { "stop", "migrate-set-capabilities", "getfd", "migrate",
					    "query-migrate" };
	static const char *const resume[] = { "migrate-set-capabilities", "migrate-incoming",
					      "query-migrate", "cont" };

	for (size_t i = 0; i < ARRAY_SIZE(save); i++) {
		cleanup_free char *mode = str_printf("migrate refuse %s", save[i]);
		cleanup_free char *why = str_printf("no %s today", save[i]);

		check(mode, true, why, NULL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(resume); i++) {
		cleanup_free char *mode = str_printf("migrate refuse %s", resume[i]);
		cleanup_free char *why = str_printf("no %s today", resume[i]);

		check(mode, false, why, NULL);
	}
	/* What follows the refused one is not tried. */
	check("migrate refuse getfd", true, "no getfd today",
	      "qmp_capabilities\nstop\n" CAPABILITY "getfd {\"fdname\":\"state\"}\nquit\n");
}

static void failed_migrations_say_why(void **state)
{
	check("migrate failed", true, "No space left on device", SAVE_HEAD POLLS "quit\n");
	check("migrate failed", false, "No space left on device", RESUME_HEAD POLLS "quit\n");
	check("migrate mute", true, "the migration failed", SAVE_HEAD POLLS "quit\n");
	check("migrate cancelled", false, "the migration failed", RESUME_HEAD POLLS "quit\n");
}

static void death_is_told_once(void **state)
{
	static const char *const save[] = { "qmp_capabilities", "stop", "getfd", "migrate",
					    "query-migrate" };

	check("die-early", true, "QEMU went away", NULL);
	check("die-early", false, "QEMU went away", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(save); i++) {
		cleanup_free char *mode = str_printf("migrate die %s", save[i]);

		check(mode, true, "QEMU went away", NULL);
	}
	check("migrate die cont", false, "QEMU went away", RESUME_HEAD POLLS "cont\n");
}

/* Between two questions nothing is pending that could be answered with "gone". */
static void death_between_questions_is_told_once(void **state)
{
	for (int i = 0; i < 10; i++) {
		struct trial t;

		trial_run(&t, "migrate vanish", i % 2, NULL);
		assert_non_null(t.why);
		if (strcmp(t.why, "QEMU went away") != 0) /* the next question came first */
			assert_string_equal(t.why, "QMP query-migrate: QEMU is gone");
		trial_free(&t);
	}
}

static void one_that_is_killed_meanwhile_is_told_once(void **state)
{
	for (int i = 0; i < 10; i++) {
		struct trial t;

		trial_run(&t, "migrate stay", i % 2, i < 5 ? POLLS POLLS : "query-migrate\n");
		assert_non_null(t.why);
		trial_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_a_file_a_node),
		cmocka_unit_test(impossible_memory_is_refused),
		cmocka_unit_test(holds_what_was_written),
		cmocka_unit_test(state_is_read_from_its_start),
		cmocka_unit_test(save_succeeds),
		cmocka_unit_test(resume_succeeds),
		cmocka_unit_test(refusals_say_why),
		cmocka_unit_test(failed_migrations_say_why),
		cmocka_unit_test(death_is_told_once),
		cmocka_unit_test(death_between_questions_is_told_once),
		cmocka_unit_test(one_that_is_killed_meanwhile_is_told_once),
	};

	alarm(60); /* nothing here may hang */
	return cmocka_run_group_tests(tests, make_top, remove_top);
}
