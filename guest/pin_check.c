// SPDX-License-Identifier: GPL-2.0-only
#include "guest/pin_check.h"

#include <inttypes.h>
#include <unistd.h>

#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_PFN ((1ULL << 55) - 1)

static bool stands(const struct layout *l, size_t i)
{
	uint64_t entry;
	off_t at = (off_t)(((uintptr_t)l->region / 4096 + i) * 8);

	return pread(l->pagemap_fd, &entry, 8, at) == 8 && entry & PAGEMAP_PRESENT &&
	       (entry & PAGEMAP_PFN) == LAYOUT_PFN(l->pfn[i]);
}

uint64_t pin_check(struct layout *l, uint64_t *moved)
{
	uint64_t pins = 0;

	*moved = 0;
	for (size_t i = 0; i < l->filled_pages; i++) {
		if (!(l->pfn[i] & LAYOUT_PINNED))
			continue;
		pins++;
		*moved += !stands(l, i);
		if (pins % 4096 == 0)
			task_progress(l->child, i, l->filled_pages);
	}
	return pins;
}

int pin_check_report(struct layout *l)
{
	uint64_t start = mono_ns(), moved, pins = pin_check(l, &moved);
	char judged[128];

	if (!pins)
		return 0;
	judge_begin(l);
	layout_within_ppm(l, judge_ppm(moved, pins), 0);
	judge_json(&l->judged, judged, sizeof(judged));
	task_send(l->child, WIRE_STEP,
		  "{\"index\":%d,\"step\":\"pins\",\"asked\":{\"pins\":%" PRIu64 ",\"moved\":0},"
		  "\"got\":{\"pins\":%" PRIu64 ",\"moved\":%" PRIu64 "}%s,\"seconds\":%.3f,\"ok\":%s,"
		  "\"how\":\"/proc/self/pagemap, after the workload\",\"why\":\"\"}",
		  l->nsteps, pins, pins, moved, judged, (double)(mono_ns() - start) / 1e9,
		  moved ? "false" : "true");
	if (!moved)
		return 0;
	return task_fail(l->child, "infra",
			 "layout: %" PRIu64 " of %" PRIu64 " pins moved while the workload ran", moved,
			 pins);
}
