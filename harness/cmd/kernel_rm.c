// SPDX-License-Identifier: GPL-2.0-only
/* mmrig kernel rm. */
#include "harness/build/build.h"
#include "harness/build/source.h"
#include "harness/cmd/kernel.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

struct rm_args {
	bool objects, sources;
};

static const struct opt rm_opts[] = {
	OPT_FLAG("objects", struct rm_args, objects,
		 "the objects they were built from too; without NAME, all that no kernel was built from"),
	OPT_FLAG("sources", struct rm_args, sources,
		 "the sources, objects and compiler's cache that kernels are built from"),
	OPT_END,
};

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

/* Said, for the next build of its config is quick with them, and slow without. */
static int see_to_objects(const char *name, const struct build_record *b, bool objects,
			  struct error *err)
{
	struct build_objects o;
	int ret = 0;

	build_objects_find(b, &o);
	if (objects && o.user)
		fprintf(stderr, "mmrig: kernel: %s: its objects stay, %s was built from them too\n", name,
			o.user);
	else if (objects && o.bytes && (ret = build_objects_remove(b, err)) == 0)
		fprintf(stderr, "mmrig: kernel: %s: its objects are removed too, %.1f MiB\n", name,
			mib(o.bytes));
	else if (objects && !b->obj)
		fprintf(stderr,
			"mmrig: kernel: %s: its record does not say which objects are its; mmrig kernel rm "
			"--objects removes all that no kernel was built from\n",
			name);
	else if (!objects && !o.user && o.bytes)
		fprintf(stderr,
			"mmrig: kernel: %s: its objects, %.1f MiB, stay for the next build of its config; "
			"mmrig kernel rm --objects removes those that no kernel was built from\n",
			name, mib(o.bytes));
	build_objects_free(&o);
	return ret;
}

/* What was built keeps its source alive, by its name. */
static int remove_kernel(const char *name, const struct rm_args *args, struct error *err)
{
	struct build_record build = { 0 };
	struct kernel k = { 0 };
	int ret;

	if (kernel_resolve(name, &k, NULL) == 0)
		build_record_load(&k, &build, NULL);
	ret = kernel_remove(name, err);
	if (ret == 0 && build.source_id) {
		source_keep(build.source_id, name, NULL, NULL);
		build_log_remove(&build, name);
		if (!args->sources)
			ret = see_to_objects(name, &build, args->objects, err);
	}
	build_record_free(&build);
	kernel_free(&k);
	return ret;
}

static int prune(struct error *err)
{
	uint64_t bytes;
	int ret = build_objects_prune(&bytes, err);

	fprintf(stderr, "mmrig: kernel: %.1f MiB of objects removed\n", mib(bytes));
	return ret;
}

static int rm_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct rm_args args = { false };
	int npos = 0;

	if (opt_parse(self, argc, argv, &args, &npos, 0, -1, err) < 0)
		return err->status;
	if (!npos && !args.sources && !args.objects)
		return error_set(err, EXIT_USAGE, "of which kernel? mmrig kernel list shows them");
	for (int i = 0; i < npos; i++) /* all or none: a typing error must not remove the rest */
		if (kernel_check_cached(argv[i], err) < 0)
			return err->status;
	for (int i = 0; i < npos; i++)
		if (remove_kernel(argv[i], &args, err) < 0)
			return err->status;
	if (args.sources)
		return build_sources_remove(err) < 0 ? err->status : EXIT_GOOD;
	return args.objects && !npos && prune(err) < 0 ? err->status : EXIT_GOOD;
}

const struct command command_kernel_rm = {
	.name = "rm",
	.args = "[NAME]...",
	.summary = "remove kernels from the cache",
	.text = "The log of its build goes with a kernel. The objects that it was built from belong to all "
		"kernels of the same config, and make the next build of it quick: they stay unless --objects "
		"is given, and also then where another kernel was built from them. --objects without a NAME "
		"removes what failed builds and removed kernels have left.\n\n"
		"With --sources, what kernels were built from as well. The kernels themselves stay and "
		"still run; the next build fetches the source again and takes its full time, and kernel "
		"diff can no longer compare the sources of those that there are.",
	.opts = rm_opts,
	.run = rm_run,
};
