// SPDX-License-Identifier: GPL-2.0-only
/* What a program says, bounded, and the line of it that matters. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "guest/program.h"

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void tail_add(struct program_output *o, const char *data, size_t len)
{
	if (len > sizeof(o->tail)) {
		data += len - sizeof(o->tail);
		len = sizeof(o->tail);
	}
	while (len) {
		size_t at = o->tail_len < sizeof(o->tail) ? o->tail_len : o->tail_at;
		size_t n = least(len, sizeof(o->tail) - at);

		memcpy(o->tail + at, data, n);
		if (o->tail_len < sizeof(o->tail))
			o->tail_len += n;
		else
			o->tail_at = (at + n) % sizeof(o->tail);
		data += n;
		len -= n;
	}
}

void program_output_add(struct program_output *o, const char *data, size_t len)
{
	size_t n = least(len, sizeof(o->head) - o->head_len);

	o->total += len;
	memcpy(o->head + o->head_len, data, n);
	o->head_len += n;
	tail_add(o, data + n, len - n);
}

static size_t put(char *text, size_t room, size_t at, const char *data, size_t len)
{
	size_t n = least(len, room - 1 - at);

	memcpy(text + at, data, n);
	return at + n;
}

size_t program_output_text(const struct program_output *o, char *text, size_t room)
{
	uint64_t between = o->total - o->head_len - o->tail_len;
	char note[64];
	size_t n = put(text, room, 0, o->head, o->head_len);

	if (between) {
		snprintf(note, sizeof(note), "\n[%llu bytes left out]\n", (unsigned long long)between);
		n = put(text, room, n, note, strlen(note));
	}
	n = put(text, room, n, o->tail + o->tail_at, o->tail_len - o->tail_at);
	n = put(text, room, n, o->tail, o->tail_at);
	text[n] = '\0';
	return n;
}

/* ---- the complaint ---- */

static int has_word(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= len; i++)
		if (strncasecmp(line + i, word, n) == 0)
			return 1;
	return 0;
}

static int complains(const char *line, size_t len)
{
	static const char *const words[] = { "error",	"fail",	       "invalid", "unknown",
					     "unrecognized", "cannot" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (has_word(line, len, words[i]))
			return 1;
	return 0;
}

static int is_skipped(const char *line, size_t len, const char *const *skip)
{
	for (; skip && *skip; skip++)
		if (len >= strlen(*skip) && strncmp(line, *skip, strlen(*skip)) == 0)
			return 1;
	return 0;
}

static size_t trimmed(const char *line, size_t len)
{
	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	return len;
}

const char *program_complaint(const struct program *p, const char *const *skip)
{
	static char text[PROGRAM_HEAD_BYTES + PROGRAM_TAIL_BYTES + 64], best[300];
	const char *last = "";
	size_t last_len = 0;

	program_output_text(&p->output, text, sizeof(text));
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n"), len = trimmed(line, n);

		if (len && !is_skipped(line, len, skip)) {
			last = line;
			last_len = len;
			if (complains(line, len))
				break;
		}
		line += n + (line[n] == '\n');
	}
	if (!last_len)
		return "it said nothing";
	snprintf(best, sizeof(best), "%.*s", (int)least(last_len, sizeof(best) - 1), last);
	return best;
}
