/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_WRITERS_STREAM_H
#define MMRIG_WRITERS_STREAM_H
/*
 * One stream: a process that sends over loopback TCP, and one that receives into memory that was
 * never touched, so that its huge pages are faulted in within the receive call, writes that to its
 * file, and gives the memory back. Processes, not threads: they shall share the zone's locks, not
 * those of an address space.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_BUFFER_ALIGN (2u << 20)

/* Shared with the processes. */
struct stream_shared {
	_Atomic int stop, failed;
	_Atomic uint64_t received, written; /* bytes of all streams */
	char why[160];			    /* of the first failure */
};

struct stream_config {
	struct stream_shared *shared;
	const char *folder;
	size_t buffer;	/* bytes, whole huge pages */
	uint64_t span;	/* bytes of a file before it is written from its beginning again */
	int go_fd;	/* each process reads a byte first */
	uint16_t port;	/* of the listening socket, as it stands in an address */
	int listener;
};

/* Brings the loopback device up and listens on it. 0, or -1 with the reason. */
int stream_listen(struct stream_config *c, char *why, size_t room);
/* Starts the two processes of stream i, which wait for the go. 0, or -1 with errno. */
int stream_start(const struct stream_config *c, unsigned int i);

#endif
