/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_HELP_H
#define MMRIG_HELP_H
/* What is made of the table of commands: help, the manual, shell completion. */
#include "harness/cmd/opt.h"
#include "results/util/str.h"

#ifndef MMRIG_VERSION
#define MMRIG_VERSION "unversioned"
#endif

/* By name among the commands of `parent` (NULL: all); EXIT_USAGE with the nearest. */
const struct command *command_find(const struct command *parent, const char *name,
				   struct error *err);
/* "mmrig kernel fetch"; heap. */
char *command_path(const struct command *c);
/* The usage line without a newline; heap. */
char *command_usage(const struct command *c);
/* The words of the command's one positional argument such as "scenarios|workloads", else NULL. */
const char *command_choices(const struct command *c);
/*
 * Calls back for every paragraph of a command's text: blank lines part paragraphs, and one whose
 * lines begin with blanks is to be kept as it is. para has no newline at the end.
 */
void command_each_paragraph(const char *text, void (*fn)(void *arg, const char *para, bool as_is),
			    void *arg);

/*
 * The words of text in 80 columns: the first line goes on at column `at`, further ones begin at
 * column `indent`, the last is ended.
 */
void help_add_wrapped(struct strbuf *sb, const char *text, size_t at, size_t indent);

/* The whole of each; heap. c NULL: help of all commands. */
char *command_help_text(const struct command *c);
char *command_manual_text(void);
char *command_completion_text(void);

#endif
