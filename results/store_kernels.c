// SPDX-License-Identifier: GPL-2.0-only
/* RUNSET/kernels/NAME/: what the kernels of a set were built of. */
#include "results/store_kernels.h"

#include <string.h>

#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

/* ---- names ---- */

/* As the store allows it, with a number where it is taken; takes name. */
static char *fit_name(char *name, bool (*taken)(const void *arg, const char *name), const void *arg)
{
	char *stem = name;

	if (strlen(stem) > STORE_KEPT_NAME_MAX)
		stem[STORE_KEPT_NAME_MAX] = '\0';
	for (char *p = stem; *p; p++) {
		char one[2] = { *p, '\0' };

		if (!store_name_ok(one) && (*p != '.' || p == stem))
			*p = '_';
	}
	if (!*stem) {
		free(stem);
		stem = xstrdup("unnamed");
	}
	name = xstrdup(stem);
	for (int i = 2; taken(arg, name); i++) {
		free(name);
		name = str_printf("%s-%d", stem, i);
	}
	free(stem);
	return name;
}

/* The first n of a list. */
struct so_far {
	const struct runset *set;
	const struct run_kernel *kernel;
	size_t n;
};

static bool folder_taken(const void *arg, const char *name)
{
	const struct so_far *f = arg;

	for (size_t i = 0; i < f->n; i++)
		if (f->set->kernel[i].folder && strcmp(f->set->kernel[i].folder, name) == 0)
			return true;
	return false;
}

static bool file_taken(const void *arg, const char *name)
{
	const struct so_far *f = arg;

	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->kernel->kept[i].name, name) == 0)
			return true;
	return false;
}

void store_name_kernels(struct runset *set)
{
	for (size_t i = 0; i < set->nkernels; i++) {
		struct run_kernel *k = &set->kernel[i];
		const struct so_far folders = { .set = set, .n = i };

		free(k->folder);
		k->folder = NULL;
		if (k->nkept)
			k->folder =
				fit_name(xstrdup(k->name ? k->name : ""), folder_taken, &folders);
		for (size_t f = 0; f < k->nkept; f++) {
			const struct so_far files = { .kernel = k, .n = f };

			k->kept[f].name = fit_name(k->kept[f].name, file_taken, &files);
		}
	}
}

int store_check_kernels(const char *label, const struct runset *set, struct error *err)
{
	for (size_t i = 0; i < set->nkernels; i++) {
		const struct run_kernel *k = &set->kernel[i];
		const struct so_far folders = { .set = set, .n = i };
		bool good = k->folder ?
				    store_name_ok(k->folder) && !folder_taken(&folders, k->folder) :
				    !k->nkept;

		for (size_t f = 0; f < k->nkept; f++) {
			const struct so_far files = { .kernel = k, .n = f };

			good &= store_name_ok(k->kept[f].name) &&
				!file_taken(&files, k->kept[f].name);
		}
		if (!good)
			return error_set(
				err, EXIT_NO_VERDICT,
				"%s: damaged: what is kept of kernel %zu has names that no file has",
				label, i + 1);
	}
	return 0;
}

char **store_kernel_files(const struct runset *set)
{
	char **files = xcalloc(1, sizeof(*files));
	size_t n = 0;

	for (size_t i = 0; i < set->nkernels; i++)
		for (size_t f = 0; f < set->kernel[i].nkept; f++) {
			files = xreallocarray(files, n + 2, sizeof(*files));
			files[n++] = str_printf(STORE_KERNELS "/%s/%s", set->kernel[i].folder,
						set->kernel[i].kept[f].name);
			files[n] = NULL;
		}
	if (n)
		qsort(files, n, sizeof(*files), store_by_name);
	return files;
}

/* ---- files ---- */

static int write_kernel(const char *dir, const struct run_kernel *k, struct error *err)
{
	cleanup_free char *kernels = path_join(dir, STORE_KERNELS),
			  *folder = path_join(kernels, k->folder);

	if (dir_make(folder, 0755, err) < 0 || dir_fsync(kernels, err) < 0)
		return -1;
	for (size_t f = 0; f < k->nkept; f++) {
		cleanup_free char *path = path_join(folder, k->kept[f].name);

		if (file_write_atomic(path, k->kept[f].text, k->kept[f].len, 0644, err) < 0)
			return -1;
	}
	return 0;
}

int store_write_kernels(const char *dir, const struct runset *set, struct error *err)
{
	for (size_t i = 0; i < set->nkernels; i++)
		if (set->kernel[i].nkept && write_kernel(dir, &set->kernel[i], err) < 0)
			return -1;
	return 0;
}

/* ---- what stands in an imported folder ---- */

static bool is_listed(char *const *files, const char *name)
{
	for (; *files; files++)
		if (strcmp(*files, name) == 0)
			return true;
	return false;
}

static int only_listed_in(const char *set_dir, const char *below, char *const *files, int depth,
			  struct error *err)
{
	cleanup_free char *dir = path_join(set_dir, below);
	cleanup_dir DIR *d = opendir(dir);
	struct dirent *e;
	int ret = 0;

	while (ret == 0 && d && (e = readdir(d))) {
		cleanup_free char *name = str_printf("%s/%s", below, e->d_name);

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (depth == 0)
			ret = only_listed_in(set_dir, name, files, 1, err);
		else if (!is_listed(files, name))
			ret = error_set(err, EXIT_NO_VERDICT, "%s/%s: is not in runset.json",
					set_dir, name);
	}
	return ret;
}

int store_only_listed(const char *set_dir, char *const *files, struct error *err)
{
	return only_listed_in(set_dir, STORE_KERNELS, files, 0, err);
}
