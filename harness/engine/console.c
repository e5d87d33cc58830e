// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/console.h"

#include <ctype.h>
#include <string.h>

#include "results/util/cleanup.h"

#define LINE_MAX_BYTES 1024
#define SPLAT_LINES 80
#define LAST_LINES 40

static const struct {
	enum splat_class class;
	const char *start;    /* the message begins with it */
	const char *contains; /* and holds this too; NULL: no matter */
} patterns[] = {
	{ SPLAT_PANIC, "Kernel panic - not syncing", NULL },
	{ SPLAT_LOCKUP, "watchdog: BUG: soft lockup", NULL },
	{ SPLAT_LOCKUP, "watchdog: Watchdog detected hard LOCKUP", NULL },
	{ SPLAT_LOCKUP, "watchdog: CPU", ": Watchdog detected hard LOCKUP" },
	{ SPLAT_LOCKUP, "BUG: soft lockup", NULL },
	{ SPLAT_LOCKUP, "BUG: workqueue lockup", NULL },
	{ SPLAT_OOPS, "BUG: unable to handle", NULL },
	{ SPLAT_OOPS, "BUG: kernel NULL pointer dereference", NULL },
	{ SPLAT_OOPS, "Oops: ", NULL },
	{ SPLAT_OOPS, "general protection fault", NULL },
	{ SPLAT_OOPS, "stack segment: ", NULL },
	{ SPLAT_OOPS, "double fault: ", NULL },
	{ SPLAT_OOPS, "divide error: ", NULL },
	{ SPLAT_OOPS, "invalid opcode: ", NULL },
	{ SPLAT_OOPS, "kernel BUG at ", NULL },
	{ SPLAT_BUG, "BUG: ", NULL },
	{ SPLAT_BUG, "BUG ", "ainted" }, /* slub: "BUG kmalloc-64 (Not tainted): Poison overwritten" */
	{ SPLAT_BUG, "[ BUG: ", NULL },	 /* lockdep */
	{ SPLAT_BUG, "UBSAN: ", NULL },
	{ SPLAT_BUG, "list_add corruption", NULL },
	{ SPLAT_BUG, "list_del corruption", NULL },
	{ SPLAT_WARNING, "WARNING: ", " at " },
	{ SPLAT_WARNING, "WARNING: possible ", NULL },
	{ SPLAT_WARNING, "WARNING: inconsistent lock state", NULL },
	{ SPLAT_WARNING, "WARNING: suspicious RCU usage", NULL },
	{ SPLAT_WARNING, "WARNING: bad unlock balance", NULL },
	{ SPLAT_WARNING, "WARNING: Nested lock was not taken", NULL },
	{ SPLAT_WARNING, "WARNING: held lock freed", NULL },
	{ SPLAT_WARNING, "WARNING: lock held when returning to user space", NULL },
	{ SPLAT_WARNING, "WARNING: ", "IRQ-unsafe lock order detected" },
	{ SPLAT_HUNG_TASK, "INFO: task ", "blocked for more than" },
	{ SPLAT_HUNG_TASK, "INFO: task ", "blocked in I/O wait" },
	{ SPLAT_RCU_STALL, "rcu: INFO: ", "stall" },
	{ SPLAT_RCU_STALL, "INFO: rcu_", "stall" },
	{ SPLAT_OOM_KILL, "Out of memory: Killed process", NULL },
	{ SPLAT_OOM_KILL, "Out of memory (oom_kill_allocating_task): Killed process", NULL },
	{ SPLAT_OOM_KILL, "Memory cgroup out of memory: Killed process", NULL },
};

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
	enum splat_class splat;
	char *title;
	struct strbuf lines;
	unsigned int splat_left; /* lines still to be taken into it */
	unsigned int banners;
	bool panicked, quiet;
};

const char *splat_class_name(enum splat_class c)
{
	static const char *const names[] = {
		[SPLAT_NONE] = "none",		   [SPLAT_PANIC] = "panic",
		[SPLAT_OOPS] = "oops",		   [SPLAT_BUG] = "BUG",
		[SPLAT_WARNING] = "WARNING",	   [SPLAT_HUNG_TASK] = "hung task",
		[SPLAT_LOCKUP] = "lockup",	   [SPLAT_RCU_STALL] = "RCU stall",
		[SPLAT_OOM_KILL] = "OOM kill",	   [SPLAT_ALLOC_FAILURE] = "page allocation failure",
	};

	return names[c];
}

/* "<4>", "[   12.345678]", "[  T123]": whatever stands before the message. */
static const char *message_of(const char *line)
{
	for (;;) {
		const char *p = line + strspn(line, " ");

		if (*p == '<' && isdigit((unsigned char)p[1])) {
			const char *end = strchr(p, '>');

			if (!end)
				return p;
			line = end + 1;
			continue;
		}
		if (*p == '[') {
			const char *q = p + 1 + strspn(p + 1, " ");

			if (*q == 'T' || *q == 'C')
				q++;
			if (!isdigit((unsigned char)*q))
				return p;
			q += strspn(q, "0123456789.");
			q += strspn(q, " ");
			if (*q != ']')
				return p;
			line = q + 1;
			continue;
		}
		return p;
	}
}

enum splat_class splat_classify(const char *line, const char **title)
{
	const char *message = message_of(line);

	*title = message;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (str_starts(message, patterns[i].start) &&
		    (!patterns[i].contains || strstr(message, patterns[i].contains)))
			return patterns[i].class;
	/* "COMM: page allocation failure: order:0, mode:..." */
	if (strstr(message, ": page allocation failure") && strstr(message, "order:"))
		return SPLAT_ALLOC_FAILURE;
	return SPLAT_NONE;
}

struct console *console_new(void (*keep)(void *arg, const void *data, size_t len), void *arg)
{
	struct console *c = xcalloc(1, sizeof(*c));

	c->keep = keep;
	c->arg = arg;
	c->head_left = CONSOLE_HEAD_BYTES;
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
	class = c->quiet ? SPLAT_NONE : splat_classify(c->line, &title);
	if (c->quiet)
		return;
	if (str_starts(title, "Linux version "))
		c->banners++;
	if (class == SPLAT_PANIC)
		c->panicked = true;
	if (class != SPLAT_NONE && c->splat == SPLAT_NONE) {
		c->splat = class;
		c->title = xstrdup(title);
		c->splat_left = SPLAT_LINES;
	}
	if (c->splat_left) {
		c->splat_left--;
		strbuf_adds(&c->lines, c->line);
		strbuf_adds(&c->lines, "\n");
		if (strstr(c->line, "---[ end "))
			c->splat_left = 0;
	}
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
	free(c->title);
	strbuf_free(&c->lines);
	free(c);
}

enum splat_class console_splat(const struct console *c)
{
	return c->splat;
}

const char *console_splat_title(const struct console *c)
{
	return c->title;
}

const char *console_splat_lines(const struct console *c)
{
	return c->lines.data;
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
