// SPDX-License-Identifier: GPL-2.0-only
/* How reports begin and end, and what only looks like one. */
#include <string.h>

#include "harness/engine/splat_impl.h"
#include "results/util/cleanup.h"

static const struct {
	const char *name;
	enum splat_severity severity;
} classes[SPLAT_CLASSES] = {
	[SPLAT_NONE] = { "none", SPLAT_NOTE },
	[SPLAT_PANIC] = { "panic", SPLAT_FATAL },
	[SPLAT_OOPS] = { "oops", SPLAT_FATAL },
	[SPLAT_BUG] = { "BUG", SPLAT_ERROR },
	[SPLAT_WARNING] = { "WARNING", SPLAT_WARN },
	[SPLAT_HUNG_TASK] = { "hung task", SPLAT_STALL },
	[SPLAT_SOFT_LOCKUP] = { "soft lockup", SPLAT_STALL },
	[SPLAT_HARD_LOCKUP] = { "hard lockup", SPLAT_STALL },
	[SPLAT_RCU_STALL] = { "RCU stall", SPLAT_STALL },
	[SPLAT_WORKQUEUE_LOCKUP] = { "workqueue lockup", SPLAT_STALL },
	[SPLAT_OOM_KILL] = { "OOM kill", SPLAT_ERROR },
	[SPLAT_ALLOC_FAILURE] = { "page allocation failure", SPLAT_NOTE },
	[SPLAT_KASAN] = { "KASAN", SPLAT_ERROR },
	[SPLAT_KCSAN] = { "KCSAN", SPLAT_WARN },
	[SPLAT_UBSAN] = { "UBSAN", SPLAT_WARN },
	[SPLAT_KFENCE] = { "KFENCE", SPLAT_ERROR },
	[SPLAT_LOCKDEP] = { "lockdep", SPLAT_WARN },
	[SPLAT_BAD_PAGE] = { "bad page", SPLAT_ERROR },
	[SPLAT_MEMORY_LEAK] = { "memory leak", SPLAT_WARN },
	[SPLAT_ATOMIC_SLEEP] = { "atomic sleep", SPLAT_ERROR },
};

const char *splat_class_name(enum splat_class c)
{
	return classes[c].name;
}

enum splat_severity splat_class_severity(enum splat_class c)
{
	return classes[c].severity;
}

const char *splat_severity_name(enum splat_severity s)
{
	static const char *const names[] = {
		[SPLAT_NOTE] = "note",	 [SPLAT_WARN] = "warning", [SPLAT_STALL] = "stall",
		[SPLAT_ERROR] = "error", [SPLAT_FATAL] = "fatal",
	};

	return names[s];
}

static const struct {
	const char *start; /* the message begins with it; NULL: with anything */
	const char *contains;
	const char *reason;
} ignored[SPLAT_IGNORED] = {
	{ "ODEBUG: ", NULL,
	  "debugobjects' own notice; what it finds comes as a WARNING of its own" },
	{ "INFO: lockdep is turned off", NULL, "says that an earlier report has ended lockdep" },
	{ NULL, "This means that this is a DEBUG kernel", "banner of trace_printk()" },
	{ "NOHZ tick-stop error: ", NULL, "softirq work left over in an idle CPU, harmless" },
	{ "NOHZ: local_softirq_pending", NULL, "as above, before 5.14" },
	{ "WARNING: kernel stack ", NULL,
	  "the unwinder cannot follow a stack: no fault of the stack" },
	{ "WARNING: can't access registers at ", NULL, "ORC unwinder, as above" },
	{ "WARNING: can't dereference ", NULL, "ORC unwinder, as above" },
	{ "WARNING: stack recursion ", NULL, "ORC unwinder, as above" },
	{ "WARNING: stack going in the wrong direction", NULL, "ORC unwinder, as above" },
	{ "WARNING: unrecognized unwind stack type", NULL, "unwinder, as above" },
	{ "WARNING: Unprivileged eBPF is enabled", NULL, "a remark on the CPU's mitigations" },
	{ "WARNING: BIOS bug: ", NULL, "the firmware's fault, not the kernel's" },
	{ "BUG: MAX_LOCKDEP_", NULL, "lockdep's tables are full: a limit of the configuration" },
	{ "BUG: MAX_LOCK_DEPTH too low", NULL, "as above" },
	{ "BUG: MAX_STACK_TRACE_ENTRIES too low", NULL, "as above" },
	{ "rcu: INFO: Stall ended before state dump start", NULL, "over before it could be told" },
	{ "INFO: Stall ended before state dump start", NULL, "as above, before 5.0" },
	{ "INFO: NMI handler ", "took too long to run", "a host that was busy, not the guest" },
};

static bool matches(const char *message, const char *start, const char *contains)
{
	if (start && (*start != *message || !str_starts(message, start)))
		return false;
	return !contains || strstr(message + (start ? strlen(start) : 0), contains);
}

int splat_ignored_entry(const char *message)
{
	for (int i = 0; i < SPLAT_IGNORED; i++)
		if (matches(message, ignored[i].start, ignored[i].contains))
			return i;
	return -1;
}

const char *splat_ignored(const char *line)
{
	struct splat_line l;
	int entry;

	splat_line_parse(line, &l);
	entry = splat_ignored_entry(l.message);
	return entry < 0 ? NULL : ignored[entry].reason;
}

/* The first that matches decides. */
const struct splat_pattern splat_patterns[] = {
	{ SPLAT_PANIC, END_SOFT, "Kernel panic - not syncing" },

	{ SPLAT_SOFT_LOCKUP, END_TRACE, "watchdog: BUG: soft lockup" },
	{ SPLAT_SOFT_LOCKUP, END_TRACE, "BUG: soft lockup" },
	{ SPLAT_SOFT_LOCKUP, END_TRACE, "NMI watchdog: BUG: soft lockup" },
	{ SPLAT_HARD_LOCKUP, END_TRACE, "watchdog: Watchdog detected hard LOCKUP" },
	{ SPLAT_HARD_LOCKUP, END_TRACE, "NMI watchdog: Watchdog detected hard LOCKUP" },
	{ SPLAT_HARD_LOCKUP, END_TRACE, "watchdog: CPU", ": Watchdog detected hard LOCKUP" },
	{ SPLAT_WORKQUEUE_LOCKUP, END_SOFT, "BUG: workqueue lockup" },
	{ SPLAT_RCU_STALL, END_SOFT, "rcu: INFO: ", "stall" },
	{ SPLAT_RCU_STALL, END_SOFT, "INFO: rcu_", "stall" },
	{ SPLAT_HUNG_TASK, END_TRACE, "INFO: task ", " blocked for more than " },
	{ SPLAT_HUNG_TASK, END_TRACE, "INFO: task ", " blocked in I/O wait for more than " },

	{ SPLAT_KASAN, END_MARK, "BUG: KASAN: " },
	{ SPLAT_KCSAN, END_MARK, "BUG: KCSAN: " },
	{ SPLAT_KFENCE, END_MARK, "BUG: KFENCE: " },
	{ SPLAT_UBSAN, END_MARK, "UBSAN: ", NULL, " in " },

	{ SPLAT_LOCKDEP, END_TRACE, "WARNING: possible ", " detected" },
	{ SPLAT_LOCKDEP, END_TRACE, "WARNING: inconsistent lock state" },
	{ SPLAT_LOCKDEP, END_TRACE, "WARNING: suspicious RCU usage" },
	{ SPLAT_LOCKDEP, END_TRACE, "WARNING: bad unlock balance" },
	{ SPLAT_LOCKDEP, END_TRACE, "WARNING: bad contention" },
	{ SPLAT_LOCKDEP, END_TRACE, "WARNING: Nested lock was not taken" },
	{ SPLAT_LOCKDEP, END_TRACE, "WARNING: held lock freed" },
	{ SPLAT_LOCKDEP, END_TRACE, "WARNING: ", "IRQ-unsafe lock order detected" },
	/* These print no stack. */
	{ SPLAT_LOCKDEP, END_SOFT, "WARNING: lock held when returning to user space" },
	{ SPLAT_LOCKDEP, END_SOFT, "WARNING: ", " still has locks held!" },
	{ SPLAT_LOCKDEP, END_SOFT, "[ BUG: " },
	/* Before 4.11. */
	{ SPLAT_LOCKDEP, END_TRACE, "[ INFO: possible ", " detected" },
	{ SPLAT_LOCKDEP, END_TRACE, "[ INFO: inconsistent lock state ]" },
	{ SPLAT_LOCKDEP, END_TRACE, "[ INFO: suspicious RCU usage. ]" },

	{ SPLAT_BAD_PAGE, END_TRACE, "BUG: Bad page state " },
	{ SPLAT_BAD_PAGE, END_TRACE, "BUG: Bad page map " },
	{ SPLAT_BAD_PAGE, END_SOFT, "BUG: Bad page cache " },
	{ SPLAT_BAD_PAGE, END_ONE, "BUG: Bad rss-counter state " },
	{ SPLAT_MEMORY_LEAK, END_SOFT, "BUG: memory leak" },
	{ SPLAT_MEMORY_LEAK, END_ONE, "kmemleak: ", " new suspected memory leaks" },
	{ SPLAT_MEMORY_LEAK, END_SOFT, "unreferenced object 0x" },
	{ SPLAT_MEMORY_LEAK, END_SOFT, "kmemleak: unreferenced object 0x" },
	{ SPLAT_ATOMIC_SLEEP, END_TRACE, "BUG: sleeping function called from invalid context" },
	{ SPLAT_ATOMIC_SLEEP, END_TRACE, "BUG: scheduling while atomic: " },

	{ SPLAT_OOPS, END_MARK, "BUG: unable to handle ", NULL, NULL, true },
	{ SPLAT_OOPS, END_MARK, "BUG: kernel NULL pointer dereference", NULL, NULL, true },
	{ SPLAT_OOPS, END_MARK, "kernel BUG at ", NULL, NULL, true },
	{ SPLAT_OOPS, END_MARK, "Oops: ", NULL, NULL, true },
	{ SPLAT_OOPS, END_MARK, "Internal error: ", NULL, NULL, true },
	{ SPLAT_OOPS, END_MARK, "Unable to handle kernel ", NULL, NULL, true },
	{ SPLAT_OOPS, END_MARK, "general protection fault", NULL, NULL, true },
	{ SPLAT_OOPS, END_MARK, "stack segment: ", NULL, NULL, true },
	{ SPLAT_OOPS, END_MARK, "double fault: ", NULL, NULL, true },
	{ SPLAT_OOPS, END_MARK, "divide error: ", NULL, NULL, true },
	{ SPLAT_OOPS, END_MARK, "invalid opcode: ", NULL, NULL, true },

	/* A word before a WARNING or a "kernel BUG at". */
	{ SPLAT_BUG, END_SOFT, "list_add corruption", NULL, NULL, true },
	{ SPLAT_BUG, END_SOFT, "list_del corruption", NULL, NULL, true },
	/* slub: "BUG kmalloc-64 (Not tainted): Poison overwritten" */
	{ SPLAT_BUG, END_SOFT, "BUG ", "ainted", "): " },
	{ SPLAT_BUG, END_SOFT, "BUG: " },

	/* To 6.18; from 6.19: "WARNING: FILE:LINE at FUNCTION, CPU#1: init/1"; and 2.6. */
	{ SPLAT_WARNING, END_MARK, "WARNING: CPU: ", " PID: ", " at " },
	{ SPLAT_WARNING, END_MARK, "WARNING: ", "at ", ", CPU#" },
	{ SPLAT_WARNING, END_MARK, "WARNING: at ", ".c:", "+0x" },
	{ SPLAT_WARNING, END_MARK, "WARNING: at ", ".h:", "+0x" },

	{ SPLAT_OOM_KILL, END_MARK, NULL, " invoked oom-killer:" },
	{ SPLAT_OOM_KILL, END_ONE, "Out of memory: Killed process " },
	{ SPLAT_OOM_KILL, END_ONE, "Out of memory (oom_kill_allocating_task): Killed process " },
	{ SPLAT_OOM_KILL, END_ONE, "Memory cgroup out of memory: Killed process " },
	{ SPLAT_OOM_KILL, END_ONE, "Out of memory: Kill process " }, /* before 5.3 */
	{ SPLAT_OOM_KILL, END_ONE, "Memory cgroup out of memory: Kill process " },
	{ SPLAT_ALLOC_FAILURE, END_TRACE, NULL, ": page allocation failure", "order:" },
	{ SPLAT_ALLOC_FAILURE, END_TRACE, NULL, ": vmalloc: allocation failure", " bytes" },
	{ SPLAT_ALLOC_FAILURE, END_TRACE, NULL, ": vmalloc error: ", "failed to allocate" },
};
const size_t splat_pattern_count = ARRAY_SIZE(splat_patterns);

/*
 * Words that stand behind the name of a process: some kernels' workers have blanks in theirs, none
 * has more than 64 bytes, and quotes are those of somebody who tells of a report.
 */
static bool behind_a_name(const char *message, const char *words)
{
	const char *p = strstr(message, words);
	size_t n = p ? (size_t)(p - message) : 0;

	return n > 0 && n < 64 && strcspn(message, "'\"") >= n;
}

const struct splat_pattern *splat_pattern_of(const char *message)
{
	if (splat_ignored_entry(message) >= 0)
		return NULL;
	for (size_t i = 0; i < splat_pattern_count; i++) {
		const struct splat_pattern *p = &splat_patterns[i];

		if (!p->start && !behind_a_name(message, p->contains))
			continue;
		if (matches(message, p->start, p->contains) &&
		    (!p->also || strstr(message, p->also)))
			return p;
	}
	return NULL;
}

enum splat_class splat_classify(const char *line, const char **title)
{
	const struct splat_pattern *p;
	struct splat_line l;

	splat_line_parse(line, &l);
	*title = l.message;
	p = splat_pattern_of(l.message);
	return p ? p->class : SPLAT_NONE;
}

bool splat_is_end(enum splat_class class, const char *message)
{
	switch (class) {
	case SPLAT_KASAN:
	case SPLAT_KCSAN:
	case SPLAT_KFENCE:
	case SPLAT_UBSAN:
		return str_starts(message, "---[ end trace ") ||
		       (strspn(message, "=") >= 20 && strspn(message, "=") == strlen(message));
	case SPLAT_OOM_KILL:
		return str_starts(message, "Out of memory") ||
		       str_starts(message, "Memory cgroup out of memory") ||
		       str_starts(message,
				  "Killed process "); /* before 5.3, on a line of its own */
	case SPLAT_PANIC:
		return str_starts(message, "---[ end Kernel panic") ||
		       str_starts(message, "Rebooting in ");
	default:
		return str_starts(message, "---[ end ");
	}
}

bool splat_is_consequence(const char *message)
{
	static const char *const words[] = {
		": Fatal exception",	    ": panic_on_warn set", ": hung_task: blocked tasks",
		": softlockup: hung tasks", ": RCU Stall",	   ": Hard LOCKUP",
		"panic_on_warn set ...",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (matches(message, "Kernel panic - not syncing", words[i]))
			return true;
	return false;
}
