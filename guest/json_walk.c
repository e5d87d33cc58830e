// SPDX-License-Identifier: GPL-2.0-only
#include "guest/json_walk.h"

#include <stdio.h>
#include <string.h>

struct walk {
	const char *at;
	json_value_fn fn;
	void *arg;
	char path[JSON_PATH_MAX];
	size_t len; /* of path */
	int depth;
};

static void skip_blanks(struct walk *w)
{
	w->at += strspn(w->at, " \t\r\n");
}

static int take(struct walk *w, char c)
{
	skip_blanks(w);
	if (*w->at != c)
		return 0;
	w->at++;
	return 1;
}

/* Between its quotes; 0 or -1. */
static int read_string(struct walk *w, const char **text, size_t *len)
{
	const char *p;

	if (!take(w, '"'))
		return -1;
	for (p = w->at; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	if (!*p)
		return -1;
	*text = w->at;
	*len = (size_t)(p - w->at);
	w->at = p + 1;
	return 0;
}

/* Longer ones are cut: nobody asks for them. */
static void path_push(struct walk *w, const char *name, size_t len)
{
	size_t room = sizeof(w->path) - w->len;
	int n = snprintf(w->path + w->len, room, "%s%.*s", w->len ? "/" : "", (int)(len < 200 ? len : 200),
			 name);

	w->len += (size_t)n < room ? (size_t)n : room - 1;
}

static void path_cut(struct walk *w, size_t len)
{
	w->len = len;
	w->path[len] = '\0';
}

static int read_value(struct walk *w);

static int read_member(struct walk *w, int index)
{
	size_t before = w->len;
	char number[16];
	int ret;

	if (index >= 0) {
		path_push(w, number, (size_t)snprintf(number, sizeof(number), "%d", index));
	} else {
		const char *name;
		size_t len;

		if (read_string(w, &name, &len) < 0 || !take(w, ':'))
			return -1;
		path_push(w, name, len);
	}
	ret = read_value(w);
	path_cut(w, before);
	return ret;
}

/* Behind its opening bracket. */
static int read_members(struct walk *w, char end, int is_list)
{
	if (take(w, end))
		return 0;
	for (int i = 0;; i++) {
		if (read_member(w, is_list ? i : -1) < 0)
			return -1;
		if (take(w, end))
			return 0;
		if (!take(w, ','))
			return -1;
	}
}

static int read_plain(struct walk *w)
{
	size_t len = strspn(w->at, "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (!len)
		return -1;
	w->fn(w->arg, w->path, w->at, len, 0);
	w->at += len;
	return 0;
}

static int read_value(struct walk *w)
{
	const char *text;
	size_t len;
	int ret;

	skip_blanks(w);
	if (*w->at == '{' || *w->at == '[') {
		int is_list = *w->at++ == '[';

		if (++w->depth > JSON_DEPTH_MAX)
			return -1;
		ret = read_members(w, is_list ? ']' : '}', is_list);
		w->depth--;
		return ret;
	}
	if (*w->at != '"')
		return read_plain(w);
	if (read_string(w, &text, &len) < 0)
		return -1;
	w->fn(w->arg, w->path, text, len, 1);
	return 0;
}

int json_walk(const char *text, json_value_fn fn, void *arg)
{
	struct walk w = { .fn = fn, .arg = arg };

	w.at = strchr(text, '{');
	return w.at ? read_value(&w) : -1;
}
