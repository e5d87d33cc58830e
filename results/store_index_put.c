// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes into the index. A run's metrics are packed: one record of INDEX_METRIC_BYTES each, the
 * name as its id in metric_names (u32) and the value (f64), little-endian.
 */
#include <endian.h>
#include <math.h>
#include <string.h>

#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/util/cleanup.h"

void index_names_free(struct index_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->item[i].name);
	free(names->item);
	*names = (struct index_names){ NULL, 0 };
}

/* Where the name is, or would stand. */
static size_t name_place(const struct index_names *names, const char *name, bool *found)
{
	size_t low = 0, high = names->n;

	*found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(names->item[middle].name, name);

		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int ask_id(struct store *s, const char *name, uint32_t *id, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, "INSERT OR IGNORE INTO metric_names(name) VALUES(?)",
				       name, NULL);

	if (index_step(s, st, err) < 0)
		return -1;
	st = index_query(s, err, "SELECT id FROM metric_names WHERE name = ?", name, NULL);
	if (!st)
		return -1;
	if (sqlite3_step(st) != SQLITE_ROW) {
		index_error(s, err);
		sqlite3_finalize(st);
		return -1;
	}
	*id = (uint32_t)sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return 0;
}

/* Ids never change while the table is there, so those once asked for are kept. */
static int name_id(struct store *s, const char *name, uint32_t *id, struct error *err)
{
	struct index_names *names = &s->names;
	bool found;
	size_t at = name_place(names, name, &found);

	if (found) {
		*id = names->item[at].id;
		return 0;
	}
	if (ask_id(s, name, id, err) < 0)
		return -1;
	names->item = xreallocarray(names->item, names->n + 1, sizeof(*names->item));
	memmove(&names->item[at + 1], &names->item[at], (names->n - at) * sizeof(*names->item));
	names->item[at] = (struct index_name){ xstrdup(name), *id };
	names->n++;
	return 0;
}

/* As run.json has it: no value that is not finite, no zero below zero, names in UTF-8. */
static int pack_metrics(struct store *s, const struct run *r, struct strbuf *blob,
			struct error *err)
{
	for (size_t i = 0; i < r->nmetrics; i++) {
		cleanup_free char *name = run_text_utf8(r->metric[i].name);
		double value = r->metric[i].value + 0.0;
		uint64_t bits;
		uint32_t id;

		if (!isfinite(value))
			continue;
		if (name_id(s, name, &id, err) < 0)
			return -1;
		memcpy(&bits, &value, sizeof(bits));
		bits = htole64(bits);
		id = htole32(id);
		strbuf_add(blob, &id, sizeof(id));
		strbuf_add(blob, &bits, sizeof(bits));
	}
	return 0;
}

static void bind_text(sqlite3_stmt *st, int column, const char *text)
{
	if (text)
		sqlite3_bind_text(st, column, run_text_utf8(text), -1, free);
}

static void bind_number(sqlite3_stmt *st, int column, double value)
{
	if (isfinite(value))
		sqlite3_bind_double(st, column, value);
}

int index_put_set(struct store *s, const struct runset *set, double created, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err,
				       "INSERT OR REPLACE INTO runsets"
				       "(id, scenario, title, command, created) VALUES(?,?,?,?,?)",
				       NULL);

	if (!st)
		return -1;
	bind_text(st, 1, set->id);
	bind_text(st, 2, set->scenario);
	bind_text(st, 3, set->title);
	bind_text(st, 4, set->command);
	bind_number(st, 5, created);
	return index_step(s, st, err);
}

_Static_assert(PHASE_COUNT == 5, "the index has a column a phase");

static void bind_run(sqlite3_stmt *st, const struct runset *set, const struct run *r)
{
	const struct run_kernel *k = r->kernel < set->nkernels ? &set->kernel[r->kernel] : NULL;
	const struct run_variant *v = r->variant < set->nvariants ? &set->variant[r->variant] :
								    NULL;

	bind_text(st, 1, set->id);
	bind_text(st, 2, r->id);
	sqlite3_bind_int64(st, 3, (sqlite3_int64)r->cell);
	bind_text(st, 4, k ? k->name : NULL);
	bind_text(st, 5, k ? k->release : NULL);
	bind_text(st, 6, k ? k->build_id : NULL);
	bind_text(st, 7, v ? v->label : NULL);
	sqlite3_bind_int64(st, 8, (sqlite3_int64)r->kernel);
	sqlite3_bind_int64(st, 9, (sqlite3_int64)r->variant);
	sqlite3_bind_int64(st, 10, (sqlite3_int64)r->seed);
	bind_text(st, 11, verdict_name(r->verdict));
	bind_text(st, 12, r->why);
	bind_text(st, 13, r->accel);
	bind_text(st, 14, r->qemu_version);
	bind_text(st, 15, r->host);
	bind_text(st, 16, r->forked_from);
	bind_number(st, 17, r->started);
	bind_number(st, 18, r->ended);
	for (int i = 0; i < PHASE_COUNT; i++)
		if (r->phase[i] >= 0)
			bind_number(st, 19 + i, r->phase[i]);
}

int index_put_run(struct store *s, const struct runset *set, const struct run *r, struct error *err)
{
	static const char sql[] =
		"INSERT OR REPLACE INTO runs(runset, id, cell, kernel, release, build_id, variant,"
		" kernel_index, variant_index, seed, verdict, why, accel, qemu_version, host,"
		" forked_from, started, ended, boot, layout, settle, workload, collect, metrics)"
		" VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
	cleanup_strbuf struct strbuf blob = STRBUF_INIT;
	sqlite3_stmt *st;

	if (pack_metrics(s, r, &blob, err) < 0)
		return -1;
	st = index_query(s, err, sql, NULL);
	if (!st)
		return -1;
	bind_run(st, set, r);
	sqlite3_bind_blob(st, 24, blob.len ? blob.data : "", (int)blob.len, SQLITE_TRANSIENT);
	return index_step(s, st, err);
}
