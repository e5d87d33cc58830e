// SPDX-License-Identifier: GPL-2.0-only
#include <jansson.h>
#include <string.h>

#include "harness/build/build.h"
#include "harness/cmd/kernel.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

/* Less than this is not worth a line. */
#define SOURCES_TOLD_BYTES (64ULL << 20)

/* ---- progress ---- */

struct kernel_progress kernel_progress_begin(bool quiet)
{
	return (struct kernel_progress){ .terminal = isatty(STDERR_FILENO), .quiet = quiet };
}

void kernel_progress_end(struct kernel_progress *p)
{
	if (p->terminal && p->text)
		fputs("\r\033[K", stderr);
	free(p->text);
	p->text = NULL;
}

void kernel_progress_show(void *arg, const char *text, double percent)
{
	struct kernel_progress *p = arg;
	bool warning = str_starts(text, "warning: "), same = p->text && !strcmp(p->text, text);

	if (warning) {
		kernel_progress_end(p);
		fprintf(stderr, "mmrig: kernel: %s\n", text);
		return;
	}
	if (p->quiet || (same && (!p->terminal || (int)percent == p->percent)))
		return;
	if (!same) {
		free(p->text);
		p->text = xstrdup(text);
	}
	p->percent = (int)percent;
	if (!p->terminal)
		fprintf(stderr, "mmrig: kernel: %s\n", text);
	else if (percent < 0)
		fprintf(stderr, "\rmmrig: kernel: %s\033[K", text);
	else
		fprintf(stderr, "\rmmrig: kernel: %s: %d %%\033[K", text, (int)percent);
}

/* ---- what is printed of a kernel ---- */

static void add_build(json_t *o, const struct kernel *k)
{
	struct build_record build;

	if (build_record_load(k, &build, NULL) > 0)
		json_object_set_new(o, "build", build_record_pack(&build));
	build_record_free(&build);
}

json_t *kernel_json(const struct kernel *k)
{
	const struct {
		const char *key, *text;
	} rows[] = {
		{ "name", k->name },
		{ "release", k->release },
		{ "flavour", k->flavour },
		{ "package_version", k->package_version },
		{ "provenance", k->provenance },
		{ "build_id", k->build_id },
		{ "image", k->image },
		{ "image_hash", k->image_hash },
		{ "config", k->config },
		{ "config_hash", k->config_hash },
		{ "modules", k->modules },
		{ "version", k->version },
	};
	json_t *o = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *text = rows[i].text ? json_string(rows[i].text) : NULL;

		json_object_set_new(o, rows[i].key, text ? text : json_null());
	}
	json_object_set_new(o, "format",
			    json_string(k->format == KERNEL_VMLINUX ? "vmlinux" : "bzimage"));
	json_object_set_new(o, "disk_bytes", json_integer((json_int_t)k->disk_bytes));
	add_build(o, k);
	return o;
}

int kernel_print_document(json_t *o, struct error *err)
{
	cleanup_free char *text = json_dumps(o, JSON_INDENT(2));

	json_decref(o);
	if (!text)
		return error_set(err, EXIT_NO_VERDICT, "kernel: cannot be put into JSON");
	printf("%s\n", text);
	return EXIT_GOOD;
}

/* ---- fetch ---- */

struct fetch_args {
	const char *flavour, *name, *mirror;
	bool refresh, quiet, json;
};

static const struct opt fetch_opts[] = {
	OPT_CHOICE("flavour", struct fetch_args, flavour, "cloud|generic",
		   "which build of Debian's kernel (default cloud)"),
	OPT_STRING("name", struct fetch_args, name, "NAME",
		   "name in the cache (default: the release)"),
	OPT_STRING("mirror", struct fetch_args, mirror, "URI",
		   "a Debian archive (default: the one of the host's apt)"),
	OPT_FLAG("refresh", struct fetch_args, refresh,
		 "ask the archive even when the cache has a match"),
	OPT_FLAG("quiet", struct fetch_args, quiet, "no progress on stderr"),
	OPT_FLAG("json", struct fetch_args, json, "print one JSON document"),
	OPT_END,
};

static int fetch_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct fetch_args args = { 0 };
	struct kernel k = { 0 };
	int npos = 0, status = EXIT_GOOD;

	if (opt_parse(self, argc, argv, &args, &npos, 1, 1, err) < 0)
		return err->status;
	struct kernel_progress progress = kernel_progress_begin(args.quiet);
	struct kernel_fetch_options o = {
		.spec = argv[0],
		.flavour = args.flavour,
		.name = args.name,
		.mirror = args.mirror,
		.refresh = args.refresh,
		.progress = kernel_progress_show,
		.progress_arg = &progress,
	};
	status = kernel_fetch(&o, &k, err);
	kernel_progress_end(&progress);
	if (status < 0)
		return err->status;
	if (args.json)
		status = kernel_print_document(
			json_pack("{s:i, s:o}", "schema", 1, "kernel", kernel_json(&k)), err);
	else
		printf("%s\n", k.name);
	kernel_free(&k);
	return status;
}

static const struct command command_fetch = {
	.name = "fetch",
	.args = "debian:VERSION",
	.summary = "get a kernel of Debian into the cache",
	.text = "VERSION is a kernel version (debian:7.3, debian:6.12: the newest package of that "
		"series over all suites and backports) or the whole version of a package "
		"(debian:7.3.4-1~bpo13+1). debian:6.12/generic is short for --flavour generic.\n\n"
		"The archive is read through apt, with a state of its own and signatures checked; "
		"the index is refreshed once a day. Prints the name of the kernel, for --kernel.",
	.opts = fetch_opts,
	.run = fetch_run,
};

/* ---- list ---- */

struct list_args {
	bool json;
};

static const struct opt list_opts[] = {
	OPT_FLAG("json", struct list_args, json, "print one JSON document"),
	OPT_END,
};

enum { COLUMN_NAME, COLUMN_RELEASE, COLUMN_FLAVOUR, COLUMN_FROM, COLUMN_SIZE, COLUMN_COUNT };

struct row {
	char *cell[COLUMN_COUNT];
};

static struct row kernel_row(const struct kernel *k)
{
	return (struct row){ {
		xstrdup(k->name),
		xstrdup(k->release),
		xstrdup(k->flavour ? k->flavour : "-"),
		xstrdup(k->provenance ? k->provenance : "-"),
		str_printf("%.1f MiB", (double)k->disk_bytes / (1 << 20)),
	} };
}

static void print_table(const struct row *rows, size_t n)
{
	int width[COLUMN_COUNT] = { 0 };

	for (size_t i = 0; i < n; i++)
		for (int c = 0; c < COLUMN_COUNT; c++)
			if ((int)strlen(rows[i].cell[c]) > width[c])
				width[c] = (int)strlen(rows[i].cell[c]);
	for (size_t i = 0; i < n; i++) {
		for (int c = 0; c < COLUMN_SIZE; c++)
			printf("%-*s  ", width[c], rows[i].cell[c]);
		printf("%*s\n", width[COLUMN_SIZE], rows[i].cell[COLUMN_SIZE]);
	}
}

static void list_text(const struct kernel *list, size_t n)
{
	static const char *const heads[COLUMN_COUNT] = { "NAME", "RELEASE", "FLAVOUR", "FROM",
							 "SIZE" };
	struct row *rows;

	if (!n) {
		fputs("mmrig: kernel: none in the cache yet; mmrig kernel fetch debian:7.3 gets "
		      "one\n",
		      stderr);
		return;
	}
	rows = xcalloc(n + 1, sizeof(*rows));
	for (int c = 0; c < COLUMN_COUNT; c++)
		rows[0].cell[c] = xstrdup(heads[c]);
	for (size_t i = 0; i < n; i++)
		rows[i + 1] = kernel_row(&list[i]);
	print_table(rows, n + 1);
	for (size_t i = 0; i <= n; i++)
		for (int c = 0; c < COLUMN_COUNT; c++)
			free(rows[i].cell[c]);
	free(rows);
}

static int list_json(const struct kernel *list, size_t n, struct error *err)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, kernel_json(&list[i]));
	return kernel_print_document(json_pack("{s:i, s:o}", "schema", 1, "kernels", array), err);
}

static void print_problems(void)
{
	char **problems = kernel_list_problems();

	for (char **p = problems; *p; p++) {
		fprintf(stderr, "mmrig: %s\n", *p);
		free(*p);
	}
	free(problems);
}

/* Not a part of the list. */
static void print_sources(void)
{
	uint64_t bytes = build_sources_bytes();

	if (bytes >= SOURCES_TOLD_BYTES)
		fprintf(stderr,
			"mmrig: kernel: sources and objects to build from take %.1f GiB more; mmrig "
			"kernel rm --sources removes them\n",
			(double)bytes / (1 << 30));
}

static int list_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct list_args args = { false };
	struct kernel *list;
	int npos = 0, status = EXIT_GOOD;
	size_t n;

	if (opt_parse(self, argc, argv, &args, &npos, 0, 0, err) < 0 ||
	    kernel_list(&list, &n, err) < 0)
		return err->status;
	if (args.json)
		status = list_json(list, n, err);
	else
		list_text(list, n);
	print_problems();
	print_sources();
	kernel_list_free(list, n);
	return status;
}

static const struct command command_kernel_list = {
	.name = "list",
	.summary = "the kernels in the cache",
	.opts = list_opts,
	.run = list_run,
};

static const struct command *const kernel_subcommands[] = {
	&command_fetch,
	&command_kernel_build,
	&command_kernel_list,
	&command_kernel_diff,
	&command_kernel_rm,
	NULL,
};

const struct command command_kernel = {
	.name = "kernel",
	.summary = "fetch, build, list, compare and remove kernels",
	.sub = kernel_subcommands,
};
