// SPDX-License-Identifier: GPL-2.0-only
#include "harness/cmd/layout_show.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "results/layout_table.h"
#include "results/pageblocks_map.h"
#include "results/run_json.h"
#include "results/run_text.h"
#include "results/store.h"
#include "results/table.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

struct showing {
	const struct runset *set;
	struct store *store;
	const char *output;
	json_t *document; /* NULL: text is printed */
};

/* The last map that was taken within the layout: as it stood, or where it stopped. */
static int take_map(void *arg, const struct wire_sample *sample)
{
	if (sample->phase <= PHASE_LAYOUT && strcmp(sample->name, "pageblocks") == 0)
		pageblocks_add(arg, sample->data, sample->len);
	return sample->phase > PHASE_LAYOUT;
}

char *layout_picture_path(const char *output, size_t cell)
{
	size_t stem = strlen(output) - (str_ends(output, ".svg") ? strlen(".svg") : 0);

	return cell ? str_printf("%.*s-%zu.svg", (int)stem, output, cell + 1) : xstrdup(output);
}

/* NULL where the layout holds. */
static char *trouble_of(const struct run *r)
{
	size_t left = layout_steps_left(r);
	cleanup_free char *rest =
		left ? str_printf(" (%zu step%s not reached)", left, left == 1 ? "" : "s") : xstrdup("");

	if (r->verdict == VERDICT_OK)
		return NULL;
	return str_printf("Does not hold: %s: %s%s", verdict_name(r->verdict), r->why ? r->why : "?", rest);
}

static void print_run(const struct run *r, const char *label, const struct pageblocks *map)
{
	cleanup_free char *table = layout_table(r), *picture = pageblocks_text(map);
	cleanup_free char *why = r->why ? run_text_printable(r->why) : NULL;

	printf("%s: %s%s%s\n\n%s\n", label, verdict_name(r->verdict), why ? ": " : "", why ? why : "", table);
	if (map->n && r->verdict != VERDICT_OK)
		printf("The pageblocks when it stopped:\n\n");
	printf("%s\n", picture);
	if (map->bad)
		printf("%zu line%s of the map could not be read.\n\n", map->bad, map->bad == 1 ? "" : "s");
}

/* 0, also where there is nothing to draw; *path stays NULL then. */
static int draw(const struct showing *s, const struct run *r, size_t cell, const char *label,
		const struct pageblocks *map, char **path, struct error *err)
{
	cleanup_free char *trouble = trouble_of(r), *file = layout_picture_path(s->output, cell);
	cleanup_free char *picture = pageblocks_svg(map, label, trouble);

	if (!picture) {
		fprintf(stderr, "mmrig: %s: not written: the guest sent no map of its pageblocks\n", file);
		return 0;
	}
	if (file_write_atomic(file, picture, strlen(picture), 0644, err) < 0)
		return -1;
	*path = STEAL(file);
	return 0;
}

static json_t *map_json(const struct pageblocks *map)
{
	json_t *o = json_object(), *blocks = json_object(), *pages = json_object();
	size_t states[BLOCK_STATES];
	uint64_t kinds[PAGE_KINDS];

	pageblocks_count(map, states, kinds);
	for (int i = 0; i < BLOCK_STATES; i++)
		if (i != BLOCK_HOLE)
			json_object_set_new(blocks, pageblock_state_names[i], json_integer((json_int_t)states[i]));
	for (int k = 0; k < PAGE_KINDS; k++)
		if (k != PAGES_HOLE)
			json_object_set_new(pages, page_kind_names[k], run_json_u64(kinds[k]));
	json_object_set_new(o, "blocks", blocks);
	json_object_set_new(o, "pages", pages);
	return o;
}

/* Into the object that the document has of this run. */
static void complete_json(json_t *document, const struct run *r, const struct pageblocks *map,
			  const char *picture)
{
	json_t *cells = json_object_get(document, "cells"), *cell, *run;
	size_t i, k;

	json_array_foreach(cells, i, cell) {
		json_array_foreach(json_object_get(cell, "runs"), k, run) {
			const char *id = json_string_value(json_object_get(run, "id"));

			if (!id || strcmp(id, r->id) != 0)
				continue;
			if (map->n)
				json_object_set_new(run, "pageblocks", map_json(map));
			if (picture)
				json_object_set_new(run, "picture", run_json_text(picture));
		}
	}
}

static char *label_of(const struct runset *set, const struct run *r)
{
	cleanup_free char *variant = run_text_printable(set->variant[r->variant].label);

	return str_printf("%s, %s%s%s", set->scenario, set->kernel[r->kernel].name, *variant ? ", " : "", variant);
}

static int show_run(struct showing *s, const struct run *r, size_t cell, struct error *err)
{
	cleanup_free char *label = label_of(s->set, r), *picture = NULL;
	struct pageblocks map = { 0 };
	int ret = store_each_sample(s->store, s->set->id, r->id, take_map, &map, err);

	ret = ret < 0 ? -1 : 0;
	if (ret == 0 && !s->document)
		print_run(r, label, &map);
	if (ret == 0 && s->output)
		ret = draw(s, r, cell, label, &map, &picture, err);
	if (picture && !s->document)
		printf("%s shows this map.\n\n", picture);
	if (s->document)
		complete_json(s->document, r, &map, picture);
	pageblocks_free(&map);
	return ret;
}

static void print_document(const json_t *document)
{
	cleanup_free char *text =
		json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15) | JSON_ENSURE_ASCII);

	printf("%s\n", text ? text : "{}");
}

int layout_show(const struct runset *set, const char *output, bool json, struct error *err)
{
	cleanup_free char *text = json ? table_json(set) : NULL;
	struct showing s = { .set = set, .output = output, .document = json ? json_loads(text, 0, NULL) : NULL };
	size_t cell = 0;
	int ret = store_open(NULL, false, &s.store, err);

	for (size_t i = 0; ret == 0 && i < set->nruns; i++)
		if (!runset_superseded(set, i))
			ret = show_run(&s, &set->run[i], cell++, err);
	if (s.document)
		print_document(s.document);
	json_decref(s.document);
	store_close(s.store);
	return ret;
}
