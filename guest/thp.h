/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_THP_H
#define MMRIG_THP_H
/* The kernel's switches for transparent huge pages. */
#include <stdbool.h>

#define THP_DIR "/sys/kernel/mm/transparent_hugepage"

/* Does `enabled` stand at "never", where the kernel puts it on machines of less than 512 MiB? */
bool thp_is_off(void);
/*
 * Writes to `enabled`. The kernel then sets vm.min_free_kbytes anew, which would move the watermarks
 * under a layout that is there or half made: it is put back. 0, or -1 with errno.
 */
int thp_enable(const char *word);

#endif
