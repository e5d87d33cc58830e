/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_WRITERS_SECONDS_H
#define MMRIG_WRITERS_SECONDS_H
/* What vmstat(8) shows, second by second, and what the streams did meanwhile. No allocation. */
#include <stddef.h>
#include <stdint.h>

#define SECONDS_MAX 240 /* rows that fit a result */

/* As the kernel has them; -1 or 0 where a file lacks it. */
struct seconds_raw {
	uint64_t ns;
	int64_t running, blocked; /* tasks now, without the one that asks */
	uint64_t user, system, idle, wait, steal; /* ticks since boot; system: with interrupts */
	uint64_t interrupts, switches;
	uint64_t in_kb, out_kb; /* blocks read and written */
	uint64_t free_kb, cached_kb, swapped_kb;
	uint64_t received, written; /* bytes */
};

/* One row: what is counted, a second; shares in per cent of the time of all CPUs. */
struct seconds_row {
	double at_s; /* since the first reading */
	int64_t running, blocked;
	uint64_t free_kb, cached_kb, swapped_kb;
	double bi, bo, in, cs; /* a second; blocks in KiB */
	double us, sy, id, wa, st;
	double received, written; /* MiB a second */
};

struct seconds {
	struct seconds_raw first, last;
	struct seconds_row row[SECONDS_MAX];
	size_t n;
};

/* From texts of /proc/stat, vmstat and meminfo. */
void seconds_parse(const char *stat, const char *vmstat, const char *meminfo,
		   struct seconds_raw *raw);
/* The files now. */
void seconds_read(struct seconds_raw *raw);
/* The first one opens the series; each further one makes a row, while there is room. */
void seconds_add(struct seconds *s, const struct seconds_raw *raw);

/* The members of a result: ,"time":...: metrics; "series":{...}. Lengths. */
size_t seconds_metrics(const struct seconds *s, char *out, size_t room);
size_t seconds_json(const struct seconds *s, char *out, size_t room);

#endif
