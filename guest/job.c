// SPDX-License-Identifier: GPL-2.0-only
#include "guest/job.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void line_free(struct job_line *line)
{
	for (size_t i = 0; i < line->npairs; i++) {
		free(line->pair[i].key);
		free(line->pair[i].value);
	}
	free(line->pair);
	free(line->word);
	*line = (struct job_line){ 0 };
}

/* NULL when out of memory. */
static struct job_line *append(struct job *job, const char *word)
{
	struct job_line *grown = realloc(job->line, (job->nlines + 1) * sizeof(*grown));
	char *copy = strdup(word);

	if (grown)
		job->line = grown;
	if (!grown || !copy) {
		free(copy);
		return NULL;
	}
	grown[job->nlines] = (struct job_line){ .word = copy };
	return &grown[job->nlines++];
}

static int set_pair(struct job_line *line, const char *key, const char *value)
{
	struct job_pair pair = { strdup(key), strdup(value) }, *grown;

	for (size_t i = 0; pair.key && pair.value && i < line->npairs; i++) {
		if (strcmp(line->pair[i].key, key) == 0) {
			free(line->pair[i].value);
			line->pair[i].value = pair.value;
			free(pair.key);
			return 0;
		}
	}
	grown = realloc(line->pair, (line->npairs + 1) * sizeof(*grown));
	if (grown)
		line->pair = grown;
	if (!grown || !pair.key || !pair.value) {
		free(pair.key);
		free(pair.value);
		return -1;
	}
	grown[line->npairs++] = pair;
	return 0;
}

void job_line_set(struct job_line *line, const char *key, const char *value)
{
	if (line)
		set_pair(line, key, value);
}

struct job_line *job_add(struct job *job, const char *word, ...)
{
	struct job_line *line = append(job, word);
	const char *key;
	va_list ap;

	va_start(ap, word);
	while (line && (key = va_arg(ap, const char *)))
		job_line_set(line, key, va_arg(ap, const char *));
	va_end(ap);
	return line;
}

const char *job_get(const struct job_line *line, const char *key)
{
	for (size_t i = 0; i < line->npairs; i++)
		if (strcmp(line->pair[i].key, key) == 0)
			return line->pair[i].value;
	return NULL;
}

static int64_t number_or(const char *text, int64_t dflt)
{
	const char *digits = text && *text == '-' ? text + 1 : text;
	char *end;
	long long v;

	if (!digits || !isdigit((unsigned char)*digits))
		return dflt;
	errno = 0;
	v = strtoll(text, &end, 10);
	return errno || *end ? dflt : v;
}

int64_t job_get_i64(const struct job_line *line, const char *key, int64_t dflt)
{
	return number_or(job_get(line, key), dflt);
}

const struct job_line *job_next(const struct job *job, const struct job_line *prev,
				const char *word)
{
	for (size_t i = prev ? (size_t)(prev - job->line) + 1 : 0; i < job->nlines; i++)
		if (strcmp(job->line[i].word, word) == 0)
			return &job->line[i];
	return NULL;
}

int64_t job_option(const struct job *job, const char *name, int64_t dflt)
{
	const struct job_line *line = NULL;

	while ((line = job_next(job, line, "option"))) {
		const char *have = job_get(line, "name");

		if (have && strcmp(have, name) == 0)
			return job_get_i64(line, "value", dflt);
	}
	return dflt;
}

static bool is_plain(const char *value)
{
	for (const char *p = value; *p; p++)
		if (isspace((unsigned char)*p) || *p == '"' || *p == '\\')
			return false;
	return *value;
}

static void put_value(FILE *f, const char *value)
{
	if (is_plain(value)) {
		fputs(value, f);
		return;
	}
	putc('"', f);
	for (const char *p = value; *p; p++) {
		if (*p == '"' || *p == '\\')
			putc('\\', f);
		if (*p == '\n')
			fputs("\\n", f);
		else
			putc(*p, f);
	}
	putc('"', f);
}

char *job_format(const struct job *job)
{
	char *text = NULL;
	size_t len = 0;
	bool broken;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (size_t i = 0; i < job->nlines; i++) {
		const struct job_line *line = &job->line[i];

		fputs(line->word, f);
		for (size_t k = 0; k < line->npairs; k++) {
			fprintf(f, " %s=", line->pair[k].key);
			put_value(f, line->pair[k].value);
		}
		putc('\n', f);
	}
	broken = ferror(f);
	if (fclose(f) != 0 || broken) {
		free(text);
		return NULL;
	}
	return text;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-.", c));
}

/* The word at *at, moved behind it; NULL when there is none, or no memory. */
static char *parse_word(const char **at)
{
	const char *start = *at;

	while (is_word_char(**at))
		(*at)++;
	return *at > start ? strndup(start, (size_t)(*at - start)) : NULL;
}

static char *parse_quoted(const char **at)
{
	const char *p = *at + 1;
	char *value = malloc(strlen(p) + 1), *w = value;

	while (value && *p && *p != '"' && *p != '\n') {
		char c = *p++;

		if (c == '\\') {
			c = *p;
			if (c != '"' && c != '\\' && c != 'n')
				break;
			p++;
			c = c == 'n' ? '\n' : c;
		}
		*w++ = c;
	}
	if (!value || *p != '"') {
		free(value);
		return NULL;
	}
	*w = '\0';
	*at = p + 1;
	return value;
}

static char *parse_value(const char **at)
{
	const char *start = *at;

	if (*start == '"')
		return parse_quoted(at);
	while (**at && !isspace((unsigned char)**at) && **at != '"' && **at != '\\')
		(*at)++;
	return *at > start ? strndup(start, (size_t)(*at - start)) : NULL;
}

static int parse_pair(struct job_line *line, const char **at)
{
	char *key = parse_word(at), *value = NULL;
	int ret = -1;

	if (key && **at == '=' && !job_get(line, key)) {
		(*at)++;
		value = parse_value(at);
		if (value)
			ret = set_pair(line, key, value);
	}
	free(key);
	free(value);
	return ret;
}

/* One line; *at ends on its newline or on the end of the text. */
static int parse_line(struct job *job, const char **at)
{
	struct job_line *line;
	char *word;

	if (!**at || **at == '\n')
		return 0;
	word = parse_word(at);
	line = word ? append(job, word) : NULL;
	free(word);
	while (line && **at == ' ') {
		(*at)++;
		if (parse_pair(line, at) < 0)
			return -1;
	}
	return line && (!**at || **at == '\n') ? 0 : -1;
}

int job_parse(struct job *job, const char *text, int *bad_line)
{
	*job = (struct job){ 0 };
	*bad_line = 0;
	for (const char *at = text; *at; at++) {
		++*bad_line;
		if (parse_line(job, &at) < 0) {
			job_free(job);
			return -1;
		}
		if (!*at)
			break;
	}
	*bad_line = 0;
	return 0;
}

void job_remove(struct job *job, const char *word)
{
	size_t n = 0;

	for (size_t i = 0; i < job->nlines; i++) {
		if (strcmp(job->line[i].word, word) == 0)
			line_free(&job->line[i]);
		else
			job->line[n++] = job->line[i];
	}
	job->nlines = n;
}

void job_free(struct job *job)
{
	for (size_t i = 0; i < job->nlines; i++)
		line_free(&job->line[i]);
	free(job->line);
	*job = (struct job){ 0 };
}
