// SPDX-License-Identifier: GPL-2.0-only
/* What logs, mails and hostile hands do to a report. */
#include <dirent.h>

#include "harness/report/memreport_fixture.h"

#define LIST                                                                                    \
	"Node 0 Normal: 1*4kB (U) 2*8kB (UM) 0*16kB 3*32kB (M) 0*64kB 0*128kB 0*256kB 0*512kB " \
	"1*1024kB (M) 0*2048kB 0*4096kB = 1140kB\n" /* 4 + 16 + 96 + 1024 */

static void assert_list(const struct memzone *z, const char *want)
{
	cleanup_strbuf struct strbuf got = STRBUF_INIT;

	for (unsigned int k = 0; k < z->orders; k++)
		strbuf_addf(&got, "%s%llu", k ? " " : "", (unsigned long long)z->free[k]);
	assert_string_equal(got.data ? got.data : "", want);
}

static void assert_refused(const void *text, size_t len, const char *why)
{
	cleanup_error struct error err = ERROR_INIT;
	struct memreport_set set;

	assert_int_equal(parse_exactly(text, len, &set, &err), -1);
	assert_int_equal(err.status, 2);
	assert_int_equal(set.n, 0);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

/* ---- prefixes, wraps, decoding ---- */

static void test_prefixes(void **state)
{
	static const char *const prefixes[] = {
		"",
		"[   12.345678] ",
		"[  247.541762][ T1778] ",
		"[  247.541762] [   C12] ",
		"Mar 26 12:32:25 host kernel: [126752.433937] ",
		"Mar 26 12:32:25 kernel: ",
		"Mar 26 12:32:25 host kernel: ",
		"2024-09-19T16:27:10.807437+08:00 host kernel: [19184252.168449] ",
		"6,4013,1349956262,-;",
		"Dec  7 10:12:34 192.0.2.1 6,3806,1349544157,-;",
		"> ",
		">>>> ",
		"> > [   12.345678] ",
		"        ",
		"<4>[   12.345678] ",
		"kern  :warn  : [Mon Nov 30 17:12:32 2026] ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		cleanup_free char *text =
			str_printf("%sMem-Info:\n%s%s", prefixes[i], prefixes[i], LIST);
		struct memreport_set set;

		parse_text(text, &set);
		if (set.n != 1 || set.report[0].nzones != 1 || set.report[0].zone[0].cut)
			fail_msg("\"%s\"", prefixes[i]);
		assert_list(&set.report[0].zone[0], "1 2 0 3 0 0 0 0 1 0 0");
		memreport_set_free(&set);
	}
}

/* The same list, broken at every place, with the blank kept there or eaten by a mailer. */
static void test_wraps_anywhere(void **state)
{
	const char *list = LIST;
	size_t colon = (size_t)(strchr(list, ':') - list);

	for (size_t at = colon + 1; at + 1 < strlen(list); at++)
		for (int eat = 0; eat < 2; eat++) {
			cleanup_free char *text = str_printf("[    1.000000] %.*s\n%s", (int)at,
							     list,
							     list + at + (eat && list[at] == ' '));
			struct memreport_set set;

			parse_text(text, &set);
			if (set.report[0].nzones != 1 || set.report[0].zone[0].cut ||
			    fixture_list_kb(&set.report[0], &set.report[0].zone[0]) != 1140)
				fail_msg("broken before \"%s\"", list + at);
			memreport_set_free(&set);
		}
}

static void test_decoding(void **state)
{
	static const struct {
		const char *text, *remark;
	} cases[] = {
		{ "order:0, nodemask=3D(null)\nNode 0 Normal: 1*4kB (U) =\n2*8kB (UM) 0*16kB 3*32kB (M) "
		  "0*64kB 0*128kB 0*256kB 0*512kB 1*10=\n24kB (M) 0*2048kB 0*4096kB =3D 1140kB\n",
		  "quoted-printable was decoded" },
		{ "<pre>&gt; <b>Mem-Info:</b><br>&gt; Node 0 Normal: 1*4kB&nbsp;(U) 2*8kB (UM) 0*16kB "
		  "3*32kB (M) <span class=\"x\">0*64kB</span> 0*128kB 0*256kB 0*512kB 1*1024kB (M) "
		  "0*2048kB 0*4096kB &#61; 1140kB</pre>",
		  "HTML" },
		{ "Mem-Info:\\x0aNode 0 Normal: 1*4kB (U) 2*8kB (UM) 0*16kB 3*32kB (M) 0*64kB 0*128kB "
		  "0*256kB 0*512kB 1*1024kB (M) 0*2048kB 0*4096kB = 1140kB\\x0alowmem_reserve[]: 0\n",
		  "(\\x0a) were undone" },
		{ "\033[31mNode 0 Normal:\033[0m 1*4kB (U)\r\n2*8kB (UM) 0*16kB 3*32kB (M)\r\n0*64kB "
		  "0*128kB 0*256kB 0*512kB 1*1024kB (M) 0*2048kB 0*4096kB = 1140kB\r\n",
		  "2 wrapped lines" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct memreport_set set;

		parse_text(cases[i].text, &set);
		assert_int_equal(set.report[0].nzones, 1);
		assert_list(&set.report[0].zone[0], "1 2 0 3 0 0 0 0 1 0 0");
		if (!has_remark(&set, &set.report[0], cases[i].remark))
			fail_msg("not remarked: %s", cases[i].remark);
		memreport_set_free(&set);
	}
}

/* A dump whose newlines became blanks, with and without nodes. */
static void test_one_line(void **state)
{
	struct memreport_set set;
	const struct memreport *r;

	parse_text(
		"x: page allocation failure: order:2, mode:0x20(GFP_ATOMIC) CPU: 1 PID: 2 Comm: x Not "
		"tainted 5.4.1 #1 Mem-Info: active_anon:1 free:290 free_cma:0 Node 0 active_anon:4kB "
		"Node 0 DMA free:20kB min:4kB managed:400kB lowmem_reserve[]: 0 0 Normal free:1140kB "
		"high:8kB lowmem_reserve[]: 0 0 Node 0 DMA: 1*4kB (U) 2*8kB 0*16kB 0*32kB 0*64kB "
		"0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB = 20kB " LIST,
		&set);
	r = &set.report[0];
	assert_int_equal(set.n, 1);
	assert_int_equal(r->nzones, 2);
	assert_list(&r->zone[0], "1 2 0 0 0 0 0 0 0 0 0");
	assert_list(&r->zone[1], "1 2 0 3 0 0 0 0 1 0 0");
	assert_int_equal(r->zone[0].value[MEMZONE_MANAGED], 100);
	assert_int_equal(r->zone[1].value[MEMZONE_HIGH], 2);
	assert_int_equal(r->total[MEMTOTAL_FREE], 290);
	assert_int_equal(r->event.order, 2);
	assert_string_equal(r->release, "5.4.1");
	memreport_set_free(&set);
	parse_text(
		"Node 0, zone DMA 1 1 1 1 1 1 1 1 1 1 1 Node 0, zone DMA32 2 2 2 2 2 2 2 2 2 2 2\n",
		&set);
	assert_list(&set.report[0].zone[1], "2 2 2 2 2 2 2 2 2 2 2");
	memreport_set_free(&set);
}

/* Boot messages that begin with the name of a zone. */
static void test_zone_names_elsewhere(void **state)
{
	struct memreport_set set;

	parse_text("[    0.1] DMA: preallocated 256 KiB GFP_KERNEL pool for atomic allocations\n"
		   "[    0.2] Device: 8:0\n[    0.3]   Normal   [mem 0x100000000-0x23fffffff]\n"
		   "[    0.4] Movable zone start for each node\n" LIST,
		   &set);
	assert_int_equal(set.report[0].nzones, 1);
	memreport_set_free(&set);
}

/* "<IRQ>" is the kernel's, and "hugepages_size=1048576kB" is no quoted-printable. */
static void test_nothing_to_decode(void **state)
{
	struct memreport_set set;

	parse_text("Call Trace:\n <IRQ>\n </IRQ>\n[<a0000001000175e0>] x\nNode 0 hugepages_total=20 "
		   "hugepages_size=1048576kB\n" LIST,
		   &set);
	assert_int_equal(set.nremarks, 1); /* the joined lines of the trace */
	assert_list(&set.report[0].zone[0], "1 2 0 3 0 0 0 0 1 0 0");
	memreport_set_free(&set);
}

/* Lines are counted as the input has them, also behind soft breaks and "\x0a". */
static void test_line_numbers(void **state)
{
	struct memreport_set set;

	parse_text("a =\nb nodemask=3D(null)\\x0ac\nd\n" LIST, &set);
	assert_int_equal(set.report[0].zone[0].line, 4);
	memreport_set_free(&set);
}

/* ---- contradictions ---- */

static void test_wrong_sum_is_said(void **state)
{
	struct memreport_set set;
	const struct memreport *r;

	parse_text(
		"Node 1 Normal free:9000kB min:0kB present:400kB managed:800kB\n"
		"Node 1 Normal: 1*4kB (U) 2*8kB 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB "
		"0*2048kB 0*4096kB = 21kB\n",
		&set);
	r = &set.report[0];
	assert_list(&r->zone[0], "1 2 0 0 0 0 0 0 0 0 0"); /* said, not mended */
	assert_true(has_remark(&set, r,
			       "line 2: node 1 Normal: the free list adds up to 20 kB, and "
			       "says that it is 21 kB"));
	assert_true(has_remark(&set, r, "free: says 9000 kB, the free list holds 20 kB"));
	assert_true(has_remark(&set, r, "managed is 800 kB, above present of 400 kB"));
	memreport_set_free(&set);
}

static void test_mixed_lists_are_left_out(void **state)
{
	struct memreport_set set;

	parse_text("Node 0 DMA: 1*4kB (U) 5*8kB 7*8kB 0*16kB = 100kB\n" LIST, &set);
	assert_int_equal(set.report[0].zone[0].orders, 0);
	assert_true(has_remark(&set, &set.report[0],
			       "line 1: node 0 DMA: 8kB stands where 16kB is due"));
	assert_list(&set.report[0].zone[1], "1 2 0 3 0 0 0 0 1 0 0");
	memreport_set_free(&set);
}

static void test_numbers_that_cannot_be(void **state)
{
	struct memreport_set set;

	parse_text("Node 0, zone Normal 99999999999999999999 1 2\nNode 0, zone DMA 1 4294967296 3\n"
		   "Node 99999999 Normal: 1*4kB 1*8kB = 12kB\n"
		   "Node 0 HighMem free:99999999999999999999kB min:18446744073709551615kB low:4kB\n"
		   "Node 0 HighMem: 99999999999*4kB 1*8kB = 12kB\n",
		   &set);
	for (size_t i = 0; i < set.report[0].nzones; i++)
		assert_true(set.report[0].zone[i].orders <= 1);
	assert_true(has_remark(&set, &set.report[0], "min 18446744073709551615 is nonsense"));
	memreport_set_free(&set);
}

static void test_counts_that_stopped(void **state)
{
	struct memreport_set set;
	const struct memreport *r;

	parse_text("Node    0, zone   Normal, type    Unmovable >100000 5 4 3 2 1 0 0 0 0 0\n"
		   "Node    0, zone   Normal, type      Novel 1 1 1 1 1 1 1 1 1 1 1\n"
		   "Node    0, zone   Normal, type    Isolate 0 0 0 0 0 0 0 0 0 0 0\n",
		   &set);
	r = &set.report[0];
	assert_list(&r->zone[0], "100001 6 5 4 3 2 1 1 1 1 1");
	assert_int_equal(r->zone[0].at_least, 1);
	assert_true(has_remark(&set, r, "the kernel stopped counting"));
	assert_true(has_remark(&set, r, "Novel: a migratetype that is not known"));
	memreport_set_free(&set);
}

/* Of a zone whose rows may not all be there, the sum of those that are is no free list. */
static void test_cut_pagetypeinfo(void **state)
{
	struct memreport_set set;

	parse_text("Node    0, zone   Normal, type    Unmovable 7 5 4 3 2 1 0 0 0 0 0\n", &set);
	assert_int_equal(set.report[0].zone[0].orders, 0);
	assert_int_equal(set.report[0].zone[0].by_type[MEMTYPE_UNMOVABLE][0], 7);
	assert_true(has_remark(&set, &set.report[0], "pagetypeinfo is cut off"));
	memreport_set_free(&set);
}

/* ---- several reports ---- */

static void test_snapshots_are_reports(void **state)
{
	struct memreport_set set;

	parse_text(
		"Node 0, zone DMA 1 1 1 1 1 1 1 1 1 1 1\nNode 0, zone Normal 2 2 2 2 2 2 2 2 2 2 2\n"
		"Node 0, zone DMA 3 3 3 3 3 3 3 3 3 3 3\n",
		&set);
	assert_int_equal(set.n, 2);
	assert_int_equal(set.best, 0);
	assert_int_equal(set.report[1].line, 3);
	assert_list(&set.report[1].zone[0], "3 3 3 3 3 3 3 3 3 3 3");
	memreport_set_free(&set);
}

/* A comment that the poster put behind the numbers, and a row that he cut. */
static void test_comments_and_short_rows(void **state)
{
	struct memreport_set set;

	parse_text(
		"Node 0, zone DMA 1 1 1 1 1 1 1 1 1 1 1 // 3 of them\nNode 0, zone Normal 2 2 2 2\n",
		&set);
	assert_list(&set.report[0].zone[0], "1 1 1 1 1 1 1 1 1 1 1");
	assert_list(&set.report[0].zone[1], "2 2 2 2");
	assert_true(has_remark(&set, &set.report[0],
			       "line 2: node 0 Normal: the free list is cut off after order 3"));
	memreport_set_free(&set);
}

static void test_limits(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct memreport_set set;

	for (int i = 0; i < 300; i++)
		strbuf_addf(&text, "Mem-Info:\n%s", LIST);
	parse_text(text.data, &set);
	assert_int_equal(set.n, MEMREPORT_REPORTS_MAX);
	assert_int_equal(set.left_out, 300 - MEMREPORT_REPORTS_MAX);
	memreport_set_free(&set);
	text.len = 0;
	for (int i = 0; i < 300; i++)
		strbuf_addf(&text, "Node %d, zone Normal 1 1 1 1 1\n", i);
	parse_text(text.data, &set);
	assert_int_equal(set.report[0].nzones, MEMREPORT_ZONES_MAX);
	assert_int_equal(set.report[0].nremarks, MEMREPORT_REMARKS_MAX);
	assert_true(set.report[0].remarks_left_out > 0);
	memreport_set_free(&set);
}

/* ---- no report ---- */

static void test_refused(void **state)
{
	static const char binary[] = "\x7f"
				     "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\76\0\1";
	size_t large = MEMREPORT_INPUT_MAX + (1u << 20);
	char *zeros = xcalloc(large, 1);

	assert_refused("", 0, "x: is empty");
	assert_refused("hello\n", 6, "says nothing about memory");
	assert_refused("\n\n\n", 3, "says nothing about memory");
	assert_refused(binary, sizeof(binary), "x: is no text");
	assert_refused(zeros, large, "larger than 16 MiB");
	assert_refused(zeros, 4096, "x: is no text");
	free(zeros);
}

static void test_hostile_names(void **state)
{
	struct memreport_set set;
	struct memscale scale;
	struct memimport m = { .label = "a,\"<script>\033[2J\n.txt", .set = &set, .scale = &scale };
	cleanup_free char *account = NULL, *yaml = NULL, *json = NULL;

	parse_text("INFO: task \033[2Jx: evil\\x0aname: b blocked for more than 120 seconds.\n"
		   "CPU: 0 Comm: y Not tainted 6.1.0\"\n" LIST,
		   &set);
	memreport_scale(&set.report[0], 1 << 30, &scale);
	account = memreport_account(&m);
	yaml = memreport_scenario(&m);
	json = memreport_json(&m, yaml);
	assert_null(strchr(account, '\033'));
	assert_null(strchr(yaml, '\033'));
	assert_null(strchr(json, '\033'));
	assert_non_null(strstr(yaml, "\nname: imported\n"));
	assert_null(strstr(yaml, "\n.txt"));
	memreport_set_free(&set);
}

/* ---- cut in the middle ---- */

static const struct memzone *zone_like(const struct memreport *r, const struct memzone *z)
{
	for (size_t i = 0; i < r->nzones; i++)
		if (r->zone[i].node == z->node && strcmp(r->zone[i].name, z->name) == 0)
			return &r->zone[i];
	return NULL;
}

static void check_zone_part(const char *name, size_t at, const struct memreport *part,
			    const struct memreport *whole, const struct memzone *z)
{
	const struct memzone *w = zone_like(whole, z);

	if (!w || z->orders > w->orders || z->have & ~w->have)
		fail_msg("%s, cut at %zu: node %u %s has what the whole has not", name, at, z->node,
			 z->name);
	for (unsigned int k = 0; k < z->orders; k++)
		if (z->free[k] != w->free[k])
			fail_msg("%s, cut at %zu: node %u %s order %u: %llu", name, at, z->node,
				 z->name, k, (unsigned long long)z->free[k]);
	for (int f = 0; f < MEMZONE_LISTED; f++)
		if (z->have >> f & 1 && z->value[f] * part->page_kb != w->value[f] * whole->page_kb)
			fail_msg("%s, cut at %zu: node %u %s %s: %llu", name, at, z->node, z->name,
				 memzone_field_name((enum memzone_field)f),
				 (unsigned long long)z->value[f]);
	for (int t = 0; t < MEMTYPES; t++) {
		assert_false(z->have_blocks >> t & 1 && z->blocks[t] != w->blocks[t]);
		for (unsigned int k = 0; k < z->type_orders[t]; k++)
			assert_int_equal(z->by_type[t][k], w->by_type[t][k]);
	}
}

static void check_part(const char *name, size_t at, const struct memreport *part,
		       const struct memreport *whole)
{
	for (size_t i = 0; i < part->nzones; i++)
		check_zone_part(name, at, part, whole, &part->zone[i]);
	for (int t = 0; t < MEMTOTALS; t++)
		if (part->have_total >> t & 1 &&
		    (!(whole->have_total >> t & 1) || part->total[t] != whole->total[t]))
			fail_msg("%s, cut at %zu: %s: %llu", name, at,
				 memtotal_name((enum memtotal)t),
				 (unsigned long long)part->total[t]);
	if (part->event.have_order &&
	    (!whole->event.have_order || part->event.order != whole->event.order))
		fail_msg("%s, cut at %zu: order %u", name, at, part->event.order);
}

static void check_cuts(const char *name, size_t step)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	struct memreport_set whole;

	fixture_read_into(&text, name);
	assert_int_equal(parse_exactly(text.data, text.len, &whole, &err), 0);
	for (size_t at = 0; at < text.len; at += step) {
		struct memreport_set part;

		if (parse_exactly(text.data, at, &part, NULL) < 0)
			continue;
		assert_true(part.n <= whole.n);
		for (size_t i = 0; i < part.n; i++)
			check_part(name, at, &part.report[i], &whole.report[i]);
		memreport_set_free(&part);
	}
	memreport_set_free(&whole);
}

static void each_sample(size_t step)
{
	DIR *dir = opendir("harness/report/testdata");
	struct dirent *entry;
	size_t n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		cleanup_free char *name = NULL;

		if (!str_ends(entry->d_name, ".txt"))
			continue;
		name = xstrndup(entry->d_name, strlen(entry->d_name) - strlen(".txt"));
		check_cuts(name, step);
		n++;
	}
	closedir(dir);
	assert_true(n > 30);
}

static void test_cuts_invent_nothing(void **state)
{
	each_sample(64);
	each_sample(37);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_wraps_anywhere),
		cmocka_unit_test(test_decoding),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_zone_names_elsewhere),
		cmocka_unit_test(test_nothing_to_decode),
		cmocka_unit_test(test_line_numbers),
		cmocka_unit_test(test_wrong_sum_is_said),
		cmocka_unit_test(test_mixed_lists_are_left_out),
		cmocka_unit_test(test_numbers_that_cannot_be),
		cmocka_unit_test(test_counts_that_stopped),
		cmocka_unit_test(test_cut_pagetypeinfo),
		cmocka_unit_test(test_snapshots_are_reports),
		cmocka_unit_test(test_comments_and_short_rows),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_cuts_invent_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
