// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/writers/seconds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/procfs.h"
#include "guest/task.h"

#define TEXT_BYTES 65536

/* What stands behind the key at the beginning of a line; NULL: no such line. */
static const char *value_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	while (*text) {
		if (strncmp(text, key, n) == 0 && (text[n] == ' ' || text[n] == ':'))
			return text + n + 1;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return NULL;
}

static uint64_t number_of(const char *text, const char *key)
{
	const char *at = value_of(text, key);

	return at ? strtoull(at, NULL, 10) : 0;
}

/* user nice system idle iowait irq softirq steal */
static void parse_cpu(const char *at, struct seconds_raw *raw)
{
	uint64_t v[8] = { 0 };
	char *end;

	for (size_t i = 0; at && i < 8; i++) {
		v[i] = strtoull(at, &end, 10);
		at = end;
	}
	raw->user = v[0] + v[1];
	raw->system = v[2] + v[5] + v[6];
	raw->idle = v[3];
	raw->wait = v[4];
	raw->steal = v[7];
}

void seconds_parse(const char *stat, const char *vmstat, const char *meminfo,
		   struct seconds_raw *raw)
{
	uint64_t swap = number_of(meminfo, "SwapTotal");

	parse_cpu(value_of(stat, "cpu"), raw);
	raw->interrupts = number_of(stat, "intr");
	raw->switches = number_of(stat, "ctxt");
	raw->running = (int64_t)number_of(stat, "procs_running");
	raw->running -= raw->running > 0; /* the one that reads this */
	raw->blocked = (int64_t)number_of(stat, "procs_blocked");
	raw->in_kb = number_of(vmstat, "pgpgin");
	raw->out_kb = number_of(vmstat, "pgpgout");
	raw->free_kb = number_of(meminfo, "MemFree");
	raw->cached_kb = number_of(meminfo, "Cached");
	raw->swapped_kb = swap - number_of(meminfo, "SwapFree");
}

void seconds_read(struct seconds_raw *raw)
{
	static char stat[TEXT_BYTES], vmstat[TEXT_BYTES], meminfo[TEXT_BYTES];

	*raw = (struct seconds_raw){ .ns = mono_ns() };
	if (file_slurp("/proc/stat", stat, sizeof(stat)) >= 0 &&
	    file_slurp("/proc/vmstat", vmstat, sizeof(vmstat)) >= 0 &&
	    file_slurp("/proc/meminfo", meminfo, sizeof(meminfo)) >= 0)
		seconds_parse(stat, vmstat, meminfo, raw);
}

static void make_row(const struct seconds_raw *a, const struct seconds_raw *b, double at_s,
		     struct seconds_row *r)
{
	double s = (double)(b->ns - a->ns) / 1e9;
	uint64_t ticks = b->user - a->user + b->system - a->system + b->idle - a->idle + b->wait -
			 a->wait + b->steal - a->steal;
	double share = ticks ? 100.0 / (double)ticks : 0;

	*r = (struct seconds_row){
		.at_s = at_s,
		.running = b->running,
		.blocked = b->blocked,
		.free_kb = b->free_kb,
		.cached_kb = b->cached_kb,
		.swapped_kb = b->swapped_kb,
		.bi = (double)(b->in_kb - a->in_kb) / s,
		.bo = (double)(b->out_kb - a->out_kb) / s,
		.in = (double)(b->interrupts - a->interrupts) / s,
		.cs = (double)(b->switches - a->switches) / s,
		.us = (double)(b->user - a->user) * share,
		.sy = (double)(b->system - a->system) * share,
		.id = (double)(b->idle - a->idle) * share,
		.wa = (double)(b->wait - a->wait) * share,
		.st = (double)(b->steal - a->steal) * share,
		.received = (double)(b->received - a->received) / s / (1 << 20),
		.written = (double)(b->written - a->written) / s / (1 << 20),
	};
}

void seconds_add(struct seconds *s, const struct seconds_raw *raw)
{
	if (!s->first.ns) {
		s->first = s->last = *raw;
		return;
	}
	if (s->n == SECONDS_MAX || raw->ns <= s->last.ns)
		return;
	make_row(&s->last, raw, (double)(raw->ns - s->first.ns) / 1e9, &s->row[s->n++]);
	s->last = *raw;
}

size_t seconds_metrics(const struct seconds *s, char *out, size_t room)
{
	struct seconds_row all;
	double least, queue = 0;
	int64_t longest = 0;

	if (!s->n)
		return 0;
	make_row(&s->first, &s->last, 0, &all);
	least = s->row[0].written;
	for (size_t i = 0; i < s->n; i++) {
		least = s->row[i].written < least ? s->row[i].written : least;
		longest = s->row[i].running > longest ? s->row[i].running : longest;
		queue += (double)s->row[i].running / (double)s->n;
	}
	return (size_t)snprintf(out, room,
				",\"stream_throughput\":%.6g,\"stream_throughput_min\":%.6g"
				",\"run_queue\":%.6g,\"run_queue_max\":%" PRId64
				",\"system_share\":%.6g",
				all.written, least, queue, longest, all.sy);
}

static size_t put_row(const struct seconds_row *r, const char *comma, char *out, size_t room)
{
	return (size_t)snprintf(out, room,
				"%s[%.1f,%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
				",%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.1f,%.1f]",
				comma, r->at_s, r->running, r->blocked, r->swapped_kb, r->free_kb,
				r->cached_kb, r->bi, r->bo, r->in, r->cs, r->us, r->sy, r->id, r->wa,
				r->st, r->received, r->written);
}

size_t seconds_json(const struct seconds *s, char *out, size_t room)
{
	size_t n = (size_t)snprintf(out, room,
				    "\"series\":{\"columns\":[\"s\",\"r\",\"b\",\"swpd\",\"free\","
				    "\"cache\",\"bi\",\"bo\",\"in\",\"cs\",\"us\",\"sy\",\"id\",\"wa\","
				    "\"st\",\"received\",\"written\"],\"rows\":[");

	for (size_t i = 0; i < s->n && n + 256 < room; i++)
		n += put_row(&s->row[i], i ? "," : "", out + n, room - n);
	return n + (size_t)snprintf(out + n, room - n, "]}");
}
