// SPDX-License-Identifier: GPL-2.0-only
#include "guest/full.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "guest/region.h"

#define MIN_FREE_KBYTES "1024" /* for interrupts, and for what fails in the worst place: PID 1 */

static struct {
	const char *path, *low;
	char saved[128];
} knobs[] = {
	{ "/proc/sys/vm/min_free_kbytes", MIN_FREE_KBYTES, "" },
	{ "/proc/sys/vm/watermark_scale_factor", "1", "" },
	{ "/proc/sys/vm/watermark_boost_factor", "0", "" },
	{ "/proc/sys/vm/lowmem_reserve_ratio", "0 0 0 0 0", "" },
};
#define KNOBS (sizeof(knobs) / sizeof(knobs[0]))

static cpu_set_t cpus_before;
static bool is_low; /* and what was before is kept */

static void lower(void)
{
	cpu_set_t one;

	if (is_low)
		return;
	is_low = true;
	for (size_t i = 0; i < KNOBS; i++) {
		if (file_slurp(knobs[i].path, knobs[i].saved, sizeof(knobs[i].saved)) > 0)
			file_put(knobs[i].path, knobs[i].low);
		else
			knobs[i].saved[0] = '\0';
	}
	sched_getaffinity(0, sizeof(cpus_before), &cpus_before);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

void full_end(void)
{
	for (size_t i = KNOBS; i-- > 0;)
		if (knobs[i].saved[0])
			file_put(knobs[i].path, knobs[i].saved);
	sched_setaffinity(0, sizeof(cpus_before), &cpus_before);
	is_low = false;
}

int full_begin(struct layout *l, struct step_report *r)
{
	uint64_t total;

	lower();
	zones_read(&l->zones, l->block_order);
	total = zones_free(&l->zones);
	for (;;) {
		uint64_t room = zones_room(&l->zones);
		int64_t got;

		if (room < ZONES_LEAST_ROOM)
			return 0;
		task_progress(l->child, total - zones_free(&l->zones), total);
		got = region_take(l, room / 2);
		if (got <= 0) {
			snprintf(r->why, sizeof(r->why), "cannot take the last %llu pages: %s",
				 (unsigned long long)room,
				 got ? strerror(errno) : "no address space is left");
			full_end();
			return -1;
		}
		zones_read(&l->zones, l->block_order);
	}
}
