// SPDX-License-Identifier: GPL-2.0-only
#include "guest/task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_HEAD 3

uint64_t mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void set_oom_score_adj(int value)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", value);

	if (fd >= 0) {
		if (write(fd, text, (size_t)n) < 0)
			perror("oom_score_adj");
		close(fd);
	}
}

int task_start(struct task *t, void (*fn)(struct task_child *c, void *arg), void *arg,
	       int oom_score_adj)
{
	int go[2], report[2];

	t->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
			 -1, 0);
	if (t->shared == MAP_FAILED || pipe2(go, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0)
		return -1;
	t->pid = fork();
	if (t->pid < 0)
		return -1;
	if (t->pid == 0) {
		struct task_child c = { go[0], report[1], t->shared };

		close(go[1]);
		close(report[0]);
		set_oom_score_adj(oom_score_adj);
		fn(&c, arg);
		for (;;)
			pause();
	}
	close(go[0]);
	close(report[1]);
	t->go_fd = go[1];
	t->report_fd = report[0];
	fcntl(t->report_fd, F_SETFL, O_NONBLOCK);
	return 0;
}

void task_go(struct task *t)
{
	while (write(t->go_fd, "g", 1) < 0 && errno == EINTR)
		;
}

void task_wait_go(struct task_child *c)
{
	char byte;

	while (read(c->go_fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static void send_bytes(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return;
		p += n;
		len -= (size_t)n;
	}
}

void task_send_bytes(struct task_child *c, int type, const void *payload, size_t len)
{
	uint8_t head[MESSAGE_HEAD] = { (uint8_t)type, (uint8_t)len, (uint8_t)(len >> 8) };

	send_bytes(c->report_fd, head, sizeof(head));
	send_bytes(c->report_fd, payload, len);
}

void task_send(struct task_child *c, int type, const char *fmt, ...)
{
	static char text[TASK_MESSAGE_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(text))
		n = sizeof(text) - 1;
	task_send_bytes(c, type, text, (size_t)n);
}

int task_fail(struct task_child *c, const char *verdict, const char *fmt, ...)
{
	char what[512], escaped[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	json_escape(escaped, sizeof(escaped), what);
	task_send(c, WIRE_FAIL, "{\"verdict\":\"%s\",\"what\":\"%s\"}", verdict, escaped);
	return -1;
}

void task_progress(struct task_child *c, uint64_t done, uint64_t total)
{
	atomic_store_explicit(&c->shared->total, total, memory_order_relaxed);
	atomic_store_explicit(&c->shared->done, done, memory_order_relaxed);
}

static int read_exactly(int fd, void *data, size_t len)
{
	char *p = data;

	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue; /* the rest of a message is on its way: the writer does not stop inside one */
		if (n <= 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int task_read(struct task *t, char *payload, uint32_t *len)
{
	uint8_t head[MESSAGE_HEAD];
	ssize_t n = read(t->report_fd, head, 1);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0 || read_exactly(t->report_fd, head + 1, sizeof(head) - 1) < 0)
		return -1;
	*len = (uint32_t)head[1] | (uint32_t)head[2] << 8;
	if (*len >= TASK_MESSAGE_MAX || read_exactly(t->report_fd, payload, *len) < 0)
		return -1;
	payload[*len] = '\0';
	return head[0];
}

void json_escape(char *out, size_t room, const char *text)
{
	size_t n = 0;

	for (; *text && n + 7 < room; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\') {
			out[n++] = '\\';
			out[n++] = (char)c;
		} else if (c < 0x20 || c >= 0x7f) {
			n += (size_t)snprintf(out + n, room - n, "\\u%04x", c);
		} else {
			out[n++] = (char)c;
		}
	}
	out[n] = '\0';
}
