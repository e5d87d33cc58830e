// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/writers/ext4.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define E2FSCK "/sbin/e2fsck"

static int make_file(char *path, uint64_t bytes)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	return fd;
}

/* -f -n: looks at everything, changes nothing, and 0 is "no errors". */
static int check(const char *path)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execl(E2FSCK, "e2fsck", "-f", "-n", path, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_sound(void **state)
{
	static const uint64_t groups[] = { 1, 2, 10, EXT4_GROUPS_MAX };

	if (access(E2FSCK, X_OK) < 0)
		skip();
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		char path[] = "/tmp/mmrig-ext4-XXXXXX";
		int fd = make_file(path, groups[i] * EXT4_GROUP_BYTES);

		assert_int_equal(ext4_format(fd, groups[i] * EXT4_GROUP_BYTES), 0);
		close(fd);
		assert_int_equal(check(path), 0);
		unlink(path);
	}
}

static void test_refused(void **state)
{
	static const uint64_t bytes[] = { 0, 1, EXT4_GROUP_BYTES - 4096, EXT4_GROUP_BYTES + 1,
					  (EXT4_GROUPS_MAX + 1) * EXT4_GROUP_BYTES,
					  (1ull << 32) * EXT4_GROUP_BYTES };

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		errno = 0;
		assert_int_equal(ext4_format(-1, bytes[i]), -1);
		assert_int_equal(errno, EINVAL);
	}
	assert_int_equal(ext4_format(-1, EXT4_GROUP_BYTES), -1);
	assert_int_equal(errno, EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
