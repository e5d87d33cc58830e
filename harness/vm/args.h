/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_VM_ARGS_H
#define MMRIG_VM_ARGS_H
/* QEMU's argument vector. */
#include "harness/vm/program.h"
#include "harness/vm/vm.h"

#define QEMU_SANDBOX "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"

/* The descriptors that QEMU inherits, by their numbers in QEMU; the memory of node i is MEMORY + i. */
enum {
	QEMU_FD_CONSOLE = 3,
	QEMU_FD_WIRE,
	QEMU_FD_QMP,
	QEMU_FD_STATE,
	QEMU_FD_MEMORY,
	QEMU_FD_END = QEMU_FD_MEMORY + VM_NODES_MAX
};

/* NULL-terminated, all on the heap; args_free(). */
char **args_build(const char *program, const struct vm_config *config,
		  const struct qemu_features *features);
void args_free(char **argv);
/* One line that a POSIX shell splits into the same words; heap. */
char *args_quote(char *const *argv);

#endif
