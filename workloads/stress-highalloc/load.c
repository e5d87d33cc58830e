// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/stress-highalloc/load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TOP "/stress-highalloc"
#define PIECE (1u << 20)
#define FILES_A_PIECE 16

static const struct timespec nap = { 0, 10000000 };

/* One process. */
struct job_state {
	const struct load *l;
	uint64_t random, at, made, renewed;
	uint64_t file_from, file_bytes, files;
	uint8_t *anon;
	uint64_t anon_bytes;
	int dir;
};

/* splitmix64 (Vigna 2015). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void read_piece(struct job_state *j)
{
	static uint8_t buf[65536];

	for (uint64_t n = 0; n < PIECE; n += sizeof(buf))
		if (pread(j->l->file_fd, buf, sizeof(buf), (off_t)(j->file_from + j->at + n)) <= 0)
			_exit(1);
	j->at = (j->at + PIECE) % j->file_bytes;
	atomic_fetch_add(&j->l->shared->read_bytes, PIECE);
}

/* One piece after the other at first; then one at random is given back and written anew. */
static void renew_piece(struct job_state *j)
{
	uint64_t pieces = j->anon_bytes / PIECE, which = j->renewed < pieces ? j->renewed :
								      next_random(&j->random) % pieces;
	uint8_t *p = j->anon + which * PIECE;

	j->renewed++;

	madvise(p, PIECE, MADV_DONTNEED);
	for (uint64_t at = 0; at < PIECE; at += 4096)
		*(volatile uint64_t *)(p + at) = j->random + at;
	atomic_fetch_add(&j->l->shared->anon_bytes, PIECE);
}

static void change_files(struct job_state *j)
{
	char name[32];

	for (int i = 0; i < FILES_A_PIECE; i++, j->made++) {
		int fd;

		snprintf(name, sizeof(name), "%" PRIu64, j->made);
		fd = openat(j->dir, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
		if (fd >= 0)
			close(fd);
		if (j->made < j->files)
			continue;
		snprintf(name, sizeof(name), "%" PRIu64, j->made - j->files);
		unlinkat(j->dir, name, 0);
	}
	atomic_fetch_add(&j->l->shared->files, FILES_A_PIECE);
}

static void open_folder(struct job_state *j, unsigned int index)
{
	char path[64];

	snprintf(path, sizeof(path), TOP "/%u", index);
	mkdir(path, 0755);
	j->dir = open(path, O_RDONLY | O_DIRECTORY);
}

static void process(const struct load *l, unsigned int index)
{
	struct job_state j = { .l = l, .files = l->files / l->n };

	j.file_bytes = (l->file_bytes / l->n / PIECE + 1) * PIECE;
	j.file_from = j.file_bytes * index;
	j.anon_bytes = (l->anon_bytes / l->n / PIECE) * PIECE;
	j.anon = mmap(NULL, j.anon_bytes + PIECE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (j.anon == MAP_FAILED)
		_exit(1);
	madvise(j.anon, j.anon_bytes, MADV_NOHUGEPAGE);
	open_folder(&j, index);
	while (!atomic_load(&l->shared->seed))
		nanosleep(&nap, NULL);
	j.random = atomic_load(&l->shared->seed) + index;
	for (;;) {
		read_piece(&j);
		if (j.anon_bytes)
			renew_piece(&j);
		change_files(&j);
	}
}

int load_prepare(struct load *l)
{
	l->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (l->shared == MAP_FAILED)
		return task_fail(l->child, "infra", "stress-highalloc: no memory for the load");
	mkdir(TOP, 0755);
	if (mount("tmpfs", TOP, "tmpfs", 0, "size=0,nr_inodes=0") < 0)
		return task_fail(l->child, "unsupported", "tmpfs: cannot mount: %s", strerror(errno));
	for (unsigned int i = 0; i < l->n; i++) {
		l->pid[i] = fork();
		if (l->pid[i] == 0) {
			/* Our pipe, held open, would hide the end of the workload. */
			if (dup2(l->file_fd, 0) < 0 || close_range(1, ~0u, 0) < 0)
				_exit(1);
			l->file_fd = 0;
			process(l, i);
		}
		if (l->pid[i] < 0)
			return task_fail(l->child, "infra", "stress-highalloc: cannot fork: %s",
					 strerror(errno));
	}
	return 0;
}

void load_start(struct load *l, uint64_t seed)
{
	atomic_store(&l->shared->seed, seed * LOAD_MAX + 1);
}

unsigned int load_stop(struct load *l)
{
	unsigned int ended = 0;

	for (unsigned int i = 0; i < l->n; i++) {
		ended += waitpid(l->pid[i], NULL, WNOHANG) != 0;
		kill(l->pid[i], SIGKILL);
	}
	for (unsigned int i = 0; i < l->n; i++)
		while (waitpid(l->pid[i], NULL, 0) < 0 && errno == EINTR)
			;
	umount(TOP);
	return ended;
}
