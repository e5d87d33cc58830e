// SPDX-License-Identifier: GPL-2.0-only
/* mmrig layout: layouts that come from elsewhere. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/cmd/opt.h"
#include "harness/cmd/output.h"
#include "harness/engine/host.h"
#include "harness/report/memreport.h"
#include "harness/scenario/scenario.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

struct import_args {
	uint64_t memory, nth;
	const char *output, *unlisted;
	bool json;
};

_Static_assert(MEMREPORT_REPORTS_MAX == 128, "the help of --nth says so");

static const struct opt import_opts[] = {
	OPT_BYTES("memory", struct import_args, memory, "SIZE",
		  "memory of the guest that the free lists are scaled to (the machine's own, within 1G and 4G; "
		  "2G where FILE does not say how large the machine is)"),
	OPT_U64("nth", struct import_args, nth, "N", 1, 0,
		"the report to take where FILE has several (the one with most data), of the first 128, which are read"),
	OPT_CHOICE("unlisted", struct import_args, unlisted, "smallest|largest|none",
		   "where free lists are cut off: take free pages that they do not show for the smallest or the "
		   "largest blocks that they can be, or leave them out (refused, but where it is certain)"),
	OPT_STRING_LETTER('o', "output", struct import_args, output, "FILE.yaml",
		   "write the scenario there and the account to the standard output (-: as without it)"),
	OPT_FLAG("json", struct import_args, json,
		 "print what was understood as one JSON document"),
	OPT_END,
};

/* One byte more than is taken, so that too much is seen. */
static char *read_stdin(size_t *len, struct error *err)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	char chunk[65536];

	while (sb.len <= MEMREPORT_INPUT_MAX) {
		ssize_t n = read(STDIN_FILENO, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			error_errno(err, EXIT_USAGE, "standard input: cannot read");
			return NULL;
		}
		if (n == 0)
			break;
		strbuf_add(&sb, chunk, (size_t)n);
	}
	*len = sb.len;
	return strbuf_steal(&sb);
}

static int read_reports(const char *path, const char *label, struct memreport_set *set,
			struct error *err)
{
	cleanup_free char *text = NULL;
	size_t len = 0;

	if (strcmp(path, "-") == 0)
		text = read_stdin(&len, err);
	else
		text = file_read(path, MEMREPORT_INPUT_MAX, &len, err);
	return text ? memreport_parse(label, text, len, set, err) : -1;
}

static int refuse_nth(const struct import_args *args, const struct memimport *m, struct error *err)
{
	size_t all = m->set->n + m->set->left_out;

	error_set(err, EXIT_USAGE, "--nth %llu: %s has %zu report%s", (unsigned long long)args->nth, m->label, all,
		  all == 1 ? "" : "s");
	if (!m->set->left_out)
		return -1;
	error_set(err, EXIT_USAGE, "--nth %llu: %s has %zu reports, and only the first %zu were read",
		  (unsigned long long)args->nth, m->label, all, m->set->n);
	return error_hint(err, "cut out the part of the log that is meant, and give that");
}

static int choose_report(const struct import_args *args, struct memimport *m, struct error *err)
{
	m->chosen = m->set->best;
	m->chosen_by_user = args->nth > 0;
	if (!args->nth)
		return 0;
	if (args->nth > m->set->n)
		return refuse_nth(args, m, err);
	m->chosen = (size_t)args->nth - 1;
	return 0;
}

static enum memunlisted unlisted_asked(const struct import_args *args)
{
	static const char *const names[] = { [MEMUNLISTED_SMALLEST] = "smallest",
					     [MEMUNLISTED_LARGEST] = "largest",
					     [MEMUNLISTED_NONE] = "none" };

	for (int i = MEMUNLISTED_SMALLEST; args->unlisted && i <= MEMUNLISTED_NONE; i++)
		if (strcmp(args->unlisted, names[i]) == 0)
			return (enum memunlisted)i;
	return MEMUNLISTED_REFUSE;
}

static int need_blocks(const struct memimport *m, const struct memscale *s, struct error *err)
{
	uint64_t blocks = 0;

	for (int k = 0; k < MEMSCALE_ORDERS; k++)
		blocks += s->blocks[k];
	if (blocks)
		return 0;
	if (!s->free_kb)
		return error_set(err, EXIT_USAGE, "%s: nothing is left of its free lists", m->label);
	return error_set(err, EXIT_USAGE,
			 "%s: nothing is left of its free lists in so small a guest; give it "
			 "more --memory",
			 m->label);
}

/* 0 with the scaled lists; without lists the account is still worth reading. */
static int scale_report(struct memimport *m, const struct import_args *args, struct memscale *s,
			struct error *err)
{
	const struct memreport *r = &m->set->report[m->chosen];
	struct memscale_ask ask = { args->memory ? args->memory : memreport_guest_bytes(r),
				    MEMSCALE_PAGES_MIN, unlisted_asked(args) };
	cleanup_free char *why = guest_memory_why(ask.memory_bytes);

	if (memreport_need_lists(m->label, r, err) < 0)
		return -1;
	if (why)
		return error_set(err, EXIT_USAGE, "--memory: %s", why);
	memreport_scale_as(r, &ask, s);
	m->memory_by_user = args->memory > 0;
	if (s->refused) {
		m->scale = s;
		return memscale_need_lists(m->label, s, err);
	}
	if (need_blocks(m, s, err) < 0)
		return -1;
	m->scale = s;
	return 0;
}

static void print_results(const struct import_args *args, const struct memimport *m,
			  const char *scenario)
{
	cleanup_free char *account = memreport_account(m);
	cleanup_free char *json = args->json ? memreport_json(m, scenario) : NULL;

	if (json) {
		printf("%s\n", json);
		return;
	}
	fputs(account, args->output ? stdout : stderr);
	if (scenario && !args->output)
		fputs(scenario, stdout);
}

/* The scenario may be meant for another host. */
static void warn_of_memory(uint64_t bytes)
{
	cleanup_free char *size = str_format_bytes(bytes);
	uint64_t total = host_memory_total();

	if (total && bytes > total)
		fprintf(stderr,
			"mmrig: this host has %llu MiB of memory in all, so a guest of %s cannot be run here\n",
			(unsigned long long)(total >> 20), size);
}

static int import_set(const struct import_args *args, struct memimport *m, struct error *err)
{
	cleanup_free char *scenario = NULL;
	struct memscale scale;
	int ret;

	if (choose_report(args, m, err) < 0)
		return -1;
	ret = scale_report(m, args, &scale, err);
	if (ret == 0)
		scenario = memreport_scenario(m);
	if (ret == 0 && args->output &&
	    file_write_atomic(args->output, scenario, strlen(scenario), 0644, err) < 0)
		return -1;
	print_results(args, m, scenario);
	if (ret == 0)
		warn_of_memory(scale.memory_bytes);
	return ret;
}

static int import_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct import_args args = { 0 };
	struct memreport_set set = { 0 };
	struct memimport m = { .set = &set };
	const char *input[] = { NULL, NULL };
	int npos = 0, ret;

	if (opt_parse(self, argc, argv, &args, &npos, 1, 1, err) < 0)
		return err->status;
	if (args.output && strcmp(args.output, "-") == 0 && args.json)
		return error_set(err, EXIT_USAGE, "--output -: the standard output is for the JSON document, which has "
						  "the scenario in it; give the name of a file");
	if (args.output && strcmp(args.output, "-") == 0)
		args.output = NULL;
	m.label = strcmp(argv[0], "-") == 0 ? "standard input" : argv[0];
	input[0] = strcmp(argv[0], "-") == 0 ? "/dev/stdin" : argv[0];
	if (args.output && command_check_output(args.output, input, err) < 0)
		return err->status;
	ret = read_reports(argv[0], m.label, &set, err);
	if (ret == 0)
		ret = import_set(&args, &m, err);
	memreport_set_free(&set);
	return ret < 0 ? err->status : EXIT_GOOD;
}

static const struct command command_layout_import = {
	.name = "import",
	.args = "FILE",
	.summary = "make a scenario of the free lists in a report",
	.text = "FILE (- for the standard input) is what somebody pasted: /proc/buddyinfo, pagetypeinfo "
		"and zoneinfo, a Mem-Info dump, a page allocation failure, an OOM kill. Prefixes of "
		"logs, quotes, wraps, quoted-printable and HTML are undone, and what was cut off is "
		"said.\n"
		"\n"
		"The scenario has a layout with the same share of free memory, spread over the orders "
		"in the same way, for a guest with pages of 4 KiB. It goes to the standard output, and "
		"an account of what was understood, with remarks on what is odd, missing or "
		"contradictory, to the standard error.\n"
		"\n"
		"Where a free list is cut off, what is free is what \"free:\" of its zone says. Pages that the list "
		"does not show go into blocks of the one order that they can be of. Where they can be of several, and "
		"are more than 1 in 20, nothing is written but with --unlisted; with none, only where the size of the "
		"machine is said.\n"
		"\n"
		"The watermarks of a zone are taken without the boost that they have at that moment (\"boost\" of zoneinfo "
		"and Mem-Info).\n"
		"\n"
		"The share of memory that is free needs the size of the machine: give zoneinfo beside buddyinfo. 1/16 "
		"is assumed where nothing says it.\n"
		"\n"
		"    mmrig layout import oom.txt --memory 4G --output oom.yaml\n"
		"    cat /proc/buddyinfo /proc/zoneinfo | mmrig layout import - -o here.yaml\n"
		"    mmrig run ./oom.yaml\n",
	.opts = import_opts,
	.run = import_run,
};

static const struct command *const layout_subcommands[] = {
	&command_layout_import,
	&command_layout_check,
	&command_layout_list,
	NULL,
};

const struct command command_layout = {
	.name = "layout",
	.summary = "build and show layouts, and make them of reports",
	.sub = layout_subcommands,
};
