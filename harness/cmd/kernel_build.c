// SPDX-License-Identifier: GPL-2.0-only
/* mmrig kernel build, and diff. */
#include <string.h>

#include "harness/build/build.h"
#include "harness/cmd/kernel.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define JOBS_MAX 1024

/* ---- build ---- */

struct build_args {
	const char *tree, *rev, *source, *base, *cc, *name, *mirror;
	struct opt_list patch, config;
	uint64_t jobs;
	bool align, quiet, json;
};

static const struct opt build_opts[] = {
	OPT_STRING("tree", struct build_args, tree, "DIR", "a kernel tree; nothing is written into it"),
	OPT_STRING("rev", struct build_args, rev, "REV",
		   "a revision of the tree (default: the files as they stand)"),
	OPT_STRING("source", struct build_args, source, "debian:VERSION",
		   "Debian's linux-source package instead of a tree"),
	OPT_LIST("patch", struct build_args, patch, "FILE", "a patch to apply (diff -p1, or a mail)"),
	OPT_LIST("config", struct build_args, config, "FRAGMENT",
		 "what to add to the config: a name or a file"),
	OPT_STRING("base-config", struct build_args, base, "FILE",
		   "a whole config instead of mmrig's own"),
	OPT_STRING("cc", struct build_args, cc, "COMPILER", "the compiler (default gcc)"),
	OPT_FLAG("align", struct build_args, align,
		 "align functions to 64 bytes, so that a patch shifts no others across a line"),
	OPT_STRING("name", struct build_args, name, "NAME",
		   "name in the cache (default: made of version, patches and config)"),
	{ OPT_KIND_U64, "make-jobs", offsetof(struct build_args, jobs), "N",
	  "compilers at once (default: as many as there are CPUs)", 1, JOBS_MAX, 'j' },
	OPT_STRING("mirror", struct build_args, mirror, "URI",
		   "a Debian archive (default: the one of the host's apt)"),
	OPT_FLAG("quiet", struct build_args, quiet, "no progress on stderr"),
	OPT_FLAG("json", struct build_args, json, "print one JSON document"),
	OPT_END,
};

static int build_and_print(const struct build_args *args, struct error *err)
{
	struct kernel_progress progress = kernel_progress_begin(args->quiet);
	const struct build_request request = {
		.tree = args->tree,
		.rev = args->rev,
		.source = args->source,
		.patch = (char *const *)args->patch.item,
		.config = (char *const *)args->config.item,
		.base = args->base,
		.cc = args->cc,
		.align = args->align,
		.name = args->name,
		.mirror = args->mirror,
		.jobs = (unsigned int)args->jobs,
		.progress = kernel_progress_show,
		.progress_arg = &progress,
	};
	struct kernel k = { 0 };
	int status = build_kernel(&request, &k, err);

	kernel_progress_end(&progress);
	if (status < 0)
		return err->status;
	if (args->json)
		status = kernel_print_document(
			json_pack("{s:i, s:o}", "schema", 1, "kernel", kernel_json(&k)), err);
	else
		printf("%s\n", k.name);
	kernel_free(&k);
	return status;
}

static int build_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct build_args args = { 0 };
	int npos = 0, status;

	if (opt_parse(self, argc, argv, &args, &npos, 0, 0, err) < 0)
		status = err->status;
	else
		status = build_and_print(&args, err);
	opt_list_free(&args.patch);
	opt_list_free(&args.config);
	return status;
}

const struct command command_kernel_build = {
	.name = "build",
	.summary = "build a kernel from source into the cache",
	.text = "Prints the name of the kernel, for --kernel. The same tree, patches, config, compiler and "
		"options give the same image, and the second time it is there at once; a patch is built "
		"from the objects of what it patches. --patch and --config may be repeated.\n\n"
		"The config is one of mmrig's own, which builds in minutes, boots in a second, and has what "
		"layouts, samplers and workloads need built in. Fragments add to it: debug, debuginfo, kasan, "
		"lockdep, numa, page_owner, memcg-off, arm-like, or a file of lines such as CONFIG_KSM=y. Of "
		"two that differ the later wins, and that is told. A symbol that does not come out as asked "
		"is an error that says why.\n\n"
		"A tree is built at --rev, or as it stands: changes that are not committed are in the "
		"kernel, are told, and are kept with it. The whole log of a build that failed stays in the "
		"cache.",
	.opts = build_opts,
	.run = build_run,
};

/* ---- diff ---- */

struct diff_args {
	bool source, json;
};

static const struct opt diff_opts[] = {
	OPT_FLAG("source", struct diff_args, source, "the whole difference of the sources, as a patch"),
	OPT_FLAG("json", struct diff_args, json, "print one JSON document"),
	OPT_END,
};

static int print_diff(const struct kernel *a, const struct kernel *b, const struct diff_args *args,
		      struct error *err)
{
	cleanup_free char *text = NULL;
	json_t *o;

	if (args->json) {
		o = build_diff_json(a, b, args->source, err);
		if (!o)
			return -1;
		json_object_set_new(o, "schema", json_integer(1));
		return kernel_print_document(o, err);
	}
	text = build_diff(a, b, args->source, err);
	if (!text)
		return -1;
	fputs(text, stdout);
	return EXIT_GOOD;
}

static int diff_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct diff_args args = { 0 };
	struct kernel a = { 0 }, b = { 0 };
	int npos = 0, status = -1;

	if (opt_parse(self, argc, argv, &args, &npos, 2, 2, err) < 0)
		return err->status;
	if (kernel_resolve(argv[0], &a, err) == 0 && kernel_resolve(argv[1], &b, err) == 0)
		status = print_diff(&a, &b, &args, err);
	kernel_free(&a);
	kernel_free(&b);
	return status < 0 ? err->status : status;
}

const struct command command_kernel_diff = {
	.name = "diff",
	.args = "A B",
	.summary = "what two kernels differ in: config, source, compiler",
	.text = "A and B are kernels as --kernel takes them. Config symbols are shown as SYMBOL: A -> B, \"-\" "
		"for one that is absent; sources, where both were built here of one source, as a list of "
		"files or, with --source, as the patch that leads from A to B.",
	.opts = diff_opts,
	.run = diff_run,
};
