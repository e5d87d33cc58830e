// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/splat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "harness/engine/splat_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

/* ---- reports ---- */

static struct splat_log *log_of(const char *text)
{
	struct splat_log *log = splat_log_new();
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		if (rest || *line)
			splat_log_feed(log, line);
	splat_log_end(log);
	return log;
}

struct expected {
	enum splat_class class;
	enum splat_severity severity;
	bool corrupted;
	const char *title, *fingerprint; /* the title's beginning */
};

static void check_log(const char *what, const char *text, const struct expected *want, size_t n)
{
	struct splat_log *log = log_of(text);

	if (splat_log_count(log) != n)
		fail_msg("%s: %zu reports, not %zu", what, splat_log_count(log), n);
	for (size_t i = 0; i < n; i++) {
		const struct splat_report *r = splat_log_get(log, i);

		if (r->class != want[i].class || r->severity != want[i].severity ||
		    r->corrupted != want[i].corrupted || !str_starts(r->title, want[i].title) ||
		    strcmp(r->fingerprint, want[i].fingerprint) != 0)
			fail_msg("%s: report %zu is %s (%s)%s \"%s\" %s", what, i,
				 splat_class_name(r->class), splat_severity_name(r->severity),
				 r->corrupted ? " torn" : "", r->title, r->fingerprint);
		assert_non_null(strstr(r->lines, want[i].title));
	}
	assert_null(splat_log_get(log, n));
	splat_log_free(log);
}
#define CHECK(what, text, ...)                                   \
	do {                                                     \
		const struct expected want_[] = { __VA_ARGS__ }; \
		check_log(what, text, want_, ARRAY_SIZE(want_)); \
	} while (0)

static char *fixture(const char *name)
{
	cleanup_free char *path = str_printf("harness/engine/testdata/%s", name);
	char *found = file_exists(path) ? xstrdup(path) : data_path(path, NULL), *text;
	size_t len;

	assert_non_null(found);
	text = file_read(found, 0, &len, NULL);
	free(found);
	assert_non_null(text);
	return text;
}

static const struct {
	const char *name;
	size_t n;
	struct expected want[2];
} fixtures[] = {
	{ "hung-task-5.4.txt",
	  2,
	  { { SPLAT_HUNG_TASK, SPLAT_STALL, false,
	      "INFO: task kswapd0:328 blocked for more than 120 seconds.",
	      "wait_on_page_bit:wait_on_page_writeback:shrink_page_list:shrink_inactive_list:shrink_node_memcg" },
	    { SPLAT_HUNG_TASK, SPLAT_STALL, true, "INFO: task kswapd1:329",
	      "" } } }, /* the paste ends */
	{ "soft-lockup-6.1-wrapped.txt",
	  1,
	  { { SPLAT_SOFT_LOCKUP, SPLAT_STALL, false,
	      "watchdog: BUG: soft lockup - CPU#1 stuck for 26s!",
	      "try_to_grab_pending:mod_delayed_work_on:nfsd4_state_shrinker_count:do_shrink_slab:shrink_slab" } } },
	{ "oom-6.6-arm64.txt",
	  1,
	  { { SPLAT_OOM_KILL, SPLAT_ERROR, false, "test_samba_blfl invoked oom-killer:",
	      "copy_process:kernel_clone:__do_sys_clone:__arm64_sys_clone" } } },
	{ "oom-5.8-caller-id-cut.txt",
	  1, /* ends before the killed process is named */
	  { { SPLAT_OOM_KILL, SPLAT_ERROR, true,
	      "random invoked oom-killer:", "handle_mm_fault:do_user_addr_fault" } } },
	{ "oom-panic-5.16-arm.txt",
	  2,
	  { { SPLAT_OOM_KILL, SPLAT_ERROR, false, "kworker/u2:2 invoked oom-killer:", "" },
	    { SPLAT_PANIC, SPLAT_FATAL, false,
	      "Kernel panic - not syncing: System is deadlocked on memory", "" } } },
	{ "rcu-stall-6.1-netconsole.txt",
	  1, /* 191 messages are missing between 3820 and 4012 */
	  { { SPLAT_RCU_STALL, SPLAT_STALL, true, "rcu: INFO: rcu_preempt detected expedited stalls",
	      "ttwu_queue_wakelist:__cgroup_account_cputime:bch2_btree_key_cache_scan" } } },
	{ "vmalloc-5.10-ppc64.txt",
	  1,
	  { { SPLAT_ALLOC_FAILURE, SPLAT_NOTE, false,
	      "kworker/u16:2: vmalloc: allocation failure: 0 bytes",
	      "siw_qp_modify:siw_accept:iw_cm_accept:rdma_accept:nvmet_rdma_queue_connect" } } },
	{ "alloc-failure-6.8-ppc32.txt",
	  1,
	  { { SPLAT_ALLOC_FAILURE, SPLAT_NOTE, false, "kswapd0: page allocation failure: order:0",
	      "__netdev_alloc_skb:setup_rx_descbuffer:b43legacy_dma_rx:b43legacy_interrupt_tasklet:"
	      "tasklet_action_common" } } },
	{ "alloc-failure-6.3-parisc.txt",
	  1,
	  { { SPLAT_ALLOC_FAILURE, SPLAT_NOTE, false, "swapper: page allocation failure: order:0",
	      "__pte_alloc_kernel:set_fixmap:patch_map:__patch_text_multiple:patch_text" } } },
	{ "alloc-failure-5.10-iso-time.txt",
	  1, /* the poster left the stack out */
	  { { SPLAT_ALLOC_FAILURE, SPLAT_NOTE, true,
	      "kworker/0:1: page allocation failure: order:4", "" } } },
	{ "no-start-6.17-journald.txt", 0, { { 0 } } },
};

static void test_real_reports(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixtures); i++) {
		cleanup_free char *text = fixture(fixtures[i].name);

		check_log(fixtures[i].name, text, fixtures[i].want, fixtures[i].n);
	}
}

#define WARNING_HEAD                                                                                                  \
	"[    2.000000][    T1] ------------[ cut here ]------------\n"                                               \
	"[    2.000001][    T1] WARNING: mm/page_alloc.c:5131 at get_page_from_freelist+0x12b/0xf00, CPU#1: init/1\n" \
	"[    2.000002][    T1] Modules linked in: virtio_blk\n"                                                      \
	"[    2.000003][    T1] CPU: 1 UID: 0 PID: 1 Comm: init Not tainted 7.3.4 #1\n"                               \
	"[    2.000004][    T1] RIP: 0010:get_page_from_freelist+0x12b/0xf00\n"                                       \
	"[    2.000005][    T1] Code: 00 4d 3b\n"                                                                     \
	"[    2.000006][    T1] Call Trace:\n"                                                                        \
	"[    2.000007][    T1]  <TASK>\n"                                                                            \
	"[    2.000008][    T1]  __alloc_pages_noprof+0x1/0x2\n"                                                      \
	"[    2.000009][    T1]  ? ret_from_fork+0x1/0x2\n"                                                           \
	"[    2.000010][    T1]  shmem_alloc_folio.isra.0+0x1/0x2 [shmem]\n"
#define WARNING_TAIL                                      \
	"[    2.000011][    T1]  do_syscall_64+0x1/0x2\n" \
	"[    2.000012][    T1]  </TASK>\n"
#define WARNING_END "[    2.000013][    T1] ---[ end trace 0000000000000000 ]---\n"
#define WARNING_PRINT "get_page_from_freelist:shmem_alloc_folio"

#define OOPS                                                                          \
	"[    3.0] BUG: kernel NULL pointer dereference, address: 0000000000000008\n" \
	"[    3.0] #PF: supervisor read access in kernel mode\n"                      \
	"[    3.0] PGD 0 P4D 0\n"                                                     \
	"[    3.0] Oops: Oops: 0000 [#1] SMP NOPTI\n"                                 \
	"[    3.0] CPU: 0 UID: 0 PID: 38 Comm: kcompactd0 Not tainted 7.3.4 #1\n"     \
	"[    3.0] RIP: 0010:isolate_freepages_block+0x1d3/0x520\n"                   \
	"[    3.0] Call Trace:\n"                                                     \
	"[    3.0]  <TASK>\n"                                                         \
	"[    3.0]  isolate_freepages_block+0x1d3/0x520\n"                            \
	"[    3.0]  compaction_alloc+0x1/0x2\n"                                       \
	"[    3.0]  kthread+0x1/0x2\n"                                                \
	"[    3.0]  </TASK>\n"                                                        \
	"[    3.0] ---[ end trace 0000000000000000 ]---\n"
#define OOPS_PRINT "isolate_freepages_block:compaction_alloc"
#define OOPS_TITLE "BUG: kernel NULL pointer dereference"

static void test_warning(void **state)
{
	CHECK("whole", WARNING_HEAD WARNING_TAIL WARNING_END,
	      { SPLAT_WARNING, SPLAT_WARN, false, "WARNING: mm/page_alloc.c:5131", WARNING_PRINT });
	CHECK("cut", WARNING_HEAD,
	      { SPLAT_WARNING, SPLAT_WARN, true, "WARNING: mm/page_alloc.c:5131", WARNING_PRINT });
	CHECK("no end", WARNING_HEAD WARNING_TAIL,
	      { SPLAT_WARNING, SPLAT_WARN, true, "WARNING: mm/page_alloc.c:5131", WARNING_PRINT });
	CHECK("another CPU's frame within",
	      WARNING_HEAD "[    2.000010][   T99]  shrink_node+0x1/0x2\n" WARNING_TAIL WARNING_END,
	      { SPLAT_WARNING, SPLAT_WARN, true, "WARNING: mm/page_alloc.c:5131",
		WARNING_PRINT ":shrink_node" });
	CHECK("another's remark within",
	      WARNING_HEAD
	      "[    2.000010][   T99] virtio_blk: capacity changed\n" WARNING_TAIL WARNING_END,
	      { SPLAT_WARNING, SPLAT_WARN, false, "WARNING: mm/page_alloc.c:5131", WARNING_PRINT });
	CHECK("time goes back",
	      WARNING_HEAD "[    1.999999][    T1]  shrink_node+0x1/0x2\n" WARNING_TAIL WARNING_END,
	      { SPLAT_WARNING, SPLAT_WARN, true, "WARNING: mm/page_alloc.c:5131",
		WARNING_PRINT ":shrink_node" });
	CHECK("two frames on a line",
	      WARNING_HEAD
	      "[    2.000010][    T1]  vm_a+0x1/0x2 vm_b+0x1/0x2\n" WARNING_TAIL WARNING_END,
	      { SPLAT_WARNING, SPLAT_WARN, true, "WARNING: mm/page_alloc.c:5131",
		WARNING_PRINT ":vm_a" });
	CHECK("a line within a line",
	      WARNING_HEAD
	      "[    2.000010][    T1]  Code: 1f [    2.000010] x\n" WARNING_TAIL WARNING_END,
	      { SPLAT_WARNING, SPLAT_WARN, true, "WARNING: mm/page_alloc.c:5131", WARNING_PRINT });
	CHECK("another dump's CPU",
	      WARNING_HEAD
	      "[    2.000010] CPU: 0 UID: 0 PID: 9 Comm: cc1 Not tainted 7.3.4\n" WARNING_TAIL
		      WARNING_END,
	      { SPLAT_WARNING, SPLAT_WARN, true, "WARNING: mm/page_alloc.c:5131", WARNING_PRINT });
	CHECK("a start within, without its end", WARNING_HEAD OOPS,
	      { SPLAT_WARNING, SPLAT_WARN, true, "WARNING: mm/page_alloc.c:5131", WARNING_PRINT },
	      { SPLAT_OOPS, SPLAT_FATAL, false, OOPS_TITLE, OOPS_PRINT });
	CHECK("a boot within",
	      WARNING_HEAD "[    0.000000] Linux version 7.3.4\n" WARNING_TAIL WARNING_END,
	      { SPLAT_WARNING, SPLAT_WARN, true, "WARNING: mm/page_alloc.c:5131", WARNING_PRINT });
	CHECK("the end is lost, and much later another",
	      WARNING_HEAD "[   99.000000][    T1]  late+0x1/0x2\n" WARNING_END,
	      { SPLAT_WARNING, SPLAT_WARN, true, "WARNING: mm/page_alloc.c:5131", WARNING_PRINT });
}

static void test_lines_of_a_report(void **state)
{
	struct splat_log *log =
		log_of("[ 1.0] before\n" WARNING_HEAD WARNING_TAIL WARNING_END "[ 9.0] after\n");
	const char *lines = splat_log_get(log, 0)->lines;

	assert_null(strstr(lines, "before"));
	assert_null(strstr(lines, "after"));
	assert_true(str_starts(lines, "[    2.000001][    T1] WARNING: mm"));
	assert_true(str_ends(lines, WARNING_END));
	splat_log_free(log);
	/* Without an end mark: up to the last line that belongs to it. */
	log = log_of("[    1.000000] BUG: scheduling while atomic: cc1/9/0x2\n"
		     "[    1.000001] Call Trace:\n"
		     "[    1.000002]  <TASK>\n"
		     "[    1.000003]  __schedule_bug+0x1/0x2\n"
		     "[    1.000004]  vm_x+0x1/0x2\n"
		     "[    1.000005]  </TASK>\n"
		     "[    1.000006] eth0: link up\n"
		     "[    1.000007] eth1: link up\n");
	assert_int_equal(splat_log_count(log), 1);
	assert_true(str_ends(splat_log_get(log, 0)->lines, "[    1.000005]  </TASK>\n"));
	assert_string_equal(splat_log_get(log, 0)->fingerprint, "vm_x");
	assert_false(splat_log_get(log, 0)->corrupted);
	splat_log_free(log);
}

#define STALL "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:"

/* Without an end mark: what tears it, and what ends it. */
static void test_open_ended(void **state)
{
	CHECK("whole",
	      "6,10,1000,-;" STALL "\n6,11,1001,-;Call Trace:\n6,12,1002,-; <TASK>\n"
	      "6,13,1003,-; vm_x+0x1/0x2\n6,14,1004,-; </TASK>\n",
	      { SPLAT_RCU_STALL, SPLAT_STALL, false, STALL, "vm_x" });
	CHECK("lost lines",
	      "6,10,1000,-;" STALL "\n6,11,1001,-;Call Trace:\n6,12,1002,-; <TASK>\n"
	      "6,14,1003,-; vm_x+0x1/0x2\n6,15,1004,-; </TASK>\n",
	      { SPLAT_RCU_STALL, SPLAT_STALL, true, STALL, "vm_x" });
	CHECK("cut in the stack", STALL "\nCall Trace:\n <TASK>\n vm_x+0x1/0x2\n",
	      { SPLAT_RCU_STALL, SPLAT_STALL, true, STALL, "vm_x" });
	CHECK("before there was a TASK mark", STALL "\nCall Trace:\n vm_x+0x1/0x2\n",
	      { SPLAT_RCU_STALL, SPLAT_STALL, false, STALL, "vm_x" });
	CHECK("another boot", STALL "\n vm_x+0x1/0x2\nLinux version 7.3.4\n vm_y+0x1/0x2\n",
	      { SPLAT_RCU_STALL, SPLAT_STALL, false, STALL, "vm_x" });
	CHECK("eight lines of others",
	      STALL "\nvm_x+0x1/0x2\na\nb\nc\nd\ne\nf\ng\nh\nvm_y+0x1/0x2\n",
	      { SPLAT_RCU_STALL, SPLAT_STALL, false, STALL, "vm_x:vm_y" });
	CHECK("nine lines of others",
	      STALL "\nvm_x+0x1/0x2\na\nb\nc\nd\ne\nf\ng\nh\ni\nvm_y+0x1/0x2\n",
	      { SPLAT_RCU_STALL, SPLAT_STALL, false, STALL, "vm_x" });
}

static void test_joined(void **state)
{
	CHECK("oops", OOPS, { SPLAT_OOPS, SPLAT_FATAL, false, OOPS_TITLE, OOPS_PRINT });
	CHECK("oops, then panic", OOPS "[    3.1] Kernel panic - not syncing: Fatal exception\n",
	      { SPLAT_OOPS, SPLAT_FATAL, false, OOPS_TITLE, OOPS_PRINT },
	      { SPLAT_PANIC, SPLAT_FATAL, false, "Kernel panic - not syncing: Fatal exception",
		"" });
	CHECK("kernel BUG at",
	      "kernel BUG at mm/slub.c:9!\n"
	      "Oops: invalid opcode: 0000 [#1] SMP\n"
	      "CPU: 0 PID: 1 Comm: x\n"
	      "RIP: 0010:vm_x+0x1/0x2\n"
	      "---[ end trace 0000000000000000 ]---\n",
	      { SPLAT_OOPS, SPLAT_FATAL, false, "kernel BUG at mm/slub.c:9!", "vm_x" });
	CHECK("list corruption",
	      "list_del corruption, ffff8881->next is LIST_POISON1 (dead000000000100)\n"
	      "------------[ cut here ]------------\n"
	      "kernel BUG at lib/list_debug.c:58!\n"
	      "invalid opcode: 0000 [#1] SMP\n"
	      "CPU: 0 PID: 1 Comm: x\n"
	      "RIP: 0010:__list_del_entry_valid+0x1/0x2\n"
	      "---[ end trace 0000000000000000 ]---\n",
	      { SPLAT_OOPS, SPLAT_FATAL, false, "list_del corruption", "__list_del_entry_valid" });
	CHECK("arm64",
	      "Unable to handle kernel paging request at virtual address dead000000000108\n"
	      "Mem abort info:\n"
	      "Internal error: Oops: 0000000096000044 [#1] PREEMPT SMP\n"
	      "CPU: 0 PID: 1 Comm: x\n"
	      "pc : vm_x+0x1/0x2\n"
	      "lr : vm_y+0x1/0x2\n"
	      "Call trace:\n"
	      " vm_x+0x1/0x2\n"
	      " vm_y+0x1/0x2\n"
	      " el0_svc+0x1/0x2\n"
	      "---[ end trace 0000000000000000 ]---\n",
	      { SPLAT_OOPS, SPLAT_FATAL, false, "Unable to handle kernel paging request",
		"vm_x:vm_y" });
	/* A second oops on another CPU, in the middle of the first. */
	CHECK("two oopses",
	      "Oops: 0000 [#1] SMP\n"
	      "CPU: 0 PID: 1 Comm: x\n"
	      "Oops: 0000 [#2] SMP\n"
	      "CPU: 1 PID: 2 Comm: y\n"
	      "RIP: 0010:vm_x+0x1/0x2\n"
	      "---[ end trace 0000000000000000 ]---\n",
	      { SPLAT_OOPS, SPLAT_FATAL, true, "Oops: 0000 [#1]", "" },
	      { SPLAT_OOPS, SPLAT_FATAL, false, "Oops: 0000 [#2]", "vm_x" });
	/* The panic says nothing of its own: what it follows from is fatal, and comes first. */
	CHECK("panic_on_warn",
	      WARNING_HEAD WARNING_TAIL
	      "[    2.1] Kernel panic - not syncing: kernel: panic_on_warn set ...\n",
	      { SPLAT_WARNING, SPLAT_FATAL, false, "WARNING: mm/page_alloc.c:5131", WARNING_PRINT },
	      { SPLAT_PANIC, SPLAT_FATAL, false,
		"Kernel panic - not syncing: kernel: panic_on_warn", "" });
	CHECK("a panic of its own",
	      WARNING_HEAD "[    2.1] Kernel panic - not syncing: System is deadlocked on memory\n",
	      { SPLAT_WARNING, SPLAT_WARN, true, "WARNING: mm/page_alloc.c:5131", WARNING_PRINT },
	      { SPLAT_PANIC, SPLAT_FATAL, false, "Kernel panic - not syncing: System", "" });
}

static void test_sanitizers(void **state)
{
#define RULE "==================================================================\n"
	CHECK("KASAN",
	      RULE
	      "BUG: KASAN: slab-use-after-free in vm_x+0x1/0x2\n"
	      "Read of size 8 at addr ffff8881 by task cc1/9\n\n"
	      "CPU: 0 PID: 9 Comm: cc1 Not tainted\n"
	      "Call Trace:\n <TASK>\n dump_stack_lvl+0x1/0x2\n print_report+0x1/0x2\n kasan_report+0x1/0x2\n"
	      " vm_x+0x1/0x2\n vm_y+0x1/0x2\n </TASK>\n\n"
	      "Allocated by task 9:\n kasan_save_stack+0x1/0x2\n other+0x1/0x2\n\n"
	      "Freed by task 9:\n third+0x1/0x2\n" RULE
	      "Disabling lock debugging due to kernel taint\n",
	      { SPLAT_KASAN, SPLAT_ERROR, false, "BUG: KASAN: slab-use-after-free in vm_x",
		"vm_x:vm_y" });
	CHECK("KASAN, cut",
	      RULE "BUG: KASAN: slab-use-after-free in vm_x+0x1/0x2\nCall Trace:\n vm_x+0x1/0x2\n",
	      { SPLAT_KASAN, SPLAT_ERROR, true, "BUG: KASAN: slab-use-after-free in vm_x",
		"vm_x" });
	CHECK("KCSAN",
	      RULE
	      "BUG: KCSAN: data-race in vm_x / vm_y\n\n"
	      "write to 0xffff888101a2b300 of 8 bytes by task 9 on cpu 0:\n vm_x+0x1/0x2\n vm_z+0x1/0x2\n\n"
	      "read to 0xffff888101a2b300 of 8 bytes by task 7 on cpu 1:\n vm_y+0x1/0x2\n\n"
	      "Reported by Kernel Concurrency Sanitizer on:\nCPU: 1 PID: 7 Comm: x\n" RULE,
	      { SPLAT_KCSAN, SPLAT_WARN, false, "BUG: KCSAN: data-race in vm_x / vm_y",
		"vm_x:vm_z" });
	CHECK("KFENCE",
	      RULE
	      "BUG: KFENCE: out-of-bounds read in vm_x+0x1/0x2\n\n"
	      "Out-of-bounds read at 0xffff8881 (1B left of kfence-#72):\n vm_x+0x1/0x2\n\n"
	      "kfence-#72: 0xffff8881-0xffff8882, size=32, cache=kmalloc-32\n\n"
	      "allocated by task 9 on cpu 0 at 32.9s:\n other+0x1/0x2\n\nCPU: 0 PID: 9 Comm: x\n" RULE,
	      { SPLAT_KFENCE, SPLAT_ERROR, false, "BUG: KFENCE: out-of-bounds read", "vm_x" });
	CHECK("UBSAN",
	      "------------[ cut here ]------------\nUBSAN: shift-out-of-bounds in mm/vmscan.c:9:1\n"
	      "shift exponent 64 is too large for 64-bit type\nCPU: 0 PID: 9 Comm: x\nCall Trace:\n <TASK>\n"
	      " dump_stack_lvl+0x1/0x2\n ubsan_epilogue+0x1/0x2\n __ubsan_handle_shift_out_of_bounds+0x1/0x2\n"
	      " vm_x+0x1/0x2\n </TASK>\n---[ end trace ]---\n",
	      { SPLAT_UBSAN, SPLAT_WARN, false, "UBSAN: shift-out-of-bounds", "vm_x" });
}

static void test_lockdep(void **state)
{
	static const char head[] =
		"======================================================\n"
		"WARNING: possible circular locking dependency detected\n"
		"7.3.4 #1 Not tainted\n"
		"------------------------------------------------------\n"
		"cc1/9 is trying to acquire lock:\n"
		"ffff8881 (&mm->mmap_lock){++++}-{3:3}, at: vm_lock+0x1/0x2\n\n"
		"but task is already holding lock:\n"
		"ffff8882 (fs_reclaim){+.+.}-{0:0}, at: vm_hold+0x1/0x2\n\n"
		"which lock already depends on the new lock.\n\n"
		"the existing dependency chain (in reverse order) is:\n\n"
		"-> #1 (fs_reclaim){+.+.}-{0:0}:\n"
		"       lock_acquire+0x1/0x2\n"
		"       not_this+0x1/0x2\n\n"
		"other info that might help us debug this:\n\n"
		"1 lock held by cc1/9:\n"
		" #0: ffff8882 (fs_reclaim){+.+.}-{0:0}, at: vm_hold+0x1/0x2\n\n";
	cleanup_free char *whole = str_printf(
		"%s%s", head,
		"stack backtrace:\nCPU: 0 PID: 9 Comm: cc1 Not tainted\nCall Trace:\n <TASK>\n dump_stack_lvl+0x1/0x2\n"
		" check_noncircular+0x1/0x2\n __lock_acquire+0x1/0x2\n lock_acquire+0x1/0x2\n down_read+0x1/0x2\n"
		" vm_lock+0x1/0x2\n vm_fault+0x1/0x2\n </TASK>\n");

	CHECK("lockdep", whole,
	      { SPLAT_LOCKDEP, SPLAT_WARN, false, "WARNING: possible circular locking",
		"vm_lock:vm_fault" });
	CHECK("lockdep, cut", head,
	      { SPLAT_LOCKDEP, SPLAT_WARN, true, "WARNING: possible circular locking", "" });
}

static void test_others(void **state)
{
	CHECK("bad page",
	      "[ 1.0] BUG: Bad page state in process cc1  pfn:1a2b3\n[ 1.0] page: refcount:0 mapcount:1\n"
	      "[ 1.0] Call Trace:\n[ 1.0]  <TASK>\n[ 1.0]  bad_page+0x1/0x2\n[ 1.0]  free_pcp_prepare+0x1/0x2\n"
	      "[ 1.0]  </TASK>\n",
	      { SPLAT_BAD_PAGE, SPLAT_ERROR, false, "BUG: Bad page state in process cc1",
		"free_pcp_prepare" });
	CHECK("one line",
	      "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)\n",
	      { SPLAT_MEMORY_LEAK, SPLAT_WARN, false, "kmemleak: 3 new", "" });
	CHECK("two kills",
	      "x invoked oom-killer: gfp_mask=0x1, order=0\nCall Trace:\n vm_x+0x1/0x2\n"
	      "Out of memory: Killed process 7 (x) total-vm:1kB\n"
	      "oom_reaper: reaped process 7 (x), now anon-rss:0kB\n"
	      "Out of memory: Killed process 8 (y) total-vm:1kB\n", /* its dump was rate-limited away */
	      { SPLAT_OOM_KILL, SPLAT_ERROR, false, "x invoked oom-killer", "vm_x" },
	      { SPLAT_OOM_KILL, SPLAT_ERROR, false, "Out of memory: Killed process 8", "" });
	CHECK("self-detected stall", /* the timer that found it is not where it is */
	      "rcu: INFO: rcu_sched self-detected stall on CPU\nrcu: \t0-....: (5250 ticks this GP)\n"
	      "CPU: 0 PID: 9 Comm: kcompactd0\nCall Trace:\n <IRQ>\n rcu_dump_cpu_stacks+0x1/0x2\n"
	      " rcu_sched_clock_irq.cold+0x1/0x2\n update_process_times+0x1/0x2\n tick_sched_timer+0x1/0x2\n"
	      " hrtimer_interrupt+0x1/0x2\n </IRQ>\n <TASK>\n asm_sysvec_apic_timer_interrupt+0x1/0x2\n"
	      "RIP: 0010:vm_x+0x1/0x2\n vm_x+0x1/0x2\n vm_y+0x1/0x2\n </TASK>\n",
	      { SPLAT_RCU_STALL, SPLAT_STALL, false, "rcu: INFO: rcu_sched self-detected",
		"vm_x:vm_y" });
}

/* ---- the log ---- */

static void test_worst(void **state)
{
	struct splat_log *log = log_of("x: page allocation failure: order:0, mode:0x1\n");

	assert_int_equal(splat_log_count(log), 1);
	assert_null(splat_log_worst(log)); /* a note fails nothing */
	splat_log_free(log);
	log = log_of("x: page allocation failure: order:0, mode:0x1\n" WARNING_HEAD WARNING_TAIL
			     WARNING_END "[    2.1] BUG: Bad rss-counter state mm:1 type:1 val:1\n"
		     "[    2.2] BUG: Bad rss-counter state mm:2 type:1 val:1\n"
		     "[    2.3] INFO: task x:1 blocked for more than 120 seconds.\n");
	assert_int_equal(splat_log_count(log), 5);
	assert_string_equal(splat_log_worst(log)->title,
			    "BUG: Bad rss-counter state mm:1 type:1 val:1");
	splat_log_free(log);
	log = splat_log_new();
	splat_log_context(log, 3);
	splat_log_feed(log, "BUG: Bad rss-counter state mm:1");
	splat_log_context(log, 4);
	splat_log_feed(log, "BUG: Bad rss-counter state mm:2");
	splat_log_feed(log, "WARNING: suspicious RCU usage");
	splat_log_context(log, 2); /* a report belongs to the phase in which it began */
	assert_int_equal(splat_log_get(log, 0)->context, 3);
	assert_int_equal(splat_log_get(log, 1)->context, 4);
	assert_int_equal(splat_log_get(log, 2)->context, 4); /* still open, and there */
	assert_string_equal(splat_log_get(log, 2)->lines, "WARNING: suspicious RCU usage\n");
	assert_true(splat_log_open(log));
	splat_log_end(log);
	assert_false(splat_log_open(log));
	splat_log_end(log);
	assert_int_equal(splat_log_count(log), 3);
	splat_log_free(log);
	splat_log_free(NULL);
}

static void test_bounds(void **state)
{
	struct splat_log *log = splat_log_new();
	cleanup_free char *wide = xcalloc(1, 100001);
	size_t lines = 0;

	for (int i = 0; i < 1000; i++)
		splat_log_feed(log, "x: page allocation failure: order:0, mode:0x1");
	assert_int_equal(splat_log_count(log), SPLAT_REPORTS_MAX);
	assert_int_equal(splat_log_dropped(log), 1000 - SPLAT_REPORTS_MAX);
	/* What is worse displaces the last of them, and stays in order. */
	splat_log_feed(log, "BUG: Bad rss-counter state mm:1");
	splat_log_feed(log, "Kernel panic - not syncing: out");
	assert_int_equal(splat_log_count(log), SPLAT_REPORTS_MAX);
	assert_int_equal(splat_log_get(log, SPLAT_REPORTS_MAX - 2)->class, SPLAT_BAD_PAGE);
	assert_int_equal(splat_log_get(log, SPLAT_REPORTS_MAX - 1)->class, SPLAT_PANIC);
	assert_int_equal(splat_log_worst(log)->class, SPLAT_PANIC);
	splat_log_feed(log,
		       "x: page allocation failure: order:0, mode:0x1"); /* open, but not kept */
	splat_log_feed(log, " vm_x+0x1/0x2");
	splat_log_end(log);
	assert_int_equal(splat_log_get(log, SPLAT_REPORTS_MAX - 1)->class, SPLAT_PANIC);
	splat_log_free(log);

	log = splat_log_new();
	memset(wide, 'x', 100000);
	memcpy(wide, "BUG: ", 5);
	splat_log_feed(log, wide);
	memset(wide, ' ', 5);
	for (int i = 0; i < 10000; i++)
		splat_log_feed(log, i % 2 ? wide : " vm_x+0x1/0x2");
	splat_log_end(log);
	assert_int_equal(strlen(splat_log_get(log, 0)->title), SPLAT_TITLE_MAX);
	assert_true(strlen(splat_log_get(log, 0)->lines) <= SPLAT_BYTES_MAX);
	for (const char *p = splat_log_get(log, 0)->lines; (p = strchr(p, '\n')); p++)
		lines++;
	assert_true(lines <= SPLAT_LINES_MAX);
	assert_string_equal(splat_log_get(log, 0)->fingerprint, "vm_x:vm_x:vm_x:vm_x:vm_x");
	splat_log_free(log);
}

/* ---- any bytes ---- */

static uint64_t next(uint64_t *r)
{
	*r = *r * 6364136223846793005u + 1442695040888963407u;
	return *r >> 24;
}

static void check_invariants(const struct splat_log *log)
{
	for (size_t i = 0; i < splat_log_count(log); i++) {
		const struct splat_report *r = splat_log_get(log, i);
		size_t colons = 0;

		assert_true(r->class > SPLAT_NONE && r->class < SPLAT_CLASSES);
		assert_true(r->severity == splat_class_severity(r->class) ||
			    r->severity == SPLAT_FATAL);
		assert_true(strlen(r->title) <= SPLAT_TITLE_MAX &&
			    strlen(r->lines) <= SPLAT_BYTES_MAX);
		for (const char *p = r->fingerprint; *p; p++)
			colons += *p == ':';
		assert_true(colons < SPLAT_FRAMES);
		assert_true(strlen(r->fingerprint) < SPLAT_FRAMES * SPLAT_NAME_MAX);
	}
	assert_true(splat_log_count(log) <= SPLAT_REPORTS_MAX);
}

/* The beginning of some report, in the middle of another. */
static void feed_start(struct splat_log *log, uint64_t k)
{
	const struct splat_pattern *p = &splat_patterns[k % splat_pattern_count];
	cleanup_free char *line = str_printf("%s%s%s", p->start ? p->start : "x",
					     p->contains ? p->contains : "",
					     p->also ? p->also : "");
	const char *title;

	assert_int_not_equal(splat_classify(line, &title), SPLAT_NONE);
	splat_log_feed(log, line);
}

/* Real reports with lines lost, doubled, cut, swapped and bytes changed. */
static void test_fuzz(void **state)
{
	static const char *const more[] = { WARNING_HEAD WARNING_TAIL WARNING_END, OOPS };
	char *text[ARRAY_SIZE(fixtures) + ARRAY_SIZE(more)];
	struct timespec start, now;
	uint64_t r = 4711;

	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		text[i] = i < ARRAY_SIZE(fixtures) ? fixture(fixtures[i].name) :
						     xstrdup(more[i - ARRAY_SIZE(fixtures)]);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int round = 0; round < 3000; round++) {
		struct splat_log *log = splat_log_new();

		for (int part = 0; part < 3; part++) {
			cleanup_free char *copy = xstrdup(text[next(&r) % ARRAY_SIZE(text)]);
			size_t len = strlen(copy);
			char *rest = copy, *line;

			for (uint64_t k = next(&r) % 20; k > 0; k--)
				copy[next(&r) % len] = next(&r) % 4 ?
							       "\n[]:+0x <>?./"[next(&r) % 13] :
							       (char)(next(&r) % 255 + 1);
			while ((line = strsep(&rest, "\n"))) {
				uint64_t what = next(&r) % 40;

				if (what == 0)
					continue;
				if (what == 1)
					line[next(&r) % (strlen(line) + 1)] = '\0';
				if (what == 2)
					splat_log_feed(log, line);
				if (what == 3)
					feed_start(log, next(&r));
				splat_log_feed(log, line);
			}
		}
		check_invariants(log);
		splat_log_end(log);
		check_invariants(log);
		splat_log_free(log);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec >= 2)
			break;
	}
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		free(text[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_reports),
		cmocka_unit_test(test_warning),
		cmocka_unit_test(test_lines_of_a_report),
		cmocka_unit_test(test_open_ended),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_sanitizers),
		cmocka_unit_test(test_lockdep),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_worst),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
