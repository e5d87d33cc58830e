// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "harness/vm/probe.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static char *top, *fake;

static int make_top(void **state)
{
	const char *tmp = getenv("TMPDIR");

	top = str_printf("%s/mmrig probe,test XXXXXX", tmp ? tmp : "/tmp");
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

static struct accel_result probe(const char *mode, const char *device, unsigned int deadline_ms)
{
	const struct probe p = { device, deadline_ms };
	struct accel_result r;
	cleanup_error struct error err = ERROR_INIT;

	setenv("MMRIG_FAKE_QEMU", mode, 1);
	probe_accel(&p, fake, "vmlinuz", &r, &err);
	assert_null(err.text);
	return r;
}

static char *make_device(const char *name)
{
	char *path = path_join(top, name);

	assert_int_equal(file_write_atomic(path, "", 0, 0600, NULL), 0);
	return path;
}

static void no_device_is_tcg_at_once(void **state)
{
	struct accel_result r = probe("no-root", "/nonexistent/kvm", 1000);

	assert_int_equal(r.accel, VM_ACCEL_TCG);
	assert_string_equal(r.reason, "tcg: no /nonexistent/kvm");
	assert_false(r.cached);
	r = probe("no-root", top, 1000);
	assert_int_equal(r.accel, VM_ACCEL_TCG);
	assert_non_null(strstr(r.reason, "does not open: Is a directory"));
}

static void a_boot_decides_and_is_remembered(void **state)
{
	cleanup_free char *good = make_device("good"), *dies = make_device("dies");
	cleanup_free char *crawls = make_device("crawls"), *mute = make_device("mute");
	struct accel_result r = probe("no-root", good, 5000);

	assert_int_equal(r.accel, VM_ACCEL_KVM);
	assert_string_equal(r.reason, "kvm");
	assert_false(r.cached);
	r = probe("die-early", good, 5000); /* not run at all */
	assert_int_equal(r.accel, VM_ACCEL_KVM);
	assert_true(r.cached);

	r = probe("die-early", dies, 5000);
	assert_int_equal(r.accel, VM_ACCEL_TCG);
	assert_non_null(
		strstr(r.reason, "QEMU dies of it: fake-qemu: error: failed to set MSR 0x10a"));
	r = probe("panic", crawls, 5000);
	assert_int_equal(r.accel, VM_ACCEL_TCG);
	assert_non_null(strstr(r.reason, "this kernel panics"));
	r = probe("banner", crawls, 300);
	assert_false(r.cached);
	assert_int_equal(r.accel, VM_ACCEL_TCG);
	assert_non_null(strstr(r.reason, "starts and does not get far"));
	r = probe("stubborn", mute, 300);
	assert_int_equal(r.accel, VM_ACCEL_TCG);
	assert_non_null(strstr(r.reason, "does not print a word"));
	r = probe("no-root", mute, 300);
	assert_true(r.cached);
	assert_int_equal(r.accel, VM_ACCEL_TCG);
}

static void without_a_kernel_nothing_is_booted(void **state)
{
	cleanup_free char *device = make_device("untried");
	const struct probe p = { device, 300 };
	struct accel_result r;

	assert_int_equal(probe_accel(&p, fake, NULL, &r, NULL), 0);
	assert_int_equal(r.accel, VM_ACCEL_AUTO);
	assert_false(r.cached);
}

/* A damaged or foreign cache file is no answer. */
static void a_damaged_answer_is_asked_again(void **state)
{
	cleanup_free char *device = make_device("again"), *dir = NULL;
	cleanup_dir DIR *d = NULL;
	struct accel_result r = probe("no-root", device, 5000);
	struct dirent *e;

	assert_false(r.cached);
	dir = path_join(top, "mmrig/accel");
	d = opendir(dir);
	while ((e = readdir(d))) {
		cleanup_free char *path = path_join(dir, e->d_name);

		if (str_ends(path, ".json"))
			assert_int_equal(file_write_atomic(path, "{\"schema\": 1", 12, 0644, NULL),
					 0);
	}
	r = probe("die-early", device, 5000);
	assert_false(r.cached);
	assert_int_equal(r.accel, VM_ACCEL_TCG);
}

static void qemu_that_cannot_be_had_is_an_error(void **state)
{
	const struct probe p = { top, 300 };
	cleanup_error struct error err = ERROR_INIT;
	struct accel_result r;

	assert_int_equal(probe_accel(&p, "qemu-of-nowhere", "vmlinuz", &r, &err), -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_device_is_tcg_at_once),
		cmocka_unit_test(a_boot_decides_and_is_remembered),
		cmocka_unit_test(without_a_kernel_nothing_is_booted),
		cmocka_unit_test(a_damaged_answer_is_asked_again),
		cmocka_unit_test(qemu_that_cannot_be_had_is_an_error),
	};

	alarm(60); /* nothing here may hang */
	return cmocka_run_group_tests(tests, make_top, remove_top);
}
