// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

#define WEEK_S (7 * 24 * 3600.0)

/* digits[.digits]; *end is moved behind it. */
static bool decimal(const char *text, double *value, const char **end)
{
	double scale = 1;

	*value = 0;
	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text); text++)
		*value = *value * 10 + (*text - '0');
	if (*text == '.' && isdigit((unsigned char)text[1]))
		for (text++; isdigit((unsigned char)*text); text++)
			*value += (*text - '0') * (scale /= 10);
	*end = text;
	return true;
}

int read_ppm(const struct node *n, int64_t *ppm, struct error *err)
{
	const char *end = NULL;
	double v = 0;
	bool percent;

	if (n->kind != NODE_SCALAR || !decimal(n->text, &v, &end))
		end = NULL;
	percent = end && strcmp(end, "%") == 0;
	if (!end || (*end && !percent) || v > (percent ? 100 : 1))
		return node_error(err, n, "must be a share such as 2%%, from 0%% to 100%%");
	*ppm = llround(v * (percent ? 1e4 : 1e6));
	return 0;
}

int read_seconds(const struct node *n, double *seconds, struct error *err)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "ms", 0.001 }, { "m", 60 }, { "h", 3600 } };
	const char *end;
	double v;

	if (n->kind == NODE_SCALAR && decimal(n->text, &v, &end)) {
		for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
			*seconds = v * units[i].seconds;
			if (strcmp(end, units[i].unit) == 0 && *seconds > 0 && *seconds <= WEEK_S)
				return 0;
		}
	}
	return node_error(err, n,
			  "must be a time such as 500ms, 60s, 10m or 1h, above 0, a week at most");
}

int read_integer(const struct node *n, const char *what, int64_t min, int64_t max, int64_t *value,
		 struct error *err)
{
	uint64_t v;

	if (n->kind != NODE_SCALAR ||
	    str_parse_u64(n->text, (uint64_t)min, (uint64_t)max, &v, NULL) < 0)
		return node_error(err, n, "%s must be a whole number from %" PRId64 " to %" PRId64,
				  what, min, max);
	*value = (int64_t)v;
	return 0;
}
