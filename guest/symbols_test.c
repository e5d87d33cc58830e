// SPDX-License-Identifier: GPL-2.0-only
#include "guest/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void expect(const char *line, const char *want)
{
	char out[100] = "";

	assert_int_equal(symbols_line(line, out, sizeof(out)), strlen(want));
	assert_string_equal(out, want);
}

static void test_lines(void **state)
{
	expect("ffffffff81000000 T _text\n", "ffffffff81000000 _text\n");
	expect("ffffffffc0012340 t zram_write\t[zram]\n", "ffffffffc0012340 zram_write [zram]\n");
	expect("ffffffff81000010 W weak", "ffffffff81000010 weak\n");
	expect("ffffffff82000000 D jiffies\n", "");
	expect("000000000001d000 A cpu_info\n", "");
	expect("ffffffff81000000 T\n", "");
	expect("", "");
	expect("xyz T name\n", "");
}

static void test_room(void **state)
{
	char out[40] = "";

	/* 16 + 1 + 21 + 1 is one too many with its NUL. */
	assert_int_equal(symbols_line("ffffffff81000000 t aaaaaaaaaaaaaaaaaaaaa", out, 39), 0);
	assert_int_equal(symbols_line("ffffffff81000000 t aaaaaaaaaaaaaaaaaaaaa", out, 40), 39);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
