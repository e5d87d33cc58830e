/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_VM_PROGRAM_H
#define MMRIG_VM_PROGRAM_H
/* The QEMU program itself: where it is, what it can do. Errors: EXIT_NO_VERDICT. */
#include <stdbool.h>

#include "results/util/error.h"

/* Absolute path of `qemu` (NULL: qemu-system-x86_64), looked for in PATH; heap. */
char *qemu_find(const char *qemu, struct error *err);
/* One line that changes whenever the file does: path, size, mtime; heap. */
char *qemu_identity(const char *path, struct error *err);

struct qemu_features {
	bool sandbox;	    /* -sandbox on */
	bool virtio_serial; /* virtio-serial-pci and virtserialport */
	bool q35;
};
/* Asks the program once a build; the answer is kept in the cache folder. */
int qemu_probe(const char *path, struct qemu_features *f, struct error *err);

#endif
