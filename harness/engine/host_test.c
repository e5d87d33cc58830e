// SPDX-License-Identifier: GPL-2.0-only
/* The .c is included, the host's own accounts replaced by what a test says; processes are real. */
#include <string.h>

#include "results/util/cleanup.h"
#include "results/util/file.h"

static const char *meminfo, *stat_text, *psi;

static char *fake_file_read(const char *path, size_t limit, size_t *len, struct error *err)
{
	const char *text = strcmp(path, "/proc/meminfo") == 0	       ? meminfo :
			   strcmp(path, "/proc/stat") == 0	       ? stat_text :
			   strcmp(path, "/proc/pressure/memory") == 0 ? psi : "";

	if (text && !*text)
		return file_read(path, limit, len, err);
	return text ? xstrdup(text) : NULL;
}

#define file_read fake_file_read
#include "harness/engine/host.c"
#undef file_read

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <cmocka.h>

static char meminfo_text[200];

static void set_available_mib(uint64_t mib)
{
	snprintf(meminfo_text, sizeof(meminfo_text),
		 "MemTotal:       99999999 kB\nMemFree:        1 kB\nMemAvailable:   %" PRIu64
		 " kB\nBuffers:        5 kB\n",
		 mib * 1024);
	meminfo = meminfo_text;
}

static void test_available(void **state)
{
	set_available_mib(2048);
	assert_int_equal(host_memory_available(), 2048ull << 20);
	assert_int_equal(host_memory_total(), 99999999ull << 10);
	meminfo = "MemTotal: 5 kB\nMemFree: 5 kB\n"; /* before 3.14 */
	assert_int_equal(host_memory_available(), 0);
	assert_int_equal(host_check_memory(8ull << 30, NULL), 0); /* unknown is no reason to refuse */
	meminfo = NULL;
	assert_int_equal(host_memory_available(), 0);
}

/* What the message says may be given is accepted, and a whole 256 MiB more is not. */
static void test_largest_that_fits(void **state)
{
	for (uint64_t mib = 1; mib < 40000; mib = mib * 9 / 8 + 97) {
		cleanup_error struct error err = ERROR_INIT, none = ERROR_INIT;
		const char *at;
		unsigned long long fits;

		set_available_mib(mib);
		assert_int_equal(host_check_memory(1ull << 40, &err), -1);
		assert_int_equal(err.status, EXIT_USAGE);
		at = strstr(err.text, "--memory ");
		if (!at) { /* 256 MiB of guest, 192 of QEMU and 256 of margin, and 0.5 of page tables */
			assert_true(mib < 256 + 192 + 256 + 1);
			assert_non_null(strstr(err.text, "too few for any guest"));
			continue;
		}
		assert_int_equal(sscanf(at, "--memory %lluM or less", &fits), 1);
		assert_true(fits >= 256);
		assert_int_equal(host_check_memory(fits << 20, &none), 0);
		assert_int_equal(host_check_memory((fits + 258) << 20, &none), -1);
	}
}

static void test_message(void **state)
{
	cleanup_error struct error err = ERROR_INIT;

	set_available_mib(4096);
	assert_int_equal(host_check_memory(8ull << 30, &err), -1);
	/* 8192 + 16 + 192 + 256; and (4096 - 448) * 512 / 513 = 3640.9, in steps of 256: 3584 */
	assert_string_equal(err.text, "a guest of 8192 MiB needs 8656 MiB of host memory and 4096 MiB are "
				      "available; give --memory 3584M or less");
	/* Exactly enough is enough. */
	set_available_mib(8656);
	assert_int_equal(host_check_memory(8ull << 30, NULL), 0);
	set_available_mib(8655);
	assert_int_equal(host_check_memory(8ull << 30, NULL), -1);
}

static void test_sum_that_wraps(void **state)
{
	set_available_mib(4096);
	assert_int_equal(host_check_memory(UINT64_MAX, NULL), -1);
	assert_int_equal(host_check_memory(UINT64_MAX - (448ull << 20), NULL), -1);
	assert_int_equal(host_check_memory(0, NULL), 0);
}

static void test_addresses(void **state)
{
	cleanup_error struct error err = ERROR_INIT;

	assert_int_equal(host_check_addresses(960ull << 30, true, NULL), 0);
	assert_int_equal(host_check_addresses(4092ull << 30, false, NULL), 0);
	assert_int_equal(host_check_addresses((960ull << 30) + (2 << 20), true, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_string_equal(err.text, "a guest of 983042 MiB is more than the CPUs of QEMU's TCG can address; give "
				      "--memory 960G or less, or use a host with KVM");
}

/* ---- how a run was treated ---- */

static void test_accounts(void **state)
{
	struct host_sample s;

	/* user nice system idle iowait irq softirq steal; guest and guest_nice are in user and nice */
	stat_text = "cpu  1000 200 30 4000 50 6 7 80 900 90\ncpu0 500 100 15 2000 25 3 3 40 450 45\n";
	psi = "some avg10=1.00 avg60=0.50 avg300=0.10 total=777\n"
	      "full avg10=0.00 avg60=0.00 avg300=0.00 total=123456789012\n";
	host_sample(&s, 0);
	assert_int_equal(s.total, 5373);
	assert_int_equal(s.steal, 80);
	assert_true(s.has_psi);
	assert_int_equal(s.memory_full_us, 123456789012);
	assert_false(s.has_threads);
	assert_true(s.mono_ns > 0);
	stat_text = psi = NULL; /* neither can be read */
	host_sample(&s, 0);
	assert_int_equal(s.total, 0);
	assert_false(s.has_psi);
	psi = "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"; /* as for cpu before 5.13 */
	host_sample(&s, 0);
	assert_false(s.has_psi);
}

static void near(double value, double want)
{
	if (!(value > want - 1e-9 && value < want + 1e-9))
		fail_msg("%.12g, not %.12g", value, want);
}

static void test_to_run(void **state)
{
	const struct host_sample begin = { .steal = 100, .total = 1000, .memory_full_us = 5000,
					   .mono_ns = 3000000000, .has_psi = true };
	struct host_sample end = { .steal = 125, .total = 1200, .memory_full_us = 505000,
				   .mono_ns = 5000000000, .has_psi = true, .run_ns = 6000000000,
				   .wait_ns = 2000000000, .has_threads = true };
	struct run r = { 0 };

	host_to_run(&begin, &end, &r);
	near(r.host_wait, 0.25);   /* 2 s of 8 */
	near(r.host_steal, 0.125); /* 25 of 200 */
	near(r.host_memory, 0.25); /* 0.5 s of 2 */
	assert_true(r.host_load >= 0);
	/* Not known is not none. */
	end.has_psi = end.has_threads = false;
	end.total = begin.total;
	host_to_run(&begin, &end, &r);
	near(r.host_wait, -1);
	near(r.host_steal, -1);
	near(r.host_memory, -1);
	end = begin;
	end.has_threads = true; /* and has not run yet */
	host_to_run(&begin, &end, &r);
	near(r.host_wait, -1);
	near(r.host_memory, -1);
	/* Accounts that went back. */
	end.total = 1100;
	end.steal = 99;
	end.memory_full_us = 4999;
	end.mono_ns += 1000;
	host_to_run(&begin, &end, &r);
	near(r.host_steal, 0);
	near(r.host_memory, 0);
	assert_null(host_starved(&begin, &end));
}

static void test_starved(void **state)
{
	const struct host_sample begin = { .steal = 50, .total = 1000 };
	struct host_sample end = { .steal = 50, .total = 2000, .run_ns = 40, .wait_ns = 60,
				   .has_threads = true };
	cleanup_free char *waited = NULL, *stolen = NULL;

	assert_null(host_starved(&begin, &end)); /* 60 % are borne */
	end.run_ns = 39;
	end.wait_ns = 61;
	waited = host_starved(&begin, &end);
	assert_string_equal(waited, "the host was starved: QEMU waited for a CPU 61 % of its time; "
				    "run fewer jobs, or stop what else runs");
	end.has_threads = false; /* QEMU was gone before it could be asked */
	assert_null(host_starved(&begin, &end));
	end.steal = 50 + 300;
	assert_null(host_starved(&begin, &end)); /* 30 % are borne */
	end.steal = 50 + 310;
	stolen = host_starved(&begin, &end);
	assert_string_equal(stolen, "the host was starved: its hypervisor took 31 % of its CPUs");
	assert_null(host_starved(&begin, &begin));
}

/* 30 ms of a CPU; and with arg it stays. */
static void *burn(void *arg)
{
	struct timespec ts;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	while (ts.tv_nsec < 30000000 && !ts.tv_sec);
	if (arg)
		for (;;)
			pause();
	return NULL;
}

/* Two threads that have each used 30 ms, then all stand still. */
static pid_t start_burners(void)
{
	pid_t pid = fork();
	pthread_t thread;
	int status;

	if (pid == 0) {
		struct timespec ts;

		if (pthread_create(&thread, NULL, burn, &ts) != 0)
			_exit(1);
		burn(NULL);
		do
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
		while (ts.tv_nsec < 60000000 && !ts.tv_sec);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

/* The kernel's clock of the process says the same as its threads together. */
static void test_threads(void **state)
{
	struct host_sample s, own;
	struct timespec ts;
	clockid_t clock;
	int64_t ns;
	pid_t pid;

	if (!file_exists("/proc/self/schedstat"))
		skip();
	pid = start_burners();
	host_sample(&s, pid);
	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &ts), 0);
	ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	assert_true(s.has_threads);
	assert_true(ns >= 60000000);
	assert_true(llabs((int64_t)s.run_ns - ns) < 1000000);
	assert_true(s.wait_ns < 600000000000);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	host_sample(&s, pid); /* nobody there */
	assert_false(s.has_threads);
	assert_int_equal(s.run_ns, 0);
	host_sample(&own, getpid());
	assert_true(own.has_threads && own.run_ns > 0);
}

/* What a fork does with its template: maps a file of memory, reads all of it and changes a part. */
static void test_private_bytes(void **state)
{
	const size_t all = 16 << 20, part = 4 << 20, page = 4096;
	int fd = memfd_create("test", MFD_CLOEXEC);
	uint64_t before, mapped, changed;
	volatile uint8_t *p;

	assert_int_equal(ftruncate(fd, (off_t)all), 0);
	p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_true(p != MAP_FAILED);
	before = host_private_bytes(getpid());
	assert_true(before > 0);
	for (size_t i = 0; i < all; i += page)
		(void)p[i];
	mapped = host_private_bytes(getpid());
	assert_true(mapped < before + (1 << 20));
	for (size_t i = 0; i < part; i += page)
		p[i] = 1;
	changed = host_private_bytes(getpid());
	assert_true(changed >= mapped + part && changed < mapped + part + (1 << 20));
	munmap((void *)p, all);
	close(fd);
	assert_int_equal(host_private_bytes(0x7ffffff0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_available),
		cmocka_unit_test(test_largest_that_fits),
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_sum_that_wraps),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_accounts),
		cmocka_unit_test(test_to_run),
		cmocka_unit_test(test_starved),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_private_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
