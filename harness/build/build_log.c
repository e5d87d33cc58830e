// SPDX-License-Identifier: GPL-2.0-only
/* What the log of a build says of its failure. */
#include <string.h>

#include "harness/build/build_impl.h"
#include "results/util/cleanup.h"

#define LINES_AROUND 3
#define LINE_BYTES 240

/*
 * In this order, since make's own "***" may be printed by another job before the message that counts.
 * A command that is not there says "not found" and no more.
 */
static const char *const signs[][3] = {
	{ "error:", "undefined reference", "not found\n" },
	{ ": *** ", "\n*** ", NULL },
	{ "ERROR: ", "No such file or directory", NULL },
};

/* Start of the first line with one of the signs, or NULL. */
static const char *find_line(const char *log, const char *const *sign, size_t n)
{
	const char *first = NULL;

	for (size_t i = 0; i < n && sign[i]; i++) {
		const char *at = strstr(log, sign[i]);

		if (at && *at == '\n')
			at++;
		if (at && (!first || at < first))
			first = at;
	}
	while (first && first > log && first[-1] != '\n')
		first--;
	return first;
}

static void add_line(struct strbuf *sb, const char *line)
{
	size_t len = strcspn(line, "\n");
	bool cut = len > LINE_BYTES;

	strbuf_addf(sb, "%s    %.*s%s", sb->len ? "\n" : "", cut ? LINE_BYTES : (int)len, line,
		    cut ? "..." : "");
}

static const char *lines_before(const char *log, const char *at)
{
	for (int i = 0; i < LINES_AROUND && at > log; i++)
		for (at--; at > log && at[-1] != '\n'; at--)
			;
	return at;
}

char *build_first_error(const char *log, char **line)
{
	struct strbuf sb = STRBUF_INIT;
	const char *at = NULL;
	int after = 0;

	*line = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(signs) && !at; i++)
		at = find_line(log, signs[i], ARRAY_SIZE(signs[i]));
	if (!at)
		return NULL;
	*line = xstrndup(at, strcspn(at, "\n"));
	for (const char *p = lines_before(log, at); *p && after <= LINES_AROUND;) {
		add_line(&sb, p);
		after += p >= at;
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	return strbuf_steal(&sb);
}

bool build_is_disk_full(const char *log)
{
	return strstr(log, "No space left on device") || strstr(log, "Disk quota exceeded");
}
