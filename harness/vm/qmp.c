// SPDX-License-Identifier: GPL-2.0-only
#include "harness/vm/qmp.h"

#include <jansson.h>
#include <string.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

/* The longest answers (query-qmp-schema) have some 200 KB. */
#define LINE_MAX_BYTES (4UL << 20)

struct command {
	struct command *next;
	json_int_t id;
	char *line;
	bool sent;
	qmp_done_fn done;
	void *arg;
};

struct qmp {
	int (*send)(void *arg, const char *line, size_t len);
	void *send_arg;
	struct strbuf in;
	size_t scanned; /* bytes of `in` known to hold no newline */
	struct command *pending;
	json_int_t next_id;
	bool greeted, ready, closed;
};

struct qmp *qmp_new(int (*send)(void *arg, const char *line, size_t len), void *arg)
{
	struct qmp *q = xcalloc(1, sizeof(*q));

	q->send = send;
	q->send_arg = arg;
	return q;
}

static void command_send(struct qmp *q, struct command *c)
{
	c->sent = true;
	q->send(q->send_arg, c->line, strlen(c->line));
}

static char *format_line(const char *command, json_t *arguments, json_int_t id)
{
	json_t *o = json_pack("{s:s,s:I}", "execute", command, "id", id);
	char *text, *line;

	if (o && arguments)
		json_object_set(o, "arguments", arguments);
	text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	line = text ? str_printf("%s\n", text) : NULL;
	free(text);
	json_decref(o);
	return line;
}

static struct command *command_new(struct qmp *q, const char *name, json_t *arguments)
{
	struct command *c = xcalloc(1, sizeof(*c)), **tail = &q->pending;

	c->id = ++q->next_id;
	c->line = format_line(name, arguments, c->id);
	if (!c->line) {
		free(c);
		return NULL;
	}
	while (*tail)
		tail = &(*tail)->next;
	*tail = c;
	return c;
}

int qmp_command(struct qmp *q, const char *name, const char *arguments, qmp_done_fn done, void *arg,
		struct error *err)
{
	json_error_t where;
	json_t *object = NULL;
	struct command *c;

	if (q->closed)
		return error_set(err, EXIT_NO_VERDICT, "QMP %s: QEMU is gone", name);
	if (arguments) {
		object = json_loads(arguments, 0, &where);
		if (!json_is_object(object)) {
			json_decref(object);
			return error_set(err, EXIT_USAGE,
					 "QMP %s: arguments are no JSON object: %s", name,
					 arguments);
		}
	}
	c = command_new(q, name, object);
	json_decref(object);
	if (!c)
		return error_set(err, EXIT_USAGE, "QMP: the command's name is no UTF-8");
	c->done = done;
	c->arg = arg;
	if (q->ready)
		command_send(q, c);
	return 0;
}

static void command_end(struct command *c, const char *json)
{
	if (c->done)
		c->done(c->arg, json);
	free(c->line);
	free(c);
}

static void capabilities_done(void *arg, const char *json)
{
	struct qmp *q = arg;

	if (!json)
		return;
	q->ready = true;
	for (struct command *c = q->pending; c; c = c->next)
		if (!c->sent)
			command_send(q, c);
}

static void greet(struct qmp *q)
{
	struct command *c = command_new(q, "qmp_capabilities", NULL);

	q->greeted = true;
	c->done = capabilities_done;
	c->arg = q;
	command_send(q, c);
}

static void answer(struct qmp *q, json_int_t id, const json_t *value)
{
	for (struct command **at = &q->pending; *at; at = &(*at)->next) {
		struct command *c = *at;
		char *text;

		if (c->id != id || !c->sent)
			continue;
		*at = c->next;
		text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		command_end(c, text);
		free(text);
		return;
	}
}

static int take_line(struct qmp *q, const char *line, size_t len, struct error *err)
{
	json_error_t where;
	json_t *o = json_loadb(line, len, 0, &where);
	const json_t *id, *value;

	if (!json_is_object(o)) {
		json_decref(o);
		return error_set(err, EXIT_NO_VERDICT, "QMP: QEMU does not speak JSON: %s",
				 where.text);
	}
	id = json_object_get(o, "id");
	value = json_object_get(o, "return");
	if (!value)
		value = json_object_get(o, "error");
	if (json_object_get(o, "QMP") && !q->greeted)
		greet(q);
	else if (value && json_is_integer(id))
		answer(q, json_integer_value(id), value);
	json_decref(o);
	return 0;
}

static int take_lines(struct qmp *q, struct error *err)
{
	char *end;

	while (!q->closed &&
	       (end = memchr(q->in.data + q->scanned, '\n', q->in.len - q->scanned))) {
		size_t len = (size_t)(end - q->in.data);
		cleanup_free char *line = xstrndup(q->in.data, len);

		/* Out of the buffer first: a callback may well end the conversation. */
		q->in.len -= len + 1;
		memmove(q->in.data, end + 1, q->in.len);
		q->scanned = 0;
		if (take_line(q, line, strlen(line), err) < 0)
			return -1;
	}
	q->scanned = q->in.len;
	return 0;
}

int qmp_feed(struct qmp *q, const char *data, size_t len, struct error *err)
{
	int ret;

	if (q->closed || !len)
		return 0;
	strbuf_add(&q->in, data, len);
	ret = take_lines(q, err);
	if (ret == 0 && q->in.len > LINE_MAX_BYTES)
		ret = error_set(err, EXIT_NO_VERDICT, "QMP: a line longer than %lu bytes",
				LINE_MAX_BYTES);
	if (ret < 0)
		qmp_close(q);
	return ret;
}

void qmp_close(struct qmp *q)
{
	q->closed = true;
	while (q->pending) {
		struct command *c = q->pending;

		q->pending = c->next;
		command_end(c, NULL);
	}
}

void qmp_free(struct qmp *q)
{
	if (!q)
		return;
	qmp_close(q);
	strbuf_free(&q->in);
	free(q);
}
