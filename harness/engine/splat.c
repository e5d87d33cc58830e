// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/splat.h"

#include <stdlib.h>
#include <string.h>

#include "harness/engine/splat_impl.h"
#include "results/util/cleanup.h"

/* A report without an end mark is over after more lines in a row that look like none of one. */
#define FOREIGN_MAX 8
/* An end mark that has not come by then will not. The OOM killer's list of tasks is long. */
#define OPEN_LINES_MAX 2000
/* A report comes in one breath, even over a slow serial line: 3 s for a large memory's OOM kill. */
#define GAP_US 10000000u

/* The report that is open: what its lines have shown so far. */
struct open_report {
	bool open;
	const struct splat_pattern *pattern;
	enum splat_end end;
	struct strbuf lines;
	unsigned int kept, seen, foreign;
	size_t body_len; /* of `lines`, up to the last that looks like a report's */
	bool cpu_line;	 /* "CPU: 1 PID: 2 Comm:" came: the dump proper has begun */
	unsigned int cpu;
	unsigned int task_open; /* "<TASK>" without its end */
	bool any_frame;
	bool wait_backtrace; /* lockdep prints other stacks first */
	bool frozen;	     /* the fingerprint's stack is over */
	unsigned int frames;
	char pc[SPLAT_NAME_MAX];
	struct strbuf fingerprint;
	bool torn;
	bool has_stamp, has_sequence;
	uint64_t stamp_us, sequence;
	char caller;
	uint64_t caller_id;
};

struct splat_log {
	struct splat_report report[SPLAT_REPORTS_MAX];
	size_t n, dropped;
	size_t current; /* index of the open one; beyond the last: it was dropped */
	int context;
	struct open_report o;
};

struct splat_log *splat_log_new(void)
{
	return xcalloc(1, sizeof(struct splat_log));
}

static void report_free(struct splat_report *r)
{
	free(r->title);
	free(r->lines);
	free(r->fingerprint);
}

void splat_log_free(struct splat_log *log)
{
	if (!log)
		return;
	for (size_t i = 0; i < log->n; i++)
		report_free(&log->report[i]);
	strbuf_free(&log->o.lines);
	strbuf_free(&log->o.fingerprint);
	free(log);
}

void splat_log_context(struct splat_log *log, int context)
{
	log->context = context;
}

/* Where a new report of this severity goes: an index, or -1. */
static int make_room(struct splat_log *log, enum splat_severity severity)
{
	size_t least = 0;

	if (log->n < SPLAT_REPORTS_MAX)
		return (int)log->n++;
	log->dropped++;
	for (size_t i = 1; i < log->n; i++)
		if (log->report[i].severity <= log->report[least].severity)
			least = i;
	if (log->report[least].severity >= severity)
		return -1;
	report_free(&log->report[least]);
	memmove(&log->report[least], &log->report[least + 1],
		(log->n - least - 1) * sizeof(log->report[0]));
	return (int)log->n - 1;
}

static struct splat_report *current(struct splat_log *log)
{
	return log->o.open && log->current < log->n ? &log->report[log->current] : NULL;
}

/* The lines so far, seen from outside. */
static void publish(struct splat_log *log, size_t len)
{
	struct splat_report *r = current(log);

	if (!r)
		return;
	free(r->lines);
	r->lines = xstrndup(log->o.lines.data ? log->o.lines.data : "", len);
}

static void keep_line(struct open_report *o, const char *line)
{
	size_t len = strnlen(line, 1024);

	if (o->kept >= SPLAT_LINES_MAX || o->lines.len + len + 1 > SPLAT_BYTES_MAX)
		return;
	o->kept++;
	strbuf_add(&o->lines, line, len);
	strbuf_add(&o->lines, "\n", 1);
}

/* torn: it cannot be whole, whatever its lines say. */
static void close_report(struct splat_log *log, bool marked, bool torn)
{
	struct open_report *o = &log->o;
	struct splat_report *r = current(log);

	if (!o->open)
		return;
	if (o->end == END_MARK && !marked)
		torn = true;
	if (o->end == END_TRACE && (!o->any_frame || o->wait_backtrace))
		torn = true;
	if (o->task_open && !marked)
		torn = true;
	if (r) {
		r->corrupted = o->torn || torn;
		free(r->fingerprint);
		r->fingerprint = strbuf_steal(&o->fingerprint);
		publish(log, o->end == END_MARK ? o->lines.len : o->body_len);
	}
	strbuf_free(&o->lines);
	strbuf_free(&o->fingerprint);
	memset(o, 0, sizeof(*o));
}

static void begin_report(struct splat_log *log, const struct splat_pattern *p,
			 const struct splat_line *l)
{
	struct open_report *o = &log->o;
	enum splat_severity severity = splat_class_severity(p->class);
	int at = make_room(log, severity);

	memset(o, 0, sizeof(*o));
	o->open = true;
	o->pattern = p;
	o->end = p->end;
	o->wait_backtrace = p->class == SPLAT_LOCKDEP;
	o->has_stamp = l->has_stamp;
	o->stamp_us = l->stamp_us;
	o->has_sequence = l->has_sequence;
	o->sequence = l->sequence;
	o->caller = l->caller;
	o->caller_id = l->caller_id;
	log->current = at < 0 ? SPLAT_REPORTS_MAX : (size_t)at;
	if (at < 0)
		return;
	log->report[at] = (struct splat_report){
		.class = p->class,
		.severity = severity,
		.title = xstrndup(l->message, SPLAT_TITLE_MAX),
		.lines = xstrdup(""),
		.fingerprint = xstrdup(""),
		.context = log->context,
	};
}

/* Reports in which the kernel makes other CPUs print their stacks too. */
static bool of_many_cpus(enum splat_class c)
{
	return c == SPLAT_RCU_STALL || c == SPLAT_HARD_LOCKUP || c == SPLAT_SOFT_LOCKUP ||
	       c == SPLAT_HUNG_TASK || c == SPLAT_WORKQUEUE_LOCKUP || c == SPLAT_PANIC;
}

static void take_frame(struct open_report *o, const struct splat_frame *f)
{
	if (f->glued)
		o->torn = true;
	if (!f->pc)
		o->any_frame = true;
	if (o->wait_backtrace || o->frozen || !splat_frame_meaningful(f))
		return;
	/* The registers name the innermost function, and so may the first frame. */
	if (!f->pc && o->frames == 1 && strcmp(o->pc, f->name) == 0) {
		o->pc[0] = '\0';
		return;
	}
	if (f->pc && o->frames) /* the registers of an outer context */
		return;
	if (f->pc)
		strcpy(o->pc, f->name);
	strbuf_adds(&o->fingerprint, o->frames ? ":" : "");
	strbuf_adds(&o->fingerprint, f->name);
	o->frozen = ++o->frames == SPLAT_FRAMES;
}

static void check_cpu(struct open_report *o, const char *message)
{
	unsigned int cpu;

	if (sscanf(message, "CPU: %u ", &cpu) != 1 || !strstr(message, " PID: ") ||
	    !strstr(message, " Comm: "))
		return;
	if (o->cpu_line && cpu != o->cpu && !of_many_cpus(o->pattern->class))
		o->torn = true;
	o->cpu_line = true;
	o->cpu = cpu;
}

/* Lines of others, lost lines, and a clock that goes back. */
static void check_order(struct open_report *o, const struct splat_line *l, bool body)
{
	if (l->has_stamp && o->has_stamp && l->stamp_us < o->stamp_us)
		o->torn = true;
	if (l->has_stamp) {
		o->has_stamp = true;
		o->stamp_us = l->stamp_us;
	}
	if (l->has_sequence && o->has_sequence && l->sequence != o->sequence + 1)
		o->torn = true;
	if (l->has_sequence) {
		o->has_sequence = true;
		o->sequence = l->sequence;
	}
	if (body && *l->message && l->caller && o->caller &&
	    (l->caller != o->caller || l->caller_id != o->caller_id) &&
	    !of_many_cpus(o->pattern->class))
		o->torn = true;
	if (splat_line_has_inner_stamp(l->message))
		o->torn = true;
}

static void take_marker(struct open_report *o, const char *message)
{
	if (str_starts(message, "<TASK>"))
		o->task_open++;
	else if (str_starts(message, "</TASK>") && o->task_open)
		o->task_open--;
	if (!splat_begins_stack(message))
		return;
	if (str_starts(message, "stack backtrace:"))
		o->wait_backtrace = false;
	/* Registers alone are not yet a stack. */
	if (o->frames > (o->pc[0] ? 1u : 0u))
		o->frozen = true;
}

static void take_line(struct splat_log *log, const struct splat_line *l, const char *line)
{
	struct open_report *o = &log->o;
	struct splat_frame f;
	bool body = splat_is_body(l);
	/* A pasted report may be wrapped: what has no stamp belongs to the line before. */
	bool wrapped = o->has_stamp && !l->has_stamp && !body;

	o->seen++;
	o->foreign = body || wrapped ? 0 : o->foreign + 1;
	keep_line(o, line);
	if (body && *l->message)
		o->body_len = o->lines.len;
	check_order(o, l, body);
	check_cpu(o, l->message);
	take_marker(o, l->message);
	if (splat_frame_parse(l->message, &f))
		take_frame(o, &f);
}

/* A panic that only says that what came before is fatal. */
static void make_fatal(struct splat_log *log)
{
	for (size_t i = log->n; i-- > 0;) {
		if (log->report[i].severity == SPLAT_NOTE || log->report[i].class == SPLAT_PANIC)
			continue;
		log->report[i].severity = SPLAT_FATAL;
		return;
	}
}

/*
 * "BUG: unable to handle page fault", then "Oops: 0000 [#1]"; "list_del corruption", then "kernel
 * BUG at": one report, of the worse class, with the first title.
 */
static bool joins(struct splat_log *log, const struct splat_pattern *p)
{
	struct open_report *o = &log->o;
	struct splat_report *r = current(log);

	if (!o->open || !o->pattern->lead || o->cpu_line || o->any_frame ||
	    (p->class != SPLAT_OOPS && p->class != SPLAT_WARNING))
		return false;
	if (o->pattern->class == SPLAT_OOPS && p->class != SPLAT_OOPS)
		return false;
	if (r && splat_class_severity(p->class) > r->severity) {
		r->class = p->class;
		r->severity = splat_class_severity(p->class);
	}
	o->pattern = p;
	o->end = p->end;
	return true;
}

static void start(struct splat_log *log, const struct splat_pattern *p, const struct splat_line *l,
		  const char *line)
{
	bool consequence = p->class == SPLAT_PANIC && splat_is_consequence(l->message);

	/* panic_on_warn comes before the end mark of the WARNING. */
	close_report(log, consequence, false);
	if (consequence)
		make_fatal(log);
	begin_report(log, p, l);
	keep_line(&log->o, line);
	log->o.body_len = log->o.lines.len;
	if (splat_line_has_inner_stamp(l->message))
		log->o.torn = true;
	publish(log, log->o.body_len);
	if (p->end == END_ONE)
		close_report(log, true, false);
}

static void go_on(struct splat_log *log, const struct splat_line *l, const char *line)
{
	struct open_report *o = &log->o;
	bool end = splat_is_end(o->pattern->class, l->message);
	size_t before = o->lines.len;

	take_line(log, l, line);
	if (end) {
		o->body_len = o->lines.len;
		close_report(log, true, false);
	} else if (o->seen >= OPEN_LINES_MAX || (o->end != END_MARK && o->foreign > FOREIGN_MAX)) {
		close_report(log, false, false);
	} else if (o->lines.len != before) {
		publish(log, o->lines.len);
	}
}

void splat_log_feed(struct splat_log *log, const char *line)
{
	struct open_report *o = &log->o;
	const struct splat_pattern *p;
	struct splat_line l;

	splat_line_parse(line, &l);
	if (o->open && (str_starts(l.message, "Linux version ") ||
			(l.has_stamp && o->has_stamp && l.stamp_us > o->stamp_us + GAP_US)))
		close_report(log, false, false);
	/* The line that ends an OOM kill could begin one. */
	if (o->open && o->end == END_MARK && splat_is_end(o->pattern->class, l.message)) {
		go_on(log, &l, line);
		return;
	}
	p = splat_pattern_of(l.message);
	if (p && !joins(log, p))
		start(log, p, &l, line);
	else if (o->open)
		go_on(log, &l, line);
}

void splat_log_end(struct splat_log *log)
{
	close_report(log, false, false);
}

bool splat_log_open(const struct splat_log *log)
{
	return log->o.open;
}

size_t splat_log_count(const struct splat_log *log)
{
	return log->n;
}

const struct splat_report *splat_log_get(const struct splat_log *log, size_t i)
{
	return i < log->n ? &log->report[i] : NULL;
}

size_t splat_log_dropped(const struct splat_log *log)
{
	return log->dropped;
}

const struct splat_report *splat_log_worst(const struct splat_log *log)
{
	const struct splat_report *worst = NULL;

	for (size_t i = 0; i < log->n; i++)
		if (log->report[i].severity > (worst ? worst->severity : SPLAT_NOTE))
			worst = &log->report[i];
	return worst;
}
