// SPDX-License-Identifier: GPL-2.0-only
#include "results/store_sums.h"

#include <string.h>
#include <unistd.h>

#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

#define HEX 64
#define FILE_LIMIT (1U << 20)
#define REMOVED "# removed: "

const char *const store_run_files[] = { "console.log", "run.json", "samples.zst", NULL };

void sums_free(struct sums *sums)
{
	for (size_t i = 0; i < sums->n; i++) {
		free(sums->item[i].name);
		free(sums->item[i].hash);
	}
	free(sums->item);
	memset(sums, 0, sizeof(*sums));
}

static struct sum *find(const struct sums *sums, const char *name)
{
	for (size_t i = 0; i < sums->n; i++)
		if (strcmp(sums->item[i].name, name) == 0)
			return &sums->item[i];
	return NULL;
}

bool sums_removed(const struct sums *sums, const char *name)
{
	const struct sum *sum = find(sums, name);

	return sum && sum->removed;
}

/* "HASH  NAME", with "# removed: " in front when the file is gone on purpose. */
static int take_line(struct sums *sums, const char *line, size_t len)
{
	bool removed = str_starts(line, REMOVED);
	const char *end = line + len;

	if (removed)
		line += strlen(REMOVED);
	else if (*line == '#')
		return 0;
	if (end - line <= HEX + 2 || strspn(line, "0123456789abcdef") != HEX ||
	    strncmp(line + HEX, "  ", 2) != 0)
		return -1;
	sums->item = xreallocarray(sums->item, sums->n + 1, sizeof(*sums->item));
	sums->item[sums->n++] =
		(struct sum){ xstrndup(line + HEX + 2, (size_t)(end - line) - HEX - 2),
			      xstrndup(line, HEX), removed };
	return 0;
}

static int load(const char *path, struct sums *sums, struct error *err)
{
	cleanup_free char *text = NULL;
	size_t len;

	memset(sums, 0, sizeof(*sums));
	if (!file_exists(path))
		return 0;
	text = file_read(path, FILE_LIMIT, &len, err);
	for (char *p = text; p && *p; p += strcspn(p, "\n") + 1) {
		size_t n = strcspn(p, "\n");

		if (p[n] != '\n' || take_line(sums, p, n) < 0) {
			sums_free(sums);
			error_set(err, EXIT_NO_VERDICT, "%s: damaged: a line is no checksum", path);
			return -1;
		}
	}
	if (!text && err)
		err->status = EXIT_NO_VERDICT;
	return text ? 1 : -1;
}

int sums_load(const char *dir, struct sums *sums, struct error *err)
{
	cleanup_free char *path = path_join(dir, "checksums"), *next = NULL;
	struct sums newer;
	int ret = load(path, sums, err);

	if (ret <= 0)
		return ret;
	next = path_join(dir, "checksums.next");
	if (load(next, &newer, NULL) > 0) {
		/* Rewriting was cut off; whichever of both fits run.json holds. */
		if (sums_check(dir, sums, "run.json", NULL) < 0 &&
		    sums_check(dir, &newer, "run.json", NULL) == 0) {
			sums_free(sums);
			*sums = newer;
		} else {
			sums_free(&newer);
		}
	}
	return ret;
}

int sums_check(const char *dir, const struct sums *sums, const char *name, struct error *err)
{
	cleanup_free char *path = path_join(dir, name), *hash = NULL;
	const struct sum *sum = find(sums, name);

	if (!sum)
		return error_set(err, EXIT_NO_VERDICT, "%s/checksums: damaged: no line for %s", dir,
				 name);
	if (sum->removed)
		return 0;
	if (!file_exists(path))
		return error_set(err, EXIT_NO_VERDICT, "%s: is missing", path);
	hash = hash_file(path, err);
	if (!hash) {
		if (err)
			err->status = EXIT_NO_VERDICT;
		return -1;
	}
	if (strcmp(hash + strlen("sha256:"), sum->hash) != 0)
		return error_set(err, EXIT_NO_VERDICT,
				 "%s: damaged: it is not what the file checksums says", path);
	return 0;
}

static int write_sums(const char *dir, const char *file, const struct sums *sums, struct error *err)
{
	cleanup_free char *path = path_join(dir, file);
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < sums->n; i++)
		strbuf_addf(&sb, "%s%s  %s\n", sums->item[i].removed ? REMOVED : "",
			    sums->item[i].hash, sums->item[i].name);
	return file_write_atomic(path, sb.data, sb.len, 0644, err);
}

/* Adds or replaces; takes hash ("sha256:..."). */
static void put(struct sums *sums, const char *name, char *hash)
{
	struct sum *sum = find(sums, name);

	if (!sum) {
		sums->item = xreallocarray(sums->item, sums->n + 1, sizeof(*sums->item));
		sum = &sums->item[sums->n++];
		*sum = (struct sum){ xstrdup(name), NULL, false };
	}
	free(sum->hash);
	sum->hash = xstrdup(hash + strlen("sha256:"));
	free(hash);
}

int sums_make(const char *dir, const char *const *names, struct error *err)
{
	struct sums sums = { 0 };
	int ret = 0;

	for (; ret == 0 && *names; names++) {
		cleanup_free char *path = path_join(dir, *names);
		char *hash = hash_file(path, err);

		if (hash)
			put(&sums, *names, hash);
		else
			ret = -1;
	}
	if (ret == 0)
		ret = write_sums(dir, "checksums", &sums, err);
	sums_free(&sums);
	return ret;
}

int sums_make_texts(const char *dir, const struct sums_text *text, size_t n, struct error *err)
{
	struct sums sums = { 0 };
	int ret;

	for (size_t i = 0; i < n; i++)
		put(&sums, text[i].name, hash_bytes(text[i].text, text[i].len));
	ret = write_sums(dir, "checksums", &sums, err);
	sums_free(&sums);
	return ret;
}

int sums_rewrite(const char *dir, const char *name, const char *text, size_t len, struct error *err)
{
	cleanup_free char *path = path_join(dir, name), *sums_path = path_join(dir, "checksums");
	cleanup_free char *next = path_join(dir, "checksums.next");
	struct sums sums;
	int there = sums_load(dir, &sums, err);

	if (there < 0)
		return -1;
	if (!there)
		return file_write_atomic(path, text, len, 0644, err);
	/* What an earlier rewrite left half done is made whole first. */
	if (write_sums(dir, "checksums", &sums, err) < 0) {
		sums_free(&sums);
		return -1;
	}
	put(&sums, name, hash_bytes(text, len));
	there = write_sums(dir, "checksums.next", &sums, err);
	sums_free(&sums);
	if (there < 0 || file_write_atomic(path, text, len, 0644, err) < 0)
		return -1;
	if (rename(next, sums_path) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot write", sums_path);
	return dir_fsync(dir, err);
}

int sums_mark_removed(const char *dir, const char *name, struct error *err)
{
	struct sums sums;
	struct sum *sum;
	int ret = sums_load(dir, &sums, err);

	if (ret == 0) { /* of an older mmrig */
		if (sums_make(dir, store_run_files, err) < 0 || sums_load(dir, &sums, err) < 0)
			return -1;
	} else if (ret < 0) {
		return -1;
	}
	sum = find(&sums, name);
	if (!sum)
		ret = error_set(err, EXIT_NO_VERDICT, "%s/checksums: damaged: no line for %s", dir,
				name);
	else
		sum->removed = true;
	if (sum)
		ret = write_sums(dir, "checksums", &sums, err);
	sums_free(&sums);
	return ret;
}
