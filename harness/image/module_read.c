// SPDX-License-Identifier: GPL-2.0-only
#include <archive.h>
#include <archive_entry.h>
#include <elf.h>
#include <string.h>

#include "harness/image/modules.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

/* The largest module of a debug kernel has some 100 MB; a bomb of zeros has no end. */
#define MODULE_LIMIT_BYTES (256UL << 20)

static struct archive *open_raw(const void *data, size_t len, struct archive_entry **entry)
{
	struct archive *a = archive_read_new();

	if (!a)
		abort(); /* out of memory, as in xmalloc() */
	archive_read_support_filter_xz(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_filter_gzip(a);
	archive_read_support_format_raw(a);
	if (archive_read_open_memory(a, data, len) == ARCHIVE_OK)
		archive_read_next_header(a, entry);
	return a;
}

/*
 * Unlike for a kernel's image, an error behind the first bytes counts too: a cut module would load
 * in part and oops.
 */
static int unpack(const char *path, const void *data, size_t len, struct strbuf *out,
		  struct error *err)
{
	struct archive_entry *entry;
	struct archive *a = open_raw(data, len, &entry);
	char chunk[65536];
	la_ssize_t n = 0;
	int ret = 0;

	while (!archive_errno(a) && (n = archive_read_data(a, chunk, sizeof(chunk))) > 0) {
		strbuf_add(out, chunk, (size_t)n);
		if (out->len > MODULE_LIMIT_BYTES)
			break;
	}
	if (out->len > MODULE_LIMIT_BYTES)
		ret = error_set(err, EXIT_USAGE, "%s: larger than %lu bytes once decompressed",
				path, MODULE_LIMIT_BYTES);
	else if (archive_errno(a) || n < 0)
		ret = error_set(err, EXIT_USAGE, "%s: damaged: %s", path, archive_error_string(a));
	archive_read_free(a);
	return ret;
}

char *module_read(const char *path, size_t *len, struct error *err)
{
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	cleanup_free char *data = file_read(path, MODULE_LIMIT_BYTES, len, err);

	if (!data)
		return NULL;
	if (str_ends(path, ".ko"))
		strbuf_add(&out, data, *len);
	else if (unpack(path, data, *len, &out, err) < 0)
		goto damaged;
	if (out.len < SELFMAG || memcmp(out.data, ELFMAG, SELFMAG) != 0) {
		error_set(err, EXIT_USAGE, "%s: is no kernel module (no ELF file)", path);
		goto damaged;
	}
	*len = out.len;
	return strbuf_steal(&out);
damaged:
	error_hint(err, "install the kernel's modules again");
	return NULL;
}
