// SPDX-License-Identifier: GPL-2.0-only
#include "guest/size_text.h"

#include <inttypes.h>
#include <stdio.h>

struct size_text size_text(uint64_t bytes)
{
	static const char units[] = "TGMK";
	struct size_text s;

	for (int i = 0; bytes && units[i]; i++) {
		int shift = 40 - 10 * i;

		if (bytes & ((1ull << shift) - 1))
			continue;
		snprintf(s.text, sizeof(s.text), "%" PRIu64 "%c", bytes >> shift, units[i]);
		return s;
	}
	snprintf(s.text, sizeof(s.text), "%" PRIu64, bytes);
	return s;
}
