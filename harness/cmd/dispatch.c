// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "harness/cmd/help.h"
#include "harness/engine/progress.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define COMMANDS_MAX 64

const struct command *command_find(const struct command *parent, const char *name,
				   struct error *err)
{
	const struct command *const *table = parent ? parent->sub : command_table;
	cleanup_free char *path = command_path(parent);
	const char *names[COMMANDS_MAX], *near;
	size_t n = 0;

	if (!table) {
		error_set(err, EXIT_USAGE, "%s has no commands of its own, so no \"%s\"", path,
			  name);
		return NULL;
	}
	for (; *table && n < COMMANDS_MAX; table++) {
		if (strcmp((*table)->name, name) == 0)
			return *table;
		names[n++] = (*table)->name;
	}
	near = str_nearest(name, names, n);
	error_set(err, EXIT_USAGE, "unknown command \"%s\"", name);
	if (near)
		error_hint(err, "did you mean %s %s?", path, near);
	else
		error_hint(err, "%s --help lists the commands", path);
	return NULL;
}

static bool takes_value(const struct command *c, const char *word)
{
	const struct opt *letter = opt_of_letter(c->opts, word);

	if (letter)
		return letter->kind != OPT_KIND_FLAG && !word[2];
	if (!str_starts(word, "--"))
		return false;
	for (const struct opt *o = c->opts; o && o->kind != OPT_KIND_END; o++)
		if (o->kind != OPT_KIND_FLAG && strcmp(o->name, word + 2) == 0)
			return true;
	return false;
}

/* --help among the options; the word behind an option that takes a value is not. */
static bool wants_help(const struct command *c, int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
		if (takes_value(c, argv[i]))
			i++;
	}
	return false;
}

/* No command given: the help is what is wanted, but a script must not take it for a result. */
static int help_to_stderr(const struct command *c)
{
	cleanup_free char *text = command_help_text(c);

	fputs(text, stderr);
	return EXIT_USAGE;
}

static int run_command(const struct command *c, int argc, char **argv, struct error *err);

static int run_sub(const struct command *c, int argc, char **argv, struct error *err)
{
	const struct command *sub = command_find(c, argv[0], err);
	int status = sub ? run_command(sub, argc - 1, argv + 1, err) : -1;

	if (sub && err->text)
		error_wrap(err, "%s", c->name);
	return status;
}

static int run_command(const struct command *c, int argc, char **argv, struct error *err)
{
	if (c->sub && argc && argv[0][0] != '-')
		return run_sub(c, argc, argv, err);
	if (wants_help(c, argc, argv)) {
		command_help_print(c);
		return EXIT_GOOD;
	}
	if (c->sub && argc && !c->run)
		return run_sub(c, argc, argv, err);
	return c->run ? c->run(c, argc, argv, err) : help_to_stderr(c);
}

/* An option where a command is due. */
static int misplaced_option(const char *word, struct error *err)
{
	static const char *const known[] = { "--help", "--version" };
	const char *near = str_nearest(word, known, ARRAY_SIZE(known));

	error_set(err, EXIT_USAGE, "%s stands where a command is due", word);
	if (near)
		return error_hint(err, "did you mean %s?", near);
	return error_hint(err, "options follow it, as in mmrig list metrics --json");
}

static int dispatch(int argc, char **argv, struct error *err)
{
	const struct command *c;

	if (argc < 2)
		return help_to_stderr(NULL);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		command_help_print(NULL);
		return EXIT_GOOD;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("mmrig %s\n", MMRIG_VERSION);
		return EXIT_GOOD;
	}
	if (argv[1][0] == '-')
		return misplaced_option(argv[1], err);
	c = command_find(NULL, argv[1], err);
	return c ? run_command(c, argc - 2, argv + 2, err) : -1;
}

/*
 * A program started with a standard descriptor closed would get it for the next file that it
 * opens, and print its results into a database. Opened the wrong way round, so that use fails.
 */
static void keep_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

/* The reader of a pipe or socket went away, as `head` does: its own wish, and no error. */
static bool reader_is_gone(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP));
}

static int flush_results(struct error *err)
{
	bool earlier = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !earlier)
		return 0;
	if (errno == EPIPE || reader_is_gone(STDOUT_FILENO))
		return 0;
	if (!errno)
		return error_set(err, EXIT_NO_VERDICT,
				 "standard output: cannot write; the results are not complete");
	return error_errno(err, EXIT_NO_VERDICT, "standard output: cannot write");
}

static void print_error(const struct error *err)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "mmrig: ");
	for (const char *p = err->text; *p; p += strcspn(p, "\n")) {
		cleanup_free char *line = NULL;

		p += *p == '\n';
		line = xstrndup(p, strcspn(p, "\n"));
		progress_printable(&sb, line);
		strbuf_adds(&sb, "\n");
	}
	fwrite(sb.data, 1, sb.len, stderr);
}

int command_main(int argc, char **argv)
{
	cleanup_error struct error err = ERROR_INIT;
	int status;

	keep_standard_fds();
	signal(SIGPIPE, SIG_IGN);
	status = dispatch(argc, argv, &err);
	if (!err.text)
		flush_results(&err);
	if (err.text) {
		print_error(&err);
		status = err.status;
	}
	return status < 0 ? EXIT_NO_VERDICT : status;
}
