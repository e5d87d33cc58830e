// SPDX-License-Identifier: GPL-2.0-only
/* Files of keys and values: vmstat, meminfo. */
#include <inttypes.h>
#include <string.h>

#include "ci/fuzz/fuzz.h"
#include "results/counter.h"
#include "results/util/cleanup.h"

typedef int (*parse_fn)(const void *data, size_t len, struct vmstat *v);

static void check_rows(const struct vmstat *v, const uint8_t *data, size_t len)
{
	FUZZ_CHECK(v->n > 0 && v->n <= fuzz_lines(data, len));
	for (size_t i = 0; i < v->n; i++) {
		size_t n = strnlen(v->row[i].key, sizeof(v->row[i].key));

		FUZZ_CHECK(n > 0 && n < sizeof(v->row[i].key));
		FUZZ_CHECK(vmstat_get(v, v->row[i].key) == &v->row[i].value);
	}
}

static void check_same(const struct vmstat *a, const struct vmstat *b)
{
	FUZZ_CHECK(a->n == b->n);
	for (size_t i = 0; i < a->n; i++) {
		FUZZ_CHECK(strcmp(a->row[i].key, b->row[i].key) == 0);
		FUZZ_CHECK(a->row[i].value == b->row[i].value);
	}
}

/* What was read, written as the kernel writes it, is read as the same. */
static void check_written(const struct vmstat *v, parse_fn parse, const char *form)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	struct vmstat again;

	for (size_t i = 0; i < v->n; i++)
		strbuf_addf(&sb, "%s%s%" PRIu64 "\n", v->row[i].key, form, v->row[i].value);
	FUZZ_CHECK(parse(sb.data, sb.len, &again) == 0);
	check_same(v, &again);
	vmstat_free(&again);
}

static bool parsed(const uint8_t *data, size_t len, parse_fn parse, const char *form,
		   struct vmstat *v)
{
	if (parse(data, len, v) < 0) {
		FUZZ_CHECK(v->n == 0 && !v->row);
		return false;
	}
	check_rows(v, data, len);
	check_written(v, parse, form);
	return true;
}

static void run_vmstat(const uint8_t *data, size_t len)
{
	struct vmstat v, none = { 0 };
	struct run r = { 0 }, from_nothing = { 0 };

	if (!parsed(data, len, vmstat_parse, " ", &v))
		return;
	counter_deltas(&v, &v, &r);
	/* Nothing goes backwards that stands still. */
	FUZZ_CHECK(!r.detail || !strstr(r.detail, COUNTER_BACKWARDS));
	counter_formulas(1, &r);
	counter_deltas(&none, &v, &from_nothing);
	fuzz_check_run(&r);
	fuzz_check_run(&from_nothing);
	run_free(&r);
	run_free(&from_nothing);
	vmstat_free(&v);
}

static void run_meminfo(const uint8_t *data, size_t len)
{
	struct run r = { 0 };
	struct vmstat v;

	if (!parsed(data, len, meminfo_parse, ":  ", &v))
		return;
	counter_meminfo(&v, &r);
	fuzz_check_run(&r);
	run_free(&r);
	vmstat_free(&v);
}

const struct fuzz_target fuzz_vmstat = { "vmstat", run_vmstat };
const struct fuzz_target fuzz_meminfo = { "meminfo", run_meminfo };
