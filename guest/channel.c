// SPDX-License-Identifier: GPL-2.0-only
#include "guest/channel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define PIECE 1024
/* How long the host may take to read what is queued; by then it ends the VM. */
#define DRAIN_MS 60000

static int channel_fd = -1;
static uint32_t channel_seq;
static int channel_is_virtio;

static int open_virtio(void)
{
	DIR *d = opendir("/sys/class/virtio-ports");
	struct dirent *e;
	int fd = -1;

	if (!d)
		return -1;
	while (fd < 0 && (e = readdir(d))) {
		char path[320], name[32] = "";
		int f;

		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", e->d_name);
		f = open(path, O_RDONLY | O_CLOEXEC);
		if (f < 0)
			continue;
		if (read(f, name, sizeof(name) - 1) > 0 && strncmp(name, "mmrig.0", 7) == 0) {
			snprintf(path, sizeof(path), "/dev/%s", e->d_name);
			fd = open(path, O_RDWR | O_CLOEXEC);
		}
		close(f);
	}
	closedir(d);
	return fd;
}

static int open_serial(void)
{
	int fd = open("/dev/ttyS1", O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios t;

	if (fd < 0)
		return -1;
	if (tcgetattr(fd, &t) < 0) { /* no UART behind the node */
		close(fd);
		return -1;
	}
	cfmakeraw(&t);
	cfsetspeed(&t, B115200);
	t.c_cflag |= CLOCAL;
	tcsetattr(fd, TCSANOW, &t);
	return fd;
}

int channel_open(const char **how)
{
	/* The port's device node can come a moment after the driver: its name arrives by interrupt. */
	for (int i = 0; i < 200 && channel_fd < 0; i++) {
		channel_fd = open_virtio();
		if (channel_fd >= 0 || access("/sys/class/virtio-ports", F_OK) < 0 ||
		    access("/sys/bus/virtio/drivers/virtio_console", F_OK) < 0)
			break;
		poll(NULL, 0, 10);
	}
	*how = "virtio-serial";
	channel_is_virtio = channel_fd >= 0;
	if (channel_fd < 0) {
		channel_fd = open_serial();
		*how = "ttyS1";
	}
	return channel_fd < 0 ? -1 : 0;
}

static void write_all(const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len) {
		ssize_t n = write(channel_fd, p, len < PIECE ? len : PIECE);

		if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
			struct pollfd pfd = { channel_fd, POLLOUT, 0 };

			poll(&pfd, 1, 100);
			continue;
		}
		if (n < 0)
			return; /* nobody listens any more; the host's verdict says so */
		p += n;
		len -= (size_t)n;
	}
}

void channel_send(enum wire_type type, const void *payload, uint32_t len)
{
	const uint8_t *p = payload;

	do {
		uint32_t n = len < WIRE_PAYLOAD_MAX ? len : WIRE_PAYLOAD_MAX;
		uint8_t buf[PIECE];

		wire_header(buf, type, len > n ? WIRE_MORE : 0, channel_seq++, p, n);
		if (n <= sizeof(buf) - WIRE_HEADER) {
			memcpy(buf + WIRE_HEADER, p, n);
			write_all(buf, WIRE_HEADER + n);
		} else {
			write_all(buf, WIRE_HEADER);
			write_all(p, n);
		}
		p += n;
		len -= n;
	} while (len);
}

void channel_sendf(enum wire_type type, const char *fmt, ...)
{
	char text[4096];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(text))
		n = sizeof(text) - 1;
	channel_send(type, text, (uint32_t)n);
}

int channel_wait(enum wire_type type, char *out, size_t room)
{
	static struct wire_reader reader;
	struct wire_frame f;
	uint8_t buf[256];

	for (;;) {
		ssize_t n = read(channel_fd, buf, sizeof(buf));

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0 || wire_reader_feed(&reader, buf, (size_t)n) < 0)
			return -1;
		while (wire_reader_next(&reader, &f)) {
			if (f.type != type)
				continue;
			snprintf(out, room, "%.*s", (int)f.len, (const char *)f.payload);
			return 0;
		}
	}
}

uint32_t channel_frames(void)
{
	return channel_seq;
}

void channel_drain(void)
{
	tcdrain(channel_fd);
	/*
	 * virtio_console queues a write and does not wait for the host: 128 KiB and the END among
	 * them were lost when the power-off came before QEMU had looked at the queue. Nothing tells
	 * that the queue is empty, but the host ends the VM as soon as it has the END.
	 */
	if (channel_is_virtio)
		poll(NULL, 0, DRAIN_MS);
}
