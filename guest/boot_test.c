// SPDX-License-Identifier: GPL-2.0-only
/* The .c is included: the comparison of a sysctl with what is read back is static. */
#include "guest/boot.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void test_sum_keys(void **state)
{
	assert_int_equal(boot_sum_keys(""), 0);
	assert_int_equal(boot_sum_keys("nr_free_pages 5\npgscan_kswapd 7\n"), 7);
	assert_int_equal(boot_sum_keys("compact_daemon_wake 1\ncompact_daemon_migrate_scanned 20\n"
				       "compact_daemon_free_scanned 300\npgscan_kswapd 4000"),
			 4321);
	/* Neither longer nor shorter names, nor a name within another. */
	assert_int_equal(boot_sum_keys("pgscan_kswapd_normal 9\npgscan_kswap 9\nxpgscan_kswapd 9\n"
				       "compact_daemon_wakeup 9\npgscan_direct 9\n"),
			 0);
	assert_int_equal(boot_sum_keys("\n\n\npgscan_kswapd 1\n\n"), 1);
}

static void test_sysctl_path(void **state)
{
	char path[64];

	sysctl_path("vm.defrag_mode", path, sizeof(path));
	assert_string_equal(path, "/proc/sys/vm/defrag_mode");
	sysctl_path("kernel.random.uuid", path, sizeof(path));
	assert_string_equal(path, "/proc/sys/kernel/random/uuid");
	/* An interface's name may hold dots: with slashes they stay. */
	sysctl_path("net/ipv4/conf/eth0.100/mtu", path, sizeof(path));
	assert_string_equal(path, "/proc/sys/net/ipv4/conf/eth0.100/mtu");
	sysctl_path("vm.a_name_that_is_much_longer.than.the_room.that_there_is.for_it", path, 30);
	assert_string_equal(path, "/proc/sys/vm/a_name_that_is_m");
}

static void test_module_params(void **state)
{
	static const char cmdline[] = "console=ttyS0 brd.rd_nr=1 brdx.a=2 xbrd.b=3 brd. brd.rd_size=64 brd\n";
	char params[64], small[8];

	module_params("07-brd.ko", cmdline, params, sizeof(params));
	assert_string_equal(params, "rd_nr=1 rd_size=64");
	module_params("01-zram.ko", cmdline, params, sizeof(params));
	assert_string_equal(params, "");
	module_params("01-brd.ko", "", params, sizeof(params));
	assert_string_equal(params, "");
	/* Half a parameter would be another one: "rd_nr=1" and its NUL just fit. */
	module_params("07-brd.ko", cmdline, small, sizeof(small));
	assert_string_equal(small, "rd_nr=1");
	module_params("07-brd.ko", cmdline, small, 7);
	assert_string_equal(small, "");
}

static void test_same_value(void **state)
{
	assert_true(same_value("1", "1\n"));
	assert_true(same_value("01", "1\n"));
	assert_true(same_value("0x10", "16\n"));
	assert_true(same_value("-1", "-1\n"));
	assert_true(same_value("1 ", "1\n"));
	assert_false(same_value("1", "0\n"));
	assert_false(same_value("1", "11\n"));
	assert_false(same_value("1", "-1\n"));
	assert_false(same_value("1", ""));
	/* vm.lowmem_reserve_ratio, kernel.printk: written with blanks, read with tabs. */
	assert_true(same_value("256 256 32 0 0", "256\t256\t32\t0\t0\n"));
	assert_true(same_value("4 4 1 7", "4\t4\t1\t7\n"));
	assert_false(same_value("4 4 1 7", "4\t4\t1\t8\n"));
	assert_false(same_value("4 4 1 7", "4\t4\t1\n"));
	assert_true(same_value("4", "4\t4\t1\t7\n")); /* only the first was set */
	/* Words. */
	assert_true(same_value("core", "core\n"));
	assert_true(same_value("bbr", "reno bbr\n"));
	assert_false(same_value("bbr", "reno cubic\n"));
	assert_false(same_value("12abc", "12\n"));
}

static void test_needs(void **state)
{
	struct job job = { 0 };
	char why[256];

	job_add(&job, "need", "what", "cma:0", NULL);
	assert_int_equal(boot_needs(&job, why, sizeof(why)), 0);
	job_add(&job, "need", "what", "sysctl:kernel.ostype", NULL);
	job_add(&job, "need", "what", "file:/proc/self/stat", NULL);
	job_add(&job, "need", "what", "fs:proc", NULL);
	job_add(&job, "need", "what", "fs:tmpfs", NULL);
	assert_int_equal(boot_needs(&job, why, sizeof(why)), 0);
	/* Part of a name is no file system; a kind that nobody knows is not met. */
	job_add(&job, "need", "what", "fs:pro", NULL);
	job_add(&job, "need", "what", "sysctl:vm.no_such_thing", NULL);
	job_add(&job, "need", "what", "file:/no/such/file", NULL);
	job_add(&job, "need", "what", "moon:full", NULL);
	job_add(&job, "need", "what", "cma:4503599627370496", NULL);
	job_add(&job, "need", NULL);
	assert_int_equal(boot_needs(&job, why, sizeof(why)), -1);
	assert_string_equal(why, "this kernel lacks fs:pro, sysctl:vm.no_such_thing, file:/no/such/file, "
				 "moon:full, a CMA area of 4096T (CONFIG_DMA_CMA), (nothing)");
	for (size_t room = 1; room < 120; room++) {
		char *small = malloc(room);

		assert_int_equal(boot_needs(&job, small, room), -1);
		assert_true(strlen(small) < room);
		assert_memory_equal(small, why, strlen(small));
		free(small);
	}
	job_free(&job);
}

/* A file of ours, reached by a name with slashes, stands for a sysctl: it takes what is written. */
static void test_sysctls(void **state)
{
	char path[] = "/tmp/mmrig-boot-XXXXXX", key[64], why[300] = "", text[32];
	struct job job = { 0 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	snprintf(key, sizeof(key), "../..%s", path);
	job_add(&job, "sysctl", "at", "boot", "key", key, "value", "1 2", NULL);
	job_add(&job, "sysctl", "at", "workload", "key", key, "value", "3", NULL);
	job_add(&job, "sysctl", "key", key, "value", "4", NULL); /* no "at": for neither */
	assert_int_equal(boot_sysctls(&job, "boot", why, sizeof(why)), 0);
	assert_int_equal(file_slurp(path, text, sizeof(text)), 3);
	assert_string_equal(text, "1 2");
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(boot_sysctls(&job, "workload", why, sizeof(why)), 0);
	file_slurp(path, text, sizeof(text));
	assert_string_equal(text, "3");
	/* What comes back is longer than what was asked, as from a kernel that takes another value. */
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(file_put(path, "3777\n"), 0);
	assert_int_equal(boot_sysctls(&job, "workload", why, sizeof(why)), 0 - 1);
	assert_non_null(strstr(why, "asked 3, got 3777"));
	unlink(path);
	assert_int_equal(boot_sysctls(&job, "workload", why, sizeof(why)), -1);
	assert_non_null(strstr(why, "=3: No such file or directory"));
	job_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum_keys), cmocka_unit_test(test_sysctl_path),
		cmocka_unit_test(test_same_value), cmocka_unit_test(test_needs),
		cmocka_unit_test(test_module_params),
		cmocka_unit_test(test_sysctls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
