/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_MEMREPORT_FIXTURE_H
#define MMRIG_MEMREPORT_FIXTURE_H
/* For the tests of reports: real ones in testdata/, and texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/report/memreport.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

static inline void fixture_read_into(struct strbuf *sb, const char *name)
{
	cleanup_free char *path = str_printf("harness/report/testdata/%s.txt", name);
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *text = NULL;
	size_t len;

	text = file_read(path, 0, &len, &err);
	if (!text)
		fail_msg("%s", err.text);
	strbuf_add(sb, text, len);
}

/* A copy that ends where the text ends: reading on is caught by the sanitizer. */
static inline int parse_exactly(const void *text, size_t len, struct memreport_set *set,
				struct error *err)
{
	char *exact = xmalloc(len ? len : 1);
	int ret;

	if (len)
		memcpy(exact, text, len);
	ret = memreport_parse("x", exact, len, set, err);
	free(exact);
	return ret;
}

static inline void parse_text(const char *text, struct memreport_set *set)
{
	cleanup_error struct error err = ERROR_INIT;

	if (parse_exactly(text, strlen(text), set, &err) < 0)
		fail_msg("%s", err.text);
}

static inline bool has_remark(const struct memreport_set *set, const struct memreport *r,
			      const char *part)
{
	for (size_t i = 0; i < r->nremarks; i++)
		if (strstr(r->remark[i], part))
			return true;
	for (size_t i = 0; i < set->nremarks; i++)
		if (strstr(set->remark[i], part))
			return true;
	return false;
}

static inline uint64_t fixture_list_kb(const struct memreport *r, const struct memzone *z)
{
	uint64_t kb = 0;

	for (unsigned int k = 0; k < z->orders; k++)
		kb += (z->free[k] * r->page_kb) << k;
	return kb;
}

#endif
