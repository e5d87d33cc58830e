// SPDX-License-Identifier: GPL-2.0-only
/* samples.zst. The first byte: 'z' for a whole stream, else what follows is compressed here. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

#include "ci/fuzz/fuzz.h"
#include "results/store_internal.h"
#include "results/util/cleanup.h"

struct seen {
	size_t records;
	uint64_t bytes;
};

static int take(void *arg, const struct wire_sample *s)
{
	struct seen *seen = arg;

	FUZZ_CHECK(s->edge <= EDGE_END && s->phase < PHASE_COUNT);
	FUZZ_CHECK(strnlen(s->name, sizeof(s->name)) < sizeof(s->name));
	seen->records++;
	seen->bytes += 4 + WIRE_SAMPLE_HEAD + strlen(s->name) + s->len;
	for (uint32_t i = 0; i < s->len; i += 4096)
		*(volatile const uint8_t *)(s->data + i);
	return 0;
}

static int stop(void *arg, const struct wire_sample *s)
{
	(*(size_t *)arg)++;
	return 7;
}

static int read_all(const char *path, struct seen *seen)
{
	cleanup_error struct error err = ERROR_INIT;
	int ret = sample_each(path, take, seen, &err);

	FUZZ_CHECK(ret == 0 || (ret < 0 && err.status == EXIT_NO_VERDICT && err.text));
	return ret;
}

static void put(int fd, const void *data, size_t len)
{
	FUZZ_CHECK(pwrite(fd, data, len, 0) == (ssize_t)len);
}

static void run_samples(const uint8_t *data, size_t len)
{
	cleanup_close int fd = memfd_create("samples", MFD_CLOEXEC);
	cleanup_free char *path = str_printf("/proc/self/fd/%d", fd);
	bool raw = len && data[0] == 'z';
	size_t plain = len ? len - 1 : 0, calls = 0;
	struct seen seen = { 0 }, again = { 0 };
	int ret;

	FUZZ_CHECK(fd >= 0);
	if (raw) {
		put(fd, data + 1, plain);
	} else {
		size_t room = ZSTD_compressBound(plain);
		cleanup_free uint8_t *packed = xmalloc(room);

		put(fd, packed, ZSTD_compress(packed, room, len ? data + 1 : data, plain, 1));
	}
	ret = read_all(path, &seen);
	FUZZ_CHECK(raw || (ret == 0) == (seen.bytes == plain));
	FUZZ_CHECK(read_all(path, &again) == ret && again.records == seen.records);
	if (seen.records)
		FUZZ_CHECK(sample_each(path, stop, &calls, NULL) == 7 && calls == 1);
}

const struct fuzz_target fuzz_samples = { "samples", run_samples };
