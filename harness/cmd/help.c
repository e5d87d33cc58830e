// SPDX-License-Identifier: GPL-2.0-only
#include "harness/cmd/help.h"

#include <inttypes.h>
#include <string.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

#define HELP_COLUMNS 80
#define COMMAND_COLUMN 14
#define OPTION_COLUMN 26

/* ---- words about a command ---- */

static bool add_path(struct strbuf *sb, const struct command *const *table, const struct command *c)
{
	for (; table && *table; table++) {
		size_t len = sb->len;

		strbuf_addf(sb, " %s", (*table)->name);
		if (*table == c || add_path(sb, (*table)->sub, c))
			return true;
		sb->len = len;
		sb->data[len] = '\0';
	}
	return false;
}

char *command_path(const struct command *c)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "mmrig");
	if (c && !add_path(&sb, command_table, c))
		strbuf_addf(&sb, " %s", c->name);
	return strbuf_steal(&sb);
}

char *command_usage(const struct command *c)
{
	cleanup_free char *path = command_path(c);
	const char *args = c->args ? c->args : !c->sub ? "" : c->run ? "[COMMAND]" : "COMMAND";

	return str_printf("usage: %s%s%s%s", path, *args ? " " : "", args,
			  c->opts ? " [--OPTION]..." : "");
}

/* What is named in capitals stands for something else. */
#define UPPER_CASE "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

const char *command_choices(const struct command *c)
{
	return c->args && strchr(c->args, '|') && !strpbrk(c->args, " []" UPPER_CASE) ? c->args : NULL;
}

void command_each_paragraph(const char *text, void (*fn)(void *arg, const char *para, bool as_is),
			    void *arg)
{
	while (text && *text) {
		const char *end = strstr(text, "\n\n");
		cleanup_free char *para = end ? xstrndup(text, (size_t)(end - text)) :
						xstrdup(text);
		size_t len = strlen(para);

		while (len && para[len - 1] == '\n')
			para[--len] = '\0';
		if (len)
			fn(arg, para, *para == ' ' || *para == '\t');
		text = end ? end + 2 : NULL;
	}
}

/* ---- layout ---- */

static void add_blanks(struct strbuf *sb, size_t n)
{
	while (n--)
		strbuf_add(sb, " ", 1);
}

void help_add_wrapped(struct strbuf *sb, const char *text, size_t at, size_t indent)
{
	size_t column = at;

	for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
		size_t len = strcspn(text, " \n");

		if (column > indent && column + 1 + len > HELP_COLUMNS) {
			strbuf_adds(sb, "\n");
			add_blanks(sb, indent);
			column = indent;
		} else if (column > indent) {
			strbuf_adds(sb, " ");
			column++;
		}
		strbuf_add(sb, text, len);
		column += len;
		text += len;
	}
	strbuf_adds(sb, "\n");
}

/* "  head   text", the text from column `column` on, below when the head is too long. */
static void add_row(struct strbuf *sb, const char *head, const char *text, size_t column)
{
	size_t used = 2 + strlen(head);

	strbuf_addf(sb, "  %s", head);
	if (used + 2 > column) {
		strbuf_adds(sb, "\n");
		used = 0;
	}
	add_blanks(sb, column - used);
	help_add_wrapped(sb, text, column, column);
}

static void add_commands(struct strbuf *sb, const struct command *const *table)
{
	for (; *table; table++)
		add_row(sb, (*table)->name, (*table)->summary, COMMAND_COLUMN);
}

static void add_option(struct strbuf *sb, const struct opt *o)
{
	char letter[] = { '-', o->letter, ',', ' ', '\0' };
	cleanup_free char *head = str_printf("%s--%s%s%s", o->letter ? letter : "", o->name,
					     o->arg ? " " : "", o->arg ? o->arg : "");
	cleanup_strbuf struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, o->help);
	if (o->kind == OPT_KIND_LIST)
		strbuf_adds(&text, "; may be repeated");
	if (o->kind == OPT_KIND_U64 && o->max)
		strbuf_addf(&text, " (%" PRIu64 " to %" PRIu64 ")", o->min, o->max);
	add_row(sb, head, text.data, OPTION_COLUMN);
}

static void add_help_paragraph(void *arg, const char *para, bool as_is)
{
	struct strbuf *sb = arg;

	strbuf_adds(sb, "\n");
	if (as_is)
		strbuf_addf(sb, "%s\n", para);
	else
		help_add_wrapped(sb, para, 0, 0);
}

/* ---- help ---- */

static char *help_of_all(void)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "usage: mmrig COMMAND [ARGUMENT]... [--OPTION]...\n\n"
			 "Stress and reproduction harness for Linux memory management in virtual"
			 " machines.\n\ncommands:\n");
	add_commands(&sb, command_table);
	strbuf_adds(&sb, "\nexit status:\n");
	for (size_t i = 0; i < exit_status_count; i++) {
		cleanup_free char *number = str_printf("%d", (int)exit_status_table[i].status);

		add_row(&sb, number, exit_status_table[i].summary, 7);
	}
	strbuf_adds(&sb, "\nmmrig COMMAND --help           explains a command\n"
			 "mmrig help --man | man -l -    is the whole manual\n");
	return strbuf_steal(&sb);
}

char *command_help_text(const struct command *c)
{
	cleanup_free char *usage = NULL;
	struct strbuf sb = STRBUF_INIT;

	if (!c)
		return help_of_all();
	usage = command_usage(c);
	strbuf_addf(&sb, "%s\n\n", usage);
	help_add_wrapped(&sb, c->summary, 0, 0);
	command_each_paragraph(c->text, add_help_paragraph, &sb);
	if (c->sub) {
		strbuf_adds(&sb, "\ncommands:\n");
		add_commands(&sb, c->sub);
	}
	if (c->opts && c->opts->kind != OPT_KIND_END)
		strbuf_adds(&sb, "\noptions:\n");
	for (const struct opt *o = c->opts; o && o->kind != OPT_KIND_END; o++)
		add_option(&sb, o);
	return strbuf_steal(&sb);
}

void command_help_print(const struct command *c)
{
	cleanup_free char *text = command_help_text(c);

	fputs(text, stdout);
}

void command_manual_print(void)
{
	cleanup_free char *text = command_manual_text();

	fputs(text, stdout);
}

/* ---- the command ---- */

struct help_args {
	bool man, completion;
};

static const struct opt help_opts[] = {
	OPT_FLAG("man", struct help_args, man, "print the manual page, for man -l or mandoc"),
	OPT_FLAG("completion", struct help_args, completion, "print the completion file for bash"),
	OPT_END,
};

static int help_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct help_args args = { false, false };
	const struct command *c = NULL;
	int n;

	if (opt_parse(self, argc, argv, &args, &n, 0, 2, err) < 0)
		return -1;
	if (args.man || args.completion) {
		cleanup_free char *text = args.man ? command_manual_text() :
						     command_completion_text();

		if (n || (args.man && args.completion))
			return error_set(err, EXIT_USAGE,
					 "help: --man and --completion go alone; drop the rest");
		fputs(text, stdout);
		return EXIT_GOOD;
	}
	for (int i = 0; i < n; i++) {
		c = command_find(c, argv[i], err);
		if (!c)
			return -1;
	}
	command_help_print(c);
	return EXIT_GOOD;
}

const struct command command_help = {
	.name = "help",
	.args = "[COMMAND [SUBCOMMAND]]",
	.summary = "explain mmrig or one of its commands; print the manual",
	.text = "Completion is turned on for this shell by\n\n"
		"    eval \"$(mmrig help --completion)\"\n",
	.opts = help_opts,
	.run = help_run,
};
