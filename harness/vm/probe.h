/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_VM_PROBE_H
#define MMRIG_VM_PROBE_H
/* accel_probe() with its surroundings as parameters, for tests. */
#include "harness/vm/vm.h"

struct probe {
	const char *device;	  /* "/dev/kvm" */
	unsigned int deadline_ms; /* exec to a booted kernel */
};

int probe_accel(const struct probe *p, const char *qemu, const char *kernel, struct accel_result *r,
		struct error *err);

#endif
