/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_JSON_WALK_H
#define MMRIG_JSON_WALK_H
/*
 * Reads what programs print as JSON, in one pass and without memory of its own: every number and string
 * with its path, "jobs/0/read/iops". Hostile input is survived. Of strings the escapes stay as written.
 */
#include <stddef.h>

#define JSON_PATH_MAX 256
#define JSON_DEPTH_MAX 32

/* value: not terminated; its first character tells what it is: a digit, '-', or else a string's text. */
typedef void (*json_value_fn)(void *arg, const char *path, const char *value, size_t len, int is_string);

/* From the first '{' on. 0, or -1 where it is no JSON or does not end: what came before was told. */
int json_walk(const char *text, json_value_fn fn, void *arg);

#endif
