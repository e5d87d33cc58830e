// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness/cmd/help.h"
#include "results/util/cleanup.h"

/*
 * A bash completion without the bash-completion package. Words come from the table; only names of
 * scenarios and layouts are asked for at the time, since a folder of one's own may hold more of them.
 */
static const char head[] =
	"# bash completion for mmrig, made by: mmrig help --completion\n"
	"_mmrig_words()\n"
	"{\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"_mmrig_files()\n"
	"{\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"_mmrig_scenarios()\n"
	"{\n"
	"\t_mmrig_words \"$(\"${COMP_WORDS[0]}\" list scenarios 2>/dev/null | cut -d' ' -f1)\"\n"
	"\t[[ ${#COMPREPLY[@]} -gt 0 ]] || _mmrig_files -f\n"
	"}\n"
	"\n"
	"_mmrig_layouts()\n"
	"{\n"
	"\t_mmrig_words \"$({ \"${COMP_WORDS[0]}\" list scenarios | cut -d' ' -f1\n"
	"\t\t\"${COMP_WORDS[0]}\" list layouts | sed -n '/^Named/,$p' | sed -n '/^[a-z0-9]/s/ .*//p'; } 2>/dev/null)\"\n"
	"\t[[ ${#COMPREPLY[@]} -gt 0 ]] || _mmrig_files -f\n"
	"}\n"
	"\n"
	"_mmrig()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal path=${COMP_WORDS[1]}\n"
	"\n"
	"\tCOMPREPLY=()\n";

static const char tail[] = "}\n"
			   "complete -F _mmrig mmrig\n";

static void add_names(struct strbuf *sb, const struct command *const *table)
{
	for (const struct command *const *c = table; *c; c++)
		strbuf_addf(sb, "%s%s", c == table ? "" : " ", (*c)->name);
}

static bool has_word(const char *args, const char *word)
{
	return args && strstr(args, word);
}

static void add_words(struct strbuf *sb, const char *choices)
{
	strbuf_adds(sb, "_mmrig_words \"");
	for (; *choices; choices++)
		strbuf_add(sb, *choices == '|' ? " " : choices, 1);
	strbuf_adds(sb, "\"");
}

/* What may follow this option; nothing at all for numbers. */
static void add_value_case(struct strbuf *sb, const char *path, const struct opt *o)
{
	strbuf_addf(sb, "\t\"%s:--%s\"", path, o->name);
	if (o->letter)
		strbuf_addf(sb, " | \"%s:-%c\"", path, o->letter);
	strbuf_adds(sb, ") ");
	if (o->kind == OPT_KIND_CHOICE)
		add_words(sb, o->arg);
	else if (has_word(o->arg, "DIR"))
		strbuf_adds(sb, "_mmrig_files -d");
	else if (o->kind == OPT_KIND_STRING || o->kind == OPT_KIND_LIST)
		strbuf_adds(sb, "_mmrig_files -f");
	else
		strbuf_adds(sb, ":");
	strbuf_adds(sb, "; return ;;\n");
}

static void add_value_cases(struct strbuf *sb, const struct command *const *table)
{
	for (; table && *table; table++) {
		cleanup_free char *path = command_path(*table);

		for (const struct opt *o = (*table)->opts; o && o->kind != OPT_KIND_END; o++)
			if (o->kind != OPT_KIND_FLAG)
				add_value_case(sb, path + strlen("mmrig "), o);
		add_value_cases(sb, (*table)->sub);
	}
}

static void add_positional(struct strbuf *sb, const struct command *c)
{
	const char *choices = command_choices(c);

	if (c->sub) {
		strbuf_adds(sb, "_mmrig_words \"");
		add_names(sb, c->sub);
		strbuf_adds(sb, "\"");
	} else if (strcmp(c->name, "help") == 0) {
		strbuf_adds(sb, "_mmrig_words \"");
		add_names(sb, command_table);
		strbuf_adds(sb, "\"");
	} else if (choices) {
		add_words(sb, choices);
	} else if (has_word(c->args, "LAYOUT")) {
		strbuf_adds(sb, "_mmrig_layouts");
	} else if (has_word(c->args, "SCENARIO")) {
		strbuf_adds(sb, "_mmrig_scenarios");
	} else {
		strbuf_adds(sb, c->args && *c->args ? "_mmrig_files -f" : ":");
	}
}

static void add_option_words(struct strbuf *sb, const struct opt *o)
{
	strbuf_addf(sb, " --%s", o->name);
	if (o->letter)
		strbuf_addf(sb, " -%c", o->letter);
}

static void add_command_cases(struct strbuf *sb, const struct command *const *table)
{
	for (; table && *table; table++) {
		cleanup_free char *path = command_path(*table);

		strbuf_addf(sb, "\t\"%s:-\"*) _mmrig_words \"--help", path + strlen("mmrig "));
		for (const struct opt *o = (*table)->opts; o && o->kind != OPT_KIND_END; o++)
			add_option_words(sb, o);
		strbuf_addf(sb, "\" ;;\n\t\"%s:\"*) ", path + strlen("mmrig "));
		add_positional(sb, *table);
		strbuf_adds(sb, " ;;\n");
		add_command_cases(sb, (*table)->sub);
	}
}

/* "kernel" becomes "kernel fetch" once the second word is one of its commands, and is behind us. */
static void add_sub_path(struct strbuf *sb)
{
	strbuf_adds(sb,
		    "\tif [[ $COMP_CWORD -gt 2 ]]; then\n\t\tcase \"$path ${COMP_WORDS[2]}\" in\n");
	for (const struct command *const *c = command_table; *c; c++)
		for (const struct command *const *s = (*c)->sub; s && *s; s++)
			strbuf_addf(sb, "\t\t\"%s %s\") path+=\" ${COMP_WORDS[2]}\" ;;\n",
				    (*c)->name, (*s)->name);
	strbuf_adds(sb, "\t\tesac\n\tfi\n");
}

char *command_completion_text(void)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, head);
	strbuf_adds(&sb, "\tif [[ $COMP_CWORD -eq 1 ]]; then\n\t\t_mmrig_words \"");
	add_names(&sb, command_table);
	strbuf_adds(&sb, " --help --version\"\n\t\treturn\n\tfi\n");
	add_sub_path(&sb);
	strbuf_adds(&sb, "\tcase \"$path:$prev\" in\n");
	add_value_cases(&sb, command_table);
	strbuf_adds(&sb, "\tesac\n\tcase \"$path:$cur\" in\n");
	add_command_cases(&sb, command_table);
	strbuf_adds(&sb, "\tesac\n");
	strbuf_adds(&sb, tail);
	return strbuf_steal(&sb);
}
