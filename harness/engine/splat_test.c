// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/splat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/engine/splat_impl.h"
#include "results/util/cleanup.h"

/* ---- patterns ---- */

struct sample {
	enum splat_class class;
	const char *text;
	const char *miss; /* almost the same, and no report */
};

/* As kernels print them; "7.x" marks what changed of late. */
static const struct sample samples[] = {
	{ SPLAT_PANIC,
	  "Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)",
	  "Kernel panics are not syncing" },
	{ SPLAT_PANIC, "Kernel panic - not syncing: System is deadlocked on memory",
	  "Kernel command line: panic=-1 oops=panic console=ttyS0" },
	{ SPLAT_PANIC, "Kernel panic - not syncing: Fatal exception",
	  "panic: Kernel panic - not syncing" },
	{ SPLAT_SOFT_LOCKUP, "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [kcompactd0:38]",
	  "watchdog: NMI watchdog enabled" },
	{ SPLAT_SOFT_LOCKUP, "BUG: soft lockup - CPU#1 stuck for 22s! [swapper/1:0]",
	  "softdog: BUG: soft lockup" },
	{ SPLAT_SOFT_LOCKUP, "NMI watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [cc1:99]",
	  "NMI watchdog: Enabled. Permanently consumes one hw-PMU counter." },
	{ SPLAT_HARD_LOCKUP, "watchdog: Watchdog detected hard LOCKUP on cpu 3",
	  "watchdog: Watchdog detects hard LOCKUPs" },
	{ SPLAT_HARD_LOCKUP, "NMI watchdog: Watchdog detected hard LOCKUP on cpu 3",
	  "NMI watchdog: hard LOCKUP on cpu 3" },
	{ SPLAT_HARD_LOCKUP, "watchdog: CPU2: Watchdog detected hard LOCKUP on cpu 3", /* 7.x */
	  "watchdog: CPU0: not detected hard LOCKUP" },
	{ SPLAT_WORKQUEUE_LOCKUP,
	  "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 40s!",
	  "workqueue: BUG: workqueue lockup" },
	{ SPLAT_RCU_STALL,
	  "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", "rcu: INFO: Preemptible RCU" },
	{ SPLAT_RCU_STALL, "rcu: INFO: rcu_sched self-detected stall on CPU",
	  "rcu: \tRCU CPU stall timeout in ms is 21000." },
	{ SPLAT_RCU_STALL,
	  "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-.... }",
	  "rcu: Hierarchical RCU implementation." },
	{ SPLAT_RCU_STALL, "INFO: rcu_sched self-detected stall on CPU",
	  "INFO: rcu_sched is fine" },
	{ SPLAT_RCU_STALL,
	  "INFO: rcu_tasks detected stalls on tasks:", "INFO: RCU detected stalls" },
	{ SPLAT_HUNG_TASK, "INFO: task tmpfs-files:77 blocked for more than 120 seconds.",
	  "INFO: task blocked" },
	{ SPLAT_HUNG_TASK,
	  "INFO: task kworker/0:1:9 blocked in I/O wait for more than 122 seconds.",
	  "INFO: task kcompactd0:38 is blocked on a mutex likely owned by task cc1:99." },
	{ SPLAT_KASAN, "BUG: KASAN: slab-use-after-free in isolate_freepages_block+0x1d3/0x520",
	  "kasan: KernelAddressSanitizer initialized" },
	{ SPLAT_KCSAN, "BUG: KCSAN: data-race in compact_zone / isolate_migratepages_block",
	  "kcsan: enabled early" },
	{ SPLAT_KFENCE, "BUG: KFENCE: memory corruption in free_one_page+0x1d/0x90",
	  "kfence: initialized - using 2097152 bytes for 255 objects" },
	{ SPLAT_UBSAN, "UBSAN: array-index-out-of-bounds in mm/vmscan.c:4321:9", "UBSAN: enabled" },
	{ SPLAT_LOCKDEP, "WARNING: possible circular locking dependency detected",
	  "WARNING: possible side effects" },
	{ SPLAT_LOCKDEP, "WARNING: possible recursive locking detected",
	  "** WARNING: possible misuse detected **" },
	{ SPLAT_LOCKDEP, "WARNING: inconsistent lock state", "WARNING: inconsistent state" },
	{ SPLAT_LOCKDEP, "WARNING: suspicious RCU usage", "WARNING: RCU usage" },
	{ SPLAT_LOCKDEP, "WARNING: bad unlock balance detected!", "WARNING: bad balance" },
	{ SPLAT_LOCKDEP, "WARNING: bad contention detected!", "WARNING: contention" },
	{ SPLAT_LOCKDEP, "WARNING: Nested lock was not taken",
	  "WARNING: Nested virtualisation was not taken" },
	{ SPLAT_LOCKDEP, "WARNING: held lock freed!", "WARNING: held lock" },
	{ SPLAT_LOCKDEP, "WARNING: SOFTIRQ-safe -> SOFTIRQ-unsafe lock order detected",
	  "WARNING: lock order detected" },
	{ SPLAT_LOCKDEP, "WARNING: lock held when returning to user space!", "WARNING: lock held" },
	{ SPLAT_LOCKDEP, "WARNING: init/1 still has locks held!",
	  "WARNING: init/1 still has keys" },
	{ SPLAT_LOCKDEP, "[ BUG: Invalid wait context ]", "[ BUGS: none ]" },
	{ SPLAT_LOCKDEP, "[ INFO: possible circular locking dependency detected ]",
	  "[ INFO: possible CPUs 4 ]" },
	{ SPLAT_LOCKDEP, "[ INFO: inconsistent lock state ]", "[ INFO: inconsistent state ]" },
	{ SPLAT_LOCKDEP, "[ INFO: suspicious RCU usage. ]", "[ INFO: RCU usage. ]" },
	{ SPLAT_BAD_PAGE, "BUG: Bad page state in process kcompactd0  pfn:1a2b3",
	  "Bad page state in process kcompactd0" },
	{ SPLAT_BAD_PAGE, "BUG: Bad page map in process cc1  pte:80000001a2b3 pmd:123",
	  "Bad page map" },
	{ SPLAT_BAD_PAGE, "BUG: Bad page cache in process cc1  pfn:1a2b3", "Bad page cache" },
	{ SPLAT_BAD_PAGE,
	  "BUG: Bad rss-counter state mm:000000001 type:MM_ANONPAGES val:1 Comm:cc1 Pid:9",
	  "rss-counter state" },
	{ SPLAT_MEMORY_LEAK, "BUG: memory leak", "DEBUG: memory leak" },
	{ SPLAT_MEMORY_LEAK,
	  "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
	  "kmemleak: Kernel memory leak detector initialized (mem pool available: 15738)" },
	{ SPLAT_MEMORY_LEAK,
	  "unreferenced object 0xffff888101a2b300 (size 64):", "unreferenced objects: none" },
	{ SPLAT_MEMORY_LEAK, "kmemleak: unreferenced object 0xffff888101a2b300 (size 64):",
	  "kmemleak: Automatic memory scanning thread started" },
	{ SPLAT_ATOMIC_SLEEP,
	  "BUG: sleeping function called from invalid context at mm/slub.c:3100",
	  "sleeping function called" },
	{ SPLAT_ATOMIC_SLEEP, "BUG: scheduling while atomic: mmrig/1/0x00000002",
	  "scheduling while atomic:" },
	{ SPLAT_OOPS, "BUG: unable to handle page fault for address: ffffffffc0401000",
	  "the last line was BUG: unable to handle page fault" },
	{ SPLAT_OOPS, "BUG: kernel NULL pointer dereference, address: 0000000000000000",
	  "kernel NULL pointer dereference" },
	{ SPLAT_OOPS, "kernel BUG at mm/page_alloc.c:1234!", "in kernel BUG at" },
	{ SPLAT_OOPS, "Oops: 0000 [#1] PREEMPT SMP NOPTI", "Oops" },
	{ SPLAT_OOPS,
	  "Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1]",
	  "Oopsed too often (kernel.oops_limit is 10000)" },
	{ SPLAT_OOPS, "Internal error: Oops: 0000000096000004 [#1] PREEMPT SMP",
	  "Internal errors: 0" },
	{ SPLAT_OOPS, "Unable to handle kernel paging request at virtual address dead000000000108",
	  "Unable to handle it" },
	{ SPLAT_OOPS, "general protection fault: 0000 [#1] SMP PTI",
	  "traps: cc1[99] general protection fault ip:7f sp:7f error:0 in cc1" },
	{ SPLAT_OOPS, "stack segment: 0000 [#1] SMP", "not a stack segment: 0000" },
	{ SPLAT_OOPS, "double fault: 0000 [#1] SMP", "a double fault: no" },
	{ SPLAT_OOPS, "divide error: 0000 [#1] SMP",
	  "traps: cc1[7] trap divide error ip:1 sp:2 error:0" },
	{ SPLAT_OOPS, "invalid opcode: 0000 [#1] PREEMPT SMP", "trap invalid opcode: ip" },
	{ SPLAT_BUG, "list_add corruption. prev->next should be next (ffff8881), but was dead.",
	  "list_add works" },
	{ SPLAT_BUG, "list_del corruption, ffff8881->next is LIST_POISON1 (dead000000000100)",
	  "list_delete corruption" },
	{ SPLAT_BUG, "BUG kmalloc-64 (Not tainted): Poison overwritten",
	  "BUG fq_codel code 1 qlen 2" },
	{ SPLAT_BUG, "BUG dentry (Tainted: G    B             ): Freepointer corrupt",
	  "[B] BUG of the week" },
	{ SPLAT_BUG, "BUG: using __this_cpu_add() in preemptible [00000000] code: init/1",
	  "BUGS: none" },
	{ SPLAT_BUG, "BUG: using smp_processor_id() in preemptible [00000000] code: init/1",
	  "Debug: BUG: no" },
	{ SPLAT_WARNING, "WARNING: CPU: 0 PID: 1 at mm/page_alloc.c:4435 __alloc_pages+0x1e2/0x2e0",
	  "WARNING: CPU: 0" },
	{ SPLAT_WARNING,
	  "WARNING: mm/page_alloc.c:5131 at get_page_from_freelist+0x12b/0xf00, CPU#1: init/1",
	  "audit: WARNING: mm/page_alloc.c:5131 at get_page_from_freelist+0x1, CPU#1: init/1" },
	{ SPLAT_WARNING, "WARNING: at get_page_from_freelist+0x12b/0xf00, CPU#1: init/1", /* 7.x */
	  "WARNING: at get_page_from_freelist+0x12b/0xf00" },
	{ SPLAT_WARNING, "WARNING: at mm/slub.c:123 kmem_cache_free+0x1/0x2()",
	  "WARNING: at mm/slub.c:123" },
	{ SPLAT_WARNING, "WARNING: at include/linux/mm.h:12 put_page+0x1/0x2()",
	  "WARNING: at 5 o'clock" },
	{ SPLAT_OOM_KILL,
	  "tmpfs-files invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0",
	  " invoked oom-killer: by nobody" },
	{ SPLAT_OOM_KILL,
	  "Out of memory: Killed process 77 (tmpfs-files) total-vm:3000kB, anon-rss:1kB",
	  "Out of memory and no killable processes..." },
	{ SPLAT_OOM_KILL,
	  "Out of memory (oom_kill_allocating_task): Killed process 77 (tmpfs-files)",
	  "Out of memory: panic_on_oom is enabled" },
	{ SPLAT_OOM_KILL, "Memory cgroup out of memory: Killed process 9 (x) total-vm:1kB",
	  "Memory cgroup out of memory: nothing" },
	{ SPLAT_OOM_KILL, "Out of memory: Kill process 9 (x) score 900 or sacrifice child",
	  "oom_reaper: reaped process 77 (tmpfs-files), now anon-rss:0kB" },
	{ SPLAT_OOM_KILL,
	  "Memory cgroup out of memory: Kill process 9 (x) score 900 or sacrifice child",
	  "memory cgroup out of memory: Kill process 9" },
	{ SPLAT_ALLOC_FAILURE,
	  "kworker/0:1: page allocation failure: order:5, mode:0x40cc0(GFP_KERNEL|__GFP_COMP), nodemask=(null)",
	  "x: page allocation stalls for 10000ms, order:0" },
	{ SPLAT_ALLOC_FAILURE, "swapper: page allocation failure. order:1, mode:0x20",
	  "x: page allocation failure" },
	{ SPLAT_ALLOC_FAILURE,
	  "kworker/u16:2: vmalloc: allocation failure: 0 bytes, mode:0xdc0(GFP_KERNEL|__GFP_ZERO), nodemask=(null)",
	  "x: vmalloc: allocation failure" },
	{ SPLAT_ALLOC_FAILURE,
	  "systemd-udevd: vmalloc error: size 4096, failed to allocate pages, mode:0xcc2(GFP_KERNEL)",
	  "x: vmalloc error: none" },
};

/* Of each entry of the table of what only looks like a report, in its order. */
static const char *const ignored[SPLAT_IGNORED] = {
	"ODEBUG: Out of memory. ODEBUG disabled",
	"INFO: lockdep is turned off.",
	"** This means that this is a DEBUG kernel and it is     **",
	"NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #08!!!",
	"NOHZ: local_softirq_pending 08",
	"WARNING: kernel stack regs at 0000000012345678 in cc1:99 has bad 'bp' value 0000000000000001",
	"WARNING: can't access registers at entry_SYSCALL_64_after_hwframe+0x63/0xcd",
	"WARNING: can't dereference iret registers at 00000000 for ip native_iret+0x7/0x10",
	"WARNING: stack recursion on stack type 4",
	"WARNING: stack going in the wrong direction? at do_idle+0x1/0x2",
	"WARNING: unrecognized unwind stack type ffff8881 for task swapper/0:0",
	"WARNING: Unprivileged eBPF is enabled with eIBRS on, data leaks possible via Spectre v2 BHB attacks!",
	"WARNING: BIOS bug: VAR MTRR 0 contains strange UC entry under 1M, check with your system vendor!",
	"BUG: MAX_LOCKDEP_CHAINS too low!",
	"BUG: MAX_LOCK_DEPTH too low!",
	"BUG: MAX_STACK_TRACE_ENTRIES too low!",
	"rcu: INFO: Stall ended before state dump start",
	"INFO: Stall ended before state dump start",
	"INFO: NMI handler (perf_event_nmi_handler) took too long to run: 12.345 msecs",
};

/* More lines that are no reports. */
static const char *const harmless[] = {
	"",
	" ",
	"[",
	"[    ",
	"<",
	"<4",
	"6,",
	"6,4013,",
	"6,4013,12,-",
	"2026-11-30",
	"Nov 30",
	"kern  :",
	"Linux version 7.3.4 (builder@host) (gcc 14) #1 SMP",
	"mmrig-agent: BUG: this is a text of ours",
	"systemd[1]: WARNING: CPU: 0 PID: 1 at mm/page_alloc.c:4435",
	"ODEBUG: active_state not available: object type: timer_list",
	"DEBUG: watchdog: off",
	"DEBUG_LOCKS_WARN_ON(1)",
	"KUBSAN: no",
	"note: UBSAN: bounds in x",
	"INFO: task scheduler ready",
	"task INFO: task x:1 blocked for more than 120 seconds.",
	"no Oops: here",
	"cc1[99]: segfault at 0 ip 0 sp 0 error 4",
	"general protection",
	"SLUB: Unable to allocate memory on CPU 0",
	"page allocation failure: order:0",
	"-----------[ cut here ]------------",
	"------------[ cut here ]------------",
	"[ INFO: nothing ]",
	"==================================================================",
	"Call Trace:",
	"---[ end trace 0000000000000000 ]---",
	"CPU: 0 PID: 1 Comm: init Not tainted",
	"'echo' invoked oom-killer: what a line",
	"\"x: page allocation failure: order:0\"",
};

/* dmesg, printk.time, printk.caller, a raw level, journald, syslog, ISO time, netconsole, several. */
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
	"Nov 30 17:12:32 host kernel: ",
	"Dec  7 10:12:34 host kernel: [   12.345678] ",
	"2026-11-30T17:12:32+0100 host kernel: ",
	"2024-09-19T16:27:10.807437+08:00 host kernel: [19184252.168449] ",
	"2026-11-30T17:12:32,807437+01:00 ",
	"2026-11-30T17:12:32Z host kernel: ",
	"2026-11-30 17:12:32 host kernel: ",
	"[Mon Nov 30 17:12:32 2026] ",
	"[Mon Dec  7 17:12:32 2026] ",
	"6,4013,1349956262,-;",
	"4,1,0,-,caller=T1;",
	"6,4013,1349956262,-;[   12.345678] ",
	"Dec  7 10:12:34 192.0.2.1 6,3806,1349544157,-;",
	"Dec  7 10:12:34 2001:db8::1 6,3806,1349544157,-;",
	"kern  :warn  : [   12.345678] ",
	"kern  :emerg : ",
};

static void test_positive(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		for (size_t p = 0; p < ARRAY_SIZE(prefixes); p++) {
			cleanup_free char *line = str_printf("%s%s", prefixes[p], samples[i].text);
			const char *title = NULL;
			enum splat_class class = splat_classify(line, &title);

			if (class != samples[i].class)
				fail_msg("\"%s\" is %s", line, splat_class_name(class));
			assert_string_equal(title, samples[i].text);
			assert_null(splat_ignored(line));
		}
	}
}

static void expect_harmless(const char *text)
{
	for (size_t p = 0; p < ARRAY_SIZE(prefixes); p++) {
		cleanup_free char *line = str_printf("%s%s", prefixes[p], text);
		const char *title = NULL;
		enum splat_class class = splat_classify(line, &title);

		if (class != SPLAT_NONE)
			fail_msg("\"%s\" is taken for %s", line, splat_class_name(class));
		assert_true(title >= line && title <= line + strlen(line));
	}
}

static void test_negative(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		expect_harmless(harmless[i]);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		expect_harmless(samples[i].miss);
	/* Only the kernel's own lines of a journal. */
	expect_harmless("host systemd[1]: BUG: unable to handle page fault");
	expect_harmless("kernelling: BUG: no");
}

/* No pattern is without a sample that it, and none before it, takes. */
static void test_every_pattern_has_samples(void **state)
{
	for (size_t k = 0; k < splat_pattern_count; k++) {
		bool found = false;

		for (size_t i = 0; !found && i < ARRAY_SIZE(samples); i++)
			found = splat_pattern_of(samples[i].text) == &splat_patterns[k];
		if (!found)
			fail_msg("pattern %zu, \"%s\", has no sample", k,
				 splat_patterns[k].start ? splat_patterns[k].start :
							   splat_patterns[k].contains);
	}
}

static void test_ignored(void **state)
{
	for (int i = 0; i < SPLAT_IGNORED; i++) {
		cleanup_free char *line = str_printf("[    1.000000][    T1] %s", ignored[i]);

		expect_harmless(ignored[i]);
		assert_int_equal(splat_ignored_entry(ignored[i]), i);
		assert_true(splat_ignored(line) && strlen(splat_ignored(line)) > 5);
	}
	assert_null(splat_ignored("[ 1.000000] all is well"));
	assert_null(splat_ignored("BUG: using __this_cpu_read() in preemptible code"));
}

/* The same words behind other words are somebody's text. */
static void test_in_the_middle(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		cleanup_free char *line = str_printf("[    1.000000] echo: '%s'", samples[i].text);
		const char *title;

		assert_int_equal(splat_classify(line, &title), SPLAT_NONE);
	}
}

static void test_names(void **state)
{
	for (int c = SPLAT_NONE; c < SPLAT_CLASSES; c++) {
		bool sampled = c == SPLAT_NONE;

		assert_non_null(splat_class_name((enum splat_class)c));
		for (int d = SPLAT_NONE; d < c; d++)
			assert_string_not_equal(splat_class_name((enum splat_class)c),
						splat_class_name((enum splat_class)d));
		for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
			sampled |= samples[i].class == (enum splat_class)c;
		assert_true(sampled);
	}
	assert_int_equal(splat_class_severity(SPLAT_ALLOC_FAILURE), SPLAT_NOTE);
	assert_int_equal(splat_class_severity(SPLAT_HUNG_TASK), SPLAT_STALL);
	assert_true(splat_class_severity(SPLAT_WARNING) > SPLAT_NOTE);
	assert_true(splat_class_severity(SPLAT_KASAN) > splat_class_severity(SPLAT_RCU_STALL));
	assert_true(splat_class_severity(SPLAT_PANIC) > splat_class_severity(SPLAT_KASAN));
	assert_string_equal(splat_severity_name(SPLAT_FATAL), "fatal");
}

static void test_prefix(void **state)
{
	struct splat_line l;

	splat_line_parse("<4>[   12.345678][  T123]  foo+0x1/0x2", &l);
	assert_string_equal(l.message, "foo+0x1/0x2");
	assert_true(l.has_stamp && l.indented && !l.has_sequence);
	assert_int_equal(l.stamp_us, 12345678);
	assert_int_equal(l.caller, 'T');
	assert_int_equal(l.caller_id, 123);
	splat_line_parse("Dec  7 10:12:35 192.0.2.1 6,4013,1349956262,-; shrink_slab+0xaa/0x120",
			 &l);
	assert_string_equal(l.message, "shrink_slab+0xaa/0x120");
	assert_true(l.has_stamp && l.indented && l.has_sequence);
	assert_int_equal(l.stamp_us, 1349956262);
	assert_int_equal(l.sequence, 4013);
	splat_line_parse("[    1.5] x", &l);
	assert_int_equal(l.stamp_us, 1500000);
	assert_false(l.indented);
	splat_line_parse("Nov 30 17:12:32 host kernel: x", &l);
	assert_string_equal(l.message, "x");
	assert_false(l.has_stamp || l.indented); /* a daemon's clock is not the kernel's */
	assert_true(splat_line_has_inner_stamp("(M) [73821.310345] Node 0"));
	assert_true(splat_line_has_inner_stamp("foo [ 3821.310345] Node 0"));
	assert_false(splat_line_has_inner_stamp("[  pid  ] 1.5 [nfsd] [1.2]"));
	/* Ten addresses and a bracket that is none of a stamp. */
	splat_line_parse("[c000000007eeb370] x", &l);
	assert_string_equal(l.message, "[c000000007eeb370] x");
}

static void test_frames(void **state)
{
	static const struct {
		const char *text, *name;
		bool sure, pc, meaningful;
	} frames[] = {
		{ "shrink_slab+0x113/0x400", "shrink_slab", true, false, true },
		{ "? shrink_slab+0x113/0x400", "shrink_slab", false, false, false },
		{ "nfsd4_state_shrinker_count+0x3f/0x70 [nfsd]", "nfsd4_state_shrinker_count", true,
		  false, true },
		{ "try_to_compact.constprop.120+0x59d/0x1250", "try_to_compact", true, false,
		  true },
		{ "foo.isra.0.cold+0x5/0x12", "foo", true, false, true },
		{ "folio_alloc_mpol_noprof+0x5/0x12", "folio_alloc_mpol", true, false, true },
		{ "[c000000007eeb450] [c000000000442f9c] siw_accept+0x24c/0x3e0 [siw]",
		  "siw_accept", true, false, true },
		{ "[<10411ad4>] patch_map.constprop.0+0xa8/0xdc", "patch_map", true, false, true },
		{ "[<ffffffff81111111>] ? patch_map+0xa8/0xdc", "patch_map", false, false, false },
		{ "[<c02aec94>] (compact) from [<c030166c>]", "compact", true, false, true },
		{ "compact from __alloc_pages+0x5/0x12", "compact", true, false, true },
		{ "RIP: 0010:try_to_grab_pending+0xf7/0x230", "try_to_grab_pending", true, true,
		  true },
		{ "RIP: 0010:[<ffffffff81111111>]  [<ffffffff81111111>] foo+0x1/0x2", "foo", true,
		  true, true },
		{ "pc : foo+0x1/0x2", "foo", true, true, true },
		{ "NIP [c0458840] BIT_flushBits+0x1c/0x58", "BIT_flushBits", true, true, true },
		{ "RIP: 0010:get_page_from_freelist+0xf7/0x230", "get_page_from_freelist", true,
		  true, true },
		{ "get_page_from_freelist+0xf7/0x230", "get_page_from_freelist", true, false,
		  false },
		{ "dump_stack_lvl+0x5/0x9", "dump_stack_lvl", true, false, false },
		{ "__warn+0x5/0x9", "__warn", true, false, false },
		{ "__warning_shot+0x5/0x9", "__warning_shot", true, false, false },
		{ "panic+0x5/0x9", "panic", true, false, false },
		{ "panicky+0x5/0x9", "panicky", true, false, true },
		{ "oops_exit+0x5/0x9", "oops_exit", true, false, false },
		{ "asm_exc_page_fault+0x1e/0x30", "asm_exc_page_fault", true, false, false },
		{ "entry_SYSCALL_64_after_hwframe+0x1e/0x30", "entry_SYSCALL_64_after_hwframe",
		  true, false, false },
		{ "RIP: 0010:_raw_spin_lock+0x1/0x2", "_raw_spin_lock", true, true, false },
	};
	static const char *const none[] = {
		"",
		"?",
		"[",
		"[<",
		"[<c0",
		"foo",
		"foo+0x",
		"foo+0x1",
		"foo+0x1/",
		"foo+1/2",
		"RIP: 0033:0x7faf2f8c5df2",
		"RIP: ",
		"+0x1/0x2",
		"0xc07ff5f0",
		"mail from host",
		"Code: 00 4d",
		"1+0x1/0x2",
	};
	struct splat_frame f;

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		if (!splat_frame_parse(frames[i].text, &f))
			fail_msg("\"%s\" is no frame", frames[i].text);
		assert_string_equal(f.name, frames[i].name);
		assert_int_equal(f.sure, frames[i].sure);
		assert_int_equal(f.pc, frames[i].pc);
		if (splat_frame_meaningful(&f) != frames[i].meaningful)
			fail_msg("\"%s\": meaningful?", frames[i].text);
		assert_false(f.glued);
	}
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		if (splat_frame_parse(none[i], &f))
			fail_msg("\"%s\" is taken for a frame", none[i]);
	assert_true(splat_frame_parse("foo+0x1/0x2 bar+0x3/0x4", &f));
	assert_true(f.glued);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_positive),
		cmocka_unit_test(test_negative),
		cmocka_unit_test(test_every_pattern_has_samples),
		cmocka_unit_test(test_ignored),
		cmocka_unit_test(test_in_the_middle),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
