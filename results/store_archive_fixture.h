/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STORE_ARCHIVE_FIXTURE_H
#define MMRIG_STORE_ARCHIVE_FIXTURE_H
/* For unit tests, after cmocka.h: archives that go in, and such that must not. */
#include <fcntl.h>

#include "results/store_archive.h"
#include "results/store_fixture.h"

static inline struct store_moved export_good(struct store *s, const char *which, const char *path)
{
	cleanup_error struct error err = ERROR_INIT;
	struct store_moved moved;

	if (store_export(s, which, path, &moved, &err) < 0)
		fail_msg("%s", err.text);
	return moved;
}

static inline int import_file(struct store *s, const char *path, struct store_moved *moved,
			      struct error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	return store_import_fd(s, fd, "the archive", moved, err);
}

static inline struct store_moved import_good(struct store *s, const char *path)
{
	cleanup_error struct error err = ERROR_INIT;
	struct store_moved moved;

	if (import_file(s, path, &moved, &err) < 0)
		fail_msg("%s", err.text);
	return moved;
}

/* Refused, and nothing is left of it. */
static inline void import_bad(struct store *s, const char *path, int status, const char *complaint)
{
	cleanup_error struct error err = ERROR_INIT;
	struct store_moved moved;

	if (import_file(s, path, &moved, &err) == 0)
		fail_msg("imported, and should be refused with \"%s\"", complaint);
	assert_null(moved.id);
	if (err.status != status || !strstr(err.text, complaint) ||
	    !strstr(err.text, "the archive"))
		fail_msg("status %d, \"%s\" does not say \"%s\"", err.status, err.text, complaint);
	assert_null(strstr(err.text, ".import-"));
	assert_int_equal(count_tmp(store_root(s)), 0);
}

#endif
