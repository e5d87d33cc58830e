/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_MEMREPORT_IMPL_H
#define MMRIG_MEMREPORT_IMPL_H
/* Between the stages of memreport_parse(). */
#include "harness/report/memreport.h"
#include "results/proc_cursor.h"
#include "results/util/str.h"

/* ---- mail.c ---- */

/* In the decoded text, so that lines can be counted as the input has them: */
#define MAIL_LINE '\001'  /* a line ended here, and the text goes on */
#define MAIL_BREAK '\002' /* a line of the text ends here, and none of the input */

struct mail {
	struct strbuf text;		      /* ends with "\n" or is empty */
	bool quoted_printable, html, escapes; /* what was undone */
	char dropped[40]; /* the word that the input ends in the middle of; "" */
};
/* Undoes quoted-printable, HTML, escaped newlines, terminal control. EXIT_USAGE where no text. */
int mail_decode(const char *label, const void *data, size_t len, struct mail *m, struct error *err);

/* ---- piece.c ---- */

/* A line, or what stands between two stamps of one. */
struct piece {
	const char *text;
	size_t line;
	bool prefixed, indented, has_stamp;
	uint64_t stamp_us;
};

/* Fills all but line; text points into the given text, behind prefixes and blanks. */
void piece_strip(const char *text, struct piece *p);
/* The next stamp of printk in the line: "[73821.310347] ". NULL: none. */
char *piece_find_stamp(char *s);

/* ---- record.c ---- */

/*
 * One logical line: without prefixes, put together where it was wrapped. Valid during the call.
 * text is NUL-terminated at text[len].
 */
struct record {
	const char *text;
	size_t len, line;
	bool has_stamp;
	uint64_t stamp_us;
};
struct record_stats {
	size_t joined; /* lines that were put behind another */
};
void record_each(const char *text, size_t len, void (*fn)(void *arg, const struct record *rec),
		 void *arg, struct record_stats *stats);

/* "DMA", "DMA32", "Normal", "HighMem", "Movable", "Device" at the cursor; NULL: none. Moves on. */
const char *record_zone_name(struct cursor *c);
/* Does the text begin with a counter of Mem-Info, such as "free:93 "? NUL-terminated. */
bool record_is_counters(const char *s);
/* "12*64kB", "(UMEH)", "= 15908kB" */
enum list_token { LIST_NONE, LIST_COUNT, LIST_TYPES, LIST_TOTAL };
/* *a: count, bits of types or kB; *b: kB of a block. Moves on behind the token and blanks. */
enum list_token record_list_token(struct cursor *c, uint64_t *a, uint64_t *b);

/* ---- reader.c, and what reads one kind of text each ---- */

/* Which texts gave a zone something: a second one of a kind belongs to another report. */
enum {
	FROM_LIST = 1,
	FROM_DUMP = 2,
	FROM_BUDDYINFO = 4,
	FROM_ZONEINFO = 8,
	FROM_BLOCKS = 16,
	FROM_PAGETYPEINFO = 32, /* shifted by the memtype */
};
struct zone_source {
	uint32_t from;
	uint32_t in_kb; /* bit per memzone_field: kB until the report is whole, not pages */
};

struct reader {
	struct memreport_set *set;
	struct memreport *r;				/* the current one, or NULL */
	struct memreport spill;				/* the current one where the set is full */
	bool page_size_read;				/* from a list of the current report */
	struct zone_source source[MEMREPORT_ZONES_MAX]; /* of its zones */
	struct record rec;				/* that is read */
	bool have_last;					/* the stamp of the last record of a dump */
	uint64_t last_us;
	long list; /* the zone whose free list is open, or -1 */
	unsigned int next_order;
	uint64_t list_kb; /* of a block of its order 0 */
	bool total_lost;  /* "=" of the list, and no number */
	long typed;	  /* the zone of the last row of pagetypeinfo, or -1 */
	long zoneinfo;	  /* the zone whose lines of zoneinfo are read, or -1 */
	bool have_node;	  /* "Node 0 " that was printed apart from its list */
	unsigned int node;
	enum memtype heading[MEMREPORT_ORDERS]; /* columns below "Number of blocks type" */
	unsigned int nheading;
};

void reader_record(void *arg, const struct record *rec);
void reader_finish(struct reader *rd);
/* The current report, made where there is none. */
struct memreport *reader_report(struct reader *rd);
/* What comes now belongs to another report, if the current one has zones already. */
void reader_split(struct reader *rd);
/* Ends the list that is open. */
void reader_list_end(struct reader *rd);
/*
 * Index of the zone in the current report, made where it is not there; a new report is begun where
 * it has what `from` gives, or where the log has jumped in time. -1: no room.
 */
long reader_zone(struct reader *rd, unsigned int node, const char *name, unsigned int from);
/* Puts a number where none is yet; one that no machine can have is said and left out. */
void reader_field(struct reader *rd, long zone, enum memzone_field f, uint64_t value, bool in_kb);
void reader_total(struct reader *rd, enum memtotal t, uint64_t value);

bool memtype_find(const char *name, enum memtype *t);

/* Each takes the text where it is of its kind. */
bool event_read(struct reader *rd, struct cursor text);
bool showmem_read(struct reader *rd, struct cursor text);
bool procfile_read(struct reader *rd, struct cursor text);

void memreport_free(struct memreport *r);
/* "line 12: " is put before it; line 0: none. */
void memreport_remark(struct memreport *r, size_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- sums.c ---- */

/* Remarks on what contradicts itself; sets data. */
void memreport_judge(struct memreport *r);
uint64_t memzone_list_kb(const struct memreport *r, const struct memzone *z);

/* ---- scale.c ---- */

/* Of the free blocks of an order: those that the failed request could not have taken (CMA). */
uint64_t memzone_unusable(const struct memreport *r, const struct memzone *z, unsigned int order);

#endif
