// SPDX-License-Identifier: GPL-2.0-only
#include "guest/thp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guest/procfs.h"

#define MIN_FREE "/proc/sys/vm/min_free_kbytes"

bool thp_is_off(void)
{
	char text[128];

	return file_slurp(THP_DIR "/enabled", text, sizeof(text)) > 0 && strstr(text, "[never]");
}

int thp_enable(const char *word)
{
	int64_t min_free = file_number(MIN_FREE, -1);
	char text[32];
	int ret = file_put(THP_DIR "/enabled", word);

	if (min_free < 0 || file_number(MIN_FREE, -1) == min_free)
		return ret;
	snprintf(text, sizeof(text), "%" PRId64, min_free);
	file_put(MIN_FREE, text);
	return ret;
}
