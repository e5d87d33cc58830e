/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_ERROR_H
#define MMRIG_ERROR_H
/*
 * One error, created where it happens, given context on the way up, printed once (by main).
 *
 * A function that can fail takes `struct error *err` as its last parameter and returns a negative
 * int (or NULL). The creator fills the object and returns -1 in one statement:
 *
 *	return error_set(err, EXIT_USAGE, "%s: not a kernel", path);
 *
 * err may be NULL when the caller does not care. The text belongs to the object; error_clear()
 * frees it, and a new error_set() replaces it.
 */
#include <stdarg.h>

struct error {
	int status; /* an exit status of results/verdict.h; 0 while there is no error */
	char *text; /* one message: what, where, what to do; no newline at the end */
};

#define ERROR_INIT { 0, 0 }

int error_set(struct error *err, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, with ": strerror(errno)" appended; errno is kept. */
int error_errno(struct error *err, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts "context: " before the text. Returns -1 so that it can be returned. */
int error_wrap(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends "; text": what the user can do now. */
int error_hint(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void error_clear(struct error *err);
/* Hands the error over: dst takes what src held, src is empty afterwards. */
void error_move(struct error *dst, struct error *src);

#endif
