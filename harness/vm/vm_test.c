// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "harness/vm/vm.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static char *top, *fake;

static int make_top(void **state)
{
	const char *tmp = getenv("TMPDIR");

	top = str_printf("%s/mmrig vm,test XXXXXX", tmp ? tmp : "/tmp");
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

/* One VM on its own loop, and what came of it. */
struct trial {
	uv_loop_t loop;
	struct vm *vm;
	struct strbuf console, wire;
	size_t console_bytes, console_limit;
	char *qmp_answer, *output;
	int qmp_answers, exits, status;
	double cpu;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void on_console(void *arg, const uint8_t *data, size_t len)
{
	struct trial *t = arg;

	assert_int_equal(t->exits, 0);
	if (t->console.len < 65536)
		strbuf_add(&t->console, data, len);
	t->console_bytes += len;
	if (t->console_limit && t->console_bytes >= t->console_limit)
		vm_stop(t->vm, 0);
}

static void on_wire(void *arg, const uint8_t *data, size_t len)
{
	struct trial *t = arg;

	assert_int_equal(t->exits, 0);
	strbuf_add(&t->wire, data, len);
}

static void on_exited(void *arg, int status)
{
	struct trial *t = arg;

	t->exits++;
	t->status = status;
	t->output = xstrdup(vm_stderr(t->vm));
	t->cpu = vm_cpu_seconds(t->vm);
	vm_stop(t->vm, 0); /* of one that is gone: nothing */
	vm_free(t->vm);
}

static void on_qmp(void *arg, const char *json)
{
	struct trial *t = arg;

	t->qmp_answers++;
	free(t->qmp_answer);
	t->qmp_answer = json ? xstrdup(json) : NULL;
}

static int trial_start_with(struct trial *t, const char *mode, struct vm_config config,
			    struct error *err)
{
	const struct vm_handlers handlers = { t, on_console, on_wire, on_exited };
	int ret;

	memset(t, 0, sizeof(*t));
	setenv("MMRIG_FAKE_QEMU", mode, 1);
	if (!config.qemu)
		config.qemu = fake;
	config.kernel = "vmlinuz";
	config.cmdline = "console=ttyS0 quote='x'";
	config.memory_bytes = 1536;
	config.cpus = 3;
	config.accel = VM_ACCEL_TCG;
	assert_int_equal(uv_loop_init(&t->loop), 0);
	ret = vm_start(&t->loop, &config, &handlers, &t->vm, err);
	return ret;
}

static void trial_start(struct trial *t, const char *mode)
{
	cleanup_error struct error err = ERROR_INIT;

	trial_start_with(t, mode, (struct vm_config){ 0 }, &err);
	assert_null(err.text);
}

static void trial_run(struct trial *t)
{
	uv_run(&t->loop, UV_RUN_DEFAULT);
	assert_int_equal(t->exits, 1);
	assert_int_equal(uv_loop_close(&t->loop), 0);
}

static void trial_free(struct trial *t)
{
	strbuf_free(&t->console);
	strbuf_free(&t->wire);
	free(t->qmp_answer);
	free(t->output);
}

static size_t count_fds(void)
{
	cleanup_dir DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(d))
		n++;
	return n;
}

static void early_death_leaves_its_words(void **state)
{
	struct trial t;

	trial_start(&t, "die-early");
	trial_run(&t);
	assert_true(WIFEXITED(t.status));
	assert_int_equal(WEXITSTATUS(t.status), 1);
	assert_string_equal(t.output, "fake-qemu: error: failed to set MSR 0x10a\n");
	trial_free(&t);
}

static void exit_0_without_a_word_is_reported_as_such(void **state)
{
	struct trial t;

	trial_start(&t, "exit-0");
	trial_run(&t);
	assert_int_equal(t.status, 0);
	assert_int_equal(t.console_bytes, 0);
	assert_string_equal(t.output, "");
	trial_free(&t);
}

static void last_bytes_come_before_exited(void **state)
{
	struct trial t;

	trial_start(&t, "last");
	trial_run(&t);
	/* 10 lines of 13 bytes, 90 of 14, 100 of 15 */
	assert_int_equal(t.console_bytes, 10 * 13 + 90 * 14 + 100 * 15);
	assert_true(str_ends(t.console.data, "last words 199\n"));
	trial_free(&t);
	trial_start(&t, "panic");
	trial_run(&t);
	assert_int_equal(t.status, 0);
	assert_non_null(strstr(t.console.data, "Kernel panic - not syncing"));
	trial_free(&t);
}

static void stderr_keeps_its_last_4_kib(void **state)
{
	struct trial t;

	trial_start(&t, "chatter");
	trial_run(&t);
	assert_int_equal(WEXITSTATUS(t.status), 3);
	assert_int_equal(strlen(t.output), 4096);
	assert_true(str_ends(t.output, "line 998 of many\nline 999 of many\n"));
	trial_free(&t);
}

static void quit_is_enough_for_one_that_listens(void **state)
{
	struct trial t;
	double begin = now_s();

	trial_start(&t, "silent");
	vm_stop(t.vm, 5000);
	vm_stop(t.vm, 5000);
	trial_run(&t);
	assert_int_equal(t.status, 0);
	assert_true(now_s() - begin < 3);
	trial_free(&t);
}

static void stubborn_one_is_killed_after_the_grace(void **state)
{
	struct trial t;
	double begin = now_s();

	trial_start(&t, "stubborn");
	assert_int_equal(vm_qmp(t.vm, "query-status", NULL, on_qmp, &t, NULL), 0);
	vm_stop(t.vm, 300);
	vm_stop(t.vm, 60000); /* cannot lengthen it */
	trial_run(&t);
	assert_true(WIFSIGNALED(t.status));
	assert_int_equal(WTERMSIG(t.status), SIGKILL);
	assert_true(now_s() - begin >= 0.25);
	assert_true(now_s() - begin < 3);
	assert_int_equal(t.qmp_answers, 1);
	assert_null(t.qmp_answer);
	trial_free(&t);
}

static long resident_pages(void)
{
	cleanup_file FILE *f = fopen("/proc/self/statm", "r");
	long size, resident;

	assert_int_equal(fscanf(f, "%ld %ld", &size, &resident), 2);
	return resident;
}

static void flood_costs_no_memory_and_can_be_stopped(void **state)
{
	struct trial t;
	long before;
	double begin = now_s();

	trial_start(&t, "flood");
	before = resident_pages();
	t.console_limit = 256UL << 20;
	trial_run(&t);
	assert_true(t.console_bytes >= t.console_limit);
	assert_true(t.console_bytes < t.console_limit + (8UL << 20));
	assert_true((resident_pages() - before) * sysconf(_SC_PAGESIZE) < 16L << 20);
	assert_int_equal(WTERMSIG(t.status), SIGKILL);
	assert_true(now_s() - begin < 30);
	assert_true(t.cpu > 0);
	trial_free(&t);
}

static void qmp_answers_by_id(void **state)
{
	struct trial t, other = { 0 };

	trial_start(&t, "silent");
	assert_int_equal(vm_qmp(t.vm, "hang", NULL, on_qmp, &other, NULL), 0);
	assert_int_equal(vm_qmp(t.vm, "query-status", "{}", on_qmp, &t, NULL), 0);
	while (!t.qmp_answers)
		uv_run(&t.loop, UV_RUN_ONCE);
	assert_string_equal(t.qmp_answer, "{\"status\":\"running\"}");
	assert_int_equal(other.qmp_answers, 0);
	assert_int_equal(vm_qmp(t.vm, "nonsense", NULL, on_qmp, &t, NULL), 0);
	while (t.qmp_answers < 2)
		uv_run(&t.loop, UV_RUN_ONCE);
	assert_string_equal(t.qmp_answer, "{\"class\":\"CommandNotFound\",\"desc\":\"unknown\"}");
	vm_stop(t.vm, 5000);
	trial_run(&t);
	assert_int_equal(other.qmp_answers, 1);
	assert_null(other.qmp_answer);
	trial_free(&t);
}

static void qmp_refuses_bad_arguments(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	struct trial t;

	trial_start(&t, "silent");
	assert_int_equal(vm_qmp(t.vm, "x", "[1]", NULL, NULL, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_int_equal(vm_qmp(t.vm, "x", "{", NULL, NULL, &err), -1);
	vm_stop(t.vm, 5000);
	trial_run(&t);
	trial_free(&t);
}

static void babble_on_qmp_ends_what_is_pending(void **state)
{
	struct trial t;

	trial_start(&t, "babble");
	assert_int_equal(vm_qmp(t.vm, "query-status", NULL, on_qmp, &t, NULL), 0);
	while (!t.qmp_answers)
		uv_run(&t.loop, UV_RUN_ONCE);
	assert_null(t.qmp_answer);
	assert_int_equal(vm_qmp(t.vm, "query-status", NULL, on_qmp, &t, NULL), -1);
	vm_stop(t.vm, 100);
	trial_run(&t);
	assert_int_equal(WTERMSIG(t.status), SIGKILL);
	trial_free(&t);
}

static void wire_goes_both_ways(void **state)
{
	struct trial t;

	trial_start(&t, "wire");
	assert_int_equal(vm_wire_send(t.vm, "abc\0\1\2", 6, NULL), 0);
	trial_run(&t);
	assert_int_equal(t.wire.len, 6 + 10);
	assert_memory_equal(t.wire.data, "abc\0\1\2wire ends\n", 16);
	assert_string_equal(t.console.data, "console ends\n");
	trial_free(&t);
}

static void unread_wire_is_refused_not_hoarded(void **state)
{
	cleanup_free char *block = xcalloc(1, 1 << 20);
	cleanup_error struct error err = ERROR_INIT;
	struct trial t;
	int sent = 0;

	trial_start(&t, "stubborn");
	while (sent < 16 && vm_wire_send(t.vm, block, 1 << 20, &err) == 0)
		sent++;
	assert_in_range(sent, 3, 6);
	assert_non_null(strstr(err.text, "does not read"));
	vm_stop(t.vm, 0);
	trial_run(&t);
	trial_free(&t);
}

static void two_banners_both_arrive(void **state)
{
	struct trial t;
	const char *first;

	trial_start(&t, "reboot");
	while (t.console.len < 80)
		uv_run(&t.loop, UV_RUN_ONCE);
	vm_stop(t.vm, 5000);
	trial_run(&t);
	first = strstr(t.console.data, "Linux version");
	assert_non_null(strstr(first + 1, "Linux version"));
	trial_free(&t);
}

static void child_gets_its_descriptors_only(void **state)
{
	cleanup_free char *path = path_join(top, "stray");
	/* without close-on-exec, as some libraries open theirs */
	int low = open(path, O_RDWR | O_CREAT, 0600), stray = fcntl(low, F_DUPFD, 40);
	struct trial t;

	trial_start(&t, "fds");
	trial_run(&t);
	close(stray);
	close(low);
	assert_null(strstr(t.console.data, "stray"));
	assert_non_null(strstr(t.console.data, " 0 -> /dev/null\n"));
	assert_non_null(strstr(t.console.data, " 2 -> pipe:["));
	assert_non_null(strstr(t.console.data, " 3 -> socket:["));
	assert_non_null(strstr(t.console.data, " 4 -> socket:["));
	assert_non_null(strstr(t.console.data, " 5 -> socket:["));
	assert_null(strstr(t.console.data, " 7 -> ")); /* 6 is the listing itself */
	trial_free(&t);
}

/* The signal that ended an orphan of ours within a second; 0 when it lives on (no more). */
static int death_of(pid_t pid)
{
	double begin = now_s();
	int status;

	while (now_s() - begin < 1) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
		usleep(10000);
	}
	kill(pid, SIGKILL);
	return 0;
}

static void heirs_die_with_it(void **state)
{
	struct trial t;
	double begin = now_s();
	pid_t heir;

	trial_start(&t, "heir");
	trial_run(&t);
	assert_int_equal(t.status, 0);
	assert_true(now_s() - begin < 3);
	heir = (pid_t)strtol(t.console.data, NULL, 10);
	assert_true(heir > 1);
	assert_int_equal(death_of(heir), SIGKILL);
	trial_free(&t);
}

static void arguments_are_the_promised_ones(void **state)
{
	static const char *const extra[] = { "-device", "pvpanic", NULL };
	struct vm_config config = { .initrd = "a b,c/initrd", .extra = extra };
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *line = NULL;
	struct trial t;

	trial_start_with(&t, "args", config, &err);
	assert_null(err.text);
	line = xstrdup(vm_command_line(t.vm));
	assert_true(str_ends(vm_argv(t.vm)[0], "/ci/fake-qemu"));
	trial_run(&t);
	assert_non_null(strstr(t.console.data, "-m\n1536B\n"));
	assert_non_null(strstr(t.console.data, "-smp\n3\n"));
	assert_non_null(strstr(t.console.data, "-initrd\na b,c/initrd\n"));
	assert_non_null(strstr(t.console.data, "-append\nconsole=ttyS0 quote='x'\n"));
	assert_non_null(strstr(t.console.data, "virtserialport,chardev=wire,name=mmrig.0\n"));
	assert_true(str_ends(t.console.data, "-device\npvpanic\n"));
	assert_non_null(
		strstr(line, " -initrd 'a b,c/initrd' -append 'console=ttyS0 quote='\\''x'\\''' "));
	trial_free(&t);
	config.channel = VM_CHANNEL_SERIAL;
	trial_start_with(&t, "args", config, &err);
	trial_run(&t);
	assert_null(strstr(t.console.data, "virtserialport"));
	assert_non_null(strstr(t.console.data, "-serial\nchardev:wire\n"));
	trial_free(&t);
}

/* The arguments that stand between -smp and -display, where memory is told of; heap. */
static char *memory_arguments(struct vm_config config)
{
	cleanup_error struct error err = ERROR_INIT;
	struct trial t;
	char *from, *to, *part;

	trial_start_with(&t, "args", config, &err);
	assert_null(err.text);
	trial_run(&t);
	from = strstr(t.console.data, "-smp\n");
	to = strstr(t.console.data, "-display\n");
	assert_true(from && to && from < to);
	assert_null(strstr(t.console.data, "memory-backend=ram"));
	part = xstrndup(from, (size_t)(to - from));
	trial_free(&t);
	return part;
}

static const struct vm_node three_nodes[] = { { 1024, 1 }, { 0, 2 }, { 512, 0 } };

static void nodes_have_memory_and_cpus_in_order(void **state)
{
	static const uint8_t distance[] = { 10, 21, 22, 31, 10, 33, 41, 42, 10 };
	struct vm_config config = { .node = three_nodes, .nnodes = 3 };
	cleanup_free char *plain = memory_arguments(config), *far = NULL;

	assert_string_equal(plain, "-smp\n3,sockets=3,cores=1,threads=1\n-m\n1536B\n"
				   "-object\nmemory-backend-ram,id=ram0,size=1K\n"
				   "-numa\nnode,nodeid=0,cpus=0-0,memdev=ram0\n"
				   "-numa\nnode,nodeid=1,cpus=1-2\n"
				   "-object\nmemory-backend-ram,id=ram2,size=512B\n"
				   "-numa\nnode,nodeid=2,memdev=ram2\n");
	config.distance = distance;
	far = memory_arguments(config);
	assert_true(str_starts(far, plain));
	assert_string_equal(far + strlen(plain), "-numa\ndist,src=0,dst=0,val=10\n"
						 "-numa\ndist,src=0,dst=1,val=21\n"
						 "-numa\ndist,src=0,dst=2,val=22\n"
						 "-numa\ndist,src=1,dst=0,val=31\n"
						 "-numa\ndist,src=1,dst=1,val=10\n"
						 "-numa\ndist,src=1,dst=2,val=33\n"
						 "-numa\ndist,src=2,dst=0,val=41\n"
						 "-numa\ndist,src=2,dst=1,val=42\n"
						 "-numa\ndist,src=2,dst=2,val=10\n");
}

/* 3 console, 4 wire, 5 QMP, 6 state, from 7 the memory of node 0, 1, 2. */
static void nodes_of_a_template_are_files_of_their_own(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	struct vm_template *template = vm_template_new(1536, three_nodes, 3, &err);
	struct vm_config config = {
		.node = three_nodes, .nnodes = 3, .role = VM_MAKES_TEMPLATE, .template = template,
	};
	cleanup_free char *maker = NULL, *fork = NULL;
	struct trial t;

	assert_non_null(template);
	maker = memory_arguments(config);
	assert_non_null(strstr(maker, "id=ram0,size=1K,mem-path=/proc/self/fd/7,share=on\n"));
	assert_non_null(strstr(maker, "id=ram2,size=512B,mem-path=/proc/self/fd/9,share=on\n"));
	assert_null(strstr(maker, "-incoming"));
	config.role = VM_FORKS;
	fork = memory_arguments(config);
	assert_non_null(strstr(fork, "id=ram0,size=1K,mem-path=/proc/self/fd/7,share=off\n"));
	assert_non_null(strstr(fork, "id=ram2,size=512B,mem-path=/proc/self/fd/9,share=off\n"));
	assert_true(str_ends(fork, "-incoming\ndefer\n"));
	trial_start_with(&t, "fds", config, &err);
	trial_run(&t);
	assert_non_null(strstr(t.console.data, " 6 -> /memfd:mmrig-state"));
	assert_non_null(strstr(t.console.data, " 7 -> /memfd:mmrig-memory"));
	assert_non_null(strstr(t.console.data, " 9 -> /memfd:mmrig-memory"));
	assert_null(strstr(t.console.data, " 10 -> /memfd"));
	trial_free(&t);
	vm_template_free(template);
}

static void runs_from_odd_and_deep_folders(void **state)
{
	struct strbuf deep = STRBUF_INIT;
	cleanup_free char *script = NULL, *program = NULL;
	cleanup_error struct error err = ERROR_INIT;
	struct trial t;
	size_t len;

	strbuf_addf(&deep, "%s/a b,c", top);
	for (int i = 0; i < 4; i++)
		strbuf_adds(&deep, "/a folder, whose name is far longer than the 107 bytes that a "
				   "socket's path may have, and a good deal more than that again");
	assert_int_equal(dir_make(deep.data, 0755, NULL), 0);
	program = path_join(deep.data, "qemu,x y");
	script = file_read(fake, 0, &len, NULL);
	assert_int_equal(file_write_atomic(program, script, len, 0755, NULL), 0);
	trial_start_with(&t, "banner", (struct vm_config){ .qemu = program }, &err);
	assert_null(err.text);
	vm_stop(t.vm, 5000);
	trial_run(&t);
	assert_int_equal(t.status, 0);
	trial_free(&t);
	strbuf_free(&deep);
}

static void sandbox_only_where_qemu_has_it(void **state)
{
	cleanup_free char *program = path_join(top, "qemu-without-seccomp"), *script = NULL;
	cleanup_error struct error err = ERROR_INIT;
	struct trial t;
	size_t len;

	script = file_read(fake, 0, &len, NULL);
	assert_int_equal(file_write_atomic(program, script, len, 0755, NULL), 0);
	trial_start_with(&t, "no-sandbox", (struct vm_config){ .qemu = program }, &err);
	assert_null(err.text);
	assert_null(strstr(vm_command_line(t.vm), "-sandbox"));
	trial_run(&t);
	trial_free(&t);
	trial_start(&t, "exit-0");
	assert_non_null(strstr(vm_command_line(t.vm), " -sandbox on,"));
	trial_run(&t);
	trial_free(&t);
}

static void missing_qemu_says_how_to_install(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	struct trial t;

	assert_int_equal(trial_start_with(&t, "", (struct vm_config){ .qemu = "qemu-of-nowhere" },
					  &err),
			 -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	assert_non_null(strstr(err.text, "qemu-of-nowhere"));
	assert_non_null(strstr(err.text, "apt install"));
	assert_int_equal(uv_loop_close(&t.loop), 0);
	assert_int_equal(trial_start_with(&t, "", (struct vm_config){ .qemu = top }, &err), -1);
	assert_int_equal(uv_loop_close(&t.loop), 0);
}

static void nothing_leaks_descriptors(void **state)
{
	size_t before = count_fds();
	struct trial t;

	for (int i = 0; i < 3; i++) {
		trial_start(&t, i % 2 ? "die-early" : "panic");
		trial_run(&t);
		trial_free(&t);
	}
	assert_int_equal(count_fds(), before);
}

/* Starts a VM, tells its pid, and waits for its end. */
static void start_and_hang(int report)
{
	struct trial t;
	pid_t pid;

	trial_start(&t, "stubborn");
	pid = vm_pid(t.vm);
	if (write(report, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	uv_run(&t.loop, UV_RUN_DEFAULT);
	_exit(1);
}

static void vm_dies_with_a_killed_driver(void **state)
{
	pid_t driver, vm = 0;
	int report[2], status;

	assert_int_equal(pipe(report), 0);
	driver = fork();
	if (driver == 0)
		start_and_hang(report[1]);
	assert_int_equal(read(report[0], &vm, sizeof(vm)), sizeof(vm));
	assert_int_equal(kill(vm, 0), 0);
	kill(driver, SIGKILL);
	assert_int_equal(waitpid(driver, &status, 0), driver);
	assert_int_equal(death_of(vm), SIGKILL);
	close(report[0]);
	close(report[1]);
}

static void version_is_the_number_alone(void **state)
{
	cleanup_free char *version = qemu_version(fake, NULL);
	cleanup_error struct error err = ERROR_INIT;

	assert_string_equal(version, "7.2.99");
	assert_null(qemu_version("/bin/true", &err));
	assert_int_equal(err.status, EXIT_NO_VERDICT);
}

static void commas_are_doubled(void **state)
{
	cleanup_free char *a = qemu_escape("a b,c,,d"), *b = qemu_escape("");

	assert_string_equal(a, "a b,,c,,,,d");
	assert_string_equal(b, "");
}

static void command_line_keeps_warnings_and_ends_on_panic(void **state)
{
	cleanup_free char *tcg = vm_default_cmdline(VM_ACCEL_TCG, false);

	assert_true(str_starts(tcg, "console=ttyS0 panic=-1 "));
	assert_null(strstr(tcg, "norandmaps"));
	assert_non_null(strstr(tcg, " loglevel=6 "));
	assert_true(vm_watchdog_s(VM_ACCEL_KVM) < vm_watchdog_s(VM_ACCEL_TCG));
}

/* TCG without icount shows the host's TSC; with icount, and under KVM, the guest knows its rate. */
static void command_line_tells_the_rate_of_the_tsc(void **state)
{
	cleanup_free char *tcg = vm_default_cmdline(VM_ACCEL_TCG, false);
	cleanup_free char *fixed = vm_default_cmdline(VM_ACCEL_TCG, true);
	cleanup_free char *kvm = vm_default_cmdline(VM_ACCEL_KVM, false);
	cleanup_free char *want = str_printf(" tsc_early_khz=%u000", vm_host_tsc_mhz());

	assert_null(strstr(fixed, "tsc_early_khz"));
	assert_true(str_ends(fixed, " norandmaps randomize_kstack_offset=off random.trust_cpu=off"));
	assert_null(strstr(kvm, "tsc_early_khz"));
	if (!vm_host_tsc_mhz()) { /* another architecture */
		assert_null(strstr(tcg, "tsc_early_khz"));
		return;
	}
	assert_true(str_ends(tcg, want));
	assert_true(vm_host_tsc_mhz() > 300 && vm_host_tsc_mhz() < 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_line_tells_the_rate_of_the_tsc),
		cmocka_unit_test(early_death_leaves_its_words),
		cmocka_unit_test(exit_0_without_a_word_is_reported_as_such),
		cmocka_unit_test(last_bytes_come_before_exited),
		cmocka_unit_test(stderr_keeps_its_last_4_kib),
		cmocka_unit_test(quit_is_enough_for_one_that_listens),
		cmocka_unit_test(stubborn_one_is_killed_after_the_grace),
		cmocka_unit_test(flood_costs_no_memory_and_can_be_stopped),
		cmocka_unit_test(qmp_answers_by_id),
		cmocka_unit_test(qmp_refuses_bad_arguments),
		cmocka_unit_test(babble_on_qmp_ends_what_is_pending),
		cmocka_unit_test(wire_goes_both_ways),
		cmocka_unit_test(unread_wire_is_refused_not_hoarded),
		cmocka_unit_test(two_banners_both_arrive),
		cmocka_unit_test(child_gets_its_descriptors_only),
		cmocka_unit_test(heirs_die_with_it),
		cmocka_unit_test(arguments_are_the_promised_ones),
		cmocka_unit_test(nodes_have_memory_and_cpus_in_order),
		cmocka_unit_test(nodes_of_a_template_are_files_of_their_own),
		cmocka_unit_test(runs_from_odd_and_deep_folders),
		cmocka_unit_test(sandbox_only_where_qemu_has_it),
		cmocka_unit_test(missing_qemu_says_how_to_install),
		cmocka_unit_test(nothing_leaks_descriptors),
		cmocka_unit_test(vm_dies_with_a_killed_driver),
		cmocka_unit_test(version_is_the_number_alone),
		cmocka_unit_test(commas_are_doubled),
		cmocka_unit_test(command_line_keeps_warnings_and_ends_on_panic),
	};

	alarm(60); /* nothing here may hang */
	/* Orphans come to us, so that their deaths can be seen and timed. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return cmocka_run_group_tests(tests, make_top, remove_top);
}
