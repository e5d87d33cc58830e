// SPDX-License-Identifier: GPL-2.0-only
#include "guest/echo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define IP_HEADER 20
#define MORE_FRAGMENTS 0x2000
#define ECHO_REQUEST 8
#define ICMP_FILTER_OPTION 1		  /* of linux/icmp.h: a bit for each type that is not wanted */
#define HELD (64 << 20)			  /* bytes of answers: 1 % of a zone of 4 GiB, and some more */

static int lo_up(int fd)
{
	struct ifreq r = { .ifr_name = "lo" };

	if (ioctl(fd, SIOCGIFFLAGS, &r) < 0)
		return -1;
	r.ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &r);
}

int echo_open(struct echo *e)
{
	uint32_t all_but_replies = ~1u;
	int held = HELD, failed;

	*e = (struct echo){ .to = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW), .from = -1 };
	if (e->to >= 0)
		e->from = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
	if (e->from >= 0 && lo_up(e->from) == 0 &&
	    setsockopt(e->from, SOL_SOCKET, SO_RCVBUFFORCE, &held, sizeof(held)) == 0 &&
	    setsockopt(e->from, IPPROTO_RAW, ICMP_FILTER_OPTION, &all_but_replies,
		       sizeof(all_but_replies)) == 0)
		return 0;
	failed = errno;
	echo_close(e);
	errno = failed;
	return -1;
}

static void put16(uint8_t *at, unsigned int value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* The kernel fills in the checksum of the header; that of an echo of zeros is the type's complement. */
size_t echo_part(uint8_t *out, uint16_t id, size_t offset)
{
	size_t n = ECHO_BYTES - offset < ECHO_PART ? ECHO_BYTES - offset : ECHO_PART;
	uint32_t lo = htonl(INADDR_LOOPBACK);

	memset(out, 0, IP_HEADER + n);
	out[0] = 0x45; /* version 4, five words */
	put16(out + 2, (unsigned int)(IP_HEADER + n));
	put16(out + 4, id);
	put16(out + 6, (unsigned int)(offset / 8) | (offset + n < ECHO_BYTES ? MORE_FRAGMENTS : 0));
	out[8] = 64; /* hops */
	out[9] = IPPROTO_ICMP;
	memcpy(out + 12, &lo, sizeof(lo));
	memcpy(out + 16, &lo, sizeof(lo));
	if (!offset) {
		out[IP_HEADER] = ECHO_REQUEST;
		put16(out + IP_HEADER + 2, 0xffff - (ECHO_REQUEST << 8));
	}
	return IP_HEADER + n;
}

int echo_send(struct echo *e)
{
	struct sockaddr_in lo = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	uint8_t part[IP_HEADER + ECHO_PART];

	e->id++;
	for (size_t at = 0; at < ECHO_BYTES; at += ECHO_PART) {
		size_t n = echo_part(part, e->id ? e->id : 1, at);

		if (sendto(e->to, part, n, 0, (struct sockaddr *)&lo, sizeof(lo)) < 0)
			return -1;
	}
	return 0;
}

void echo_close(struct echo *e)
{
	if (e->to >= 0)
		close(e->to);
	if (e->from >= 0)
		close(e->from);
	e->to = e->from = -1;
}
