/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_OPT_H
#define MMRIG_OPT_H
/*
 * One table of options a command: parsing, --help, shell completion and the manual come from it.
 * The targets are members of the command's own struct (offsetof), never file statics.
 *
 *	struct list_args { bool json; char *what; };
 *	static const struct opt list_opts[] = {
 *		OPT_FLAG("json", struct list_args, json, "print one JSON document"),
 *		OPT_END,
 *	};
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/util/error.h"

enum opt_kind { OPT_KIND_END, OPT_KIND_FLAG, OPT_KIND_STRING, OPT_KIND_LIST, OPT_KIND_U64, OPT_KIND_BYTES,
		OPT_KIND_CHOICE };

/* A repeatable option: pointers into argv, NULL-terminated array on the heap. */
struct opt_list {
	const char **item;
	size_t n;
};

struct opt {
	enum opt_kind kind;
	const char *name; /* long, without the dashes */
	size_t offset;
	const char *arg;  /* "SIZE"; NULL for flags; "a|b" for choices */
	const char *help; /* one line */
	uint64_t min, max;
	char letter; /* "-o" for 'o'; 0: none */
};

#define OPT_FLAG(n, type, member, h) { OPT_KIND_FLAG, n, offsetof(type, member), NULL, h, 0, 0 }
#define OPT_STRING(n, type, member, a, h) { OPT_KIND_STRING, n, offsetof(type, member), a, h, 0, 0 }
#define OPT_STRING_LETTER(l, n, type, member, a, h) \
	{ OPT_KIND_STRING, n, offsetof(type, member), a, h, 0, 0, l }
#define OPT_LIST(n, type, member, a, h) { OPT_KIND_LIST, n, offsetof(type, member), a, h, 0, 0 }
#define OPT_U64(n, type, member, a, lo, hi, h) \
	{ OPT_KIND_U64, n, offsetof(type, member), a, h, lo, hi }
#define OPT_BYTES(n, type, member, a, h) { OPT_KIND_BYTES, n, offsetof(type, member), a, h, 0, 0 }
#define OPT_CHOICE(n, type, member, choices, h) \
	{ OPT_KIND_CHOICE, n, offsetof(type, member), choices, h, 0, 0 }
#define OPT_END { OPT_KIND_END, NULL, 0, NULL, NULL, 0, 0 }
/* Members: FLAG bool, STRING and CHOICE const char *, LIST struct opt_list, U64 and BYTES uint64_t. */

struct command {
	const char *name;
	const char *args;    /* "SCENARIO", "[NAME]...": positional arguments in the usage line */
	const char *summary; /* one line */
	const char *text;    /* paragraphs for --help and the manual; may be NULL */
	const struct opt *opts;			/* may be NULL */
	const struct command *const *sub;	/* NULL-terminated; or NULL */
	/*
	 * argc/argv: what stands behind the command's name, options included. Returns an exit status
	 * of results/verdict.h; a filled err is printed by main, and its status wins.
	 */
	int (*run)(const struct command *self, int argc, char **argv, struct error *err);
};

/*
 * Parses options anywhere among the arguments ("--name value", "--name=value", "--no-name" for
 * flags; "-o value" and "-ovalue" where it has a letter; "--" ends them; a value that begins with
 * "--" needs the "="; U64: max 0 is no limit).
 * Positional arguments are moved to the front of argv and counted in *npos (may be NULL); must be
 * in [min, max] (max < 0: no limit). Unknown option: EXIT_USAGE with the nearest. Lists are the
 * caller's to free, also after an error.
 */
int opt_parse(const struct command *c, int argc, char **argv, void *target, int *npos, int min,
	      int max, struct error *err);
void opt_list_free(struct opt_list *l);

/* The table of the program, NULL-terminated (harness/main.c). */
extern const struct command *const command_table[];

/* The option that "-o" or "-ovalue" is, or NULL: also where the word is no such thing. */
const struct opt *opt_of_letter(const struct opt *opts, const char *word);

extern const struct command command_run, command_compare, command_report, command_kernel,
	command_list, command_doctor, command_results, command_layout, command_help;
/* Below others. */
extern const struct command command_layout_check, command_layout_list;

/* Runs argv against the table: help, unknown command with the nearest, the error printed. */
int command_main(int argc, char **argv);
/* stdout: help of one command, or of all (c NULL). */
void command_help_print(const struct command *c);
/* The mmrig(1) page in mdoc, made of the table, the verdicts and the exit statuses. */
void command_manual_print(void);

#endif
