// SPDX-License-Identifier: GPL-2.0-only
/* What selftests print: workloads/kselftest-mm/ktap.h, and its way to the host, results/selftest.h. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "ci/fuzz/fuzz.h"
#include "results/selftest.h"
#include "results/util/cleanup.h"
#include "workloads/kselftest-mm/ktap.h"

struct seen {
	json_t *results;
	size_t n;
};

static bool is_shown(const char *text)
{
	size_t len = strnlen(text, KTAP_TEXT_MAX);

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~')
			return false;
	return len < KTAP_TEXT_MAX;
}

static void take(void *arg, const struct ktap_result *r)
{
	struct seen *s = arg;

	FUZZ_CHECK(r->verdict >= 0 && r->verdict < KTAP_VERDICTS);
	FUZZ_CHECK(is_shown(r->name) && is_shown(r->context) && is_shown(r->reason));
	s->n++;
	if (s->results && s->n <= 50)
		json_array_append_new(s->results,
				      json_pack("[i,s,s,s,s]", (int)r->number, ktap_verdict_names[r->verdict],
						r->name, r->context, r->reason));
}

static size_t feed(const uint8_t *data, size_t len, size_t step, struct seen *s)
{
	struct ktap k;

	ktap_begin(&k, take, s);
	for (size_t i = 0; i < len; i += step)
		ktap_feed(&k, (const char *)data + i, len - i < step ? len - i : step);
	ktap_end(&k);
	FUZZ_CHECK(ktap_results(&k) == s->n);
	FUZZ_CHECK(is_shown(k.bail) && is_shown(k.last));
	return s->n;
}

/* The host has each of them, under a name that no other has. */
static void check_read(const char *json, size_t n)
{
	struct selftest_run run;
	const struct selftest *t;

	FUZZ_CHECK(selftest_read(json, &run) == 0 && run.n == 1);
	t = &run.test[0];
	FUZZ_CHECK(t->nsubs == n);
	for (size_t i = 0; i < t->nsubs; i++)
		FUZZ_CHECK(selftest_find_sub(t, t->sub[i].id) == &t->sub[i]);
	selftest_run_free(&run);
}

static void run(const uint8_t *data, size_t len)
{
	struct seen whole = { json_array(), 0 }, bytes = { 0 };
	size_t lines = fuzz_lines(data, len) + 1;
	char *json;
	json_t *o;

	feed(data, len, len ? len : 1, &whole);
	FUZZ_CHECK(feed(data, len, 1, &bytes) == whole.n);
	FUZZ_CHECK(whole.n <= lines);
	o = json_pack("{s:{s:s}, s:o}", "selftest.t", "verdict", "pass", "selftest.t.0", whole.results);
	json = json_dumps(o, JSON_COMPACT);
	check_read(json, whole.n < 50 ? whole.n : 50);
	free(json);
	json_decref(o);
	/* And a guest that sends what it likes. */
	{
		cleanup_free char *text = fuzz_text(data, len);
		struct selftest_run any;

		selftest_read(text, &any);
		selftest_run_free(&any);
	}
}

const struct fuzz_target fuzz_ktap = { "ktap", run };
