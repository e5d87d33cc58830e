// SPDX-License-Identifier: GPL-2.0-only
#include "guest/pagetype.h"

#include <stdlib.h>
#include <string.h>

#include "guest/procfs.h"

/* The line that names the types: which of its columns is `type`, from 0; -1: none is. */
static int column_of(const char *line, const char *type)
{
	const char *end = line + strcspn(line, "\n");
	int column = 0;

	line += strspn(line, " ");
	while (line < end) {
		size_t n = strcspn(line, " \n");

		if (n == strlen(type) && strncmp(line, type, n) == 0)
			return column;
		column++;
		line += n;
		line += strspn(line, " ");
	}
	return -1;
}

int64_t pagetype_parse(const char *pagetypeinfo, const char *type)
{
	static const char head[] = "Number of blocks type";
	const char *line = strstr(pagetypeinfo, head);
	int column = line ? column_of(line + strlen(head), type) : -1;
	int64_t blocks = 0;

	if (column < 0)
		return -1;
	while ((line = strchr(line, '\n')) && strncmp(++line, "Node ", 5) == 0) {
		const char *p = strstr(line, "zone");
		char *end;

		if (!p)
			break;
		p += strlen("zone");
		p += strspn(p, " ");
		p += strcspn(p, " \n"); /* its name */
		for (int i = 0; i < column; i++) {
			strtoull(p, &end, 10);
			p = end;
		}
		blocks += (int64_t)strtoull(p, &end, 10);
	}
	return blocks;
}

int64_t pagetype_blocks(const char *type)
{
	static char text[65536];

	return file_slurp("/proc/pagetypeinfo", text, sizeof(text)) < 0 ? -1 : pagetype_parse(text, type);
}
