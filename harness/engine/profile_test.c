// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "results/util/str.h"

/* As QEMU prints it, shortened. */
#define CPUS(a, b)                                                                          \
	"\nCPU#0\nRAX=0000000000000001 RBX=0\nRIP=" a " RFL=00000246 [---Z-P-] CPL=0 II=0\n" \
	"\nCPU#1\nRAX=0 RBX=ffffffff81000020\nRIP=" b " RFL=00000246 [---Z-P-] CPL=3\n"

static void expect(struct profile *p, const char *want)
{
	char *text = profile_json(p);

	assert_string_equal(text, want);
	free(text);
	profile_free(p);
}

static void test_counts(void **state)
{
	static const char symbols[] = "ffffffff81000100 later\n"
				      "ffffffff81000010 _raw_spin_lock_irqsave\n"
				      "ffffffff81000020 isolate_freepages\n"
				      "ffffffffc0000000 zram_write [zram]\n";
	struct profile *p = profile_new();

	assert_int_equal(profile_add(p, CPUS("ffffffff81000010", "00007f0000001234")), 2);
	assert_int_equal(profile_add(p, CPUS("ffffffff8100001f", "ffffffff81000020")), 2);
	assert_int_equal(profile_add(p, CPUS("ffffffffc0000fff", "ffffffff8100000f")), 2);
	assert_int_equal(profile_add(p, CPUS("ffffffff810000ff", "ffffffff8100001f")), 2);
	assert_int_equal(profile_add(p, "no registers here"), 0);
	profile_symbols(p, symbols, strlen(symbols));
	expect(p, "{\"samples\":8,\"locks\":3,\"top\":["
		  "{\"symbol\":\"_raw_spin_lock_irqsave\",\"samples\":3},"
		  "{\"symbol\":\"isolate_freepages\",\"samples\":2},"
		  "{\"symbol\":\"[unknown]\",\"samples\":1},{\"symbol\":\"[user]\",\"samples\":1},"
		  "{\"symbol\":\"zram_write [zram]\",\"samples\":1}]}");
}

static void test_none(void **state)
{
	struct profile *p = profile_new();

	profile_symbols(p, "ffffffff81000000 a\n", 19);
	assert_null(profile_json(p));
	profile_free(p);
	profile_free(NULL);
}

/* Symbols of a guest that lies: cut off, without names, with NULs, below the kernel, of control characters. */
static void test_hostile(void **state)
{
	static const char symbols[] = "ffffffff81000000\n"
				      "ffffffff81000000 \n"
				      "zzz name\n"
				      "\n\n"
				      "1234 low\n"
				      "ffffffff81000001 a\0b\n"
				      "ffffffff81000008 e\xff\n"
				      "ffffffff8100";
	struct profile *p = profile_new();

	profile_add(p, CPUS("ffffffff81000001", "0000000000001234"));
	profile_add(p, "RIP=");
	profile_add(p, "RIP=ffffffff81000009");
	profile_symbols(p, symbols, sizeof(symbols) - 1);
	expect(p, "{\"samples\":4,\"locks\":0,\"top\":[{\"symbol\":\"[user]\",\"samples\":2},"
		  "{\"symbol\":\"a?b\",\"samples\":1},{\"symbol\":\"e\\\\xff\",\"samples\":1}]}");
}

static void test_many(void **state)
{
	struct profile *p = profile_new();
	struct strbuf sb = STRBUF_INIT;
	char *text;

	for (int i = 0; i < 100; i++)
		strbuf_addf(&sb, "ffffffff8100%02x00 f%d\n", i, i);
	profile_symbols(p, sb.data, sb.len);
	for (int i = 0; i < 100; i++) {
		char *registers = str_printf("RIP=ffffffff8100%02x10", i);

		for (int k = 0; k <= i; k++)
			profile_add(p, registers);
		free(registers);
	}
	text = profile_json(p);
	assert_true(str_starts(text, "{\"samples\":5050,\"locks\":0,\"top\":[{\"symbol\":\"f99\",\"samples\":100},"));
	assert_non_null(strstr(text, "\"f60\""));
	assert_null(strstr(text, "\"f59\""));
	free(text);
	strbuf_free(&sb);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
