// SPDX-License-Identifier: GPL-2.0-only
/* The "build" object of kernel.json. */
#include <string.h>

#include "harness/build/build_impl.h"
#include "harness/kernel/record.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define CHANGES "changes.patch"

static const struct member {
	const char *key;
	size_t offset;
	bool optional;
} members[] = {
	{ "key", offsetof(struct build_record, key), false },
	{ "source", offsetof(struct build_record, source_id), false },
	{ "object", offsetof(struct build_record, object), false },
	{ "base", offsetof(struct build_record, base), false },
	{ "commit", offsetof(struct build_record, commit), true },
	{ "what", offsetof(struct build_record, what), false },
	{ "cc", offsetof(struct build_record, cc), false },
	{ "options", offsetof(struct build_record, options), false },
	{ "obj", offsetof(struct build_record, obj), true },
};

static char **slot(const struct build_record *b, const struct member *m)
{
	return (char **)((char *)b + m->offset);
}

static void list_free(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

void build_record_free(struct build_record *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		free(*slot(b, &members[i]));
	list_free(b->patch);
	list_free(b->config);
	free(b->changes);
	*b = (struct build_record){ 0 };
}

/* File names and git's words may be in any encoding; JSON holds UTF-8 alone. */
static json_t *text_json(const char *text)
{
	struct strbuf sb = STRBUF_INIT;
	json_t *o = json_string(text);

	if (o)
		return o;
	for (; *text; text++)
		strbuf_addf(&sb, "%c", (unsigned char)*text < 128 ? *text : '?');
	o = json_string(sb.data);
	strbuf_free(&sb);
	return o;
}

static json_t *list_json(char *const *list)
{
	json_t *array = json_array();

	for (char *const *p = list; *p; p++)
		json_array_append_new(array, text_json(*p));
	return array;
}

json_t *build_record_pack(const struct build_record *b)
{
	json_t *o = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *text = *slot(b, &members[i]);

		if (text)
			json_object_set_new(o, members[i].key, text_json(text));
	}
	json_object_set_new(o, "patches", list_json(b->patch));
	json_object_set_new(o, "config", list_json(b->config));
	if (b->changes)
		json_object_set_new(o, "changes", text_json(b->changes));
	return o;
}

int build_record_save(const char *dir, const struct build_record *b, struct error *err)
{
	cleanup_free char *path = path_join(dir, "kernel.json");
	json_t *record = record_read(path, err), *build;
	int ret;

	if (!record)
		return -1;
	build = build_record_pack(b);
	json_object_del(build, "changes"); /* stands beside, wherever the folder is then */
	json_object_set_new(record, "build", build);
	ret = record_write(path, record, err);
	json_decref(record);
	return ret;
}

static char **read_list(const json_t *array)
{
	char **list = xcalloc(json_array_size(array) + 1, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *text = json_string_value(json_array_get(array, i));

		if (text)
			list[n++] = xstrdup(text);
	}
	return list;
}

static int read_members(const json_t *o, struct build_record *b, const char *path,
			struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *text = json_string_value(json_object_get(o, members[i].key));

		if (!text && !members[i].optional)
			return error_set(err, EXIT_USAGE, "%s: \"build\" lacks \"%s\"", path,
					 members[i].key);
		*slot(b, &members[i]) = text ? xstrdup(text) : NULL;
	}
	b->patch = read_list(json_object_get(o, "patches"));
	b->config = read_list(json_object_get(o, "config"));
	return 0;
}

int build_record_load(const struct kernel *k, struct build_record *b, struct error *err)
{
	cleanup_free char *dir = xstrdup(k->image), *path = NULL, *changes = NULL;
	json_t *record, *o;
	int ret = 0;

	*b = (struct build_record){ 0 };
	if (strrchr(dir, '/'))
		*strrchr(dir, '/') = '\0';
	path = path_join(dir, "kernel.json");
	if (!file_exists(path))
		return 0;
	record = record_read(path, err);
	if (!record)
		return -1;
	o = json_object_get(record, "build");
	if (o)
		ret = read_members(o, b, path, err) < 0 ? -1 : 1;
	json_decref(record);
	if (ret < 0)
		build_record_free(b);
	changes = path_join(dir, CHANGES);
	if (ret > 0 && file_exists(changes))
		b->changes = STEAL(changes);
	return ret;
}
