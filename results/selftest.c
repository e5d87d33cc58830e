// SPDX-License-Identifier: GPL-2.0-only
#include "results/selftest.h"

#include <ctype.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "results/util/cleanup.h"
#include "results/util/str.h"

#define PREFIX "selftest."
#define SUBS_MAX 20000 /* of one test */

/* ---- reading ---- */

static char *text_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return xstrdup(text ? text : "");
}

/* The tests stand in the object in the order in which they ended. */
static struct selftest *find_or_add(struct selftest_run *run, const char *name, size_t len)
{
	cleanup_free char *copy = xstrndup(name, len);
	struct selftest *t = selftest_find(run, copy);

	if (t)
		return t;
	run->test = xreallocarray(run->test, run->n + 1, sizeof(*run->test));
	t = &run->test[run->n++];
	*t = (struct selftest){ .name = STEAL(copy), .verdict = xstrdup(""), .why = xstrdup("") };
	return t;
}

static void add_sub(struct selftest *t, const json_t *entry)
{
	const char *verdict = json_string_value(json_array_get(entry, 1));
	json_int_t number = json_integer_value(json_array_get(entry, 0));

	if (!verdict || !json_is_integer(json_array_get(entry, 0)) || number < 0 ||
	    number > INT32_MAX || t->nsubs >= SUBS_MAX)
		return;
	t->sub = xreallocarray(t->sub, t->nsubs + 1, sizeof(*t->sub));
	t->sub[t->nsubs++] = (struct selftest_sub){
		.number = (unsigned int)number,
		.verdict = xstrdup(verdict),
		.name = text_of(json_array_get(entry, 2)),
		.context = text_of(json_array_get(entry, 3)),
		.reason = text_of(json_array_get(entry, 4)),
	};
}

static void take_test(struct selftest *t, const json_t *o)
{
	free(t->verdict);
	free(t->why);
	t->verdict = text_of(json_object_get(o, "verdict"));
	t->why = text_of(json_object_get(o, "why"));
	t->seconds = json_number_value(json_object_get(o, "seconds"));
}

static void take_member(struct selftest_run *run, const char *key, const json_t *value)
{
	size_t n = strcspn(key, "."), i;
	const json_t *entry;

	if (!n)
		return;
	if (json_is_object(value) && !key[n])
		take_test(find_or_add(run, key, n), value);
	else if (json_is_array(value) && key[n])
		json_array_foreach(value, i, entry)
			add_sub(find_or_add(run, key, n), entry);
}

/* Of one that was cut off while it ran, sub-tests may be there and no verdict. */
static void mark_unfinished(struct selftest_run *run)
{
	for (size_t i = 0; i < run->n; i++) {
		if (*run->test[i].verdict)
			continue;
		free(run->test[i].verdict);
		run->test[i].verdict = xstrdup("crash");
	}
}

int selftest_read(const char *json, struct selftest_run *run)
{
	json_t *o = json ? json_loads(json, 0, NULL) : NULL, *value;
	const char *key;

	*run = (struct selftest_run){ 0 };
	json_object_foreach(o, key, value)
		if (str_starts(key, PREFIX))
			take_member(run, key + strlen(PREFIX), value);
	json_decref(o);
	mark_unfinished(run);
	selftest_align(run, 1);
	return run->n ? 0 : -1;
}

static void sub_free(struct selftest_sub *s)
{
	free(s->verdict);
	free(s->name);
	free(s->context);
	free(s->reason);
	free(s->id);
}

void selftest_run_free(struct selftest_run *run)
{
	for (size_t i = 0; i < run->n; i++) {
		struct selftest *t = &run->test[i];

		for (size_t k = 0; k < t->nsubs; k++)
			sub_free(&t->sub[k]);
		free(t->sub);
		free(t->name);
		free(t->verdict);
		free(t->why);
	}
	free(run->test);
	*run = (struct selftest_run){ 0 };
}

struct selftest *selftest_find(const struct selftest_run *run, const char *name)
{
	for (size_t i = 0; i < run->n; i++)
		if (strcmp(run->test[i].name, name) == 0)
			return &run->test[i];
	return NULL;
}

struct selftest_sub *selftest_find_sub(const struct selftest *t, const char *id)
{
	for (size_t i = 0; i < t->nsubs; i++)
		if (strcmp(t->sub[i].id, id) == 0)
			return &t->sub[i];
	return NULL;
}

/* ---- names ---- */

static const char *own_name(const struct selftest_sub *s)
{
	return *s->context ? s->context : s->name;
}

/* "7 pages (0.0%)" and "12 pages (1.5%)": what was measured stands in the name. */
static bool same_but_for_digits(const char *a, const char *b)
{
	for (;;) {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b)
			return false;
		if (!*a)
			return true;
		a++, b++;
	}
}

/* What the first run calls the one of this number; NULL: no run has a name for it. */
static const char *common_name(const struct selftest_run *run, size_t n, const struct selftest *t,
			       size_t sub)
{
	const char *own = own_name(&t->sub[sub]), *name;

	for (size_t i = 0; i < n; i++) {
		const struct selftest *other = selftest_find(&run[i], t->name);

		if (!other || other->nsubs != t->nsubs || other->sub[sub].number != t->sub[sub].number)
			continue;
		name = own_name(&other->sub[sub]);
		if (*name && (!*own || same_but_for_digits(name, own)))
			return name;
	}
	return *own ? own : NULL;
}

static char *base_id(const struct selftest_run *run, size_t n, const struct selftest *t, size_t sub)
{
	const char *name = common_name(run, n, t, sub);

	if (!name && *t->sub[sub].reason)
		name = t->sub[sub].reason;
	return name ? xstrdup(name) : str_printf("#%u", t->sub[sub].number);
}

static bool is_taken(const struct selftest *t, size_t before, const char *id)
{
	for (size_t i = 0; i < before; i++)
		if (strcmp(t->sub[i].id, id) == 0)
			return true;
	return false;
}

static void name_subs(const struct selftest_run *run, size_t n, struct selftest *t)
{
	for (size_t i = 0; i < t->nsubs; i++) {
		cleanup_free char *base = base_id(run, n, t, i);
		char *id = xstrdup(base);

		for (unsigned int k = 2; is_taken(t, i, id); k++) {
			free(id);
			id = str_printf("%s (%u)", base, k);
		}
		free(t->sub[i].id);
		t->sub[i].id = id;
	}
}

void selftest_align(struct selftest_run *run, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t t = 0; t < run[i].n; t++)
			name_subs(run, n, &run[i].test[t]);
}

/* ---- what they mean ---- */

bool selftest_is_bad(const char *verdict)
{
	static const char *const bad[] = { "fail", "timeout", "crash", "broken" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (strcmp(bad[i], verdict) == 0)
			return true;
	return false;
}

const char *selftest_lack(const char *reason)
{
	/* In this order: "no huge pages: out of memory" is about huge pages. */
	static const struct {
		const char *word, *lack;
	} table[] = {
		{ "swap", "swap" },
		{ "hugetlb", "huge pages" },
		{ "huge page", "huge pages" },
		{ "hugepage", "huge pages" },
		{ "enomem", "memory" },
		{ "cannot allocate memory", "memory" },
		{ "not enough memory", "memory" },
		{ "out of memory", "memory" },
		{ "memlock", "memory" },
		{ "numa", "nodes" },
		{ "nodes", "nodes" },
		{ "permission", "privilege" },
		{ "not permitted", "privilege" },
		{ "run as root", "privilege" },
		{ "not implemented", "kernel support" },
		{ "not supported", "kernel support" },
		{ "unsupported", "kernel support" },
		{ "no such file", "kernel support" },
		{ "not available", "kernel support" },
		{ "config_", "kernel support" },
	};

	if (strstr(reason, ":Expected ")) /* an assertion: the test got further than that */
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strcasestr(reason, table[i].word))
			return table[i].lack;
	return NULL;
}
