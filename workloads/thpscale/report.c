// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/thpscale/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "guest/histogram.h"

#define BOTH FAULT_CLASSES
#define HISTOGRAM_ROOM 4500

static const char *const names[] = { "base", "mthp", "huge", "unseen", "both" };

struct sums {
	uint64_t n, local;
	double first_us, whole_us;
};

static void add(struct sums *s, const struct fault *f)
{
	s->n++;
	s->local += f->local;
	s->first_us += (double)f->first_ns / 1e3;
	s->whole_us += (double)f->whole_ns / 1e3;
}

static void sum_up(const struct round *r, struct sums s[FAULT_CLASSES + 1])
{
	memset(s, 0, (FAULT_CLASSES + 1) * sizeof(*s));
	for (unsigned int t = 0; t < r->threads; t++) {
		for (size_t i = 0; i < round_slots(r); i++) {
			add(&s[r->thread[t].fault[i].class], &r->thread[t].fault[i]);
			add(&s[BOTH], &r->thread[t].fault[i]);
		}
	}
}

static void __attribute__((format(printf, 4, 5)))
put(char *out, size_t room, size_t *n, const char *fmt, ...)
{
	va_list ap;

	if (*n >= room)
		return;
	va_start(ap, fmt);
	*n += (size_t)vsnprintf(out + *n, room - *n, fmt, ap);
	va_end(ap);
}

static void put_class(const struct round *r, const struct sums *s, int class, char *out, size_t room,
		      size_t *n)
{
	const char *name = names[class];
	double count = (double)s[class].n;

	if (!s[class].n || class == FAULT_UNSEEN)
		return;
	put(out, room, n, "\"fault_%s_%u\":%.6g,\"fault_first_%s_%u\":%.6g,", name, r->threads,
	    s[class].whole_us / count, name, r->threads, s[class].first_us / count);
	if (r->nodes && class != FAULT_MTHP && class != BOTH)
		put(out, room, n, "\"local_share_%s_%u\":%.6g,", name, r->threads,
		    100.0 * (double)s[class].local / count);
}

void round_metrics(const struct round *r, char *out, size_t room)
{
	struct sums s[FAULT_CLASSES + 1];
	uint64_t seen;
	size_t n = 0;

	sum_up(r, s);
	seen = s[BOTH].n - s[FAULT_UNSEEN].n;
	for (int class = 0; class <= BOTH; class++)
		put_class(r, s, class, out, room, &n);
	if (seen)
		put(out, room, &n, "\"huge_share_%u\":%.6g,\"mthp_share_%u\":%.6g,", r->threads,
		    100.0 * (double)s[FAULT_HUGE].n / (double)seen, r->threads,
		    100.0 * (double)s[FAULT_MTHP].n / (double)seen);
	out[n ? n - 1 : 0] = '\0';
}

static void put_histograms(const struct round *r, bool first, char *out, size_t room, size_t *n)
{
	static struct histogram h;
	const char *comma = "";

	put(out, room, n, ",\"%s\":{", first ? "fault_first" : "fault");
	for (int class = 0; class < FAULT_UNSEEN; class++) {
		memset(&h, 0, sizeof(h));
		for (unsigned int t = 0; t < r->threads; t++) {
			for (size_t i = 0; i < round_slots(r); i++) {
				const struct fault *f = &r->thread[t].fault[i];

				if (f->class == class)
					histogram_add(&h, first ? f->first_ns : f->whole_ns);
			}
		}
		if (!h.n)
			continue;
		put(out, room, n, "%s\"%s\":", comma, names[class]);
		*n += histogram_json(&h, out + *n, room - *n < HISTOGRAM_ROOM ? room - *n : HISTOGRAM_ROOM);
		comma = ",";
	}
	put(out, room, n, "}");
}

void round_extra(const struct round *r, char *out, size_t room)
{
	struct sums s[FAULT_CLASSES + 1];
	uint64_t anon = 0, file = 0;
	size_t n = 0;

	sum_up(r, s);
	for (unsigned int t = 0; t < r->threads; t++) {
		anon += r->thread[t].anon_ns;
		file += r->thread[t].file_ns;
	}
	put(out, room, &n, "\"threads_%u\":{\"anon_us\":%" PRIu64 ",\"file_us\":%" PRIu64 ",\"faults\":{",
	    r->threads, anon / r->threads / 1000, file / r->threads / 1000);
	for (int class = 0; class < FAULT_CLASSES; class++)
		put(out, room, &n, "%s\"%s\":%" PRIu64, class ? "," : "", names[class], s[class].n);
	put(out, room, &n, "}");
	put_histograms(r, false, out, room, &n);
	put_histograms(r, true, out, room, &n);
	put(out, room, &n, "}");
}
