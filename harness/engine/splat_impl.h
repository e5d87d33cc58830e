/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SPLAT_IMPL_H
#define MMRIG_SPLAT_IMPL_H
/* Between splat.c (reports), splat_table.c (patterns), splat_line.c (prefixes), splat_frame.c. */
#include <stdint.h>

#include "harness/engine/splat.h"

/* What stands before the message of a line. */
struct splat_line {
	const char *message; /* behind all prefixes and blanks */
	bool indented;	     /* blanks before it that belong to the message */
	bool has_stamp, has_sequence;
	uint64_t stamp_us; /* of printk or netconsole, not of a log daemon */
	uint64_t sequence; /* netconsole */
	char caller;	   /* 'T' task, 'C' CPU, 0 none */
	uint64_t caller_id;
};

void splat_line_parse(const char *line, struct splat_line *l);
/* A time stamp of printk within the text: another line was printed into this one. */
bool splat_line_has_inner_stamp(const char *message);

/* How a report ends. */
enum splat_end {
	END_SOFT,  /* when the lines stop to look like one */
	END_TRACE, /* so, and it is not whole without a stack trace */
	END_MARK,  /* by a line that the class prints */
	END_ONE,   /* it has one line */
};

struct splat_pattern {
	enum splat_class class;
	enum splat_end end;
	const char *start;    /* the message begins with it; NULL: with anything */
	const char *contains; /* and holds this too; NULL: no matter */
	const char *also;     /* and this */
	bool lead;	      /* the report proper may follow and is the same report */
};

extern const struct splat_pattern splat_patterns[];
extern const size_t splat_pattern_count;
#define SPLAT_IGNORED 19 /* entries of what only looks like a report */
/* Which of them; -1: none. */
int splat_ignored_entry(const char *message);
const struct splat_pattern *splat_pattern_of(const char *message);
/* Does this line end a report of the class? */
bool splat_is_end(enum splat_class class, const char *message);
/* A panic that only says that what was reported before is fatal. */
bool splat_is_consequence(const char *message);

#define SPLAT_NAME_MAX 128
struct splat_frame {
	char name[SPLAT_NAME_MAX];
	bool sure;  /* no "?" before it */
	bool pc;    /* from the registers: where it happened */
	bool glued; /* two frames on one line */
};

/* Is this message a frame of a stack trace, or the program counter of a register dump? */
bool splat_frame_parse(const char *message, struct splat_frame *f);
/* Says where something happened? Not so the frames of reporting, allocating, locking, entry. */
bool splat_frame_meaningful(const struct splat_frame *f);
/* A line that begins another stack of the same report. */
bool splat_begins_stack(const char *message);
/* Looks like a line within a report. */
bool splat_is_body(const struct splat_line *l);

#endif
