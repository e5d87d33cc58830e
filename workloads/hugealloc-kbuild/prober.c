// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/hugealloc-kbuild/prober.h"

#include <math.h>
#include <stdio.h>

#define HUGE_ORDER 9
#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

int prober_init(struct prober *p, struct task_child *child, uint64_t per_second)
{
	p->state.child = child;
	p->state.who = "hugealloc-kbuild";
	p->state.order = HUGE_ORDER;
	p->state.count = 1;
	p->period_ns = NS_PER_S / per_second;
	return alloc_thp.prepare(&p->state);
}

int prober_begin(struct prober *p)
{
	p->next_ns = mono_ns();
	return alloc_thp.begin(&p->state);
}

void prober_end(struct prober *p)
{
	alloc_thp.end(&p->state);
}

void prober_add(struct prober *p, uint64_t ns, bool huge)
{
	double off = (double)ns - p->mean_ns;

	p->n++;
	p->huge += huge;
	p->mean_ns += off / (double)p->n;
	p->squares += off * ((double)ns - p->mean_ns);
	if (ns > p->max_ns)
		p->max_ns = ns;
	histogram_add(&p->took, ns);
}

static int probe(struct prober *p)
{
	enum alloc_outcome outcome = alloc_thp.take(&p->state, 0);

	if (outcome == ALLOC_BROKEN)
		return -1;
	prober_add(p, p->state.ns, outcome == ALLOC_MET);
	return alloc_thp.give(&p->state, 0);
}

int prober_work(struct prober *p)
{
	uint64_t now = mono_ns();

	if (now >= p->next_ns) {
		if (probe(p) < 0)
			return -1;
		/* One that took longer than a period is not made up for: that would be no steady rate. */
		now = mono_ns();
		p->next_ns += p->period_ns;
		if (p->next_ns < now)
			p->next_ns = now + p->period_ns;
	}
	return (int)((p->next_ns - now + NS_PER_MS - 1) / NS_PER_MS);
}

double prober_stddev(const struct prober *p)
{
	return p->n > 1 ? sqrt(p->squares / (double)(p->n - 1)) : 0;
}

size_t prober_metrics(const struct prober *p, char *out, size_t room)
{
	if (!p->n)
		return 0;
	return (size_t)snprintf(out, room,
				",\"hugealloc_mean\":%.1f,\"hugealloc_stddev\":%.1f,\"hugealloc_max\":%.0f,"
				"\"hugealloc_share\":%.4f,\"hugealloc_attempts\":%.0f",
				p->mean_ns, prober_stddev(p), (double)p->max_ns,
				100 * (double)p->huge / (double)p->n, (double)p->n);
}
