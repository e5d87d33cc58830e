/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SPLAT_H
#define MMRIG_SPLAT_H
/*
 * The kernel's reports of its own faults, found in the lines of a console. Pure: lines in, reports
 * out. Lines may be as dmesg, printk, journald, syslog or netconsole give them. Bytes are hostile:
 * reports, their lines and every string are bounded.
 *
 * A report begins with a line of the table in splat_table.c and ends with the end that its class
 * prints ("---[ end trace", a row of "="), or, where the class prints none, when the lines stop to
 * look like one.
 */
#include <stdbool.h>
#include <stddef.h>

#define SPLAT_REPORTS_MAX 64
#define SPLAT_LINES_MAX 120   /* of a report */
#define SPLAT_BYTES_MAX 16384 /* of its lines */
#define SPLAT_TITLE_MAX 512
#define SPLAT_FRAMES 5 /* in a fingerprint */

enum splat_class {
	SPLAT_NONE,
	SPLAT_PANIC,
	SPLAT_OOPS, /* and "kernel BUG at" */
	SPLAT_BUG,  /* "BUG: " of a kind that has no class of its own */
	SPLAT_WARNING,
	SPLAT_HUNG_TASK,
	SPLAT_SOFT_LOCKUP,
	SPLAT_HARD_LOCKUP,
	SPLAT_RCU_STALL,
	SPLAT_WORKQUEUE_LOCKUP,
	SPLAT_OOM_KILL,
	SPLAT_ALLOC_FAILURE,
	SPLAT_KASAN,
	SPLAT_KCSAN,
	SPLAT_UBSAN,
	SPLAT_KFENCE,
	SPLAT_LOCKDEP,
	SPLAT_BAD_PAGE,
	SPLAT_MEMORY_LEAK,
	SPLAT_ATOMIC_SLEEP,
	SPLAT_CLASSES,
};

/* In rising order. A NOTE is kept and fails no run. */
enum splat_severity { SPLAT_NOTE, SPLAT_WARN, SPLAT_STALL, SPLAT_ERROR, SPLAT_FATAL };

const char *splat_class_name(enum splat_class c);
const char *splat_severity_name(enum splat_severity s);
enum splat_severity splat_class_severity(enum splat_class c);
/*
 * The class of one line, SPLAT_NONE for a harmless one. *title points to the message itself, behind
 * log level, time stamps, host and caller id.
 */
enum splat_class splat_classify(const char *line, const char **title);
/* Why a line is ignored that looks like a report; NULL when it is not in the table of those. */
const char *splat_ignored(const char *line);

struct splat_report {
	enum splat_class class;
	enum splat_severity severity; /* of the class, or FATAL where a panic followed from it */
	char *title;
	char *lines; /* a "\n" after each; bounded */
	/*
	 * The innermost functions that say where it happened, "shrink_slab:shrink_node", without
	 * offsets, modules, compiler suffixes, and without the frames of reporting, allocating,
	 * locking and kernel entry. "" when there are none, or the report is not yet at its end.
	 */
	char *fingerprint;
	/* Torn: cut off, lines of another CPU or report within, lines lost, or time going back. */
	bool corrupted;
	int context; /* what splat_log_context() said last when it began */
};

struct splat_log; /* opaque */

struct splat_log *splat_log_new(void);
void splat_log_free(struct splat_log *log);
/* A tag of the caller's for the reports that begin from now on. */
void splat_log_context(struct splat_log *log, int context);
/* One line, without its end. */
void splat_log_feed(struct splat_log *log, const char *line);
/* No more lines will come: a report that is open is closed. */
void splat_log_end(struct splat_log *log);

/* Is a report open, of which lines may be to come? */
bool splat_log_open(const struct splat_log *log);

/*
 * In the order of their first lines; a report that is still open is there. When there are too many,
 * a new one displaces the last of the least severe, if it is worse, and is dropped otherwise.
 * Pointers hold until the next feed.
 */
size_t splat_log_count(const struct splat_log *log);
const struct splat_report *splat_log_get(const struct splat_log *log, size_t i);
size_t splat_log_dropped(const struct splat_log *log);
/* The first of the worst severity; NULL when there is none above a NOTE. */
const struct splat_report *splat_log_worst(const struct splat_log *log);

#endif
