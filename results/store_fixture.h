/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STORE_FIXTURE_H
#define MMRIG_STORE_FIXTURE_H
/* For the store's unit tests, after cmocka.h: a store in a folder of its own, and checks. */
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/frame.h"
#include "results/run_fixture.h"
#include "results/store.h"
#include "results/util/cleanup.h"

struct place {
	char root[PATH_MAX];
};

static inline int setup(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));
	const char *tmp = getenv("TMPDIR");
	char real[PATH_MAX];

	snprintf(p->root, sizeof(p->root), "%s/mmrig-store-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(p->root) || !realpath(p->root, real))
		return -1;
	snprintf(p->root, sizeof(p->root), "%s", real);
	*state = p;
	return 0;
}

static inline int teardown(void **state)
{
	struct place *p = *state;
	int ret;

	chmod(p->root, 0755);
	ret = dir_remove(p->root, NULL);
	free(p);
	return ret;
}

/* Copies a folder of the source tree, with what is in it, to `to`, whose parents are made. */
static inline void copy_tree(const char *from, const char *to)
{
	cleanup_dir DIR *d = opendir(from);
	struct dirent *e;

	assert_non_null(d);
	assert_int_equal(dir_make(to, 0755, NULL), 0);
	while ((e = readdir(d))) {
		cleanup_free char *source = path_join(from, e->d_name), *data = NULL;
		cleanup_free char *target = path_join(to, e->d_name);
		struct stat st;
		size_t len;

		if (e->d_name[0] == '.')
			continue;
		assert_int_equal(stat(source, &st), 0);
		if (S_ISDIR(st.st_mode)) {
			copy_tree(source, target);
			continue;
		}
		data = file_read(source, 0, &len, NULL);
		assert_non_null(data);
		assert_int_equal(file_write_atomic(target, data, len, 0644, NULL), 0);
	}
}

static inline void fixture_copy(const char *name, const char *to)
{
	cleanup_free char *from = file_exists(name) ? xstrdup(name) : data_path(name, NULL);

	assert_non_null(from);
	copy_tree(from, to);
}

static inline struct store *open_store(const char *root)
{
	cleanup_error struct error err = ERROR_INIT;
	struct store *s = NULL;

	if (store_open(root, true, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

/* Children use these too, and report by -1: an assertion would jump into the parent's tests. */
static inline uint32_t sample_make(uint8_t *out, uint64_t ns, const char *name, const void *data,
				   uint32_t len)
{
	size_t n = strlen(name);

	for (int i = 0; i < 8; i++)
		out[i] = (uint8_t)(ns >> (8 * i));
	out[8] = EDGE_BEGIN;
	out[9] = PHASE_WORKLOAD;
	out[10] = (uint8_t)n;
	memcpy(out + 11, name, n);
	memcpy(out + 11 + n, data, len);
	return (uint32_t)(11 + n) + len;
}

static inline int make_run(struct store *s, struct runset *set, const char *id, struct error *err)
{
	struct run r = { .id = xstrdup(id), .seed = 1, .verdict = VERDICT_OK };
	struct store_run *sr;
	uint8_t sample[256];
	uint32_t len = sample_make(sample, 7, "vmstat", "a 1\n", 4);
	int ret;

	run_set_metric(&r, "allocstall", 86);
	ret = store_begin_run(s, set, &r, &sr, err);
	if (ret == 0 && (store_console(sr, "Linux version\n", 14, err) < 0 ||
			 store_sample(sr, sample, len, err) < 0)) {
		store_abandon_run(sr);
		ret = -1;
	} else if (ret == 0) {
		ret = store_finish_run(sr, set, &r, err);
	}
	run_free(&r);
	return ret;
}

static inline void add_run(struct store *s, struct runset *set, const char *id)
{
	cleanup_error struct error err = ERROR_INIT;

	if (make_run(s, set, id, &err) < 0)
		fail_msg("%s", err.text);
}

static inline struct runset begin_set(struct store *s)
{
	cleanup_error struct error err = ERROR_INIT;
	struct runset set = fixture_set();

	if (store_begin_set(s, &set, &err) < 0)
		fail_msg("%s", err.text);
	return set;
}

static inline void on_fault(void *arg, const char *fault)
{
	struct strbuf *sb = arg;

	strbuf_addf(sb, "%s\n", fault);
}

/* Everything readable and indexed; returns the number of runs. */
static inline size_t expect_sound(struct store *s)
{
	cleanup_strbuf struct strbuf faults = STRBUF_INIT;
	size_t runs = 0;

	assert_int_equal(store_verify(s, on_fault, &faults, &runs, NULL), 0);
	if (faults.len)
		fail_msg("%s", faults.data);
	return runs;
}

static inline void expect_fault(struct store *s, const char *what)
{
	cleanup_strbuf struct strbuf faults = STRBUF_INIT;
	size_t runs;

	assert_int_equal(store_verify(s, on_fault, &faults, &runs, NULL), 0);
	if (!faults.len || !strstr(faults.data, what))
		fail_msg("\"%s\" does not say \"%s\"", faults.len ? faults.data : "", what);
}

/* What the index has of a metric in a set's two runs; NAN twice: no such column. */
static inline void expect_indexed(struct store *s, const char *set_id, const char *metric,
				  double first, double second)
{
	cleanup_error struct error err = ERROR_INIT;
	struct frame f;
	const double *v;

	if (store_load_frame(s, set_id, &f, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(f.set.nruns, 2);
	v = frame_column(&f, metric);
	if (isnan(first) && isnan(second))
		assert_null(v);
	else if (!v || v[0] != first || v[1] != second)
		fail_msg("%s is %f and %f", metric, v ? v[0] : NAN, v ? v[1] : NAN);
	frame_free(&f);
}

static inline char *in_set(const struct place *p, const struct runset *set, const char *name)
{
	return str_printf("%s/%s/%s", p->root, set->id, name);
}

static inline void query_exec(const char *root, const char *sql)
{
	cleanup_free char *path = path_join(root, "mmrig.db");
	sqlite3 *db;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static inline double query_number(const char *root, const char *sql)
{
	cleanup_free char *path = path_join(root, "mmrig.db");
	sqlite3_stmt *st;
	sqlite3 *db;
	double value;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	value = sqlite3_column_double(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return value;
}

static inline size_t count_tmp(const char *root)
{
	cleanup_dir DIR *d = opendir(root);
	struct dirent *e;
	size_t n = 0;

	while ((e = readdir(d))) {
		cleanup_free char *path = path_join(root, e->d_name);

		if (e->d_name[0] == '.' && str_ends(e->d_name, ".tmp"))
			n++;
		else if (e->d_name[0] == '2' && e->d_type == DT_DIR)
			n += count_tmp(path);
	}
	return n;
}

/* Runs fn in a child; its exit status (or 128 + signal). */
static inline int in_child(int (*fn)(struct place *p), struct place *p)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(fn(p));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define STORE_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
