// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/progress.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "results/util/cleanup.h"

#define NS_PER_S 1000000000ULL
#define REDRAW_NS (NS_PER_S / 10)
#define COLUMNS_DEFAULT 80
#define LABEL_COLUMNS_MIN 8

/* A run in the air. */
struct flight {
	unsigned int k;
	char *label;
	uint64_t seed;
	uint64_t begin_ns, phase_begin_ns;
	enum wire_phase phase;
	uint64_t done, total;
	double phase_s[PHASE_COUNT]; /* of the phases behind it */
};

/* What the finished runs took, for the estimate. */
struct sample {
	double sum_s;
	unsigned int n;
};

struct progress {
	struct progress_config config;
	char *scenario;
	unsigned int total, finished;
	struct flight *flight; /* oldest first */
	size_t nflights;
	struct sample run, phase[PHASE_COUNT];
	uint64_t start_ns, drawn_ns;
	char *task; /* printable; NULL: none */
	double task_percent;
	bool started, drawn_once;
	bool shown; /* the live line is on the screen now */
};

static uint64_t monotonic_ns(void *arg)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static uint64_t now_ns(const struct progress *p)
{
	return p->config.now_ns(p->config.clock_arg);
}

static double seconds_since(const struct progress *p, uint64_t begin_ns)
{
	return (double)(now_ns(p) - begin_ns) / (double)NS_PER_S;
}

struct progress *progress_new(const struct progress_config *config)
{
	struct progress *p = xcalloc(1, sizeof(*p));

	p->config = *config;
	if (!p->config.now_ns)
		p->config.now_ns = monotonic_ns;
	return p;
}

/* ---- text ---- */

/* Bytes of the UTF-8 character at s, 0 when it is none, or is a control character (C1 too). */
static size_t utf8_length(const unsigned char *s)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] > 0xf4 || s[0] < 0x20 || s[0] == 0x7f)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xc2 && s[1] < 0xa0) ||				      /* C1 */
	    (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) || /* overlong */
	    (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

void progress_printable(struct strbuf *sb, const char *s)
{
	while (*s) {
		size_t len = utf8_length((const unsigned char *)s);

		if (len)
			strbuf_add(sb, s, len);
		else
			strbuf_addf(sb, "\\x%02x", (unsigned char)*s);
		s += len ? len : 1;
	}
}

static char *printable(const char *s)
{
	struct strbuf sb = STRBUF_INIT;

	progress_printable(&sb, s);
	return strbuf_steal(&sb);
}

static size_t columns_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* At most `columns` of s, the end shown as ".." where something was cut off. */
static void add_cut(struct strbuf *sb, const char *s, size_t columns)
{
	size_t keep = columns, bytes = 0;

	if (columns_of(s) <= columns) {
		strbuf_adds(sb, s);
		return;
	}
	keep = columns > 2 ? columns - 2 : 0;
	for (size_t n = 0; s[bytes]; bytes++) {
		n += ((unsigned char)s[bytes] & 0xc0) != 0x80;
		if (n > keep)
			break;
	}
	strbuf_add(sb, s, bytes);
	strbuf_add(sb, "..", columns < 2 ? columns : 2);
}

static void add_duration(struct strbuf *sb, double seconds)
{
	unsigned long long s = seconds > 0 ? (unsigned long long)(seconds + 0.5) : 0;

	if (s >= 3600)
		strbuf_addf(sb, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
	else
		strbuf_addf(sb, "%llu:%02llu", s / 60, s % 60);
}

/* ---- estimate ---- */

static double mean(const struct sample *s)
{
	return s->n ? s->sum_s / s->n : 0;
}

static void sample_add(struct sample *s, double seconds)
{
	s->sum_s += seconds;
	s->n++;
}

static double phase_left(const struct progress *p, const struct flight *f)
{
	const struct sample *known = &p->phase[f->phase];
	double spent = seconds_since(p, f->phase_begin_ns), left = mean(known) - spent;

	if (f->total && f->done) {
		double share = (double)f->done / (double)f->total;

		if (share > 1)
			share = 1;
		left = known->n ? mean(known) * (1 - share) : spent * (1 - share) / share;
	}
	return left > 0 ? left : 0;
}

static double flight_left(const struct progress *p, const struct flight *f)
{
	double left = phase_left(p, f);

	for (int i = (int)f->phase + 1; i < PHASE_COUNT; i++)
		left += mean(&p->phase[i]);
	return left;
}

double progress_seconds_left(const struct progress *p)
{
	unsigned int begun, waiting;
	double left = 0;

	if (!p || !p->run.n)
		return -1;
	begun = p->finished + (unsigned int)p->nflights;
	for (size_t i = 0; i < p->nflights; i++)
		left += flight_left(p, &p->flight[i]);
	waiting = begun < p->total ? p->total - begun : 0;
	left += waiting * mean(&p->run);
	return p->nflights > 1 ? left / (double)p->nflights : left;
}

/* ---- the live line ---- */

static size_t screen_columns(const struct progress *p)
{
	struct winsize ws;

	if (p->config.columns)
		return p->config.columns;
	if (ioctl(fileno(p->config.out), TIOCGWINSZ, &ws) == 0 && ws.ws_col)
		return ws.ws_col;
	return COLUMNS_DEFAULT;
}

static void add_phase(struct strbuf *sb, const struct flight *f)
{
	uint64_t done = f->done < f->total ? f->done : f->total;

	strbuf_addf(sb, "  %s", wire_phase_names[f->phase]);
	if (f->total)
		strbuf_addf(sb, " %u%%", (unsigned int)(100.0 * (double)done / (double)f->total));
}

static void add_tail(const struct progress *p, const struct flight *f, struct strbuf *sb)
{
	double left = progress_seconds_left(p);

	if (f)
		add_phase(sb, f);
	strbuf_adds(sb, "  ");
	add_duration(sb, seconds_since(p, p->start_ns));
	if (left >= 0) {
		strbuf_adds(sb, "  left ");
		add_duration(sb, left);
	}
}

static void compose_task(const struct progress *p, struct strbuf *line)
{
	cleanup_strbuf struct strbuf tail = STRBUF_INIT;
	size_t room = screen_columns(p) - 1;

	if (p->task_percent >= 0)
		strbuf_addf(&tail, " %u%%", (unsigned int)p->task_percent);
	add_cut(line, p->task, room > tail.len ? room - tail.len : 0);
	add_cut(line, tail.len ? tail.data : "", room);
}

/* The label gives way first; the last column stays free, since some terminals wrap on it. */
static void compose_runs(const struct progress *p, struct strbuf *line)
{
	const struct flight *f = p->nflights ? &p->flight[0] : NULL;
	cleanup_strbuf struct strbuf head = STRBUF_INIT, tail = STRBUF_INIT;
	size_t room = screen_columns(p) - 1, used;

	strbuf_addf(&head, "%s %u/%u", p->scenario, f ? f->k : p->finished, p->total);
	if (p->nflights > 1)
		strbuf_addf(&head, " (+%zu)", p->nflights - 1);
	add_tail(p, f, &tail);
	used = columns_of(head.data) + columns_of(tail.data) + 2;
	if (f && *f->label && used + LABEL_COLUMNS_MIN <= room) {
		strbuf_adds(&head, "  ");
		add_cut(&head, f->label, room - used);
	}
	strbuf_adds(&head, tail.data);
	add_cut(line, head.data, room);
}

static void draw(struct progress *p)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;

	if (!p->config.is_tty || (!p->started && !p->task))
		return;
	if (p->drawn_once && now_ns(p) - p->drawn_ns < REDRAW_NS)
		return;
	strbuf_adds(&line, "\r");
	if (p->task)
		compose_task(p, &line);
	else
		compose_runs(p, &line);
	strbuf_adds(&line, "\033[K");
	fwrite(line.data, 1, line.len, p->config.out);
	fflush(p->config.out);
	p->drawn_ns = now_ns(p);
	p->drawn_once = p->shown = true;
}

void progress_tick(struct progress *p)
{
	if (p)
		draw(p);
}

void progress_clear(struct progress *p)
{
	if (!p || !p->shown)
		return;
	fputs("\r\033[K", p->config.out);
	fflush(p->config.out);
	p->shown = false;
}

/* One write, so that lines of several programs on one stream do not mix. */
static void lasting_line(struct progress *p, const char *text)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;

	progress_clear(p);
	strbuf_adds(&line, "mmrig: ");
	progress_printable(&line, text);
	strbuf_adds(&line, "\n");
	fwrite(line.data, 1, line.len, p->config.out);
	fflush(p->config.out);
}

void progress_note(struct progress *p, const char *text)
{
	if (!p)
		return;
	lasting_line(p, text);
	draw(p);
}

void progress_task(void *progress, const char *text, double percent)
{
	struct progress *p = progress;
	char *task;

	if (!p)
		return;
	if (text && str_starts(text, "warning: ")) {
		progress_note(p, text);
		return;
	}
	task = text ? printable(text) : NULL;
	if (task && !p->config.is_tty && (!p->task || strcmp(task, p->task) != 0))
		lasting_line(p, task);
	if (!task && !p->started)
		progress_clear(p);
	free(p->task);
	p->task = task;
	p->task_percent = percent > 100 ? 100 : percent;
	draw(p);
}

/* ---- events ---- */

void progress_start(struct progress *p, const char *scenario, unsigned int total)
{
	cleanup_free char *text = NULL;

	if (!p)
		return;
	free(p->scenario);
	p->scenario = printable(scenario);
	p->total = total;
	p->start_ns = now_ns(p);
	p->started = true;
	text = str_printf("%s: %u %s", scenario, total, total == 1 ? "run" : "runs");
	lasting_line(p, text);
	draw(p);
}

void progress_kept(struct progress *p, unsigned int n)
{
	cleanup_free char *text = NULL;

	if (!p || !n)
		return;
	p->finished += n;
	text = str_printf("%u of %u are kept from before", n, p->total);
	progress_note(p, text);
}

static struct flight *flight_find(struct progress *p, unsigned int k)
{
	for (size_t i = 0; i < p->nflights; i++)
		if (p->flight[i].k == k)
			return &p->flight[i];
	return NULL;
}

void progress_run_begin(struct progress *p, unsigned int k, const char *label, uint64_t seed)
{
	struct flight *f;

	if (!p || flight_find(p, k))
		return;
	p->flight = xreallocarray(p->flight, p->nflights + 1, sizeof(*f));
	f = &p->flight[p->nflights++];
	*f = (struct flight){ .k = k, .seed = seed, .label = printable(label ? label : "") };
	f->begin_ns = f->phase_begin_ns = now_ns(p);
	draw(p);
}

static void end_phase(const struct progress *p, struct flight *f)
{
	f->phase_s[f->phase] += seconds_since(p, f->phase_begin_ns);
	f->phase_begin_ns = now_ns(p);
	f->done = f->total = 0;
}

void progress_phase(struct progress *p, unsigned int k, enum wire_phase phase, uint64_t done,
		    uint64_t total)
{
	struct flight *f = p ? flight_find(p, k) : NULL;

	if (!f || phase >= PHASE_COUNT)
		return;
	if (phase != f->phase)
		end_phase(p, f);
	f->phase = phase;
	f->done = done;
	f->total = total;
	draw(p);
}

static void flight_drop(struct progress *p, struct flight *f)
{
	size_t i = (size_t)(f - p->flight);

	free(f->label);
	memmove(f, f + 1, (p->nflights - i - 1) * sizeof(*f));
	p->nflights--;
}

static void tell_end(struct progress *p, const struct flight *f, enum verdict verdict,
		     const char *why, const char *summary)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "run %u/%u %s%sseed %" PRIu64 ": %s, %.1f s", f->k, p->total, f->label,
		    *f->label ? " " : "", f->seed, verdict_name(verdict),
		    seconds_since(p, f->begin_ns));
	if (why && *why)
		strbuf_addf(&sb, "; %s", why);
	if (summary && *summary)
		strbuf_addf(&sb, "; %s", summary);
	lasting_line(p, sb.data);
}

void progress_run_end(struct progress *p, unsigned int k, enum verdict verdict, const char *why,
		      const char *summary)
{
	struct flight *f = p ? flight_find(p, k) : NULL;

	if (!f)
		return;
	end_phase(p, f);
	for (int i = 0; i < PHASE_COUNT; i++)
		if (f->phase_s[i] > 0)
			sample_add(&p->phase[i], f->phase_s[i]);
	sample_add(&p->run, seconds_since(p, f->begin_ns));
	p->finished++;
	tell_end(p, f, verdict, why, summary);
	flight_drop(p, f);
	draw(p);
}

void progress_finish(struct progress *p)
{
	if (!p)
		return;
	progress_clear(p);
	for (size_t i = 0; i < p->nflights; i++)
		free(p->flight[i].label);
	free(p->flight);
	free(p->scenario);
	free(p->task);
	free(p);
}
