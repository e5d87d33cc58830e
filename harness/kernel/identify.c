// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/identify.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "harness/kernel/content.h"
#include "harness/kernel/record.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

#define IMAGE_BYTES_MAX (4LL << 30)
/* A file written less than this ago may change again within the same time stamp. */
#define SETTLED_NS 2000000000LL
#define FORGET_SECONDS (90 * 24 * 3600)

static char *memory_file(const char *image, const char *suffix, struct error *err)
{
	cleanup_free char *dir = cache_dir("images", err);
	cleanup_free char *hash = hash_bytes(image, strlen(image));

	return dir ? str_printf("%s/%.32s%s", dir, strchr(hash, ':') + 1, suffix) : NULL;
}

static bool has_settled(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec - st->st_mtim.tv_sec) * 1000000000LL + now.tv_nsec -
		       st->st_mtim.tv_nsec >
	       SETTLED_NS;
}

static void use_embedded_config(struct kernel *k)
{
	cleanup_free char *config = memory_file(k->image, ".config", NULL);

	if (k->config_hash && config && file_exists(config))
		k->config = STEAL(config);
}

static bool recall(struct kernel *k, const struct stat *st)
{
	cleanup_free char *path = memory_file(k->image, ".json", NULL);
	json_t *record = path ? record_read(path, NULL) : NULL;
	bool found = record && record_is_of(record, st);
	struct kernel known = { 0 };

	if (found && record_unpack(record, &known)) {
		k->format = known.format;
		k->release = STEAL(known.release);
		k->version = STEAL(known.version);
		k->build_id = STEAL(known.build_id);
		k->image_hash = STEAL(known.image_hash);
		k->config_hash = STEAL(known.config_hash);
		use_embedded_config(k);
		if (k->config_hash && !k->config) /* the copy is gone: look again */
			found = false;
	} else {
		found = false;
	}
	kernel_free(&known);
	json_decref(record);
	return found;
}

static void forget_old(void)
{
	cleanup_free char *path = cache_dir("images", NULL);
	cleanup_dir DIR *d = path ? opendir(path) : NULL;
	time_t limit = time(NULL) - FORGET_SECONDS;
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)))
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_mtime < limit)
			unlinkat(dirfd(d), e->d_name, 0);
}

/* Failing to remember costs time, nothing else: no error. */
static void remember(const struct kernel *k, const struct stat *st)
{
	cleanup_free char *path = memory_file(k->image, ".json", NULL);
	struct kernel bare = *k;
	json_t *record;

	if (!path || !has_settled(st))
		return;
	bare.name = bare.provenance = bare.flavour = bare.package_version = NULL;
	record = record_pack(&bare, st);
	record_write(path, record, NULL);
	json_decref(record);
	forget_old();
}

static int keep_config(struct kernel *k, const char *text, struct error *err)
{
	cleanup_free char *path = NULL;

	if (!text)
		return 0;
	path = memory_file(k->image, ".config", err);
	if (!path || file_write_atomic(path, text, strlen(text), 0644, err) < 0)
		return -1;
	k->config_hash = hash_bytes(text, strlen(text));
	k->config = STEAL(path);
	return 0;
}

static int examine(const char *path, int fd, size_t len, struct kernel *k, struct error *err)
{
	struct content c = { 0 };
	char *why = NULL;
	uint8_t *data = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	int ret = -1;

	if (data == MAP_FAILED)
		return error_errno(err, EXIT_USAGE, "%s: cannot read", path);
	if (content_examine(data, len, &c, &why) < 0) {
		error_set(err, EXIT_USAGE, "%s: not a kernel: it is %s", path, why);
	} else {
		k->format = c.format;
		k->release = STEAL(c.release);
		k->version = STEAL(c.version);
		k->build_id = STEAL(c.build_id);
		k->image_hash = hash_file(path, err);
		if (k->image_hash)
			ret = keep_config(k, c.config, err);
	}
	free(why);
	content_free(&c);
	munmap(data, len);
	return ret;
}

static void clear_identity(struct kernel *k)
{
	char **const slots[] = { &k->image,	 &k->release, &k->version,    &k->build_id,
				 &k->image_hash, &k->config,  &k->config_hash };

	for (size_t i = 0; i < ARRAY_SIZE(slots); i++) {
		free(*slots[i]);
		*slots[i] = NULL;
	}
}

int identify_image(const char *path, struct kernel *k, struct error *err)
{
	/* O_NONBLOCK: a FIFO must not hang us. */
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	clear_identity(k);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, EXIT_USAGE, "%s: cannot open", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EXIT_USAGE, "%s: not a kernel: it is not a regular file",
				 path);
	if (!st.st_size)
		return error_set(err, EXIT_USAGE, "%s: not a kernel: it is an empty file", path);
	if (st.st_size > IMAGE_BYTES_MAX)
		return error_set(err, EXIT_USAGE, "%s: not a kernel: it is larger than 4 GiB",
				 path);
	k->image = realpath(path, NULL);
	if (!k->image)
		return error_errno(err, EXIT_USAGE, "%s", path);
	if (recall(k, &st))
		return 0;
	clear_identity(k);
	k->image = realpath(path, NULL);
	if (examine(path, fd, (size_t)st.st_size, k, err) < 0)
		return -1;
	remember(k, &st);
	return 0;
}
