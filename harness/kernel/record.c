// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/record.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define RECORD_SCHEMA 1
#define RECORD_LIMIT (1UL << 20)

static const struct member {
	const char *key;
	size_t offset;
} members[] = {
	{ "name", offsetof(struct kernel, name) },
	{ "release", offsetof(struct kernel, release) },
	{ "version", offsetof(struct kernel, version) },
	{ "build_id", offsetof(struct kernel, build_id) },
	{ "image_hash", offsetof(struct kernel, image_hash) },
	{ "config_hash", offsetof(struct kernel, config_hash) },
	{ "provenance", offsetof(struct kernel, provenance) },
	{ "flavour", offsetof(struct kernel, flavour) },
	{ "package_version", offsetof(struct kernel, package_version) },
};

static long long mtime_ns(const struct stat *st)
{
	return st->st_mtim.tv_sec * 1000000000LL + st->st_mtim.tv_nsec;
}

json_t *record_pack(const struct kernel *k, const struct stat *st)
{
	json_t *o = json_object();

	json_object_set_new(o, "schema", json_integer(RECORD_SCHEMA));
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *text = *(char *const *)((const char *)k + members[i].offset);

		if (text) /* NULL from json_string(): not UTF-8, so left out */
			json_object_set_new(o, members[i].key, json_string(text));
	}
	json_object_set_new(o, "format",
			    json_string(k->format == KERNEL_VMLINUX ? "vmlinux" : "bzimage"));
	json_object_set_new(o, "disk_bytes", json_integer((json_int_t)k->disk_bytes));
	json_object_set_new(o, "image_size", json_integer((json_int_t)st->st_size));
	json_object_set_new(o, "image_mtime_ns", json_integer((json_int_t)mtime_ns(st)));
	json_object_set_new(o, "image_inode", json_integer((json_int_t)st->st_ino));
	return o;
}

bool record_unpack(const json_t *record, struct kernel *k)
{
	const char *format = json_string_value(json_object_get(record, "format"));

	if (json_integer_value(json_object_get(record, "schema")) != RECORD_SCHEMA || !format ||
	    !json_is_string(json_object_get(record, "release")) ||
	    !json_is_string(json_object_get(record, "image_hash")))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *text = json_string_value(json_object_get(record, members[i].key));
		char **slot = (char **)((char *)k + members[i].offset);

		free(*slot);
		*slot = text ? xstrdup(text) : NULL;
	}
	k->format = strcmp(format, "vmlinux") == 0 ? KERNEL_VMLINUX : KERNEL_BZIMAGE;
	k->disk_bytes = (uint64_t)json_integer_value(json_object_get(record, "disk_bytes"));
	return true;
}

bool record_is_of(const json_t *record, const struct stat *st)
{
	return json_integer_value(json_object_get(record, "image_size")) == st->st_size &&
	       json_integer_value(json_object_get(record, "image_mtime_ns")) == mtime_ns(st) &&
	       json_integer_value(json_object_get(record, "image_inode")) == (json_int_t)st->st_ino;
}

int record_write(const char *path, const json_t *record, struct error *err)
{
	cleanup_free char *text = json_dumps(record, JSON_INDENT(2));
	cleanup_free char *line = text ? str_printf("%s\n", text) : NULL;

	if (!line)
		return error_set(err, EXIT_NO_VERDICT, "%s: cannot be put into JSON", path);
	return file_write_atomic(path, line, strlen(line), 0644, err);
}

json_t *record_read(const char *path, struct error *err)
{
	size_t len = 0;
	cleanup_free char *text = file_read(path, RECORD_LIMIT, &len, err);
	json_error_t je;
	json_t *o;

	if (!text)
		return NULL;
	o = json_loadb(text, len, 0, &je);
	if (!o)
		error_set(err, EXIT_USAGE, "%s:%d:%d: %s", path, je.line, je.column, je.text);
	return o;
}
