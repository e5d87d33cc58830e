// SPDX-License-Identifier: GPL-2.0-only
/* mmrig results gc, export, import: what is kept, and where. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/cmd/output.h"
#include "harness/cmd/results.h"
#include "results/run_text.h"
#include "results/store_archive.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define DAY_S 86400.0

struct gc_args {
	uint64_t keep, older;
	bool samples, dry_run;
};

static const struct opt gc_opts[] = {
	OPT_U64("keep", struct gc_args, keep, "N", 0, 1000000, "the newest N run sets stay"),
	OPT_U64("older", struct gc_args, older, "DAYS", 0, 36500,
		"only what was made more than DAYS days ago"),
	OPT_FLAG("samples", struct gc_args, samples,
		 "remove only samples.zst of each run; its numbers stay"),
	OPT_FLAG("dry-run", struct gc_args, dry_run,
		 "say what would be removed, and remove nothing"),
	OPT_END,
};

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void print_gone(void *arg, const struct store_gone *gone)
{
	const struct gc_args *args = arg;
	cleanup_free char *id = run_text_printable(gone->id);
	cleanup_free char *kept = gone->kept ? run_text_printable(gone->kept) : NULL;

	if (kept) {
		printf("kept %s: %s\n", id, kept);
		return;
	}
	printf("%s %s%s: %zu run%s, %" PRIu64 " bytes\n",
	       args->dry_run ? "would remove" : "removed", args->samples ? "the samples of " : "",
	       id, gone->runs, plural(gone->runs), gone->bytes);
}

static int gc_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct gc_args args = { .keep = UINT64_MAX, .older = UINT64_MAX };
	struct store_gc gc = { .report = print_gone, .arg = &args, .before = INFINITY };
	struct store *store;
	int npos, ret;

	if (opt_parse(self, argc, argv, &args, &npos, 0, -1, err) < 0)
		return -1;
	if (!npos && args.keep == UINT64_MAX && args.older == UINT64_MAX)
		return error_set(err, EXIT_USAGE,
				 "gc: it is not said what may go; name run sets, or give --keep N "
				 "or --older DAYS (with --dry-run nothing is removed)");
	if (store_open(NULL, false, &store, err) < 0)
		return -1;
	gc.which = argv;
	gc.nwhich = (size_t)npos;
	gc.keep = args.keep == UINT64_MAX ? 0 : args.keep;
	if (args.older != UINT64_MAX)
		gc.before = (double)time(NULL) - (double)args.older * DAY_S;
	gc.samples = args.samples;
	gc.dry_run = args.dry_run;
	ret = store_gc(store, &gc, err);
	store_close(store);
	if (ret < 0)
		return -1;
	printf("%zu run set%s, %" PRIu64 " bytes\n", gc.sets, plural(gc.sets), gc.bytes);
	return gc.failed ? EXIT_NO_VERDICT : EXIT_GOOD;
}

const struct command command_results_gc = {
	.name = "gc",
	.args = "[RUNSET]...",
	.summary = "remove run sets, or their samples",
	.text = "Removes the run sets that are named, or all but the newest N, or those that are older"
		" than DAYS days; where more than one of these is given, only what meets all of"
		" them. A run set that another mmrig is writing stays. What a killed mmrig left half"
		" done goes in any case. Each run set is one line, with the bytes of its files.\n\n"
		"With --samples the numbers of a run stay, and all tables with them; only results"
		" rederive, which reads the samples, leaves such a run as it is.",
	.opts = gc_opts,
	.run = gc_run,
};

struct export_args {
	const char *output;
};

static const struct opt export_opts[] = {
	OPT_STRING_LETTER('o', "output", struct export_args, output, "FILE",
			  "the archive, such as NAME.tar.zst; - is the standard output"),
	OPT_END,
};

static int export_to(struct store *store, const char *which, const char *output,
		     struct store_moved *moved, struct error *err)
{
	if (strcmp(output, "-") != 0)
		return store_export(store, which, output, moved, err);
	return store_export_fd(store, which, STDOUT_FILENO, "standard output", moved, err);
}

static int export_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct export_args args = { NULL };
	struct store_moved moved;
	struct store *store;
	int npos, ret;

	if (opt_parse(self, argc, argv, &args, &npos, 1, 1, err) < 0)
		return -1;
	if (!args.output)
		return error_set(err, EXIT_USAGE,
				 "export: it is not said where to; add -o FILE.tar.zst");
	if (strcmp(args.output, "-") == 0 && isatty(STDOUT_FILENO))
		return error_set(err, EXIT_USAGE,
				 "export: an archive is not for a terminal; give -o FILE.tar.zst, "
				 "or send it on with | or >");
	if (strcmp(args.output, "-") != 0 && command_check_output(args.output, NULL, err) < 0)
		return -1;
	if (store_open(NULL, false, &store, err) < 0)
		return -1;
	ret = export_to(store, argv[0], args.output, &moved, err);
	store_close(store);
	if (ret < 0)
		return -1;
	if (strcmp(args.output, "-") != 0)
		printf("exported %s: %zu run%s\n", moved.id, moved.runs, plural(moved.runs));
	free(moved.id);
	return EXIT_GOOD;
}

const struct command command_results_export = {
	.name = "export",
	.args = "RUNSET",
	.summary = "write a run set to one file, for another store",
	.text = "The file is a tar, compressed by zstd, with the folder of the run set in it, patches and configs of"
		" kernels that were built included; results"
		" import takes it in elsewhere. The same run set gives the same bytes. A run set that is"
		" being written, or is damaged, is not exported.",
	.opts = export_opts,
	.run = export_run,
};

static int import_one(struct store *store, const char *path, struct error *err)
{
	bool from_stdin = strcmp(path, "-") == 0;
	cleanup_close int opened = from_stdin ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	struct store_moved moved;
	struct stat st;

	if (!from_stdin && (opened < 0 || fstat(opened, &st) < 0))
		return error_errno(err, EXIT_USAGE, "%s: cannot open", path);
	if (!from_stdin && S_ISDIR(st.st_mode))
		return error_set(err, EXIT_USAGE,
				 "%s: is a folder; give the archive that results export wrote",
				 path);
	if (store_import_fd(store, from_stdin ? STDIN_FILENO : opened,
			    from_stdin ? "standard input" : path, &moved, err) < 0)
		return -1;
	printf("%s %s: %zu run%s\n", moved.already ? "already there" : "imported", moved.id,
	       moved.runs, plural(moved.runs));
	free(moved.id);
	return 0;
}

static int import_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct store *store;
	int npos, ret = 0;

	if (opt_parse(self, argc, argv, NULL, &npos, 1, -1, err) < 0)
		return -1;
	for (int i = 0; i < npos; i++)
		if (strcmp(argv[i], "-") == 0 && isatty(STDIN_FILENO))
			return error_set(err, EXIT_USAGE,
					 "import: - reads the standard input, which is a terminal; "
					 "name a file, or send one in with <");
	if (store_open(NULL, true, &store, err) < 0)
		return -1;
	for (int i = 0; ret == 0 && i < npos; i++)
		ret = import_one(store, argv[i], err);
	store_close(store);
	return ret < 0 ? -1 : EXIT_GOOD;
}

const struct command command_results_import = {
	.name = "import",
	.args = "FILE...",
	.summary = "take in run sets that results export wrote",
	.text = "FILE is an archive of results export; - is the standard input. It is read as coming"
		" from a stranger: what is no file of a run set is refused, checksums are verified, and"
		" a run set goes in whole or not at all. One that is there already is left alone, when"
		" it is the same; when it differs, that is an error. The first error ends it; the run"
		" sets before it are in.",
	.run = import_run,
};
