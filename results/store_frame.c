// SPDX-License-Identifier: GPL-2.0-only
/*
 * A set from the index, in two passes over its rows: the first finds the runs and which metrics
 * there are, so that the second fills columns that are made once and at their size.
 */
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define UNUSED UINT32_MAX

struct reading {
	struct store *s;
	struct frame *f;
	uint32_t *column; /* of a name's id; UNUSED: none */
	size_t ids;	  /* length of column */
	size_t *place;	  /* the row's run: rows come in the order of bytes */
};

static int damaged(struct reading *g, struct error *err)
{
	error_set(err, EXIT_NO_VERDICT, "%s/mmrig.db: damaged: the metrics of %s do not fit",
		  g->s->root, g->f->set.id);
	return error_hint(err, "run mmrig results rebuild");
}

/* Calls for every record of a row's blob. */
static int each_value(struct reading *g, sqlite3_stmt *st, int column,
		      void (*take)(struct reading *g, uint32_t id, double value, size_t run),
		      size_t run, struct error *err)
{
	const uint8_t *p = sqlite3_column_blob(st, column);
	size_t len = (size_t)sqlite3_column_bytes(st, column);

	if (len % INDEX_METRIC_BYTES)
		return damaged(g, err);
	for (; len; len -= INDEX_METRIC_BYTES, p += INDEX_METRIC_BYTES) {
		uint32_t id;
		uint64_t bits;
		double value;

		memcpy(&id, p, sizeof(id));
		memcpy(&bits, p + sizeof(id), sizeof(bits));
		id = le32toh(id);
		bits = le64toh(bits);
		memcpy(&value, &bits, sizeof(value));
		if (id >= g->ids)
			return damaged(g, err);
		take(g, id, value, run);
	}
	return 0;
}

static void mark(struct reading *g, uint32_t id, double value, size_t run)
{
	g->column[id] = 0;
}

static void fill(struct reading *g, uint32_t id, double value, size_t run)
{
	g->f->value[g->column[id] * g->f->set.nruns + run] = value;
}

/* One more than the greatest id of a metric's name. */
static int count_ids(struct reading *g, struct error *err)
{
	sqlite3_stmt *st = index_query(g->s, err, "SELECT max(id) FROM metric_names", NULL);
	sqlite3_int64 most;

	if (!st)
		return -1;
	most = sqlite3_step(st) == SQLITE_ROW ? sqlite3_column_int64(st, 0) : -1;
	sqlite3_finalize(st);
	if (most < 0 || most > INT32_MAX / 8)
		return damaged(g, err);
	g->ids = (size_t)most + 1;
	g->column = xreallocarray(NULL, g->ids, sizeof(*g->column));
	for (size_t i = 0; i < g->ids; i++)
		g->column[i] = UNUSED;
	return 0;
}

static int find_runs(struct reading *g, struct error *err)
{
	sqlite3_stmt *st = index_query(g->s, err,
				       "SELECT id, metrics FROM runs WHERE runset = ? ORDER BY id",
				       g->f->set.id, NULL);
	struct runset *set = &g->f->set;
	size_t room = 0;
	int step, ret = 0;

	if (!st)
		return -1;
	while (ret == 0 && (step = sqlite3_step(st)) == SQLITE_ROW) {
		const char *id = (const char *)sqlite3_column_text(st, 0);

		if (set->nruns == room)
			set->run = xreallocarray(set->run, room = 2 * room + 16, sizeof(*set->run));
		set->run[set->nruns++] = (struct run){ .id = xstrdup(id ? id : "") };
		ret = each_value(g, st, 1, mark, 0, err);
	}
	if (ret == 0 && step != SQLITE_DONE)
		ret = index_error(g->s, err);
	sqlite3_finalize(st);
	return ret;
}

struct ranked {
	char *id; /* first: store_by_run_id() compares it */
	size_t row;
};

/* Puts the runs into the order of their numbers. */
static void sort_runs(struct reading *g)
{
	struct runset *set = &g->f->set;
	cleanup_free struct ranked *ranked = xreallocarray(NULL, set->nruns, sizeof(*ranked));

	g->place = xreallocarray(NULL, set->nruns, sizeof(*g->place));
	for (size_t i = 0; i < set->nruns; i++)
		ranked[i] = (struct ranked){ set->run[i].id, i };
	if (set->nruns)
		qsort(ranked, set->nruns, sizeof(*ranked), store_by_run_id);
	for (size_t i = 0; i < set->nruns; i++) {
		set->run[i].id = ranked[i].id;
		g->place[ranked[i].row] = i;
	}
}

static int make_columns(struct reading *g, struct error *err)
{
	sqlite3_stmt *st =
		index_query(g->s, err, "SELECT id, name FROM metric_names ORDER BY name", NULL);
	struct frame *f = g->f;
	size_t used = 0, cells;
	int step;

	if (!st)
		return -1;
	for (size_t i = 0; i < g->ids; i++)
		used += g->column[i] != UNUSED;
	f->metric = xcalloc(used, sizeof(*f->metric));
	while ((step = sqlite3_step(st)) == SQLITE_ROW) {
		sqlite3_int64 id = sqlite3_column_int64(st, 0);
		const char *name = (const char *)sqlite3_column_text(st, 1);

		if (id < 0 || (size_t)id >= g->ids || g->column[id] == UNUSED)
			continue;
		g->column[id] = (uint32_t)f->nmetrics;
		f->metric[f->nmetrics++] = xstrdup(name ? name : "");
	}
	if (step != SQLITE_DONE)
		index_error(g->s, err);
	sqlite3_finalize(st);
	if (step != SQLITE_DONE)
		return -1;
	if (f->nmetrics != used) /* an id that has no name */
		return damaged(g, err);
	cells = f->nmetrics * f->set.nruns;
	f->value = xreallocarray(NULL, cells, sizeof(*f->value));
	for (size_t i = 0; i < cells; i++)
		f->value[i] = NAN;
	return 0;
}

static char *text(sqlite3_stmt *st, int column)
{
	const char *s = (const char *)sqlite3_column_text(st, column);

	return s ? xstrdup(s) : NULL;
}

static int take_run(struct reading *g, sqlite3_stmt *st, struct run *r, struct error *err)
{
	const char *verdict = (const char *)sqlite3_column_text(st, 4);

	r->cell = (size_t)sqlite3_column_int64(st, 0);
	r->kernel = (size_t)sqlite3_column_int64(st, 1);
	r->variant = (size_t)sqlite3_column_int64(st, 2);
	r->seed = (uint64_t)sqlite3_column_int64(st, 3);
	if (!verdict || !verdict_parse(verdict, &r->verdict) || r->kernel >= g->f->set.nkernels ||
	    r->variant >= g->f->set.nvariants)
		return damaged(g, err);
	r->why = text(st, 5);
	r->accel = text(st, 6);
	r->qemu_version = text(st, 7);
	r->host = text(st, 8);
	r->forked_from = text(st, 9);
	r->started = sqlite3_column_double(st, 10);
	r->ended = sqlite3_column_double(st, 11);
	r->host_wait = r->host_steal = r->host_memory = r->host_load = -1;
	for (int i = 0; i < PHASE_COUNT; i++)
		r->phase[i] = sqlite3_column_type(st, 12 + i) == SQLITE_NULL ?
				      -1 :
				      sqlite3_column_double(st, 12 + i);
	return 0;
}

static int fill_runs(struct reading *g, struct error *err)
{
	static const char sql[] =
		"SELECT cell, kernel_index, variant_index, seed, verdict, why, accel, qemu_version,"
		" host, forked_from, started, ended, boot, layout, settle, workload, collect,"
		" metrics FROM runs WHERE runset = ? ORDER BY id";
	sqlite3_stmt *st = index_query(g->s, err, sql, g->f->set.id, NULL);
	size_t row = 0;
	int step, ret = 0;

	if (!st)
		return -1;
	while (ret == 0 && (step = sqlite3_step(st)) == SQLITE_ROW) {
		size_t run = g->place[row++];

		ret = take_run(g, st, &g->f->set.run[run], err);
		if (ret == 0)
			ret = each_value(g, st, 12 + PHASE_COUNT, fill, run, err);
	}
	if (ret == 0 && step != SQLITE_DONE)
		ret = index_error(g->s, err);
	sqlite3_finalize(st);
	return ret;
}

int index_load_frame(struct store *s, struct runset *set, struct frame *f, struct error *err)
{
	struct reading g = { .s = s, .f = f };
	int ret;

	memset(f, 0, sizeof(*f));
	f->set = *set;
	memset(set, 0, sizeof(*set));
	/* One transaction, so that both passes see the same rows. */
	ret = index_exec(s, "BEGIN", err);
	if (ret == 0) {
		ret = count_ids(&g, err) < 0 || find_runs(&g, err) < 0 ? -1 : 0;
		if (ret == 0) {
			sort_runs(&g);
			ret = make_columns(&g, err) < 0 || fill_runs(&g, err) < 0 ? -1 : 0;
		}
		index_rollback(s);
	}
	free(g.column);
	free(g.place);
	if (ret < 0)
		frame_free(f);
	return ret;
}

/*
 * Has the index every run that is on disk? One that cannot be read is not in it, and must not go
 * missing in silence: reading the folder names it.
 */
static int index_is_whole(struct store *s, const char *set_dir, const char *id, struct error *err)
{
	char **known = index_ids(s, "SELECT id FROM runs WHERE runset = ? ORDER BY id", id, err);
	char **disk, *const *k = known;
	int whole = 1;
	size_t n;

	disk = known ? store_dir_names(set_dir, &n, err) : NULL;
	for (size_t i = 0; disk && whole && i < n; i++) {
		while (*k && strcmp(*k, disk[i]) < 0)
			k++;
		if (!*k || strcmp(*k, disk[i]) != 0)
			whole = !store_is_run(set_dir, disk[i]);
	}
	if (!disk)
		whole = -1;
	run_text_lines_free(known);
	run_text_lines_free(disk);
	return whole;
}

/* The id that a path has when it leads to a set of this very store; else NULL. */
static char *id_of_path(const struct store *s, const char *path)
{
	char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL, *id = NULL;

	if (slash && strncmp(real, s->root, (size_t)(slash - real)) == 0 &&
	    s->root[slash - real] == '\0' && store_name_ok(slash + 1))
		id = xstrdup(slash + 1);
	free(real);
	return id;
}

/* From the index where the whole set is in it: 1, and 0 where it is not. */
static int load_indexed(struct store *s, const char *id, struct frame *f, struct error *err)
{
	cleanup_free char *dir = path_join(s->root, id);
	struct runset set;
	int whole = index_is_whole(s, dir, id, err);

	if (whole <= 0)
		return whole;
	if (store_load_head(dir, &set, NULL, err) < 0)
		return -1;
	/* A copy of a set's folder under another name is in no index. */
	if (strcmp(set.id, id) != 0) {
		runset_free(&set);
		return 0;
	}
	return index_load_frame(s, &set, f, err) < 0 ? -1 : 1;
}

int store_load_frame(struct store *s, const char *which, struct frame *f, struct error *err)
{
	bool is_path;
	cleanup_free char *chosen = store_choose(s, which, &is_path, err), *id = NULL, *dir = NULL;
	struct runset set;
	int ret = 0;

	memset(f, 0, sizeof(*f));
	if (!chosen)
		return -1;
	id = is_path ? id_of_path(s, chosen) : xstrdup(chosen);
	dir = is_path ? xstrdup(chosen) : path_join(s->root, chosen);
	if (id)
		ret = load_indexed(s, id, f, err);
	if (ret)
		return ret < 0 ? -1 : 0;
	if (store_load_dir(dir, &set, err) < 0)
		return -1;
	frame_from_set(&set, f);
	return 0;
}
