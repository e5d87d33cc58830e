// SPDX-License-Identifier: GPL-2.0-only
#include "guest/step_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "guest/job.h"

static void __attribute__((format(printf, 4, 0)))
set(struct step_fault *f, const char *param, bool of_memory, const char *fmt, va_list ap)
{
	f->param = param;
	f->of_memory = of_memory;
	vsnprintf(f->why, sizeof(f->why), fmt, ap);
}

int step_fault(struct step_fault *f, const char *param, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(f, param, false, fmt, ap);
	va_end(ap);
	return -1;
}

int step_fault_of_memory(struct step_fault *f, const char *param, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(f, param, true, fmt, ap);
	va_end(ap);
	return -1;
}

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

int step_check_held(const struct step_context *c, const char *done, struct step_fault *f)
{
	if (c->held)
		return 0;
	return step_fault(
		f, NULL,
		"no step before it takes pages of the layout's own, so there is nothing to be %s; put "
		"fill: {kind: anon, leave: ...} before it (kind thp and shape do too)",
		done);
}

int step_check_sample(const struct job_line *line, uint64_t most, const char *unit,
		      struct step_fault *f)
{
	int64_t count = job_get_i64(line, "count", -1);

	if (job_get(line, "count") && job_get(line, "share"))
		return step_fault(f, NULL, "count and share: give one of them");
	if (count < 0 || (uint64_t)count <= most)
		return 0;
	return step_fault_of_memory(f, "count",
				    "count is %" PRId64 ", and the guest has %" PRIu64
				    " %s; ask for fewer, or give it more memory",
				    count, most, unit);
}
