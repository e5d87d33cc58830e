// SPDX-License-Identifier: GPL-2.0-only
#include "results/util/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/util/str.h"

static void set_text(struct error *err, int status, char *text)
{
	free(err->text);
	err->text = text;
	err->status = status;
}

int error_set(struct error *err, int status, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, fmt);
	set_text(err, status, str_vprintf(fmt, ap));
	va_end(ap);
	return -1;
}

int error_errno(struct error *err, int status, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	char *head;

	if (!err)
		return -1;
	va_start(ap, fmt);
	head = str_vprintf(fmt, ap);
	va_end(ap);
	set_text(err, status, str_printf("%s: %s", head, strerror(saved)));
	free(head);
	errno = saved;
	return -1;
}

int error_wrap(struct error *err, const char *fmt, ...)
{
	va_list ap;
	char *head;

	if (!err || !err->text)
		return -1;
	va_start(ap, fmt);
	head = str_vprintf(fmt, ap);
	va_end(ap);
	set_text(err, err->status, str_printf("%s: %s", head, err->text));
	free(head);
	return -1;
}

int error_hint(struct error *err, const char *fmt, ...)
{
	va_list ap;
	char *tail;

	if (!err || !err->text)
		return -1;
	va_start(ap, fmt);
	tail = str_vprintf(fmt, ap);
	va_end(ap);
	set_text(err, err->status, str_printf("%s; %s", err->text, tail));
	free(tail);
	return -1;
}

void error_clear(struct error *err)
{
	free(err->text);
	err->text = NULL;
	err->status = 0;
}

void error_move(struct error *dst, struct error *src)
{
	if (!dst) {
		error_clear(src);
		return;
	}
	free(dst->text);
	*dst = *src;
	src->text = NULL;
	src->status = 0;
}
