// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/debversion.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Weight of a character outside numbers: ~ before the end, that before letters, then the rest. */
static int weight(const char *p, const char *end)
{
	if (p == end || isdigit((unsigned char)*p))
		return 0;
	if (*p == '~')
		return -1;
	return isalpha((unsigned char)*p) ? (unsigned char)*p : (unsigned char)*p + 256;
}

static bool is_digit_at(const char *p, const char *end)
{
	return p < end && isdigit((unsigned char)*p);
}

static int compare_number(const char **a, const char *a_end, const char **b, const char *b_end)
{
	int first = 0;

	while (*a < a_end && **a == '0')
		++*a;
	while (*b < b_end && **b == '0')
		++*b;
	while (is_digit_at(*a, a_end) && is_digit_at(*b, b_end)) {
		if (!first)
			first = **a - **b;
		++*a;
		++*b;
	}
	if (is_digit_at(*a, a_end))
		return 1;
	if (is_digit_at(*b, b_end))
		return -1;
	return first;
}

static int compare_part(const char *a, const char *a_end, const char *b, const char *b_end)
{
	while (a < a_end || b < b_end) {
		int diff;

		while ((a < a_end && !is_digit_at(a, a_end)) ||
		       (b < b_end && !is_digit_at(b, b_end))) {
			diff = weight(a, a_end) - weight(b, b_end);
			if (diff)
				return diff;
			a++;
			b++;
		}
		diff = compare_number(&a, a_end, &b, b_end);
		if (diff)
			return diff;
	}
	return 0;
}

struct parts {
	unsigned long epoch;
	const char *upstream, *upstream_end, *revision, *end;
};

static struct parts split(const char *v)
{
	const char *colon = strchr(v, ':'), *dash;
	struct parts p = { 0, v, NULL, NULL, NULL };

	if (colon) {
		p.epoch = strtoul(v, NULL, 10);
		p.upstream = colon + 1;
	}
	p.end = p.upstream + strlen(p.upstream);
	dash = strrchr(p.upstream, '-');
	p.upstream_end = dash ? dash : p.end;
	p.revision = dash ? dash + 1 : p.end;
	return p;
}

int debversion_compare(const char *a, const char *b)
{
	struct parts pa = split(a), pb = split(b);
	int diff;

	if (pa.epoch != pb.epoch)
		return pa.epoch < pb.epoch ? -1 : 1;
	diff = compare_part(pa.upstream, pa.upstream_end, pb.upstream, pb.upstream_end);
	if (diff)
		return diff;
	return compare_part(pa.revision, pa.end, pb.revision, pb.end);
}

bool debversion_matches(const char *version, const char *wanted)
{
	struct parts p = split(version);
	size_t len = strlen(wanted);

	if (strcmp(version, wanted) == 0)
		return true;
	if (!len || strchr(wanted, '-') || (size_t)(p.upstream_end - p.upstream) < len ||
	    strncmp(p.upstream, wanted, len) != 0)
		return false;
	return p.upstream + len == p.upstream_end || strchr(".~+", p.upstream[len]);
}
