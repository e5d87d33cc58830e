/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_REPORT_HTML_H
#define MMRIG_REPORT_HTML_H
/*
 * Text for HTML that is also XML, inside elements and inside quoted attributes. What comes out
 * holds no & < > " ' of its own and no character that XML refuses. Control characters, bytes that
 * are no UTF-8, and characters that turn the direction of text or hide, become \xNN.
 */
#include <stddef.h>

#include "results/util/str.h"

/* One line: a newline is a control character too. NULL is "". */
void html_text(struct strbuf *sb, const char *s);
/* For <pre>: newlines and tabs stay. At most `limit` bytes of s, cut at a line (0: no limit). */
void html_lines(struct strbuf *sb, const char *s, size_t limit);
/* At most `columns` characters, the middle "…" where s has more; printable, not escaped; heap. */
char *html_short(const char *s, size_t columns);
/* <TAG>text</TAG>; tag is ours. */
void html_element(struct strbuf *sb, const char *tag, const char *s);

#endif
