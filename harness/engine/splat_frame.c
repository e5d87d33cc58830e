// SPDX-License-Identifier: GPL-2.0-only
/* Stack traces: x86, arm64, arm, powerpc, parisc, of kernels 2.6 to 7. */
#include <ctype.h>
#include <string.h>

#include "harness/engine/splat_impl.h"
#include "results/util/cleanup.h"

static size_t hex(const char *p)
{
	return strspn(p, "0123456789abcdefABCDEF");
}

/* "+0x1d3/0x520": its length, or 0. */
static size_t offset_len(const char *p)
{
	size_t a, b;

	if (!str_starts(p, "+0x"))
		return 0;
	a = hex(p + 3);
	if (!a || !str_starts(p + 3 + a, "/0x"))
		return 0;
	b = hex(p + 6 + a);
	return b ? 6 + a + b : 0;
}

static size_t symbol_len(const char *p)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*p) && *p != '_' && *p != '.')
		return 0;
	while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.' || p[n] == '$')
		n++;
	return n;
}

/* "[<c0111640>]", "[c000000007eeb370]": addresses before the name. */
static const char *skip_addresses(const char *p)
{
	for (;;) {
		const char *q = p + strspn(p, " ");
		bool angled = str_starts(q, "[<");
		size_t n;

		if (*q != '[')
			return q;
		n = hex(q + (angled ? 2 : 1));
		if (n < 8 || !str_starts(q + (angled ? 2 : 1) + n, angled ? ">]" : "]"))
			return q;
		p = q + n + (angled ? 4 : 2);
	}
}

/* Without ".constprop.73", ".isra.0", ".cold", and the "_noprof" that came with 6.10. */
static void take_name(struct splat_frame *f, const char *p, size_t n)
{
	size_t skip = *p == '.';

	p += skip;
	n -= skip;
	for (size_t i = 0; i < n; i++)
		if (p[i] == '.')
			n = i;
	if (n >= SPLAT_NAME_MAX)
		n = SPLAT_NAME_MAX - 1;
	memcpy(f->name, p, n);
	f->name[n] = '\0';
	if (str_ends(f->name, "_noprof"))
		f->name[n - strlen("_noprof")] = '\0';
}

static const char *pc_of(const char *message)
{
	static const char *const names[] = { "RIP: ", "pc : ", "PC is at ", "NIP ", "epc : " };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *p = message + strlen(names[i]);
		size_t n;

		if (!str_starts(message, names[i]))
			continue;
		n = hex(p); /* the segment: 0010 is the kernel's */
		if (i == 0 && n && p[n] == ':')
			p += n + 1;
		return skip_addresses(p);
	}
	return NULL;
}

bool splat_frame_parse(const char *message, struct splat_frame *f)
{
	const char *p = pc_of(message);
	size_t n, off;

	memset(f, 0, sizeof(*f));
	f->pc = p != NULL;
	f->sure = true;
	if (!p) {
		p = skip_addresses(message);
		if (str_starts(p, "? ")) {
			f->sure = false;
			p = skip_addresses(p + 2);
		}
	}
	if (*p == '(')
		p++;
	n = symbol_len(p);
	if (!n)
		return false;
	off = offset_len(p + n);
	if (!off) { /* arm: "(show_stack) from [<c0f38aa4>]", "show_stack from dump_stack+0x1/0x2" */
		const char *q = p + n + (p[n] == ')');

		if (!str_starts(q, " from "))
			return false;
		q = skip_addresses(q + strlen(" from "));
		q += *q == '(';
		if (*q && !offset_len(q + symbol_len(q)))
			return false;
		take_name(f, p, n);
		return true;
	}
	take_name(f, p, n);
	for (const char *q = strstr(p + n + off, "+0x"); q; q = strstr(q + 1, "+0x"))
		if (offset_len(q))
			f->glued = true;
	return f->name[0] != '\0';
}

/* Frames that stand in every report of their kind; "*" at the end: and all that begin so. */
static const char *const nothing_said[] = {
	/* reporting */
	"dump_stack*", "show_stack*", "dump_backtrace*", "unwind_backtrace", "show_regs*",
	"__show_regs", "show_trace*", "__warn*", "warn_slowpath*", "warn_bogus*", "report_bug*",
	"__report_bug", "handle_bug", "panic", "vpanic", "die", "__die*", "die_addr", "oops_*",
	"page_fault_oops", "no_context", "bad_area*", "__bad_area*", "bust_spinlocks",
	"dump_header", "oom_kill_process", "out_of_memory", "mem_cgroup_out_of_memory",
	"warn_alloc*", "print_*", "__print_*", "kasan_*", "__kasan_*", "__asan_*",
	"check_memory_region*", "check_region_inline", "check_panic_on_warn", "kcsan_*", "__tsan_*",
	"ubsan_*", "__ubsan_*", "handle_overflow", "kfence_*", "__kfence_*", "bad_page*",
	"free_page_is_bad*", "free_pages_check*", "check_new_page*", "object_err", "slab_err*",
	"slab_bug", "slab_fix", "__might_sleep", "___might_sleep", "__might_resched",
	"__schedule_bug", "check_preemption_disabled", "debug_smp_processor_id",
	"__this_cpu_preempt_check", "lockdep_*", "nmi_*", "__nmi_*", "trigger_*", "watchdog_*",
	"sched_show_task*", "rcu_dump_cpu_stacks*", "rcu_check_*", "rcu_sched_clock_irq*",
	"check_cpu_stall*", "dump_page", "__dump_page", "crash_kexec", "__crash_kexec",
	"__stack_chk_fail",
	/* locking and waiting */
	"__lock_acquire*", "lock_acquire*", "lock_release*", "lock_is_held*", "__lock_release",
	"check_noncircular*", "check_prev*", "validate_chain*", "check_deadlock*",
	"check_irq_usage", "check_wait_context", "mark_lock*", "mark_usage", "valid_state",
	"_raw_*", "__raw_*", "do_raw_*", "queued_spin_*", "native_queued_*", "__pv_queued_*",
	"pv_*", "mutex_*", "__mutex_*", "down_read*", "down_write*", "__down_*", "up_read",
	"up_write", "rwsem_*", "__schedule", "schedule", "schedule_*", "preempt_schedule*",
	"__cond_resched", "_cond_resched", "io_schedule*", "dump_cpu_task",
	/* allocating */
	"__alloc_pages*", "alloc_pages*", "__alloc_frozen_pages*", "alloc_frozen_pages*",
	"__get_free_pages", "get_free_pages*", "get_page_from_freelist", "alloc_page_interleave",
	"page_frag_alloc*", "__page_frag_alloc*", "kmalloc*", "__kmalloc*", "___kmalloc*",
	"__do_kmalloc*", "kmem_cache_alloc*", "__kmem_cache_alloc*", "slab_alloc*", "__slab_alloc*",
	"___slab_alloc*", "slab_pre_alloc*", "slab_post_alloc*", "refill_objects", "refill_sheaf",
	"__pcs_*", "alloc_from_pcs*", "alloc_full_sheaf", "alloc_empty_sheaf",
	"__alloc_empty_sheaf", "allocate_slab", "new_slab", "alloc_slab_page", "kvmalloc*",
	"__kvmalloc*", "kzalloc*", "vmalloc*", "vzalloc*", "__vmalloc*", "kfree", "kvfree", "vfree",
	"__kmem_cache_free", "kmem_cache_free*", "slab_free*", "__slab_free*", "___cache_free",
	"__cache_free",
	/* entry, and the timer that looks for stalls */
	"asm_*", "exc_*", "entry_*", "do_syscall_64", "x64_sys_call", "__do_fast_syscall_32",
	"do_fast_syscall_32", "syscall_*", "do_error_trap", "do_trap*", "do_invalid_op",
	"invalid_op", "page_fault", "general_protection", "error_entry", "error_return",
	"common_interrupt*", "sysvec_*", "__sysvec_*", "instr_sysvec_*", "smp_apic_timer_*",
	"apic_timer_interrupt", "local_apic_timer_*", "hrtimer_interrupt", "__hrtimer_run_queues",
	"hrtimer_run_queues", "update_process_times", "tick_*", "ret_from_*", "kthread",
	"start_kernel_thread", "el0_*", "el0t_*", "el1_*", "el1h_*", "do_el0_svc", "invoke_syscall",
	"do_mem_abort", "do_bad_area", "do_translation_fault", "die_kernel_fault", "do_page_fault",
	"__do_page_fault",
};

bool splat_frame_meaningful(const struct splat_frame *f)
{
	if (!f->sure)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(nothing_said); i++) {
		const char *s = nothing_said[i];
		size_t n = strlen(s);

		/* An allocator that warns is where it happened: the registers say so. */
		if (f->pc && (strstr(s, "alloc") || strstr(s, "free")))
			continue;
		if (s[n - 1] == '*' ? strncmp(f->name, s, n - 1) == 0 : strcmp(f->name, s) == 0)
			return false;
	}
	return true;
}

static bool one_of(const char *message, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_starts(message, list[i]))
			return true;
	return false;
}

bool splat_begins_stack(const char *message)
{
	static const char *const heads[] = {
		"Call Trace:", "Call trace:", "Backtrace:", "Allocated by ", "Freed by ",
		"allocated by ", "freed by ", "Last potentially ", "Second to last ", "Task dump ",
		"NMI backtrace for ", "read to 0x", "write to 0x", "read (marked", "write (marked",
		"stack backtrace:", "task:", "Allocated in ", "Freed in ", "page last allocated",
		"page last free", "Mem-Info:", "page_owner ", "Uninit was ", "Showing ",
		"The buggy address ", "The buggy belongs ",
	};

	return one_of(message, heads, ARRAY_SIZE(heads));
}

bool splat_is_body(const struct splat_line *l)
{
	static const char *const heads[] = {
		"CPU: ", "Hardware name:", "Modules linked in:", "RIP: ", "RSP: ", "RAX: ", "RDX: ",
		"RBP: ", "RBX: ", "R10: ", "R13: ", "FS: ", "CS: ", "CR2: ", "DR0: ", "DR3: ",
		"PKRU: ", "EIP: ", "EAX: ", "Code: ", "Workqueue: ", "Tainted: ",
		"\"echo 0 > /proc", "active_anon", "Node ", "lowmem_reserve", "Normal", "DMA",
		"HighMem", "Movable", "Free swap", "Total swap", "Swap cache", "pc : ", "lr : ",
		"sp : ", "x29: ", "pstate: ", "NIP", "LR ", "MSR: ", "GPR", "REGS: ",
		"--- interrupt", "PC is at", "LR is at", "page: ", "page dumped", "flags: ",
		"raw: ", "head: ", "rcu: ", "Sending NMI", "pool ", "workqueue ", "pending: ",
		"in-flight", "<TASK>", "</TASK>", "<IRQ>", "</IRQ>", "<NMI>", "</NMI>", "<#", "</#",
		"PGD ", "#PF: ", "Kernel Offset", "in_atomic(): ", "preempt_count: ",
		"RCU nest depth", "INFO: lockdep is", "Preemption disabled at", "irq event stamp",
		"hardirqs last", "softirqs last", "Disabling lock debugging", "Padding ", "Object ",
		"Redzone ", "INFO: Slab", "INFO: Object", "INFO: Allocated", "INFO: Freed",
		"caller is ", "addr:", "comm ", "backtrace", "hex dump", "Last Breaking-Event",
		"oom-kill:", "Tasks state", "index ", "shift exponent", "load of value",
		"Reported by ", "value changed", "kfence-#", "[  pid  ]", "Unreclaimable slab",
	};
	struct splat_frame f;

	if (!*l->message || l->indented || splat_frame_parse(l->message, &f))
		return true;
	return splat_begins_stack(l->message) || one_of(l->message, heads, ARRAY_SIZE(heads)) ||
	       strstr(l->message, " pages ") || str_ends(l->message, " pages reserved") ||
	       strspn(l->message, "-=*") >= 20;
}
