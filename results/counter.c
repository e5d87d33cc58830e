// SPDX-License-Identifier: GPL-2.0-only
#include "results/counter.h"

#include <string.h>

#include "results/util/cleanup.h"

/* "free_order0_node12_Normal" -> "Normal", else NULL. */
static const char *zone_of_node(const char *name)
{
	static const char prefix[] = "free_order0_node";
	const char *digits = name + sizeof(prefix) - 1;
	size_t n;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	n = strspn(digits, "0123456789");
	return n && n <= 4 && digits[n] == '_' ? digits + n + 1 : NULL;
}

const struct counter *counter_find(const char *name)
{
	const char *zone = zone_of_node(name);
	cleanup_free char *of_zone = zone ? str_printf("free_order0_%s", zone) : NULL;

	name = zone ? of_zone : name;
	for (size_t i = 0; i < counter_count; i++)
		if (strcmp(counter_table[i].name, name) == 0)
			return &counter_table[i];
	return NULL;
}

const char *counter_nearest(const char *name)
{
	cleanup_free const char **names = xreallocarray(NULL, counter_count, sizeof(*names));

	for (size_t i = 0; i < counter_count; i++)
		names[i] = counter_table[i].name;
	return str_nearest(name, names, counter_count);
}

static bool source_matches(const char *source, const char *key)
{
	size_t n = strlen(source);

	if (source[0] == '-')
		return strcmp(source + 1, key) == 0;
	if (n && source[n - 1] == '*')
		return strncmp(source, key, n - 1) == 0;
	return strcmp(source, key) == 0;
}

static bool in_catalogue(const char *key)
{
	for (size_t i = 0; i < counter_count; i++)
		for (const char *const *s = counter_table[i].sources; *s; s++)
			if (source_matches(*s, key))
				return true;
	return false;
}

struct sum {
	double value;
	bool found;
	const char *backwards; /* the key that did */
};

static void add_row(struct sum *sum, bool gauge, bool minus, const struct vmstat_row *end,
		    const uint64_t *begin)
{
	double step;

	if (gauge) {
		step = (double)end->value;
	} else if (!begin) {
		return;
	} else if (end->value < *begin) {
		sum->backwards = end->key;
		return;
	} else {
		step = (double)(end->value - *begin);
	}
	sum->value += minus ? -step : step;
	/* What is only subtracted does not make the counter exist. */
	sum->found |= !minus;
}

static struct sum counter_sum(const struct counter *c, const struct vmstat *begin,
			      const struct vmstat *end)
{
	struct sum sum = { 0, false, NULL };

	for (size_t i = 0; i < end->n; i++) {
		const struct vmstat_row *row = &end->row[i];

		for (const char *const *s = c->sources; *s; s++) {
			if (!source_matches(*s, row->key))
				continue;
			add_row(&sum, c->gauge, **s == '-', row, vmstat_get(begin, row->key));
			break;
		}
	}
	return sum;
}

static void note_backwards(struct strbuf *sb, const char *name, const char *key)
{
	strbuf_addf(sb, "%s%s", sb->len ? ", " : "", name);
	if (strcmp(name, key) != 0)
		strbuf_addf(sb, " (%s)", key);
}

static void add_detail(struct run *r, const char *text)
{
	char *joined = str_printf("%s%scounters that went backwards, left out: %s",
				  r->detail ? r->detail : "", r->detail ? "\n" : "", text);

	free(r->detail);
	r->detail = joined;
}

void counter_deltas(const struct vmstat *begin, const struct vmstat *end, struct run *r)
{
	cleanup_strbuf struct strbuf backwards = STRBUF_INIT;

	for (size_t i = 0; i < counter_count; i++) {
		const struct counter *c = &counter_table[i];
		struct sum sum = counter_sum(c, begin, end);

		if (sum.backwards)
			note_backwards(&backwards, c->name, sum.backwards);
		else if (sum.found && sum.value < 0)
			note_backwards(&backwards, c->name, c->name);
		else if (sum.found)
			run_set_metric(r, c->name, sum.value);
	}
	for (size_t i = 0; i < end->n; i++) {
		const struct vmstat_row *row = &end->row[i];
		struct sum sum = { 0, false, NULL };

		if (in_catalogue(row->key))
			continue;
		add_row(&sum, str_starts(row->key, "nr_"), false, row, vmstat_get(begin, row->key));
		if (sum.backwards)
			note_backwards(&backwards, row->key, row->key);
		else if (sum.found)
			run_set_metric(r, row->key, sum.value);
	}
	if (backwards.len)
		add_detail(r, backwards.data);
}
