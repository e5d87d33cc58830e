// SPDX-License-Identifier: GPL-2.0-only
#include "harness/image/cpio.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "results/verdict.h"

#define CPIO_BLOCK_BYTES 512

struct cpio {
	struct archive *archive;
	int64_t inode;
};

static int fail(struct cpio *c, const char *name, struct error *err)
{
	return error_set(err, EXIT_NO_VERDICT, "initramfs: %s: %s", name,
			 archive_error_string(c->archive));
}

static la_ssize_t append(struct archive *a, void *arg, const void *data, size_t len)
{
	strbuf_add(arg, data, len);
	return (la_ssize_t)len;
}

struct cpio *cpio_new(struct strbuf *out, struct error *err)
{
	struct cpio *c = xcalloc(1, sizeof(*c));

	c->archive = archive_write_new();
	if (!c->archive)
		abort(); /* out of memory, as in xmalloc() */
	if (archive_write_set_format_cpio_newc(c->archive) != ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(c->archive, CPIO_BLOCK_BYTES) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(c->archive, CPIO_BLOCK_BYTES) != ARCHIVE_OK ||
	    archive_write_open(c->archive, out, NULL, append, NULL) != ARCHIVE_OK) {
		fail(c, "cannot begin the archive", err);
		cpio_free(&c);
	}
	return c;
}

static int add(struct cpio *c, struct archive_entry *e, const char *name, mode_t mode,
	       const void *data, size_t len, struct error *err)
{
	archive_entry_set_pathname(e, name);
	archive_entry_set_mode(e, mode);
	archive_entry_set_ino64(e, ++c->inode);
	archive_entry_set_nlink(e, S_ISDIR(mode) ? 2 : 1);
	archive_entry_set_mtime(e, 0, 0);
	archive_entry_set_size(e, (la_int64_t)len);
	if (archive_write_header(c->archive, e) != ARCHIVE_OK)
		return fail(c, name, err);
	if (len && archive_write_data(c->archive, data, len) != (la_ssize_t)len)
		return fail(c, name, err);
	return 0;
}

int cpio_dir(struct cpio *c, const char *name, mode_t mode, struct error *err)
{
	struct archive_entry *e = archive_entry_new();
	int ret = add(c, e, name, S_IFDIR | mode, NULL, 0, err);

	archive_entry_free(e);
	return ret;
}

int cpio_file(struct cpio *c, const char *name, mode_t mode, const void *data, size_t len,
	      struct error *err)
{
	struct archive_entry *e = archive_entry_new();
	int ret = add(c, e, name, S_IFREG | mode, data, len, err);

	archive_entry_free(e);
	return ret;
}

int cpio_char_device(struct cpio *c, const char *name, mode_t mode, unsigned int major,
		     unsigned int minor, struct error *err)
{
	struct archive_entry *e = archive_entry_new();
	int ret;

	archive_entry_set_rdev(e, makedev(major, minor));
	ret = add(c, e, name, S_IFCHR | mode, NULL, 0, err);
	archive_entry_free(e);
	return ret;
}

int cpio_finish(struct cpio *c, struct error *err)
{
	if (archive_write_close(c->archive) != ARCHIVE_OK)
		return fail(c, "cannot end the archive", err);
	return 0;
}

void cpio_free(struct cpio **c)
{
	if (!*c)
		return;
	archive_write_free((*c)->archive);
	free(*c);
	*c = NULL;
}
