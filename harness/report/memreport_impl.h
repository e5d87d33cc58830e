/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_MEMREPORT_IMPL_H
#define MMRIG_MEMREPORT_IMPL_H
/* Between the stages of memreport_parse(). */
#include "harness/report/memreport.h"
#include "results/proc_cursor.h"
#include "results/util/str.h"

#define MEMREPORT_BLOCKS_MAX (1ull << 32) /* of one order: 16 TiB of the smallest */
#define MEMREPORT_NONSENSE (1ull << 42)	  /* of kB (4 PiB) and of pages */
/* 128 TiB: what Linux can map with four levels of page tables, and more than any machine has. */
#define MEMREPORT_MACHINE_KB (1ull << 37)
#define MEMREPORT_ORDERS_LEAST 9	  /* no kernel has fewer: 64K pages of ppc64 */

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
/*
 * *a: count, bits of types, or kB (UINT64_MAX: the number is lost); *b: kB of a block. A number that
 * overflows is UINT64_MAX - 1. Moves on behind the token and blanks.
 */
enum list_token record_list_token(struct cursor *c, uint64_t *a, uint64_t *b);

/* ---- tangle.c ---- */

#define TANGLE_TOKENS_MAX 64
#define TANGLE_STEPS_ALL (1u << 22) /* of one input; some 0.1 s */

struct tangle_token {
	bool total;
	uint64_t count, kb; /* blocks of so many kB; a total in kB is in count */
};
struct tangle_list {
	unsigned int orders;
	uint64_t free[MEMREPORT_ORDERS], kb;
};
/* What was printed since the head of the list that is open, or since that of the one before it. */
struct tangle {
	struct tangle_token token[TANGLE_TOKENS_MAX];
	size_t n, second;    /* the head of the list that is open stands before token[second] */
	unsigned int totals; /* behind second */
	bool overflow, mixed;
};

/* A head was read; with_last: the list before it had not ended, and its tokens may go on. */
void tangle_begin(struct tangle *t, bool with_last);
void tangle_add(struct tangle *t, enum list_token kind, uint64_t a, uint64_t b);
/*
 * Tokens of two lists, each in order of its own: list[1] begins at token[second]; list[0] at the
 * first where `both` heads are known, else its head is not, it has only tokens behind second, and is
 * not filled. True where just one way to divide all the tokens has lists that add up to what they
 * say. *steps is added to, and bounds the work on one input.
 */
bool tangle_solve(const struct tangle *t, unsigned int page_kb, bool both, uint64_t *steps,
		  struct tangle_list list[2]);

/* ---- freelist.c ---- */

struct reader;
/* The tokens of a list that the text begins with; where no list is open, they are nobody's. */
void freelist_take(struct reader *rd, struct cursor *text);
/* Behind "Node 0 Normal:". */
void freelist_begin(struct reader *rd, unsigned int node, const char *name, struct cursor text);

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
	long last; /* the zone whose free list was open when that one began, or -1 */
	struct tangle tangle;
	uint64_t tangle_steps;
	struct {
		size_t line;
		uint64_t kb, due;
	} misfit; /* where the tangle was met */
	unsigned int next_order;
	uint64_t list_kb; /* of a block of its order 0 */
	bool total_lost;  /* "=" of the list, and no number */
	long typed;	  /* the zone of the last row of pagetypeinfo, or -1 */
	long zoneinfo;	  /* the zone whose lines of zoneinfo are read, or -1 */
	bool have_node;	  /* "Node 0 " that was printed apart from its list */
	unsigned int node;
	struct cursor word; /* that reader_number() read last */
	enum memtype heading[MEMREPORT_ORDERS]; /* columns below "Number of blocks type" */
	unsigned int nheading;
};

void reader_record(void *arg, const struct record *rec);
void reader_finish(struct reader *rd);
/* The current report, made where there is none. */
struct memreport *reader_report(struct reader *rd);
/* What comes now belongs to another report, if the current one has zones already. */
void reader_split(struct reader *rd);
/* Ends the lists that are open. */
void reader_list_end(struct reader *rd);
/*
 * Index of the zone in the current report, made where it is not there; a new report is begun where
 * it has what `from` gives, or where the log has jumped in time. -1: no room.
 */
long reader_zone(struct reader *rd, unsigned int node, const char *name, unsigned int from);
/* Puts a number where none is yet; one that no machine can have is said and left out. */
void reader_field(struct reader *rd, long zone, enum memzone_field f, uint64_t value, bool in_kb);
void reader_total(struct reader *rd, enum memtotal t, uint64_t value);
/*
 * Blanks, then a whole number that ends at a blank or the end; one that overflows is UINT64_MAX, so that
 * it is seen to be nonsense. False: c is where it was. reader->word is the word in either case.
 */
bool reader_number(struct reader *rd, struct cursor *c, uint64_t *value);
/* The word up to a blank, printable and not long; heap. */
char *reader_text(const struct cursor *word);
/* Says that reader->word stands where a number is due: `"1k" is no number of kB: <done>`. */
void reader_bad(struct reader *rd, const char *of, const char *done);
/* A value as it stands in the text: the digits of reader->word where it overflows; heap. */
char *reader_typed(const struct reader *rd, uint64_t value);

bool memtype_find(const char *name, enum memtype *t);

/* ---- columns.c ---- */

/* The counts of a row of buddyinfo or pagetypeinfo. */
struct columns {
	uint64_t value[MEMREPORT_ORDERS];
	uint32_t at_least;
	unsigned int n;		  /* those above MEMREPORT_ORDERS are counted */
	struct cursor impossible; /* a count that no machine can have; p NULL: none */
	struct cursor bad;	  /* the word that stands where a count is due; p NULL: none */
};
/* Columns up to a poster's comment, or to a bad word; with so many columns a row may be whole. */
void columns_take(struct reader *rd, struct cursor *text, unsigned int whole, struct columns *c);
/* Is the whole row to be left out? Says so. `of`: "node 0 Normal". */
bool columns_garbage(struct reader *rd, const char *of, const struct columns *c);
/* Was the row taken up to a bad word? Says so. */
bool columns_cut(struct reader *rd, const char *of, const struct columns *c);

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

/* Movable and Device are listed where they have no memory. */
bool memzone_is_empty(const struct memzone *z);

/* ---- orders.c ---- */

/* Adds up the rows of migratetypes where there is no other list; marks what is cut, and says so. */
void memreport_judge_orders(struct memreport *r);
/* There is a list, and it is not known what is in it. */
void memzone_lose_list(struct memzone *z);

/* ---- contradiction.c ---- */

/*
 * Leaves out what cannot be beside the rest, and says so: watermarks, sizes, totals, lists that their
 * zone has no room for. Where two say one thing and a third another, the third goes; a list that adds
 * up to what it says is believed.
 */
void memreport_leave_out(struct memreport *r);

/* ---- boost.c ---- */

/* Takes a boost that is printed off min, low and high; says where there must be one that is not. */
void memzone_judge_boost(struct memreport *r, struct memzone *z);
/*
 * Pages, or more, of a boost that is not printed: by which min is above what so small a gap to low allows.
 * 0: none, or not known. min has it: the number is that of the text, also where low is cut off.
 */
uint64_t memzone_unsaid_boost(const struct memreport *r, const struct memzone *z);

/* ---- unlisted.c ---- */

/*
 * Adds to pages (of 4 KiB, by order) what the lists do not show, as s->unlisted asks, and fills what s has
 * of it. whole: also of zones that have no list, since the share is one of the whole machine.
 */
bool memreport_any_unlisted(const struct memreport *r); /* does a list lack what its zone has? */
void memreport_add_unlisted(const struct memreport *r, bool whole, uint64_t pages[MEMSCALE_ORDERS],
			    struct memscale *s);
/* Of lists that are cut off, nothing is left to scale where the size of the machine is not said either. */
void memreport_refuse_unsized(struct memscale *s);

/* ---- scale.c ---- */

/* kB in all pageblocks; 0: not counted for each zone that has a list, and by type. */
uint64_t memreport_blocks_kb(const struct memreport *r);

/* Of the free blocks of an order: those that the failed request could not have taken (CMA). */
uint64_t memzone_unusable(const struct memreport *r, const struct memzone *z, unsigned int order);

#endif
