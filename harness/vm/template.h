/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_VM_TEMPLATE_H
#define MMRIG_VM_TEMPLATE_H
/* What the backend needs of a template. */
#include <stdbool.h>

#include "harness/vm/vm.h"

/* The memory of node i, for i below what it returns; 1 without nodes. They stay the template's. */
size_t template_memory_fds(const struct vm_template *t, const int **fd);
/* The caller closes it. read: a description of its own, at the start; else the one to write. */
int template_state_fd(const struct vm_template *t, bool read, struct error *err);
/* vm_qmp() with a descriptor passed along; the greeting must have come. */
int vm_qmp_with_fd(struct vm *vm, int fd, const char *command, const char *arguments,
		   void (*done)(void *arg, const char *json), void *arg, struct error *err);
uv_loop_t *vm_loop(const struct vm *vm);
/* Called once, when QEMU is gone and before `exited`, which may free the vm. One at a time; NULL: none. */
void vm_at_end(struct vm *vm, void (*fn)(void *arg), void *arg);

#endif
