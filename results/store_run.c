// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "results/run_json.h"
#include "results/store_internal.h"
#include "results/store_kernels.h"
#include "results/store_sums.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

/* 17 digits bring a double back exactly. */
#define JSON_FORMAT (JSON_INDENT(1) | JSON_REAL_PRECISION(17))

struct store_run {
	struct store *s;
	char *set_dir, *dir, *final_dir;
	int console_fd;
	struct sample_writer *samples;
};

/* Takes o. NULL on error. */
static char *json_text(const char *path, json_t *o, struct error *err)
{
	char *text = json_dumps(o, JSON_FORMAT);

	json_decref(o);
	if (!text)
		error_set(err, EXIT_NO_VERDICT, "%s: cannot be made", path);
	return text;
}

static int write_text(const char *path, const char *text, struct error *err)
{
	int ret = file_write_atomic(path, text, strlen(text), 0644, err);

	return ret < 0 ? store_hint_space(err, errno) : 0;
}

/* "20261130-171500-NAME-3f2a"; the name is cut and freed of what a folder should not have. */
static char *new_set_id(const char *scenario, time_t now)
{
	char when[32], name[49];
	unsigned int salt;
	struct tm tm;

	snprintf(name, sizeof(name), "%s", scenario && *scenario ? scenario : "unnamed");
	for (char *p = name; *p; p++) {
		char one[2] = { *p, '\0' };

		if (*p != '.' && !store_name_ok(one))
			*p = '_';
	}
	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	if (getrandom(&salt, sizeof(salt), 0) != sizeof(salt))
		salt = (unsigned int)getpid() ^ (unsigned int)clock();
	return str_printf("%s-%s-%04x", when, name, salt & 0xffff);
}

/* Makes a folder with a new name; *dir is its path. */
static int make_set_dir(struct store *s, struct runset *set, time_t now, char **dir,
			struct error *err)
{
	for (int attempt = 0; attempt < 100; attempt++) {
		char *id = new_set_id(set->scenario, now);

		*dir = path_join(s->root, id);
		if (mkdir(*dir, 0755) == 0) {
			free(set->id);
			set->id = id;
			return 0;
		}
		free(id);
		if (errno != EEXIST) {
			error_errno(err, EXIT_NO_VERDICT, "%s: cannot create folder", *dir);
			store_hint_space(err, errno);
			break;
		}
		error_set(err, EXIT_NO_VERDICT, "%s: exists already", *dir);
		free(*dir);
		*dir = NULL;
	}
	free(*dir);
	*dir = NULL;
	return -1;
}

static int write_set_sums(const char *dir, const struct runset *set, const char *json, struct error *err)
{
	struct sums_text *sum = xcalloc(1, sizeof(*sum));
	size_t n = 0;
	int ret;

	sum[n++] = (struct sums_text){ "runset.json", json, strlen(json) };
	for (size_t i = 0; i < set->nkernels; i++)
		for (size_t f = 0; f < set->kernel[i].nkept; f++) {
			const struct run_kept *kept = &set->kernel[i].kept[f];

			sum = xreallocarray(sum, n + 1, sizeof(*sum));
			sum[n++] = (struct sums_text){ str_printf(STORE_KERNELS "/%s/%s",
								  set->kernel[i].folder, kept->name),
						       kept->text, kept->len };
		}
	ret = sums_make_texts(dir, sum, n, err);
	for (size_t i = 1; i < n; i++)
		free((char *)sum[i].name);
	free(sum);
	return ret;
}

/* runset.json comes last: without it the folder is none of a set, and is swept. */
static int write_set(struct store *s, const char *dir, const struct runset *set, double created,
		     struct error *err)
{
	cleanup_free char *path = path_join(dir, "runset.json");
	cleanup_free char *text = json_text(path, runset_to_json(set, created), err);

	if (!text)
		return -1;
	if (store_claim(s, dir, err) < 0 || store_write_kernels(dir, set, err) < 0 ||
	    write_set_sums(dir, set, text, err) < 0)
		return store_hint_space(err, errno);
	return write_text(path, text, err) < 0 ? -1 : dir_fsync(s->root, err);
}

int store_begin_set(struct store *s, struct runset *set, struct error *err)
{
	cleanup_close int lock = store_lock(s, err);
	cleanup_free char *dir = NULL;
	struct timespec now;
	double created;

	if (lock < 0)
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	/* Whole microseconds: what a double holds exactly enough. */
	created = (double)now.tv_sec + (double)(now.tv_nsec / 1000) * 1e-6;
	if (make_set_dir(s, set, now.tv_sec, &dir, err) < 0)
		return -1;
	if (err)
		error_clear(err);
	store_name_kernels(set);
	if (write_set(s, dir, set, created, err) < 0 || index_put_set(s, set, created, err) < 0) {
		dir_remove(dir, NULL);
		return -1;
	}
	return 0;
}

static void store_run_free(struct store_run *sr)
{
	if (sr->console_fd >= 0)
		close(sr->console_fd);
	sample_writer_drop(sr->samples);
	free(sr->set_dir);
	free(sr->dir);
	free(sr->final_dir);
	free(sr);
}

static int make_run_dir(struct store_run *sr, struct error *err)
{
	cleanup_close int lock = store_lock(sr->s, err);
	cleanup_free char *scratch = path_join(sr->dir, "scratch");

	if (lock < 0)
		return -1;
	if (file_exists(sr->final_dir))
		return error_set(err, EXIT_NO_VERDICT, "%s: exists already; a run needs a new id",
				 sr->final_dir);
	if (mkdir(sr->dir, 0755) < 0 && errno == EEXIST) {
		if (!store_sweep_one(sr->dir))
			return error_set(err, EXIT_NO_VERDICT,
					 "%s: another mmrig is making this run; wait for it to end",
					 sr->dir);
		if (mkdir(sr->dir, 0755) < 0)
			return error_errno(err, EXIT_NO_VERDICT, "%s: cannot create folder",
					   sr->dir);
	} else if (!file_exists(sr->dir)) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot create folder", sr->dir);
		return store_hint_space(err, errno);
	}
	if (store_owner_write(sr->dir, err) < 0 || dir_make(scratch, 0755, err) < 0) {
		store_hint_space(err, errno);
		dir_remove(sr->dir, NULL);
		return -1;
	}
	return 0;
}

static int write_run(struct store_run *sr, const struct runset *set, const struct run *r,
		     struct error *err)
{
	cleanup_free char *path = path_join(sr->dir, "run.json");
	cleanup_free char *text = json_text(path, run_to_json(set, r), err);

	return text ? write_text(path, text, err) : -1;
}

static int open_files(struct store_run *sr, const struct runset *set, const struct run *initial,
		      struct error *err)
{
	cleanup_free char *console = path_join(sr->dir, "console.log");
	cleanup_free char *samples = path_join(sr->dir, "samples.zst");
	struct run lost = *initial;

	lost.verdict = VERDICT_GUEST_LOST;
	if (write_run(sr, set, &lost, err) < 0)
		return -1;
	sr->console_fd = open(console,
			      O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
			      0644);
	if (sr->console_fd < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", console);
		return store_hint_space(err, errno);
	}
	sr->samples = sample_writer_open(samples, err);
	return sr->samples ? 0 : -1;
}

int store_begin_run(struct store *s, const struct runset *set, const struct run *initial,
		    struct store_run **out, struct error *err)
{
	struct store_run *sr;

	if (!initial->id || !store_name_ok(initial->id) || !set->id)
		return error_set(err, EXIT_NO_VERDICT, "\"%s\" cannot be the id of a run",
				 initial->id ? initial->id : "");
	sr = xcalloc(1, sizeof(*sr));
	sr->s = s;
	sr->console_fd = -1;
	sr->set_dir = path_join(s->root, set->id);
	sr->dir = str_printf("%s/.%s.tmp", sr->set_dir, initial->id);
	sr->final_dir = path_join(sr->set_dir, initial->id);
	if (make_run_dir(sr, err) < 0) {
		store_run_free(sr);
		return -1;
	}
	if (open_files(sr, set, initial, err) < 0) {
		store_abandon_run(sr);
		return -1;
	}
	*out = sr;
	return 0;
}

const char *store_run_dir(const struct store_run *sr)
{
	return sr->dir;
}

int store_console(struct store_run *sr, const void *data, size_t len, struct error *err)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(sr->console_fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			error_errno(err, EXIT_NO_VERDICT, "%s/console.log: cannot write", sr->dir);
			return store_hint_space(err, errno);
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int store_sample(struct store_run *sr, const void *payload, uint32_t len, struct error *err)
{
	return sample_writer_add(sr->samples, payload, len, err);
}

/* Everything that is in the folder is on disk, under its last name. */
static int settle(struct store_run *sr, const struct runset *set, const struct run *r,
		  struct error *err)
{
	cleanup_free char *scratch = path_join(sr->dir, "scratch");
	cleanup_free char *owner = path_join(sr->final_dir, "owner");

	if (sample_writer_finish(STEAL(sr->samples), err) < 0)
		return -1;
	if (fsync(sr->console_fd) < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s/console.log: cannot sync", sr->dir);
		return store_hint_space(err, errno);
	}
	if (write_run(sr, set, r, err) < 0 || dir_remove(scratch, err) < 0)
		return -1;
	if (sums_make(sr->dir, store_run_files, err) < 0)
		return store_hint_space(err, errno);
	if (dir_fsync(sr->dir, err) < 0)
		return -1;
	/* The owner file goes after the rename: without it, a sweeper would take the whole run. */
	if (rename(sr->dir, sr->final_dir) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot rename to %s", sr->dir,
				   sr->final_dir);
	unlink(owner);
	return dir_fsync(sr->set_dir, err);
}

int store_finish_run(struct store_run *sr, const struct runset *set, const struct run *r,
		     struct error *err)
{
	struct store *s = sr->s;

	if (!r->id || strcmp(strrchr(sr->final_dir, '/') + 1, r->id) != 0) {
		error_set(err, EXIT_NO_VERDICT, "%s: finished under another id", sr->dir);
		store_abandon_run(sr);
		return -1;
	}
	if (settle(sr, set, r, err) < 0) {
		store_abandon_run(sr);
		return -1;
	}
	store_run_free(sr);
	if (index_begin(s, err) < 0)
		goto not_indexed;
	if (index_put_run(s, set, r, err) < 0 || index_commit(s, err) < 0) {
		index_rollback(s);
		goto not_indexed;
	}
	return 0;
not_indexed:
	error_wrap(err, "run %s is stored, but not in the index", r->id);
	return error_hint(err, "the next mmrig takes it in");
}

void store_abandon_run(struct store_run *sr)
{
	if (!sr)
		return;
	dir_remove(sr->dir, NULL);
	store_run_free(sr);
}
