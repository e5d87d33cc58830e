// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/console.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "results/util/cleanup.h"

/* ---- patterns ---- */

struct sample {
	enum splat_class class;
	const char *text;
};

/* As kernels print them; "7.x" marks what changed of late. */
static const struct sample splats[] = {
	{ SPLAT_PANIC, "Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)" },
	{ SPLAT_PANIC, "Kernel panic - not syncing: System is deadlocked on memory" },
	{ SPLAT_PANIC, "Kernel panic - not syncing: Fatal exception" },
	{ SPLAT_LOCKUP, "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [kcompactd0:38]" },
	{ SPLAT_LOCKUP, "BUG: soft lockup - CPU#1 stuck for 22s! [swapper/1:0]" },
	{ SPLAT_LOCKUP, "watchdog: Watchdog detected hard LOCKUP on cpu 3" },
	{ SPLAT_LOCKUP, "watchdog: CPU2: Watchdog detected hard LOCKUP on cpu 3" }, /* 7.x */
	{ SPLAT_LOCKUP, "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 40s!" },
	{ SPLAT_OOPS, "BUG: unable to handle page fault for address: ffffffffc0401000" },
	{ SPLAT_OOPS, "BUG: unable to handle kernel NULL pointer dereference at 0000000000000008" },
	{ SPLAT_OOPS, "BUG: kernel NULL pointer dereference, address: 0000000000000000" },
	{ SPLAT_OOPS, "Oops: 0000 [#1] PREEMPT SMP NOPTI" },
	{ SPLAT_OOPS, "Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1]" },
	{ SPLAT_OOPS, "general protection fault: 0000 [#1] SMP PTI" },
	{ SPLAT_OOPS, "stack segment: 0000 [#1] SMP" },
	{ SPLAT_OOPS, "double fault: 0000 [#1] SMP" },
	{ SPLAT_OOPS, "divide error: 0000 [#1] SMP" },
	{ SPLAT_OOPS, "invalid opcode: 0000 [#1] PREEMPT SMP" },
	{ SPLAT_OOPS, "kernel BUG at mm/page_alloc.c:1234!" },
	{ SPLAT_BUG, "BUG: Bad page state in process kcompactd0  pfn:1a2b3" },
	{ SPLAT_BUG, "BUG: KASAN: slab-use-after-free in isolate_freepages_block+0x1d3/0x520" },
	{ SPLAT_BUG, "BUG: scheduling while atomic: mmrig/1/0x00000002" },
	{ SPLAT_BUG, "BUG: sleeping function called from invalid context at mm/slub.c:3100" },
	{ SPLAT_BUG, "BUG: KFENCE: memory corruption in free_one_page+0x1d/0x90" },
	{ SPLAT_BUG, "BUG kmalloc-64 (Not tainted): Poison overwritten" },
	{ SPLAT_BUG, "BUG dentry (Tainted: G    B             ): Freepointer corrupt" },
	{ SPLAT_BUG, "[ BUG: Invalid wait context ]" },
	{ SPLAT_BUG, "UBSAN: array-index-out-of-bounds in mm/vmscan.c:4321:9" },
	{ SPLAT_BUG, "list_add corruption. prev->next should be next (ffff8881), but was dead." },
	{ SPLAT_BUG, "list_del corruption, ffff8881->next is LIST_POISON1 (dead000000000100)" },
	{ SPLAT_WARNING, "WARNING: CPU: 0 PID: 1 at mm/page_alloc.c:4435 __alloc_pages+0x1e2/0x2e0" },
	{ SPLAT_WARNING, "WARNING: mm/page_alloc.c:5131 at get_page_from_freelist+0x12b/0xf00, CPU#1: init/1" },
	{ SPLAT_WARNING, "WARNING: at get_page_from_freelist+0x12b/0xf00, CPU#1: init/1" }, /* 7.x */
	{ SPLAT_WARNING, "WARNING: possible circular locking dependency detected" },
	{ SPLAT_WARNING, "WARNING: possible recursive locking detected" },
	{ SPLAT_WARNING, "WARNING: inconsistent lock state" },
	{ SPLAT_WARNING, "WARNING: suspicious RCU usage" },
	{ SPLAT_WARNING, "WARNING: bad unlock balance detected!" },
	{ SPLAT_WARNING, "WARNING: Nested lock was not taken" },
	{ SPLAT_WARNING, "WARNING: held lock freed!" },
	{ SPLAT_WARNING, "WARNING: lock held when returning to user space!" },
	{ SPLAT_WARNING, "WARNING: SOFTIRQ-safe -> SOFTIRQ-unsafe lock order detected" },
	{ SPLAT_HUNG_TASK, "INFO: task tmpfs-files:77 blocked for more than 120 seconds." },
	{ SPLAT_HUNG_TASK, "INFO: task kworker/0:1:9 blocked in I/O wait for more than 122 seconds." },
	{ SPLAT_RCU_STALL, "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:" },
	{ SPLAT_RCU_STALL, "rcu: INFO: rcu_sched self-detected stall on CPU" },
	{ SPLAT_RCU_STALL, "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-.... }" },
	{ SPLAT_RCU_STALL, "INFO: rcu_sched self-detected stall on CPU" },
	{ SPLAT_RCU_STALL, "INFO: rcu_tasks detected stalls on tasks:" },
	{ SPLAT_OOM_KILL, "Out of memory: Killed process 77 (tmpfs-files) total-vm:3000kB, anon-rss:1kB" },
	{ SPLAT_OOM_KILL, "Out of memory (oom_kill_allocating_task): Killed process 77 (tmpfs-files)" },
	{ SPLAT_OOM_KILL, "Memory cgroup out of memory: Killed process 9 (x) total-vm:1kB" },
	{ SPLAT_ALLOC_FAILURE,
	  "kworker/0:1: page allocation failure: order:5, mode:0x40cc0(GFP_KERNEL|__GFP_COMP), nodemask=(null)" },
};

/* Lines that look like one and are none. For each pattern at least one that misses it by little. */
static const char *const harmless[] = {
	"",
	" ",
	"[",
	"[    ",
	"<",
	"<4",
	"Linux version 7.3.4 (builder@host) (gcc 14) #1 SMP",
	"Kernel panics are not syncing",
	"panic: Kernel panic - not syncing",
	"Kernel command line: panic=-1 oops=panic console=ttyS0",
	"watchdog: NMI watchdog enabled",
	"watchdog: CPU0: not detected hard LOCKUP",
	"NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.",
	"the last line was BUG: unable to handle page fault",
	"mmrig-agent: BUG: this is a text of ours",
	"systemd[1]: WARNING: CPU: 0 PID: 1 at mm/page_alloc.c:4435",
	"audit: WARNING: mm/page_alloc.c:5131 at get_page_from_freelist+0x1, CPU#1: init/1",
	"WARNING: Unprivileged eBPF is enabled with eIBRS on",
	"WARNING: BIOS bug: VAR MTRR 0 contains strange UC entry under 1M",
	"WARNING: CPU: 0",
	"** WARNING: possible misuse **",
	"INFO: lockdep is turned off.",
	"ODEBUG: active_state not available: object type: timer_list",
	"DEBUG: watchdog: off",
	"DEBUG_LOCKS_WARN_ON(1)",
	"Debug: BUG: no",
	"KUBSAN: no",
	"note: UBSAN: bounds",
	"INFO: task kcompactd0:38 is blocked on a mutex likely owned by task cc1:99.",
	"INFO: task blocked",
	"INFO: task scheduler ready",
	"task INFO: task x:1 blocked for more than 120 seconds.",
	"rcu: INFO: Preemptible RCU",
	"rcu: \tRCU CPU stall timeout in ms is 21000.",
	"rcu: Hierarchical RCU implementation.",
	"INFO: rcu_sched is fine",
	"BUG fq_codel code 1 qlen 2",
	"BUGS: none",
	"Oops",
	"Oopsed too often (kernel.oops_limit is 10000)",
	"no Oops: here",
	"traps: cc1[99] general protection fault ip:7f sp:7f error:0 in cc1",
	"cc1[99]: segfault at 0 ip 0 sp 0 error 4",
	"traps: cc1[7] trap divide error ip:1 sp:2 error:0",
	"trap invalid opcode: ip",
	"a double fault: no",
	"not a stack segment: 0000",
	"general protection",
	"in kernel BUG at",
	"list_add works",
	"list_delete corruption",
	"Out of memory and no killable processes...",
	"oom_reaper: reaped process 77 (tmpfs-files), now anon-rss:0kB",
	"Out of memory: panic_on_oom is enabled",
	"Memory cgroup out of memory: nothing",
	"SLUB: Unable to allocate memory on CPU 0",
	"x: page allocation failure",
	"page allocation failure: order:0",
	"x: page allocation stalls for 10000ms, order:0",
	"-----------[ cut here ]------------",
	"[ INFO: nothing ]",
	"[B] BUG of the week",
};

/* dmesg, printk.time, printk.caller, a raw level, and several of them. */
static const char *const prefixes[] = {
	"",
	"[    0.000000] ",
	"[   12.345678] ",
	"[12345.678901] ",
	"[123456789.000001] ",
	"[   12.345678][    T1] ",
	"[   12.345678][   T123] ",
	"[    0.100000][    C0] ",
	"[    T1] ",
	"[   12.345678] [   T77] ",
	"<4>",
	"<0>[   12.345678] ",
	"<12>[   12.345678][ T9999] ",
	"  ",
};

static void test_positive(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(splats); i++) {
		for (size_t p = 0; p < ARRAY_SIZE(prefixes); p++) {
			cleanup_free char *line = str_printf("%s%s", prefixes[p], splats[i].text);
			const char *title = NULL;
			enum splat_class class = splat_classify(line, &title);

			if (class != splats[i].class)
				fail_msg("\"%s\" is %s", line, splat_class_name(class));
			assert_string_equal(title, splats[i].text);
		}
	}
}

static void test_negative(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++) {
		for (size_t p = 0; p < ARRAY_SIZE(prefixes); p++) {
			cleanup_free char *line = str_printf("%s%s", prefixes[p], harmless[i]);
			const char *title = NULL;
			enum splat_class class = splat_classify(line, &title);

			if (class != SPLAT_NONE)
				fail_msg("\"%s\" is taken for %s", line, splat_class_name(class));
			assert_true(title >= line && title <= line + strlen(line));
		}
	}
}

/* The same words behind other words are somebody's text. */
static void test_in_the_middle(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(splats); i++) {
		cleanup_free char *line = str_printf("[    1.000000] echo: '%s'", splats[i].text);
		const char *title;

		if (splats[i].class == SPLAT_ALLOC_FAILURE)
			continue; /* begins with a name of any kind */
		assert_int_equal(splat_classify(line, &title), SPLAT_NONE);
	}
}

static void test_class_names(void **state)
{
	for (int c = SPLAT_NONE; c <= SPLAT_ALLOC_FAILURE; c++) {
		assert_non_null(splat_class_name((enum splat_class)c));
		for (int d = SPLAT_NONE; d < c; d++)
			assert_string_not_equal(splat_class_name((enum splat_class)c),
						splat_class_name((enum splat_class)d));
	}
}

/* ---- keeping ---- */

struct kept {
	struct strbuf sb;
};

static void keep(void *arg, const void *data, size_t len)
{
	struct kept *k = arg;

	strbuf_add(&k->sb, data, len);
}

static uint8_t pattern(uint64_t i)
{
	return i % 64 == 63 ? '\n' : (uint8_t)('a' + (i * 2654435761u >> 7) % 26);
}

/* Feeds `total` bytes in pieces, and compares with what is to be kept of them. */
static void check_keep(size_t total, size_t piece)
{
	const size_t head = CONSOLE_HEAD_BYTES, tail = CONSOLE_TAIL_BYTES;
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);
	uint8_t *data = xmalloc(total + 1);
	size_t dropped = total > head + tail ? total - head - tail : 0, n;
	cleanup_free char *mark = dropped ? str_printf("\n[mmrig: %zu bytes dropped here]\n", dropped) :
					    xstrdup("");

	for (size_t i = 0; i < total; i++)
		data[i] = pattern(i);
	for (size_t at = 0; at < total; at += n) {
		n = piece < total - at ? piece : total - at;
		console_feed(c, data + at, n);
	}
	assert_int_equal(console_bytes(c), total);
	assert_int_equal(k.sb.len, total < head ? total : head); /* the head is there at once */
	console_end(c);
	assert_int_equal(k.sb.len, total - dropped + strlen(mark));
	n = total < head ? total : head;
	assert_memory_equal(k.sb.data ? k.sb.data : "", data, n);
	if (total > head) {
		assert_memory_equal(k.sb.data + head, mark, strlen(mark));
		n = total - head - dropped;
		assert_memory_equal(k.sb.data + head + strlen(mark), data + total - n, n);
	}
	console_end(c); /* the tail comes once */
	assert_int_equal(k.sb.len, total - dropped + strlen(mark));
	console_free(c);
	strbuf_free(&k.sb);
	free(data);
}

static void test_head_and_tail(void **state)
{
	const size_t head = CONSOLE_HEAD_BYTES, all = head + CONSOLE_TAIL_BYTES;

	check_keep(0, 1000);
	check_keep(1, 1);
	check_keep(head - 1, 65536);
	check_keep(head, 65536);
	check_keep(head, head);
	check_keep(head + 1, 65536);
	check_keep(head + 1, head + 1);
	check_keep(all - 1, 65536);
	check_keep(all, 99991);
	check_keep(all, all);
	check_keep(all + 1, 99991);
	check_keep(all + 1, all + 1);
	check_keep(all + CONSOLE_TAIL_BYTES, 99991);
	check_keep(all + CONSOLE_TAIL_BYTES + 12345, 1 << 22);
}

/* ---- lines ---- */

static void feed(struct console *c, const char *text)
{
	console_feed(c, (const uint8_t *)text, strlen(text));
}

static void test_lines(void **state)
{
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);
	char *last;

	last = console_last_lines(c, 5);
	assert_string_equal(last, "");
	free(last);
	feed(c, "one\r\ntwo\n\nfo");
	feed(c, "ur\nopen");
	last = console_last_lines(c, 3);
	assert_string_equal(last, "two\n\nfour\n");
	free(last);
	console_end(c); /* the line without an end is one too */
	last = console_last_lines(c, 1000);
	assert_string_equal(last, "one\ntwo\n\nfour\nopen\n");
	free(last);
	last = console_last_lines(c, 0);
	assert_string_equal(last, "");
	free(last);
	console_free(c);
	strbuf_free(&k.sb);

	k.sb = (struct strbuf)STRBUF_INIT;
	c = console_new(keep, &k);
	for (int i = 0; i < 1000; i++) {
		char line[32];

		snprintf(line, sizeof(line), "line %d\n", i);
		feed(c, line);
	}
	last = console_last_lines(c, 2);
	assert_string_equal(last, "line 998\nline 999\n");
	free(last);
	last = console_last_lines(c, 100000); /* as many as there are: forty */
	assert_memory_equal(last, "line 960\n", 9);
	free(last);
	console_free(c);
	strbuf_free(&k.sb);
	console_free(NULL);
}

/* Fed byte by byte or in one piece, with a splat at the very end and no newline. */
static void test_unfinished_splat(void **state)
{
	static const char text[] = "[    1.0] fine\n[    2.5][    T1] WARNING: mm/page_alloc.c:5131 at "
				   "get_page_from_freelist+0x12b/0xf00, CPU#1: init/1";

	for (int single = 0; single < 2; single++) {
		struct kept k = { STRBUF_INIT };
		struct console *c = console_new(keep, &k);

		for (size_t i = 0; single && i < strlen(text); i++)
			console_feed(c, (const uint8_t *)text + i, 1);
		if (!single)
			feed(c, text);
		assert_int_equal(console_splat(c), SPLAT_NONE);
		assert_null(console_splat_title(c));
		console_end(c);
		assert_int_equal(console_splat(c), SPLAT_WARNING);
		assert_string_equal(console_splat_title(c), strstr(text, "WARNING"));
		assert_false(console_panicked(c));
		console_free(c);
		strbuf_free(&k.sb);
	}
}

static void test_nul_bytes(void **state)
{
	static const char text[] = "a\0b\n\0\0\n\0BUG: Bad page state in process x  pfn:1\0\n";
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);
	char *last;

	console_feed(c, (const uint8_t *)text, sizeof(text) - 1);
	last = console_last_lines(c, 3);
	assert_string_equal(last, "a b\n\n BUG: Bad page state in process x  pfn:1\n");
	free(last);
	assert_int_equal(console_splat(c), SPLAT_BUG); /* not hidden by the NUL before it */
	console_end(c);
	assert_int_equal(k.sb.len, sizeof(text) - 1);
	assert_memory_equal(k.sb.data, text, sizeof(text) - 1); /* kept as it came */
	console_free(c);
	strbuf_free(&k.sb);
}

/* 10 MiB without a newline: bounded, kept as head and tail, and the next line is a line again. */
static void test_endless_line(void **state)
{
	const size_t total = 10 << 20;
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);
	uint8_t *data = xmalloc(total);
	char *last;

	memset(data, 'x', total);
	console_feed(c, data, total);
	feed(c, "\nKernel panic - not syncing: test\n");
	assert_true(console_panicked(c));
	assert_int_equal(console_splat(c), SPLAT_PANIC);
	last = console_last_lines(c, 2);
	assert_true(strlen(last) < 2048);
	assert_non_null(strstr(last, "xxxx\nKernel panic"));
	free(last);
	console_end(c);
	assert_true(k.sb.len < CONSOLE_HEAD_BYTES + CONSOLE_TAIL_BYTES + 100);
	console_free(c);
	strbuf_free(&k.sb);
	free(data);
}

static void test_first_splat_stands(void **state)
{
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);

	feed(c, "[ 1.0] before\n"
		"[ 2.0] WARNING: CPU: 0 PID: 1 at mm/vmscan.c:1 f+0x1/0x2\n"
		"[ 2.0] Modules linked in:\n"
		"[ 2.0] ---[ end trace 0000000000000000 ]---\n"
		"[ 2.1] between\n"
		"[ 3.0] Kernel panic - not syncing: out\n");
	assert_int_equal(console_splat(c), SPLAT_WARNING);
	assert_string_equal(console_splat_title(c), "WARNING: CPU: 0 PID: 1 at mm/vmscan.c:1 f+0x1/0x2");
	assert_string_equal(console_splat_lines(c),
			    "[ 2.0] WARNING: CPU: 0 PID: 1 at mm/vmscan.c:1 f+0x1/0x2\n"
			    "[ 2.0] Modules linked in:\n"
			    "[ 2.0] ---[ end trace 0000000000000000 ]---\n");
	assert_true(console_panicked(c)); /* it will not come back, whatever came first */
	console_free(c);
	strbuf_free(&k.sb);
}

static void test_splat_lines_are_bounded(void **state)
{
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);
	size_t lines = 0;

	for (int i = 0; i < 100000; i++)
		feed(c, "BUG: Bad page state in process x  pfn:1\n");
	for (const char *p = console_splat_lines(c); (p = strchr(p, '\n')); p++)
		lines++;
	assert_int_equal(lines, 80);
	console_free(c);
	strbuf_free(&k.sb);
}

static void test_banners(void **state)
{
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);

	feed(c, "SeaBIOS\nBooting Linux version 1\n[    0.0] Command line: Linux version x\n");
	assert_false(console_booted(c));
	feed(c, "[    0.000000] Linux version 7.3.4+deb13-cloud-amd64 (x) #1 SMP\n");
	assert_true(console_booted(c));
	assert_false(console_rebooted(c));
	feed(c, "[    1.000000] something about Linux version 7\n[    1.0] Linux versions differ\n");
	assert_false(console_rebooted(c));
	feed(c, "<5>[    0.000000][    T0] Linux version 7.3.4+deb13-cloud-amd64 (x) #1 SMP\n");
	assert_true(console_rebooted(c));
	console_free(c);
	strbuf_free(&k.sb);
}

/* Pieces of real lines in any order and cut: nothing breaks, and the sum of bytes stays right. */
static void test_fuzz(void **state)
{
	clock_t start = clock();
	uint64_t r = 4711;

	for (int round = 0; round < 2000 && clock() - start < 2 * CLOCKS_PER_SEC; round++) {
		struct kept k = { STRBUF_INIT };
		struct console *c = console_new(keep, &k);
		uint64_t bytes = 0;

		for (int i = 0; i < 200; i++) {
			cleanup_free char *text = NULL;
			size_t len, cut;

			r = r * 6364136223846793005u + 1442695040888963407u;
			text = str_printf("%s%s\n", prefixes[(r >> 33) % ARRAY_SIZE(prefixes)],
					  splats[(r >> 40) % ARRAY_SIZE(splats)].text);
			len = strlen(text);
			cut = (r >> 20) % (len + 1);
			if (r >> 63)
				text[(r >> 50) % len] = (char)(r >> 10);
			console_feed(c, (uint8_t *)text + (len - cut), cut);
			bytes += cut;
		}
		console_end(c);
		assert_int_equal(k.sb.len, bytes);
		assert_int_equal(console_bytes(c), bytes);
		free(console_last_lines(c, 40));
		console_free(c);
		strbuf_free(&k.sb);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_positive),
		cmocka_unit_test(test_negative),
		cmocka_unit_test(test_in_the_middle),
		cmocka_unit_test(test_class_names),
		cmocka_unit_test(test_head_and_tail),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_unfinished_splat),
		cmocka_unit_test(test_nul_bytes),
		cmocka_unit_test(test_endless_line),
		cmocka_unit_test(test_first_splat_stands),
		cmocka_unit_test(test_splat_lines_are_bounded),
		cmocka_unit_test(test_banners),
		cmocka_unit_test(test_fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
