// SPDX-License-Identifier: GPL-2.0-only
#include "results/util/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <gcrypt.h>
#include <stdint.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

#define DIGEST_BYTES 32

static void library_init(void)
{
	if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P))
		return;
	gcry_check_version(NULL);
	gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
	gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

static char *digest_text(const uint8_t *digest)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "sha256:");
	for (int i = 0; i < DIGEST_BYTES; i++)
		strbuf_addf(&sb, "%02x", digest[i]);
	return strbuf_steal(&sb);
}

char *hash_bytes(const void *data, size_t len)
{
	uint8_t digest[DIGEST_BYTES];

	library_init();
	gcry_md_hash_buffer(GCRY_MD_SHA256, digest, data, len);
	return digest_text(digest);
}

static int hash_fd(int fd, gcry_md_hd_t md)
{
	cleanup_free char *chunk = xmalloc(1 << 16);
	ssize_t n;

	while ((n = read(fd, chunk, 1 << 16)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		gcry_md_write(md, chunk, (size_t)n);
	}
	return 0;
}

char *hash_file(const char *path, struct error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hold us */
	gcry_md_hd_t md;
	char *text = NULL;

	library_init();
	if (fd < 0) {
		error_errno(err, EXIT_USAGE, "%s: cannot open", path);
		return NULL;
	}
	if (gcry_md_open(&md, GCRY_MD_SHA256, 0)) {
		error_set(err, EXIT_NO_VERDICT, "%s: libgcrypt has no SHA-256", path);
		return NULL;
	}
	if (hash_fd(fd, md) < 0)
		error_errno(err, EXIT_USAGE, "%s: cannot read", path);
	else
		text = digest_text(gcry_md_read(md, GCRY_MD_SHA256));
	gcry_md_close(md);
	return text;
}
