// SPDX-License-Identifier: GPL-2.0-only
/* The tables of the posts, line by line, from runs whose means are the numbers in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/compare_fixture.h"
#include "results/compare_text.h"

struct pair {
	const char *metric;
	double base, head;
};

static void set_pairs(struct compare *c, const struct pair *pair, size_t npairs, size_t runs)
{
	for (size_t i = 0; i < npairs; i++) {
		fixture_around(c, 0, pair[i].metric, 0, pair[i].base, 0.25, runs);
		fixture_around(c, 0, pair[i].metric, 1, pair[i].head, 0.25, runs);
	}
}

/* Ten runs each: the medians, maxima and ranges of the post. */
static void test_stalls(void **state)
{
	static const double none[10] = { 0 };
	static const double quick[] = { 4.6, 4.7, 4.7, 4.6, 4.8, 4.7, 4.7, 4.7, 4.8, 4.6 };
	static const double many[] = { 86, 3, 1544, 2, 900, 86, 4, 700, 120, 5 };
	static const double slow[] = { 4.8, 5.6, 5.0, 4.9, 5.2, 5.1, 4.8, 5.3, 5.0, 4.9 };
	static const double few[] = { 0, 0, 0, 1, 0, 0, 0, 0, 0, 0 };
	struct compare c =
		compare_fixture("variant",
				LIST("pfn % 8 == 0", "pfn % 8 == 4", "pfn % 8 == 4, patched"),
				LIST("allocstall", "time"), LIST(""));
	cleanup_free char *text = NULL;

	fixture_values(&c, 0, "allocstall", 0, none, 10);
	fixture_values(&c, 0, "time", 0, quick, 10);
	fixture_values(&c, 0, "allocstall", 1, many, 10);
	fixture_values(&c, 0, "time", 1, slow, 10);
	fixture_values(&c, 0, "allocstall", 2, few, 10);
	fixture_values(&c, 0, "time", 2, quick, 10);
	fixture_test(&c);
	text = compare_stalls(&c);
	expect_text(text, "    a-title\n"
			  "    kernel 7.3.4; 8G, 2 CPUs, tcg\n"
			  "\n"
			  "                           allocstall\n"
			  "    free pages at          median    max      time, s\n"
			  "    pfn % 8 == 0                0      0      4.6-4.8\n"
			  "    pfn % 8 == 4               86   1544      4.8-5.6\n"
			  "    pfn % 8 == 4, patched       0      1      4.6-4.8\n"
			  "\n"
			  "    10 runs each\n");
	fixture_free(&c);
}

/* The variant stands in front, whichever of the two makes the columns. */
static void test_stalls_labels(void **state)
{
	static const double one[] = { 7 }, few[] = { 1 };
	struct compare c = compare_fixture("kernel", LIST("base", "patched"), LIST("allocstall"),
					   LIST("pfn % 8 == 0", "pfn % 8 == 4"));
	struct compare d = compare_fixture("residue", LIST("pfn % 8 == 0", "pfn % 8 == 4"),
					   LIST("allocstall"), LIST("base", "patched"));
	cleanup_free char *by_kernel = NULL, *by_residue = NULL;

	fixture_values(&c, 1, "allocstall", 1, one, 1);
	fixture_values(&c, 1, "allocstall", 0, few, 1);
	fixture_test(&c);
	fixture_values(&d, 1, "allocstall", 1, one, 1);
	fixture_test(&d);
	by_kernel = compare_stalls(&c);
	by_residue = compare_stalls(&d);
	expect_line(by_kernel, "    pfn % 8 == 4, patched       7      7            -");
	expect_line(by_residue, "    pfn % 8 == 4, patched       7      7            -");
	/* The baseline goes without its name, and cells without a run without a row. */
	expect_line(by_kernel, "    pfn % 8 == 4                1      1            -");
	expect_line(by_kernel, "    rows without a kernel: base");
	assert_null(strstr(by_kernel, "pfn % 8 == 0"));
	fixture_free(&c);
	fixture_free(&d);
}

static void test_defrag(void **state)
{
	static const struct pair pair[] = {
		{ "hugealloc_mean", 79381.34, 88126.12 },
		{ "hugealloc_stddev", 85852.16, 135366.75 },
		{ "kbuild_real", 249.35, 226.71 },
		{ "kbuild_user", 1249.16, 1249.37 },
		{ "kbuild_system", 171.76, 166.93 },
		{ "thp_fault_alloc", 51666.87, 52685.60 },
		{ "thp_fault_fallback", 16970.00, 15951.87 },
		{ "compact_fail", 166.53, 178.93 },
		{ "compact_success", 17.13, 4.13 },
		{ "compact_daemon_migrate_scanned", 3095413.33, 9231239.53 },
		{ "compact_daemon_free_scanned", 2155966.53, 7053692.87 },
		{ "pgscan_total", 10060649.40, 8640624.33 },
		{ "workingset_refault_file", 551697.60, 426474.80 },
	};
	struct compare c = compare_fixture(
		"kernel", LIST("fallbackspeed/STUPID-DEFRAGMODE", "fallbackspeed/DEFRAGMODE"),
		LIST("?hugealloc_mean", "?hugealloc_stddev", "?kbuild_real", "?kbuild_user",
		     "?kbuild_system", "?thp_fault_alloc", "?thp_fault_fallback", "?compact_fail",
		     "?compact_success", "?compact_daemon_migrate_scanned",
		     "?compact_daemon_free_scanned", "?pgscan_total", "?workingset_refault_file",
		     "?pswpin"),
		LIST(""));
	cleanup_free char *text = NULL;

	set_pairs(&c, pair, ARRAY_SIZE(pair), 15);
	fixture_test(&c);
	text = compare_defrag(&c);
	/*
	 * As they stand in the post, but for four changes where the numbers are small: it divides by
	 * old + 1, and so has -9.04, -2.79, +7.40 and -71.69 %. Here it is new / old - 1.
	 */
	expect_text(
		text,
		"a-title\n"
		"kernel 7.3.4; 8G, 2 CPUs, tcg\n"
		"\n"
		"                                fallbackspeed/STUPID-DEFRAGMODE fallbackspeed/DEFRAGMODE\n"
		"Hugealloc Time mean                       79381.34 (    +0.00%)    88126.12 (   +11.02%)\n"
		"Hugealloc Time stddev                     85852.16 (    +0.00%)   135366.75 (   +57.67%)\n"
		"Kbuild Real time                            249.35 (    +0.00%)      226.71 (    -9.08%)\n"
		"Kbuild User time                           1249.16 (    +0.00%)     1249.37 (    +0.02%)\n"
		"Kbuild System time                          171.76 (    +0.00%)      166.93 (    -2.81%)\n"
		"THP fault alloc                           51666.87 (    +0.00%)    52685.60 (    +1.97%)\n"
		"THP fault fallback                        16970.00 (    +0.00%)    15951.87 (    -6.00%)\n"
		"Direct compact fail                         166.53 (    +0.00%)      178.93 (    +7.45%)\n"
		"Direct compact success                       17.13 (    +0.00%)        4.13 (   -75.89%)\n"
		"Compact daemon scanned migrate          3095413.33 (    +0.00%)  9231239.53 (  +198.22%)\n"
		"Compact daemon scanned free             2155966.53 (    +0.00%)  7053692.87 (  +227.17%)\n"
		"Pages total scanned                    10060649.40 (    +0.00%)  8640624.33 (   -14.11%)\n"
		"File refaults                            551697.60 (    +0.00%)   426474.80 (   -22.70%)\n"
		"\n"
		"means over the runs, untested; + is more\n"
		"\n"
		"15 runs each\n");
	fixture_free(&c);
}

/* Where old is 0 there is no ratio; what one side lacks is no change; an unknown row is left out. */
static void test_defrag_absent(void **state)
{
	static const double zero[] = { 0, 0 }, five[] = { 4, 6 };
	struct compare c =
		compare_fixture("kernel", LIST("a", "b"),
				LIST("?pswpin", "?pswpout", "?allocstall", "?thp_fault_alloc"),
				LIST("one", "two"));
	cleanup_free char *text = NULL;

	fixture_values(&c, 0, "pswpin", 0, zero, 2);
	fixture_values(&c, 0, "pswpin", 1, five, 2);
	fixture_values(&c, 0, "pswpout", 0, zero, 2);
	fixture_values(&c, 0, "pswpout", 1, zero, 2);
	fixture_values(&c, 0, "allocstall", 1, five, 2);
	fixture_test(&c);
	text = compare_defrag(&c);
	expect_line(text, "Swap in                                       0.00 (    +0.00%)"
			  "        5.00 (         -)");
	expect_line(text, "Swap out                                      0.00 (    +0.00%)"
			  "        0.00 (    +0.00%)");
	expect_line(text, "Alloc stall                                      - (         -)"
			  "        5.00 (         -)");
	assert_null(strstr(text, "THP fault alloc"));
	expect_line(text, "two");
	expect_line(text, "no run has a row of this table");
	fixture_free(&c);
}

/* Values that lie apart where the post has a star, and over one another where it has none. */
static void test_thpscale(void **state)
{
	static const struct {
		const char *metric;
		double base, head, step;
	} fault[] = {
		{ "fault_both_3", 3729.80, 2872.13, 1 },
		{ "fault_both_5", 5148.49, 4330.56, 1 },
		{ "fault_both_7", 7393.24, 6496.63, 1000 },
		{ "fault_both_12", 11709.32, 10280.59, 2000 },
		{ "fault_both_18", 16626.82, 11079.19, 1 },
		{ "fault_both_24", 19944.34, 17207.80, 1 },
		{ "fault_both_30", 23435.53, 17736.13, 1 },
		{ "fault_both_32", 23948.70, 18509.41, 1 },
		{ "huge_share_3", 88.389, 96.874, 0 },
		{ "huge_share_5", 92.074, 94.626, 0 },
		{ "huge_share_12", 93.38, 92.65, 0 },
		{ "huge_share_30", 92.77, 93.16, 0 },
		{ "huge_share_32", 87.97, 92.58, 0 },
		{ "huge_share_1", 0, 0, 0 },
	};
	struct compare c = compare_fixture(
		"kernel", LIST("4.20.0-finishscan-v2r15", "4.20.0-norescan-v2r15"),
		LIST("fault_both_32", "fault_both_3", "fault_both_5", "fault_both_7",
		     "fault_both_12", "fault_both_18", "fault_both_24", "fault_both_30",
		     "?huge_share_12", "?huge_share_3", "?huge_share_5", "?huge_share_30",
		     "?huge_share_32", "?huge_share_1", "?compact_migrate_scanned",
		     "?compact_free_scanned"),
		LIST(""));
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(fault); i++) {
		fixture_around(&c, 0, fault[i].metric, 0, fault[i].base, fault[i].step, 8);
		fixture_around(&c, 0, fault[i].metric, 1, fault[i].head, fault[i].step, 8);
	}
	fixture_around(&c, 0, "compact_migrate_scanned", 0, 60718343, 10, 8);
	fixture_around(&c, 0, "compact_migrate_scanned", 1, 31772603, 10, 8);
	fixture_around(&c, 0, "compact_free_scanned", 0, 933061894, 10, 8);
	fixture_around(&c, 0, "compact_free_scanned", 1, 63267928, 10, 8);
	fixture_test(&c);
	text = compare_thpscale(&c);
	expect_text(text,
		    "a-title\n"
		    "kernel 7.3.4; 8G, 2 CPUs, tcg\n"
		    "\n"
		    "                                    4.20.0                4.20.0\n"
		    "                          finishscan-v2r15        norescan-v2r15\n"
		    "Amean     fault-both-3     3729.80 (   0.00%)    2872.13 *  23.00%*\n"
		    "Amean     fault-both-5     5148.49 (   0.00%)    4330.56 *  15.89%*\n"
		    "Amean     fault-both-7     7393.24 (   0.00%)    6496.63 (  12.13%)\n"
		    "Amean     fault-both-12   11709.32 (   0.00%)   10280.59 (  12.20%)\n"
		    "Amean     fault-both-18   16626.82 (   0.00%)   11079.19 *  33.37%*\n"
		    "Amean     fault-both-24   19944.34 (   0.00%)   17207.80 *  13.72%*\n"
		    "Amean     fault-both-30   23435.53 (   0.00%)   17736.13 *  24.32%*\n"
		    "Amean     fault-both-32   23948.70 (   0.00%)   18509.41 *  22.71%*\n"
		    "\n"
		    "                                4.20.0                4.20.0\n"
		    "                      finishscan-v2r15        norescan-v2r15\n"
		    "Percentage huge-1         0.00 (   0.00%)       0.00 (   0.00%)\n"
		    "Percentage huge-3        88.39 (   0.00%)      96.87 (   9.60%)\n"
		    "Percentage huge-5        92.07 (   0.00%)      94.63 (   2.77%)\n"
		    "Percentage huge-12       93.38 (   0.00%)      92.65 (  -0.78%)\n"
		    "Percentage huge-30       92.77 (   0.00%)      93.16 (   0.42%)\n"
		    "Percentage huge-32       87.97 (   0.00%)      92.58 (   5.24%)\n"
		    "\n"
		    "                                   4.20.0         4.20.0\n"
		    "                         finishscan-v2r15 norescan-v2r15\n"
		    "Compaction migrate scanned    60718343.00    31772603.00\n"
		    "Compaction free scanned      933061894.00    63267928.00\n"
		    "\n"
		    "* x%*: the difference stands: Mann-Whitney, corrected (Holm) over 8 tests, p\n"
		    "  <= 0.05\n"
		    "\n"
		    "8 runs each\n");
	fixture_free(&c);
}

static void test_highalloc(void **state)
{
	static const struct pair pair[] = {
		{ "highalloc_pass1", 36, 51 },	       { "highalloc_pass2", 42, 63 },
		{ "highalloc_rested", 86, 86 },	       { "pgpgin", 3050912, 3078892 },
		{ "pgpgout", 8033528, 8039096 },       { "pgscan_direct", 70942, 122976 },
		{ "pgscan_kswapd", 1366300, 1520122 }, { "pgsteal_kswapd", 1366214, 1484629 },
		{ "pgsteal_direct", 70936, 105716 },   { "kswapd_velocity", 1072.550, 1182.615 },
		{ "direct_velocity", 55.690, 95.672 },
	};
	static const double zero[] = { 0 };
	/* From the counts above. */
	static const double kswapd[] = { 100 * 1366214 / 1366300.0, 100 * 1484629 / 1520122.0 };
	static const double direct[] = { 100 * 70936 / 70942.0, 100 * 105716 / 122976.0 };
	struct compare c = compare_fixture(
		"kernel", LIST("3.6-rc1-akpm", "full-series"),
		LIST("?highalloc_pass1", "?highalloc_pass2", "?highalloc_rested", "?pgpgin",
		     "?pgpgout", "?pswpin", "?pswpout", "?pgscan_direct", "?pgscan_kswapd",
		     "?pgsteal_kswapd", "?pgsteal_direct", "?kswapd_efficiency", "?kswapd_velocity",
		     "?direct_efficiency", "?direct_velocity"),
		LIST(""));
	cleanup_free char *text = NULL;

	set_pairs(&c, pair, ARRAY_SIZE(pair), 1);
	for (size_t i = 0; i < 2; i++) {
		fixture_values(&c, 0, "pswpin", i, zero, 1);
		fixture_values(&c, 0, "pswpout", i, zero, 1);
		fixture_values(&c, 0, "kswapd_efficiency", i, &kswapd[i], 1);
		fixture_values(&c, 0, "direct_efficiency", i, &direct[i], 1);
	}
	fixture_test(&c);
	text = compare_highalloc(&c);
	expect_text(text, "a-title\n"
			  "kernel 7.3.4; 8G, 2 CPUs, tcg\n"
			  "\n"
			  "STRESS-HIGHALLOC\n"
			  "                 3.6-rc1-akpm       full-series\n"
			  "Pass 1          36.00 ( 0.00%)    51.00 (15.00%)\n"
			  "Pass 2          42.00 ( 0.00%)    63.00 (21.00%)\n"
			  "while Rested    86.00 ( 0.00%)    86.00 ( 0.00%)\n"
			  "\n"
			  "MMTests Statistics: vmstat\n"
			  "                                        3.6-rc1-akpm full-series\n"
			  "Page Ins                                     3050912     3078892\n"
			  "Page Outs                                    8033528     8039096\n"
			  "Swap Ins                                           0           0\n"
			  "Swap Outs                                          0           0\n"
			  "Direct pages scanned                           70942      122976\n"
			  "Kswapd pages scanned                         1366300     1520122\n"
			  "Kswapd pages reclaimed                       1366214     1484629\n"
			  "Direct pages reclaimed                         70936      105716\n"
			  "Kswapd efficiency                                99%         97%\n"
			  "Kswapd velocity                             1072.550    1182.615\n"
			  "Direct efficiency                                99%         85%\n"
			  "Direct velocity                               55.690      95.672\n"
			  "\n"
			  "means over the runs, untested; in brackets points, + is better\n"
			  "\n"
			  "1 run each\n");
	fixture_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stalls),	 cmocka_unit_test(test_stalls_labels),
		cmocka_unit_test(test_defrag),	 cmocka_unit_test(test_defrag_absent),
		cmocka_unit_test(test_thpscale), cmocka_unit_test(test_highalloc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
