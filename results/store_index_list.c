// SPDX-License-Identifier: GPL-2.0-only
/* What the index is asked. */
#include <string.h>

#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/util/cleanup.h"

int index_verdict(struct store *s, const char *set_id, const char *run_id, enum verdict *verdict,
		  struct error *err)
{
	sqlite3_stmt *st = index_query(s, err,
				       "SELECT verdict FROM runs WHERE runset = ? AND id = ?",
				       set_id, run_id, NULL);
	int ret, step;

	if (!st)
		return -1;
	step = sqlite3_step(st);
	if (step == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);

		if (!name || !verdict_parse(name, verdict))
			*verdict = VERDICT_COUNT;
		ret = 1;
	} else {
		ret = step == SQLITE_DONE ? 0 : index_error(s, err);
	}
	sqlite3_finalize(st);
	return ret;
}

char **index_ids(struct store *s, const char *sql, const char *param, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, sql, param, NULL);
	size_t n = 0, room = 16;
	char **ids;
	int step;

	if (!st)
		return NULL;
	ids = xcalloc(room, sizeof(*ids));
	while ((step = sqlite3_step(st)) == SQLITE_ROW) {
		const char *id = (const char *)sqlite3_column_text(st, 0);

		if (n + 1 == room)
			ids = xreallocarray(ids, room *= 2, sizeof(*ids));
		ids[n++] = xstrdup(id ? id : "");
		ids[n] = NULL;
	}
	if (step != SQLITE_DONE) {
		index_error(s, err);
		run_text_lines_free(ids);
		ids = NULL;
	}
	sqlite3_finalize(st);
	return ids;
}

static char *column(sqlite3_stmt *st, int i)
{
	const char *s = (const char *)sqlite3_column_text(st, i);

	return s ? xstrdup(s) : NULL;
}

static int count_verdicts(struct store *s, struct store_entry *e, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, "SELECT verdict, count(*) FROM runs WHERE runset = ?"
				       " GROUP BY verdict", e->id, NULL);
	int step;

	if (!st)
		return -1;
	while ((step = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);
		enum verdict v;

		if (name && verdict_parse(name, &v))
			e->count[v] = (unsigned int)sqlite3_column_int(st, 1);
	}
	if (step != SQLITE_DONE)
		index_error(s, err);
	sqlite3_finalize(st);
	return step == SQLITE_DONE ? 0 : -1;
}

int index_list(struct store *s, struct store_entry **entries, size_t *n, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, "SELECT id, scenario, title, created FROM runsets"
				       " ORDER BY created DESC, id DESC", NULL);
	int step, ret = 0;

	*entries = NULL;
	*n = 0;
	if (!st)
		return -1;
	while (ret == 0 && (step = sqlite3_step(st)) != SQLITE_DONE) {
		struct store_entry *e;

		if (step != SQLITE_ROW) {
			ret = index_error(s, err);
			break;
		}
		*entries = xreallocarray(*entries, *n + 1, sizeof(**entries));
		e = &(*entries)[(*n)++];
		*e = (struct store_entry){ .id = column(st, 0), .scenario = column(st, 1),
					   .title = column(st, 2),
					   .created = sqlite3_column_double(st, 3) };
		ret = count_verdicts(s, e, err);
	}
	sqlite3_finalize(st);
	if (ret < 0) {
		store_entries_free(*entries, *n);
		*entries = NULL;
		*n = 0;
	}
	return ret;
}

int index_check(struct store *s, void (*report)(void *arg, const char *fault), void *arg,
		struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, "PRAGMA quick_check(10)", NULL);

	if (!st)
		return -1;
	while (sqlite3_step(st) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(st, 0);
		cleanup_free char *fault = str_printf("%s/mmrig.db: %s; run mmrig results rebuild",
						      s->root, text ? text : "damaged");

		if (!text || strcmp(text, "ok") != 0)
			report(arg, fault);
	}
	sqlite3_finalize(st);
	return 0;
}
