// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "results/compare_text.h"
#include "results/util/cleanup.h"

const struct compare_format compare_formats[] = {
	{ "lkml", "plain text, 78 columns: for a mail or a commit message", .make = compare_lkml },
	{ "mmtests", "as mmtests prints it, with its vmstat block", .make = compare_mmtests,
	  .metrics = compare_mmtests_metrics, .alone = true, .post = true },
	{ "markdown", "tables for GitHub", .make = compare_markdown },
	{ "csv", "RFC 4180; a row a section, metric and column", .make = compare_csv, .alone = true },
	{ "json", "one document, with every value", .make = compare_json, .alone = true },
	{ "stalls", "median and max of allocstall, range of the time: a row a cell",
	  .make = compare_stalls, .metrics = compare_stalls_metrics, .alone = true },
	{ "highalloc", "rates of huge page allocation in three passes, and vmstat",
	  .make = compare_highalloc, .metrics = compare_highalloc_metrics, .alone = true, .post = true },
	{ "defrag", "means of THP, compaction, reclaim and swap, with their changes",
	  .make = compare_defrag, .metrics = compare_defrag_metrics, .alone = true, .post = true },
	{ "thpscale", "latency of faults and share of huge pages, by threads",
	  .make = compare_thpscale, .metrics = compare_thpscale_metrics,
	  .tested = compare_thpscale_tested, .alone = true, .post = true },
	{ "kselftest", "verdicts of the kernel's selftests, and the sub-tests whose verdicts differ",
	  .make_from_store = compare_kselftest, .alone = true, .post = true },
	{ "buddy", "buddyinfo and unusable_index before and after, of the median",
	  .make_from_store = compare_buddy, .alone = true, .post = true },
};
const size_t compare_format_count = ARRAY_SIZE(compare_formats);

const struct compare_format *compare_format_find(const char *name)
{
	for (size_t i = 0; i < compare_format_count; i++)
		if (strcmp(compare_formats[i].name, name) == 0)
			return &compare_formats[i];
	return NULL;
}

int compare_text(const struct compare_format *format, const struct compare *c, struct store *s, char **text,
		 struct error *err)
{
	if (format->make_from_store)
		return format->make_from_store(c, s, text, err);
	*text = format->make(c);
	return 0;
}
