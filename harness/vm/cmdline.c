// SPDX-License-Identifier: GPL-2.0-only
#include <stdint.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "harness/vm/vm.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
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
#define DETERMINISTIC " norandmaps randomize_kstack_offset=off random.trust_cpu=off"

#define CALIBRATE_NS 20000000u /* an error of 1 us in reading both clocks is then 0.005 % */

#if defined(__x86_64__)
static uint64_t ticks(void)
{
	return __rdtsc();
}
#else
static uint64_t ticks(void)
{
	return 0;
}
#endif

static uint64_t mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Both clocks at one moment: the reading of several between whose two looks at the time least passed. */
static void both_clocks(uint64_t *ns, uint64_t *tsc)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = mono_ns(), t = ticks(), after = mono_ns();

		if (after - before >= least)
			continue;
		least = after - before;
		*ns = before + least / 2;
		*tsc = t;
	}
}

static bool runs_at_one_rate(void)
{
	cleanup_error struct error none = ERROR_INIT;
	cleanup_free char *cpus = file_read("/proc/cpuinfo", 0, NULL, &none);

	return cpus && strstr(cpus, " constant_tsc");
}

unsigned int vm_host_tsc_mhz(void)
{
	static unsigned int mhz;
	uint64_t ns0 = 0, tsc0 = 0, ns, tsc;

	if (mhz || !ticks() || !runs_at_one_rate())
		return mhz;
	both_clocks(&ns0, &tsc0);
	do
		both_clocks(&ns, &tsc);
	while (ns - ns0 < CALIBRATE_NS);
	mhz = (unsigned int)(((double)(tsc - tsc0) * 1000 / (double)(ns - ns0)) + 0.5);
	return mhz;
}

/*
 * QEMU's TCG hands the host's TSC to the guest, which has to find its rate by timing it against the
 * PIT and the HPET. On a loaded host that went wrong in one boot of sixteen: a guest that took 2594
 * MHz for 105 lived 24 times too fast, and so did its measured times. So it is told; its own second
 * calibration is then taken only within 1 % of that.
 */
static char *tsc_rate(enum vm_accel accel, bool deterministic)
{
	unsigned int mhz = accel == VM_ACCEL_TCG && !deterministic ? vm_host_tsc_mhz() : 0;

	return mhz ? str_printf(" tsc_early_khz=%u000", mhz) : xstrdup("");
}

/*
 * loglevel=6 shows the banner (a notice) and all that a splat prints, and no information: 0.91
 * of the default's boot time under TCG. With nokaslr (a random place of the kernel would also
 * vary the layout between runs), tsc=reliable (a loaded host lets the watchdog throw the TSC out,
 * and each look at the clock becomes a device access), no_timer_check and cryptomgr.notests: 0.77.
 */
char *vm_default_cmdline(enum vm_accel accel, bool deterministic)
{
	bool kvm = accel == VM_ACCEL_KVM;
	cleanup_free char *rate = tsc_rate(accel, deterministic);

	return str_printf("console=ttyS0 panic=-1 oops=panic loglevel=6 "
			  "printk.time=1 printk.devkmsg=on sysrq_always_enabled=1 "
			  "nokaslr tsc=reliable no_timer_check cryptomgr.notests "
			  "watchdog_thresh=%d rcupdate.rcu_cpu_stall_timeout=%d "
			  "sysctl.kernel.hung_task_timeout_secs=%d%s%s",
			  (kvm ? SOFT_LOCKUP_KVM_S : SOFT_LOCKUP_TCG_S) / 2,
			  kvm ? RCU_STALL_KVM_S : RCU_STALL_TCG_S,
			  kvm ? HUNG_TASK_KVM_S : HUNG_TASK_TCG_S, rate, deterministic ? DETERMINISTIC : "");
}
