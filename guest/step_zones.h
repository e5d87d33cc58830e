/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STEP_ZONES_H
#define MMRIG_STEP_ZONES_H
/*
 * Which zones a guest can have, by the memory map of QEMU's x86 machines (hw/i386/pc_q35.c, pc_piix.c): all
 * memory lies below 4 GiB, but from 2816 MiB on (pc: from 3584 MiB on) only 2 GiB (3 GiB) do. ZONE_DMA ends
 * at 16 MiB, ZONE_DMA32 at 4 GiB; there is no HIGHMEM on x86-64, and no DEVICE without such a device.
 * Whether a kernel has ZONE_DMA is its own matter. Which machine it will be is not known here: a zone is
 * there if either could have it.
 */
#include "guest/step_check.h"

#define STEP_NORMAL_FROM (2816ull << 20) /* a guest of less has nothing above 4 GiB */

/* Bytes of the zone (enum expr_zone) that there are at the most; node -1: in the whole guest. 0: no such zone. */
uint64_t step_zone_bytes(const struct step_context *c, int zone, int64_t node);
/* The zones that there can be, bits of enum expr_zone. */
uint64_t step_zones(const struct step_context *c, int64_t node);

struct zones_text {
	char text[48];
};
/* "dma and dma32" */
struct zones_text step_zones_text(uint64_t zones);

#endif
