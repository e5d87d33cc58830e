// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "results/store_internal.h"
#include "results/util/cleanup.h"

#define LEVEL 3
#define CHUNK (128U << 10)

struct sample_writer {
	int fd;
	ZSTD_CCtx *zstd;
	char *path;
	uint64_t written;
	uint8_t out[CHUNK];
};

void sample_writer_drop(struct sample_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	free(w->path);
	free(w);
}

struct sample_writer *sample_writer_open(const char *path, struct error *err)
{
	struct sample_writer *w = xcalloc(1, sizeof(*w));

	w->path = xstrdup(path);
	w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (w->fd < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", path);
		store_hint_space(err, errno);
		sample_writer_drop(w);
		return NULL;
	}
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd) {
		error_set(err, EXIT_NO_VERDICT, "%s: no memory for compression", path);
		sample_writer_drop(w);
		return NULL;
	}
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	return w;
}

static int write_out(struct sample_writer *w, size_t len, struct error *err)
{
	const uint8_t *p = w->out;

	while (len) {
		ssize_t n = write(w->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			error_errno(err, EXIT_NO_VERDICT, "%s: cannot write", w->path);
			return store_hint_space(err, errno);
		}
		p += n;
		len -= (size_t)n;
		w->written += (uint64_t)n;
	}
	return 0;
}

static int compress(struct sample_writer *w, const void *data, size_t len, ZSTD_EndDirective how,
		    struct error *err)
{
	ZSTD_inBuffer in = { data, len, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { w->out, sizeof(w->out), 0 };

		left = ZSTD_compressStream2(w->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return error_set(err, EXIT_NO_VERDICT, "%s: cannot compress: %s", w->path,
					 ZSTD_getErrorName(left));
		if (write_out(w, out.pos, err) < 0)
			return -1;
	} while (how == ZSTD_e_end ? left != 0 : in.pos < in.size);
	return 0;
}

int sample_writer_add(struct sample_writer *w, const void *payload, uint32_t len, struct error *err)
{
	uint8_t head[4] = { (uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16),
			    (uint8_t)(len >> 24) };

	if (len > STORE_SAMPLE_MAX)
		return error_set(err, EXIT_NO_VERDICT,
				 "%s: a sample of %u bytes; at most %u are stored", w->path, len,
				 STORE_SAMPLE_MAX);
	if (w->written > STORE_SAMPLES_MAX)
		return error_set(err, EXIT_NO_VERDICT, "%s: the guest sent more samples than the %u MiB of a run",
				 w->path, STORE_SAMPLES_MAX >> 20);
	if (compress(w, head, sizeof(head), ZSTD_e_continue, err) < 0)
		return -1;
	return compress(w, payload, len, ZSTD_e_continue, err);
}

int sample_writer_finish(struct sample_writer *w, struct error *err)
{
	int ret = compress(w, NULL, 0, ZSTD_e_end, err);

	if (ret == 0 && fsync(w->fd) < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot sync", w->path);
		ret = store_hint_space(err, errno);
	}
	sample_writer_drop(w);
	return ret;
}

struct sample_reader {
	const char *path;
	struct strbuf pending; /* decompressed, not yet handed out */
	int (*fn)(void *arg, const struct wire_sample *sample);
	void *arg;
};

/* Hands out every whole record of `pending`. */
static int take_records(struct sample_reader *r, struct error *err)
{
	size_t at = 0;
	int ret = 0;

	while (ret == 0 && r->pending.len - at >= 4) {
		const uint8_t *p = (const uint8_t *)r->pending.data + at;
		uint32_t len = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
			       (uint32_t)p[3] << 24;
		struct wire_sample sample;

		if (len > STORE_SAMPLE_MAX)
			return error_set(err, EXIT_NO_VERDICT, "%s: damaged: a sample of %u bytes",
					 r->path, len);
		if (r->pending.len - at - 4 < len)
			break;
		if (!wire_sample_parse(p + 4, len, &sample))
			return error_set(err, EXIT_NO_VERDICT, "%s: damaged: a malformed sample",
					 r->path);
		ret = r->fn(r->arg, &sample);
		at += 4 + (size_t)len;
	}
	if (at) {
		memmove(r->pending.data, r->pending.data + at, r->pending.len - at);
		r->pending.len -= at;
	}
	return ret;
}

static int feed(struct sample_reader *r, ZSTD_DCtx *zstd, const uint8_t *data, size_t len,
		size_t *left, struct error *err)
{
	cleanup_free uint8_t *plain = xmalloc(CHUNK);
	ZSTD_inBuffer in = { data, len, 0 };
	ZSTD_outBuffer out;

	do {
		int ret;

		out = (ZSTD_outBuffer){ plain, CHUNK, 0 };
		*left = ZSTD_decompressStream(zstd, &out, &in);
		if (ZSTD_isError(*left))
			return error_set(err, EXIT_NO_VERDICT, "%s: damaged: %s", r->path,
					 ZSTD_getErrorName(*left));
		strbuf_add(&r->pending, plain, out.pos);
		ret = take_records(r, err);
		if (ret)
			return ret;
		/* Once a frame has ended, a further call would begin the next, and ask for it. */
	} while (in.pos < in.size || (out.pos == out.size && *left != 0));
	return 0;
}

static int read_stream(struct sample_reader *r, int fd, ZSTD_DCtx *zstd, struct error *err)
{
	cleanup_free uint8_t *chunk = xmalloc(CHUNK);
	size_t left = 1;
	ssize_t n;

	while ((n = read(fd, chunk, CHUNK)) != 0) {
		int ret;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, EXIT_NO_VERDICT, "%s: cannot read", r->path);
		ret = feed(r, zstd, chunk, (size_t)n, &left, err);
		if (ret)
			return ret;
	}
	if (left != 0 || r->pending.len)
		return error_set(err, EXIT_NO_VERDICT, "%s: damaged: cut off", r->path);
	return 0;
}

int sample_each(const char *path, int (*fn)(void *arg, const struct wire_sample *sample), void *arg,
		struct error *err)
{
	/* Not blocking: a FIFO would wait for a writer that never comes. */
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct sample_reader r = { path, STRBUF_INIT, fn, arg };
	ZSTD_DCtx *zstd;
	struct stat st;
	int ret;

	if (fd < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot open", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return error_set(err, EXIT_NO_VERDICT, "%s: damaged: is no regular file", path);
	zstd = ZSTD_createDCtx();
	if (!zstd)
		return error_set(err, EXIT_NO_VERDICT, "%s: no memory for decompression", path);
	ret = read_stream(&r, fd, zstd, err);
	ZSTD_freeDCtx(zstd);
	strbuf_free(&r.pending);
	return ret;
}
