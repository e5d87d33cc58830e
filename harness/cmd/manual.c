// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness/cmd/help.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define MANUAL_DATE "November 30, 2026"
#define SOURCE_COLUMNS 78

static void add_escaped(struct strbuf *sb, const char *text, size_t len)
{
	if (len && (*text == '.' || *text == '\''))
		strbuf_adds(sb, "\\&");
	for (; len; len--, text++) {
		if (*text == '\\')
			strbuf_adds(sb, "\\e");
		else
			strbuf_add(sb, text, 1);
	}
}

/*
 * A text of ours as mdoc text lines, with a new line after the end of a sentence so that the
 * formatter spaces it.
 */
static void add_text(struct strbuf *sb, const char *text)
{
	size_t column = 0;

	for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
		size_t len = strcspn(text, " \n");
		bool sentence_end = column && strchr(".?!", text[-2]);

		if (column && (sentence_end || column + 1 + len > SOURCE_COLUMNS)) {
			strbuf_adds(sb, "\n");
			column = 0;
		}
		if (column)
			strbuf_adds(sb, " ");
		add_escaped(sb, text, len);
		column += len + (column ? 1 : 0);
		text += len;
	}
	strbuf_adds(sb, "\n");
}

/* One argument of a macro: quoted, since args such as "[NAME]..." hold blanks and delimiters. */
static void add_quoted(struct strbuf *sb, const char *text)
{
	strbuf_adds(sb, "\"");
	for (; *text; text++) {
		if (*text == '\\')
			strbuf_adds(sb, "\\e");
		else if (*text == '"')
			strbuf_adds(sb, "\\(dq");
		else
			strbuf_add(sb, text, 1);
	}
	strbuf_adds(sb, "\"");
}

static void add_paragraph(void *arg, const char *para, bool as_is)
{
	struct strbuf *sb = arg;

	if (!as_is) {
		strbuf_adds(sb, ".Pp\n");
		add_text(sb, para);
		return;
	}
	strbuf_adds(sb, ".Bd -literal");
	for (const char *p = para; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		strbuf_adds(sb, "\n");
		add_escaped(sb, p, strcspn(p, "\n"));
	}
	strbuf_adds(sb, "\n.Ed\n");
}

static void add_options(struct strbuf *sb, const struct opt *opts)
{
	if (!opts || opts->kind == OPT_KIND_END)
		return;
	strbuf_adds(sb, ".Bl -tag -width Ds\n");
	for (const struct opt *o = opts; o->kind != OPT_KIND_END; o++) {
		strbuf_adds(sb, ".It ");
		if (o->letter)
			strbuf_addf(sb, "Fl %c , ", o->letter);
		strbuf_addf(sb, "Fl -%s", o->name);
		if (o->arg) {
			strbuf_adds(sb, " Ar ");
			add_quoted(sb, o->arg);
		}
		strbuf_adds(sb, "\n");
		add_text(sb, o->help);
		if (o->kind == OPT_KIND_LIST)
			strbuf_adds(sb, "(may be repeated)\n");
	}
	strbuf_adds(sb, ".El\n");
}

static void add_command(struct strbuf *sb, const struct command *c)
{
	cleanup_free char *path = command_path(c), *usage = command_usage(c);

	strbuf_addf(sb, ".Ss %s\n", path);
	strbuf_adds(sb, ".D1 Ic ");
	add_quoted(sb, usage + strlen("usage: "));
	strbuf_adds(sb, "\n.Pp\n");
	add_text(sb, c->summary);
	command_each_paragraph(c->text, add_paragraph, sb);
	add_options(sb, c->opts);
	for (const struct command *const *s = c->sub; s && *s; s++)
		add_command(sb, *s);
}

static void add_exit_statuses(struct strbuf *sb)
{
	strbuf_adds(sb, ".Sh EXIT STATUS\n.Bl -tag -width Ds -compact\n");
	for (size_t i = 0; i < exit_status_count; i++) {
		strbuf_addf(sb, ".It %d\n", (int)exit_status_table[i].status);
		add_text(sb, exit_status_table[i].summary);
	}
	strbuf_adds(sb, ".El\n");
}

static void add_verdicts(struct strbuf *sb)
{
	strbuf_adds(
		sb,
		".Sh VERDICTS\nA run ends in exactly one verdict.\n"
		"Only runs that are ok enter the statistics; every verdict is counted and shown.\n"
		".Pp\n.Bl -tag -width workload-failed -compact\n");
	for (int v = 0; v < VERDICT_COUNT; v++) {
		strbuf_addf(sb, ".It %s\n", verdict_name((enum verdict)v));
		add_text(sb, verdict_summary((enum verdict)v));
		strbuf_addf(sb, "(status %d)\n", (int)verdict_exit((enum verdict)v));
	}
	strbuf_adds(sb, ".El\n");
}

static const char manual_head[] =
	".Dd " MANUAL_DATE "\n"
	".Dt MMRIG 1\n"
	".Os\n"
	".Sh NAME\n"
	".Nm mmrig\n"
	".Nd stress and reproduction harness for Linux memory management in virtual machines\n"
	".Sh SYNOPSIS\n"
	".Nm\n.Ar command\n.Op Ar argument ...\n.Op Fl -option No ...\n"
	".Sh DESCRIPTION\n"
	".Nm\n"
	"boots a kernel under QEMU.\n"
	"An agent inside shapes the physical memory of the guest as a scenario asks,\n"
	"runs a workload on it, and sends what\n.Pa /proc/vmstat\n"
	"and its neighbours say at the edges of every phase.\n"
	"Of these\n.Nm\nmakes differences that can be compared across kernels.\n"
	".Pp\n"
	"A\n.Em cell\nis one kernel with one variant of the scenario, a\n.Em run\n"
	"one repetition of a cell, and a\n.Em run set\n"
	"everything that one\n.Ic mmrig run\nrecorded.\n"
	".Pp\n"
	"Options may stand anywhere among the arguments, as\n.Fl -name Ar value\n"
	"or\n.Fl -name Ns = Ns Ar value .\n"
	"A flag\n.Fl -name\nis taken back by\n.Fl -no-name .\n"
	"Two dashes alone end the options.\n"
	"Sizes are bytes, or numbers with K, M, G or T, which are powers of 1024.\n"
	".Pp\n"
	"Results go to the standard output; progress and errors go to the standard error.\n"
	".Sh COMMANDS\n";

static const char manual_environment[] =
	".Sh ENVIRONMENT\n"
	".Bl -tag -width XDG_CACHE_HOME\n"
	".It Ev MMRIG_RESULTS\n"
	"The folder of run sets; otherwise\n.Pa mmrig-results\nin the current folder.\n"
	".It Ev MMRIG_LAYOUTS\n"
	"Folders of your own layouts, separated by colons; looked into before those shipped.\n"
	".It Ev MMRIG_SCENARIOS\n"
	"A folder of scenarios that is searched before those that come with the program.\n"
	".It Ev XDG_CACHE_HOME\n"
	"The folder above the caches of kernels, of what they are built from,\n"
	"and of images; otherwise\n.Pa ~/.cache .\n"
	"Kernels cannot be built below a folder with blanks or colons in its name.\n"
	".El\n";

static const char manual_tail[] =
	".Sh EXAMPLES\n"
	"The first experiment, in a smaller guest, with two runs of each cell:\n"
	".Pp\n.Dl mmrig run alias-tmpfs --memory 2G --runs 2\n.Pp\n"
	"Two kernels against each other, as one JSON document:\n"
	".Pp\n.Dl mmrig run alias-tmpfs --kernel debian:6.12 --kernel debian:7.3 --json\n.Pp\n"
	"A patch against what it patches, on kernels built for it:\n"
	".Pp\n.Dl mmrig kernel build --source debian:7.3 --name base\n"
	".Dl mmrig kernel build --source debian:7.3 --patch x.patch --name patched\n"
	".Dl mmrig run alias-tmpfs --kernel base --kernel patched\n"
	".Sh SEE ALSO\n"
	".Xr qemu-system-x86_64 1 ,\n.Xr proc 5\n";

char *command_manual_text(void)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, ".\\\" SPDX-License-Identifier: GPL-2.0-only\n");
	strbuf_adds(&sb, manual_head);
	for (const struct command *const *c = command_table; *c; c++)
		add_command(&sb, *c);
	add_verdicts(&sb);
	strbuf_adds(&sb, manual_environment);
	add_exit_statuses(&sb);
	strbuf_adds(&sb, manual_tail);
	return strbuf_steal(&sb);
}
