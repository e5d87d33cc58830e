// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/console.h"

#include <string.h>

#include "results/util/cleanup.h"

#define LINE_MAX_BYTES 1024
#define LAST_LINES 40

struct console {
	void (*keep)(void *arg, const void *data, size_t len);
	void *arg;
	uint64_t bytes;
	size_t head_left;
	uint8_t *tail;
	uint64_t tail_written; /* bytes ever put in the ring */
	char line[LINE_MAX_BYTES];
	size_t line_len;
	char *last[LAST_LINES];
	uint64_t nlines;
	struct splat_log *splats;
	unsigned int banners;
	bool panicked, quiet;
};

struct console *console_new(void (*keep)(void *arg, const void *data, size_t len), void *arg)
{
	struct console *c = xcalloc(1, sizeof(*c));

	c->keep = keep;
	c->arg = arg;
	c->head_left = CONSOLE_HEAD_BYTES;
	c->splats = splat_log_new();
	return c;
}

static void take_line(struct console *c)
{
	const char *title;
	enum splat_class class;
	char **slot = &c->last[c->nlines++ % LAST_LINES];

	while (c->line_len && strchr("\r\n", c->line[c->line_len - 1]))
		c->line_len--;
	c->line[c->line_len] = '\0';
	for (size_t i = 0; i < c->line_len; i++)
		if (!c->line[i])
			c->line[i] = ' ';
	free(*slot);
	*slot = xstrdup(c->line);
	if (c->quiet)
		return;
	class = splat_classify(c->line, &title);
	if (str_starts(title, "Linux version "))
		c->banners++;
	if (class == SPLAT_PANIC)
		c->panicked = true;
	splat_log_feed(c->splats, c->line);
}

static void to_lines(struct console *c, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (c->line_len < LINE_MAX_BYTES - 1)
			c->line[c->line_len++] = (char)data[i];
		if (data[i] == '\n') {
			take_line(c);
			c->line_len = 0;
		}
	}
}

static void to_tail(struct console *c, const uint8_t *data, size_t len)
{
	if (!len)
		return;
	if (!c->tail)
		c->tail = xmalloc(CONSOLE_TAIL_BYTES);
	while (len) {
		size_t at = c->tail_written % CONSOLE_TAIL_BYTES, n = CONSOLE_TAIL_BYTES - at;

		if (n > len)
			n = len;
		memcpy(c->tail + at, data, n);
		c->tail_written += n;
		data += n;
		len -= n;
	}
}

void console_feed(struct console *c, const uint8_t *data, size_t len)
{
	size_t head = len < c->head_left ? len : c->head_left;

	c->bytes += len;
	to_lines(c, data, len);
	if (head)
		c->keep(c->arg, data, head);
	c->head_left -= head;
	to_tail(c, data + head, len - head);
}

void console_feed_quietly(struct console *c, const uint8_t *data, size_t len)
{
	c->quiet = true;
	console_feed(c, data, len);
}

void console_end(struct console *c)
{
	uint64_t kept = c->tail_written < CONSOLE_TAIL_BYTES ? c->tail_written : CONSOLE_TAIL_BYTES;
	uint64_t dropped = c->tail_written - kept;

	if (c->line_len)
		take_line(c);
	c->line_len = 0;
	splat_log_end(c->splats);
	if (dropped) {
		cleanup_free char *mark = str_printf("\n[mmrig: %llu bytes dropped here]\n",
						     (unsigned long long)dropped);

		c->keep(c->arg, mark, strlen(mark));
	}
	for (uint64_t i = c->tail_written - kept; i < c->tail_written;) {
		size_t at = i % CONSOLE_TAIL_BYTES, n = CONSOLE_TAIL_BYTES - at;

		if (n > c->tail_written - i)
			n = c->tail_written - i;
		c->keep(c->arg, c->tail + at, n);
		i += n;
	}
	c->tail_written = 0;
}

void console_free(struct console *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < LAST_LINES; i++)
		free(c->last[i]);
	free(c->tail);
	splat_log_free(c->splats);
	free(c);
}

void console_phase(struct console *c, int phase)
{
	splat_log_context(c->splats, phase);
}

const struct splat_log *console_splats(const struct console *c)
{
	return c->splats;
}

bool console_panicked(const struct console *c)
{
	return c->panicked;
}

bool console_rebooted(const struct console *c)
{
	return c->banners > 1;
}

bool console_booted(const struct console *c)
{
	return c->banners > 0;
}

uint64_t console_bytes(const struct console *c)
{
	return c->bytes;
}

char *console_last_lines(const struct console *c, size_t n)
{
	struct strbuf sb = STRBUF_INIT;
	uint64_t have = c->nlines < LAST_LINES ? c->nlines : LAST_LINES;

	if (n > have)
		n = have;
	for (uint64_t i = c->nlines - n; i < c->nlines; i++) {
		strbuf_adds(&sb, c->last[i % LAST_LINES]);
		strbuf_adds(&sb, "\n");
	}
	return strbuf_steal(&sb);
}
