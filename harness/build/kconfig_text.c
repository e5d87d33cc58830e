// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/build/kconfig_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define CONFIG_BYTES_MAX (4 << 20)

/* ---- one line ---- */

static size_t name_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/* "text", with \" and \\ inside, and nothing behind it. */
static bool is_quoted(const char *s)
{
	if (*s++ != '"')
		return false;
	while (*s && *s != '"')
		s += s[0] == '\\' && s[1] ? 2 : 1;
	return s[0] == '"' && !s[1];
}

static bool is_number(const char *s)
{
	size_t digits;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		digits = strspn(s + 2, "0123456789abcdefABCDEF");
		return digits && !s[2 + digits];
	}
	s += *s == '-';
	digits = strspn(s, "0123456789");
	return digits && !s[digits];
}

static bool is_value(const char *s)
{
	return (*s && strchr("ynm", *s) && !s[1]) || is_number(s) || is_quoted(s);
}

static void add_ask(struct kconfig_asks *a, const char *symbol, size_t len, const char *value,
		    unsigned int line, unsigned int layer)
{
	a->item = xreallocarray(a->item, a->n + 1, sizeof(*a->item));
	a->item[a->n++] = (struct kconfig_ask){
		.symbol = xstrndup(symbol, len),
		.value = xstrdup(value),
		.label = a->label[a->nlabels - 1],
		.line = line,
		.layer = layer,
	};
}

/* "# CONFIG_X is not set"; with any blanks, which people write and the kernel would pass over. */
static bool parse_unset(const char *line, const char **symbol, size_t *len)
{
	const char *p = line + 1 + strspn(line + 1, " \t"), *rest;

	if (!str_starts(p, "CONFIG_"))
		return false;
	*symbol = p + strlen("CONFIG_");
	*len = name_length(*symbol);
	rest = *symbol + *len;
	return *len && !strcmp(rest + strspn(rest, " \t"), "is not set");
}

static const char *parse_set(const char *line, const char **symbol, size_t *len, const char **value)
{
	if (!str_starts(line, "CONFIG_"))
		return "no line of a config (CONFIG_NAME=VALUE, # CONFIG_NAME is not set)";
	*symbol = line + strlen("CONFIG_");
	*len = name_length(*symbol);
	*value = *symbol + *len;
	if (!*len || **value != '=')
		return "\"=\" is due straight behind the name";
	if (!is_value(++*value))
		return "the value is none of y, n, m, a number, a \"string\"";
	return NULL;
}

static int parse_line(struct kconfig_asks *a, char *line, unsigned int number, unsigned int layer,
		      bool strict, struct error *err)
{
	const char *symbol = NULL, *value = NULL, *wrong;
	size_t len = strlen(line);

	while (len && isspace((unsigned char)line[len - 1]))
		line[--len] = '\0';
	line += strspn(line, " \t");
	if (!*line)
		return 0;
	if (*line == '#') {
		if (parse_unset(line, &symbol, &len))
			add_ask(a, symbol, len, "n", number, layer);
		return 0;
	}
	wrong = parse_set(line, &symbol, &len, &value);
	if (!wrong)
		add_ask(a, symbol, len, value, number, layer);
	else if (strict)
		return error_set(err, EXIT_USAGE, "%s:%u: \"%.60s\": %s", a->label[a->nlabels - 1],
				 number, line, wrong);
	return 0;
}

/* ---- files ---- */

int kconfig_asks_parse(struct kconfig_asks *a, const char *label, const char *text, size_t len,
		       unsigned int layer, bool strict, struct error *err)
{
	const char *end = text + len;
	unsigned int number = 1;

	a->label = xreallocarray(a->label, a->nlabels + 1, sizeof(*a->label));
	a->label[a->nlabels++] = xstrdup(label);
	if (strict && memchr(text, '\0', len))
		return error_set(err, EXIT_USAGE, "%s: no text, and so no config", label);
	for (; text < end; number++) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		cleanup_free char *line = xstrndup(text, (size_t)((nl ? nl : end) - text));

		if (parse_line(a, line, number, layer, strict, err) < 0)
			return -1;
		text = nl ? nl + 1 : end;
	}
	return 0;
}

static bool is_shipped(const char *path)
{
	cleanup_free char *folder = data_path(KCONFIG_FOLDER, NULL);
	size_t len = folder ? strlen(folder) : 0;

	return len && !strncmp(path, folder, len) && path[len] == '/';
}

static int read_file(struct kconfig_asks *a, const char *path, unsigned int layer,
		     struct error *err)
{
	bool shipped = is_shipped(path);
	/* The shipped ones go by their names; their folder would only make messages long. */
	const char *label = shipped ? strrchr(path, '/') + 1 : path;
	size_t len = 0, first = a->n;
	cleanup_free char *text = file_read(path, CONFIG_BYTES_MAX, &len, err);

	if (!text || kconfig_asks_parse(a, label, text, len, layer, true, err) < 0)
		return -1;
	for (size_t i = first; i < a->n; i++)
		a->item[i].shipped = shipped;
	return 0;
}

bool kconfig_is_same_value(const char *a, const char *b)
{
	int base = str_starts(a, "0x") || str_starts(a, "0X") ? 16 : 10;
	char *a_end, *b_end;
	long long x, y;

	if (!strcmp(a, b))
		return true;
	x = strtoll(a, &a_end, base);
	y = strtoll(b, &b_end, base);
	return a_end != a && b_end != b && !*a_end && !*b_end && x == y;
}

/* ---- asks that differ ---- */

/* Of pointers into one list, the later first among equals. */
static int by_symbol_latest_first(const void *x, const void *y)
{
	const struct kconfig_ask *a = *(struct kconfig_ask *const *)x;
	const struct kconfig_ask *b = *(struct kconfig_ask *const *)y;
	int order = strcmp(a->symbol, b->symbol);

	return order ? order : (a < b) - (a > b);
}

/* Pointers into the list; heap. */
static struct kconfig_ask **sort_latest_first(const struct kconfig_asks *a)
{
	struct kconfig_ask **order = xcalloc(a->n + 1, sizeof(struct kconfig_ask *));

	for (size_t i = 0; i < a->n; i++)
		order[i] = &a->item[i];
	qsort(order, a->n, sizeof(struct kconfig_ask *), by_symbol_latest_first);
	return order;
}

/* A whole config of the user's may have been added to: there the kernel has it that the last counts. */
static int judge_pair(const struct kconfig_ask *was, const struct kconfig_ask *is, bool users_base,
		      const struct kconfig_tell *tell, struct error *err)
{
	cleanup_free char *text = NULL;

	if (kconfig_is_same_value(was->value, is->value))
		return 0;
	if (was->layer == is->layer && (is->layer || !users_base))
		return error_set(err, EXIT_USAGE, "%s:%u: %s=%s contradicts %s:%u (%s)", is->label,
				 is->line, is->symbol, is->value, was->label, was->line, was->value);
	if (!tell || !tell->line || (was->layer != is->layer && !was->layer))
		return 0;
	text = str_printf("%s:%u: %s=%s takes the place of %s:%u (%s)", is->label, is->line,
			  is->symbol, is->value, was->label, was->line, was->value);
	tell->line(tell->arg, text);
	return 0;
}

/* Each against the one before it of the same symbol, in the order of the files. */
static int judge(const struct kconfig_asks *a, bool users_base, const struct kconfig_tell *tell,
		 struct error *err)
{
	cleanup_free struct kconfig_ask **order = sort_latest_first(a);
	cleanup_free const struct kconfig_ask **was = xcalloc(a->n + 1, sizeof(*was));

	for (size_t i = 1; i < a->n; i++)
		if (!strcmp(order[i]->symbol, order[i - 1]->symbol))
			was[order[i - 1] - a->item] = order[i];
	for (size_t i = 0; i < a->n; i++)
		if (was[i] && judge_pair(was[i], &a->item[i], users_base, tell, err) < 0)
			return -1;
	return 0;
}

int kconfig_asks_read(struct kconfig_asks *a, const char *base, const char *const *fragment,
		      const struct kconfig_tell *tell, struct error *err)
{
	cleanup_free char *shipped = base ? NULL : kconfig_base_path(err);

	if (!base && !shipped)
		return -1;
	if (read_file(a, base ? base : shipped, 0, err) < 0)
		return -1;
	for (size_t i = 0; fragment && fragment[i]; i++)
		if (read_file(a, fragment[i], (unsigned int)i + 1, err) < 0)
			return -1;
	if (judge(a, base, tell, err) < 0)
		return -1;
	kconfig_asks_settle(a);
	return 0;
}

/* ---- lists ---- */

static void ask_free(struct kconfig_ask *ask)
{
	free(ask->symbol);
	free(ask->value);
}

void kconfig_asks_free(struct kconfig_asks *a)
{
	for (size_t i = 0; i < a->n; i++)
		ask_free(&a->item[i]);
	for (size_t i = 0; i < a->nlabels; i++)
		free(a->label[i]);
	free(a->item);
	free(a->label);
	*a = (struct kconfig_asks){ 0 };
}

static int by_symbol(const void *x, const void *y)
{
	const struct kconfig_ask *a = x, *b = y;

	return strcmp(a->symbol, b->symbol);
}

void kconfig_asks_settle(struct kconfig_asks *a)
{
	cleanup_free struct kconfig_ask **order = sort_latest_first(a);
	cleanup_free bool *old = xcalloc(a->n + 1, sizeof(*old));
	size_t kept = 0;

	for (size_t i = 1; i < a->n; i++)
		old[order[i] - a->item] = !strcmp(order[i]->symbol, order[i - 1]->symbol);
	for (size_t i = 0; i < a->n; i++) {
		if (old[i])
			ask_free(&a->item[i]);
		else
			a->item[kept++] = a->item[i];
	}
	a->n = kept;
}

void kconfig_asks_sort(struct kconfig_asks *a)
{
	if (a->n)
		qsort(a->item, a->n, sizeof(*a->item), by_symbol);
}

const char *kconfig_value(const struct kconfig_asks *sorted, const char *symbol)
{
	const struct kconfig_ask key = { .symbol = (char *)symbol };
	const struct kconfig_ask *found =
		sorted->n ? bsearch(&key, sorted->item, sorted->n, sizeof(key), by_symbol) : NULL;

	return found ? found->value : NULL;
}

char *kconfig_asks_text(const struct kconfig_asks *a)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < a->n; i++) {
		const struct kconfig_ask *ask = &a->item[i];

		if (!strcmp(ask->value, "n"))
			strbuf_addf(&sb, "# CONFIG_%s is not set\n", ask->symbol);
		else
			strbuf_addf(&sb, "CONFIG_%s=%s\n", ask->symbol, ask->value);
	}
	return strbuf_steal(&sb);
}

/* ---- two configs ---- */

static const char *value_or_dash(const char *value)
{
	return value ? value : "-";
}

static void add_difference(struct strbuf *sb, const char *symbol, const char *a, const char *b)
{
	/* Not set and not there are the same kernel. */
	if (!strcmp(a ? a : "n", b ? b : "n"))
		return;
	strbuf_addf(sb, "%s: %s -> %s\n", symbol, value_or_dash(a), value_or_dash(b));
}

char *kconfig_diff(const char *text_a, const char *text_b)
{
	cleanup_asks struct kconfig_asks a = { 0 }, b = { 0 };
	struct strbuf sb = STRBUF_INIT;
	size_t i = 0, k = 0;

	kconfig_asks_parse(&a, "", text_a, strlen(text_a), 0, false, NULL);
	kconfig_asks_parse(&b, "", text_b, strlen(text_b), 0, false, NULL);
	kconfig_asks_settle(&a);
	kconfig_asks_settle(&b);
	kconfig_asks_sort(&a);
	kconfig_asks_sort(&b);
	while (i < a.n || k < b.n) {
		int order = i == a.n ? 1 : k == b.n ? -1 : by_symbol(&a.item[i], &b.item[k]);
		const struct kconfig_ask *x = order <= 0 ? &a.item[i++] : NULL;
		const struct kconfig_ask *y = order >= 0 ? &b.item[k++] : NULL;

		add_difference(&sb, (x ? x : y)->symbol, x ? x->value : NULL, y ? y->value : NULL);
	}
	return strbuf_steal(&sb);
}

char *kconfig_text(const char *base, const char *const *fragment, const struct kconfig_tell *tell,
		   struct error *err)
{
	cleanup_asks struct kconfig_asks a = { 0 };
	cleanup_free char *text = NULL;

	if (kconfig_asks_read(&a, base, fragment, tell, err) < 0)
		return NULL;
	text = kconfig_asks_text(&a);
	/* The same lines mean another config over allnoconfig than over the defaults. */
	return str_printf("%s\n%s", base ? "olddefconfig" : "allnoconfig", text);
}
