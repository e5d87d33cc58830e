// SPDX-License-Identifier: GPL-2.0-only
#include "guest/settle.h"

#include <poll.h>

#include "guest/boot.h"
#include "guest/sampler.h"
#include "guest/task.h"

void settle(uint64_t limit_ms)
{
	uint64_t last = 0, deadline = mono_ns() + limit_ms * 1000000u;

	for (int same = 0; same < 3 && mono_ns() < deadline;) {
		const char *text = sampler_vmstat();
		uint64_t sum = boot_sum_keys(text ? text : "");

		same = sum == last && boot_daemons_asleep() ? same + 1 : 0;
		last = sum;
		poll(NULL, 0, 100);
	}
}
