/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_ECHO_H
#define MMRIG_ECHO_H
/*
 * Atomic requests of order 3 that a program can cause: the answer to an ICMP echo is put together in
 * softirq, and what is larger than 16 KiB comes from a page fragment of 32 KiB that is asked for with
 * GFP_ATOMIC (skb_page_frag_refill(), the control socket's sk_allocation). The echo is sent in fragments
 * of IP, so that sending asks for nothing above order 1 that could be left on the per-CPU lists. The
 * answers are not received: they hold their pages until echo_close().
 */
#include <stddef.h>
#include <stdint.h>

#define ECHO_BYTES 30000 /* one page fragment each */
#define ECHO_PART 1200	 /* of it in a fragment; a multiple of 8 */

struct echo {
	int to, from; /* raw sockets */
	uint16_t id;
};

/* Brings lo up. 0, or -1 with errno. */
int echo_open(struct echo *e);
/* One echo, answered when it returns. 0, or -1 with errno. */
int echo_send(struct echo *e);
void echo_close(struct echo *e);

/* A fragment as it is sent, IP header included, from the offset on: its length, for tests too. */
size_t echo_part(uint8_t *out, uint16_t id, size_t offset);

#endif
