/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CLOCK_H
#define MMRIG_CLOCK_H
/*
 * Whether the guest's clock goes as fast as the host's. A guest that has mistaken the rate of its
 * TSC lives, and times its workload, several times too fast or too slow, and nothing else tells.
 */
#include <stdint.h>

struct clock_watch {
	double host_first, host_last; /* seconds, CLOCK_MONOTONIC of the host, when a frame arrived */
	uint64_t guest_first, guest_last; /* ns, of the guest, when it was sent; 0: none yet */
};

/* guest_ns of 0 is no reading. */
void clock_watch_note(struct clock_watch *w, double host_s, uint64_t guest_ns);
/*
 * NULL, or why the times are wrong; heap. late_s: by how much an arrival may have been noticed too
 * late. A difference of a tenth is borne, since what is watched for is far more.
 */
char *clock_watch_wrong(const struct clock_watch *w, double late_s);

#endif
