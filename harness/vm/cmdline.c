// SPDX-License-Identifier: GPL-2.0-only
#include "harness/vm/vm.h"
#include "results/util/str.h"

/* Under TCG a vCPU can lose its host CPU for seconds; the kernel's defaults then cry wolf. */
#define SOFT_LOCKUP_TCG_S 60 /* twice watchdog_thresh, whose limit is 60 */
#define SOFT_LOCKUP_KVM_S 20
#define RCU_STALL_TCG_S 60
#define RCU_STALL_KVM_S 21
#define HUNG_TASK_TCG_S 120
#define HUNG_TASK_KVM_S 60

const char *accel_name(enum vm_accel a)
{
	static const char *const name[] = { "auto", "kvm", "tcg" };

	return name[a];
}

unsigned int vm_watchdog_s(enum vm_accel accel)
{
	/* khungtaskd looks once in the time-out: a hang shows between one and two of them. */
	return 2 * (accel == VM_ACCEL_KVM ? HUNG_TASK_KVM_S : HUNG_TASK_TCG_S);
}

/* Address space and stack offsets would otherwise follow the guest's entropy, which the seed fixes too. */
const char *const vm_deterministic_cmdline = "norandmaps randomize_kstack_offset=off random.trust_cpu=off";

/*
 * loglevel=6 shows the banner (a notice) and all that a splat prints, and no information: 0.91
 * of the default's boot time under TCG. With nokaslr (a random place of the kernel would also
 * vary the layout between runs), tsc=reliable (a loaded host lets the watchdog throw the TSC out,
 * and each look at the clock becomes a device access), no_timer_check and cryptomgr.notests: 0.77.
 */
char *vm_default_cmdline(enum vm_accel accel)
{
	bool kvm = accel == VM_ACCEL_KVM;

	return str_printf("console=ttyS0 panic=-1 oops=panic loglevel=6 "
			  "printk.time=1 printk.devkmsg=on sysrq_always_enabled=1 "
			  "nokaslr tsc=reliable no_timer_check cryptomgr.notests "
			  "watchdog_thresh=%d rcupdate.rcu_cpu_stall_timeout=%d "
			  "sysctl.kernel.hung_task_timeout_secs=%d",
			  (kvm ? SOFT_LOCKUP_KVM_S : SOFT_LOCKUP_TCG_S) / 2,
			  kvm ? RCU_STALL_KVM_S : RCU_STALL_TCG_S,
			  kvm ? HUNG_TASK_KVM_S : HUNG_TASK_TCG_S);
}
