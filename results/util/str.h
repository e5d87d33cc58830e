/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STR_H
#define MMRIG_STR_H
/*
 * Strings on the heap. Running out of memory for a string ends the program (xmalloc family):
 * the driver has nothing sensible left to do then.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/util/error.h"

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
/* Grows to n elements of `size`; checks the product for overflow. */
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

char *str_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *str_vprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* A growing buffer; `data` is always NUL-terminated once anything was added. */
struct strbuf {
	char *data;
	size_t len;
	size_t room;
};
#define STRBUF_INIT { 0, 0, 0 }

void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_adds(struct strbuf *sb, const char *s);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One word as a POSIX shell takes it: in single quotes where it needs them. */
void strbuf_add_quoted(struct strbuf *sb, const char *word);
void strbuf_free(struct strbuf *sb);
/* Hands the bytes over (never NULL); the buffer is empty afterwards. */
char *strbuf_steal(struct strbuf *sb);

/*
 * "8G", "512M", "4096", "1.5G", "2GiB": bytes, binary units, K M G T, an optional B or iB;
 * a fraction of a unit is cut to whole bytes, a fraction of a byte is refused.
 * Exit status 2 on anything else, naming the text.
 */
int str_parse_bytes(const char *s, uint64_t *bytes, struct error *err);
/* The shortest exact form: 8589934592 -> "8G", 1536 -> "1536". Caller frees. */
char *str_format_bytes(uint64_t bytes);
/* A whole decimal number in [min, max]. */
int str_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *value, struct error *err);

/*
 * The candidate nearest to `word` (Damerau-Levenshtein distance at most a third of its length,
 * at least 1), or NULL: for "did you mean".
 */
const char *str_nearest(const char *word, const char *const *candidates, size_t n);

#endif
