// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/decompress.h"

#include <archive.h>
#include <archive_entry.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

static int read_stream(struct archive *a, size_t limit, struct strbuf *out, struct error *err)
{
	cleanup_free char *chunk = xmalloc(1 << 17);
	ssize_t n;

	while ((n = archive_read_data(a, chunk, 1 << 17)) > 0) {
		if (out->len + (size_t)n > limit)
			return error_set(err, EXIT_USAGE, "more than %zu bytes when decompressed",
					 limit);
		strbuf_add(out, chunk, (size_t)n);
	}
	/* Kernels append the size to the stream; a filter may stumble over it after the data. */
	if (n < 0 && !out->len)
		return error_set(err, EXIT_USAGE, "cannot be decompressed: %s",
				 archive_error_string(a));
	return 0;
}

int decompress(const void *data, size_t len, size_t limit, struct strbuf *out, struct error *err)
{
	struct archive *a = archive_read_new();
	struct archive_entry *e;
	int ret;

	if (!a)
		return error_set(err, EXIT_NO_VERDICT, "libarchive: no memory");
	archive_read_support_filter_all(a);
	archive_read_support_format_raw(a);
	if (archive_read_open_memory(a, data, len) != ARCHIVE_OK ||
	    archive_read_next_header(a, &e) != ARCHIVE_OK)
		ret = error_set(err, EXIT_USAGE, "cannot be decompressed: %s",
				archive_error_string(a));
	else
		ret = read_stream(a, limit, out, err);
	archive_read_free(a);
	return ret;
}
