// SPDX-License-Identifier: GPL-2.0-only
/* Two kernels side by side: what they were made of. */
#include <string.h>

#include "harness/build/build.h"
#include "harness/build/kconfig.h"
#include "harness/build/source.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define FACTS_MAX 8

/* One line of what is known of a kernel; NULL: not known. */
struct fact {
	const char *name, *a, *b;
};

struct side {
	const struct kernel *k;
	struct build_record build;
	bool built;
	char *config; /* text, or NULL */
	char *patches;
};

struct diff {
	struct side a, b;
	struct fact fact[FACTS_MAX];
	size_t n;
	char *config;	    /* lines; NULL where one has no config */
	char *source;	    /* git's; NULL where they cannot be compared */
	const char *no_source; /* why not */
};

static char *join(char *const *list)
{
	struct strbuf sb = STRBUF_INIT;

	for (char *const *p = list; p && *p; p++)
		strbuf_addf(&sb, "%s%s", sb.len ? ", " : "", *p);
	return sb.len ? strbuf_steal(&sb) : xstrdup("none");
}

static int side_open(struct side *s, const struct kernel *k, struct error *err)
{
	int ret = build_record_load(k, &s->build, err);

	if (ret < 0)
		return -1;
	s->k = k;
	s->built = ret > 0;
	s->config = k->config ? file_read(k->config, 0, NULL, err) : NULL;
	s->patches = s->built ? join(s->build.patch) : NULL;
	return k->config && !s->config ? -1 : 0;
}

static void side_close(struct side *s)
{
	build_record_free(&s->build);
	free(s->config);
	free(s->patches);
}

static void diff_close(struct diff *d)
{
	side_close(&d->a);
	side_close(&d->b);
	free(d->config);
	free(d->source);
}

/* Kept only when it differs. */
static void add_fact(struct diff *d, const char *name, const char *a, const char *b)
{
	if ((!a && !b) || (a && b && strcmp(a, b) == 0) || d->n == FACTS_MAX)
		return;
	d->fact[d->n++] = (struct fact){ name, a, b };
}

static const char *what_of(const struct side *s)
{
	return s->built ? s->build.what : s->k->provenance;
}

static void add_facts(struct diff *d)
{
	const struct side *a = &d->a, *b = &d->b;

	add_fact(d, "release", a->k->release, b->k->release);
	add_fact(d, "package", a->k->package_version, b->k->package_version);
	add_fact(d, "from", what_of(a), what_of(b));
	add_fact(d, "patches", a->patches, b->patches);
	add_fact(d, "compiler", a->build.cc, b->build.cc);
	if (a->built && b->built)
		add_fact(d, "options", *a->build.options ? a->build.options : "none",
			 *b->build.options ? b->build.options : "none");
	add_fact(d, "image", a->k->image_hash, b->k->image_hash);
}

static int add_source(struct diff *d, bool whole, struct error *err)
{
	const struct side *a = &d->a, *b = &d->b;
	cleanup_error struct error why = ERROR_INIT;

	if (!a->built || !b->built) {
		d->no_source = "not both were built from source here";
		return 0;
	}
	if (strcmp(a->build.object, b->build.object) == 0) {
		d->source = xstrdup("");
		return 0;
	}
	if (strcmp(a->build.source_id, b->build.source_id) != 0) {
		d->no_source = "they are of two sources";
		return 0;
	}
	d->source = source_diff(a->build.source_id, a->build.object, b->build.object, !whole, &why);
	if (d->source)
		return 0;
	if (whole) {
		error_move(err, &why);
		return error_wrap(err, "the sources cannot be compared");
	}
	d->no_source = "the source is no longer in the cache";
	return 0;
}

static int diff_open(struct diff *d, const struct kernel *a, const struct kernel *b, bool whole,
		     struct error *err)
{
	if (side_open(&d->a, a, err) < 0 || side_open(&d->b, b, err) < 0)
		return -1;
	add_facts(d);
	if (d->a.config && d->b.config)
		d->config = kconfig_diff(d->a.config, d->b.config);
	return add_source(d, whole, err);
}

static bool is_same(const struct diff *d)
{
	return !d->n && d->config && !*d->config && d->source && !*d->source;
}

/* Byte for byte: whatever else differs, they run the same. */
static bool is_same_image(const struct diff *d)
{
	const char *a = d->a.k->image_hash, *b = d->b.k->image_hash;

	return a && b && strcmp(a, b) == 0;
}

/* ---- as text ---- */

static void add_lines(struct strbuf *sb, const char *text)
{
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n");

		strbuf_addf(sb, "  %.*s\n", (int)len, p);
		p += len;
		p += *p == '\n';
	}
}

static void add_source_text(struct strbuf *sb, const struct diff *d, bool whole)
{
	if (!d->source) {
		strbuf_addf(sb, "source: not compared: %s\n", d->no_source);
	} else if (!*d->source) {
		strbuf_adds(sb, "source: the same\n");
	} else {
		strbuf_adds(sb, "source:\n");
		if (whole)
			strbuf_adds(sb, d->source);
		else
			add_lines(sb, d->source);
	}
}

char *build_diff(const struct kernel *a, const struct kernel *b, bool whole, struct error *err)
{
	struct strbuf sb = STRBUF_INIT;
	struct diff d = { 0 };

	if (diff_open(&d, a, b, whole, err) < 0) {
		diff_close(&d);
		return NULL;
	}
	if (is_same_image(&d))
		strbuf_adds(&sb, "image: the same\n");
	for (size_t i = 0; i < d.n; i++)
		strbuf_addf(&sb, "%s: %s -> %s\n", d.fact[i].name, d.fact[i].a ? d.fact[i].a : "-",
			    d.fact[i].b ? d.fact[i].b : "-");
	if (!d.config)
		strbuf_adds(&sb, "config: not compared: not both have one\n");
	else if (!*d.config)
		strbuf_adds(&sb, "config: the same\n");
	else
		strbuf_adds(&sb, "config:\n");
	add_lines(&sb, d.config ? d.config : "");
	add_source_text(&sb, &d, whole);
	diff_close(&d);
	return strbuf_steal(&sb);
}

/* ---- as JSON ---- */

static json_t *text_or_null(const char *text)
{
	json_t *o = text ? json_string(text) : NULL; /* NULL too when it is not UTF-8 */

	return o ? o : json_null();
}

static json_t *facts_json(const struct diff *d)
{
	json_t *array = json_array();

	for (size_t i = 0; i < d->n; i++)
		json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "what", d->fact[i].name, "a",
						       text_or_null(d->fact[i].a), "b",
						       text_or_null(d->fact[i].b)));
	return array;
}

static json_t *config_value(const char *text, size_t len)
{
	cleanup_free char *value = xstrndup(text, len);

	return strcmp(value, "-") == 0 ? json_null() : text_or_null(value);
}

/* "SYMBOL: A -> B" */
static json_t *config_line(const char *line, size_t len)
{
	const char *colon = memmem(line, len, ": ", 2);
	const char *arrow = colon ? memmem(colon, (size_t)(line + len - colon), " -> ", 4) : NULL;

	if (!arrow)
		return json_null();
	return json_pack("{s:s%, s:o, s:o}", "symbol", line, (size_t)(colon - line), "a",
			 config_value(colon + 2, (size_t)(arrow - colon - 2)), "b",
			 config_value(arrow + 4, (size_t)(line + len - arrow - 4)));
}

static json_t *config_json(const struct diff *d)
{
	json_t *array;

	if (!d->config)
		return json_null();
	array = json_array();
	for (const char *p = d->config; *p;) {
		size_t len = strcspn(p, "\n");

		json_array_append_new(array, config_line(p, len));
		p += len;
		p += *p == '\n';
	}
	return array;
}

json_t *build_diff_json(const struct kernel *a, const struct kernel *b, bool whole,
			struct error *err)
{
	struct diff d = { 0 };
	json_t *o = NULL;

	if (diff_open(&d, a, b, whole, err) == 0)
		o = json_pack("{s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o}", "a",
			      text_or_null(a->name), "b", text_or_null(b->name), "same",
			      is_same(&d), "same_image", is_same_image(&d), "differences",
			      facts_json(&d), "config", config_json(&d), "source",
			      text_or_null(d.source), "source_not_compared",
			      text_or_null(d.no_source));
	diff_close(&d);
	return o;
}
