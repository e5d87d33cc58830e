// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/clock.h"

#include <math.h>

#include "results/util/str.h"

#define BORNE 0.10
#define LATE_S 1.0 /* an arrival waits for a CPU that the VMs hold */

void clock_watch_note(struct clock_watch *w, double host_s, uint64_t guest_ns)
{
	if (!guest_ns)
		return;
	if (!w->guest_first) {
		w->host_first = host_s;
		w->guest_first = guest_ns;
	}
	w->host_last = host_s;
	w->guest_last = guest_ns;
}

char *clock_watch_wrong(const struct clock_watch *w, double late_s)
{
	double host = w->host_last - w->host_first;
	double guest = ((double)w->guest_last - (double)w->guest_first) / 1e9;

	if (!w->guest_first || fabs(guest - host) <= LATE_S + late_s + BORNE * host)
		return NULL;
	return str_printf("the guest's clock went wrong: %.1f s of the guest in %.1f s of the host, so that no "
			  "time of this run is right; let fewer VMs run at once (--jobs)", guest, host);
}
