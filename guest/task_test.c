// SPDX-License-Identifier: GPL-2.0-only
#include "guest/task.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define PATIENCE_MS 20000

static void end_task(struct task *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	close(t->go_fd);
	close(t->report_fd);
	munmap(t->shared, 4096);
}

/* The next message, or what task_read() says when the child is gone. */
static int next_message(struct task *t, char *payload, uint32_t *len)
{
	int type;

	while ((type = task_read(t, payload, len)) == 0) {
		struct pollfd pfd = { t->report_fd, POLLIN, 0 };

		assert_int_equal(poll(&pfd, 1, PATIENCE_MS), 1);
	}
	return type;
}

static void talker(struct task_child *c, void *arg)
{
	task_send(c, WIRE_LOG, "before the go: %s", (const char *)arg);
	task_wait_go(c);
	task_progress(c, 3, 10);
	task_send(c, WIRE_STEP, "{\"n\":%d}", 42);
	task_fail(c, "workload-failed", "file \"%s\" line\n%d: \\", "a", 7);
	task_send_bytes(c, WIRE_SAMPLE, "\0%s\xff\n", 5);
	task_send(c, TASK_DONE, "%s", "");
}

static void test_round_trip(void **state)
{
	static char payload[TASK_MESSAGE_MAX], word[] = "word";
	struct task t;
	uint32_t len;

	assert_int_equal(task_start(&t, talker, word, 0), 0);
	assert_int_equal(next_message(&t, payload, &len), WIRE_LOG);
	assert_string_equal(payload, "before the go: word");
	assert_int_equal(len, strlen("before the go: word"));
	/* It waits for the go: nothing more comes, and its progress has not moved. */
	assert_int_equal(task_read(&t, payload, &len), 0);
	assert_int_equal(atomic_load(&t.shared->done), 0);
	task_go(&t);
	assert_int_equal(next_message(&t, payload, &len), WIRE_STEP);
	assert_string_equal(payload, "{\"n\":42}");
	assert_int_equal(atomic_load(&t.shared->done), 3);
	assert_int_equal(atomic_load(&t.shared->total), 10);
	assert_int_equal(next_message(&t, payload, &len), WIRE_FAIL);
	assert_string_equal(payload, "{\"verdict\":\"workload-failed\","
				     "\"what\":\"file \\\"a\\\" line\\u000a7: \\\\\"}");
	assert_int_equal(next_message(&t, payload, &len), WIRE_SAMPLE);
	assert_int_equal(len, 5);
	assert_memory_equal(payload, "\0%s\xff\n", 5);
	assert_int_equal(next_message(&t, payload, &len), TASK_DONE);
	assert_int_equal(len, 0);
	/* Finished, and still there: what it holds stays. */
	assert_int_equal(task_read(&t, payload, &len), 0);
	assert_int_equal(kill(t.pid, 0), 0);
	kill(t.pid, SIGKILL);
	assert_int_equal(next_message(&t, payload, &len), -1);
	end_task(&t);
}

/* More than a pipe holds, and messages beyond the limit, which are cut. */
static void flooder(struct task_child *c, void *arg)
{
	static char text[2 * TASK_MESSAGE_MAX];

	for (int size = 0; size < 300; size++) {
		memset(text, 'a' + size % 26, sizeof(text) - 1);
		text[size * 331 % TASK_MESSAGE_MAX] = '\0';
		task_send(c, WIRE_RESULT, "%s", text);
	}
	memset(text, 'x', sizeof(text) - 1);
	task_send(c, WIRE_RESULT, "%s", text);
	task_send(c, TASK_DONE, "%s", "");
}

static void test_large_messages(void **state)
{
	char *payload = malloc(TASK_MESSAGE_MAX);
	struct task t;
	uint32_t len;

	assert_int_equal(task_start(&t, flooder, NULL, 0), 0);
	for (int size = 0; size < 300; size++) {
		uint32_t expected = (uint32_t)(size * 331 % TASK_MESSAGE_MAX);

		assert_int_equal(next_message(&t, payload, &len), WIRE_RESULT);
		assert_int_equal(len, expected);
		assert_int_equal(strlen(payload), expected);
		for (uint32_t i = 0; i < len; i++)
			assert_int_equal(payload[i], 'a' + size % 26);
	}
	assert_int_equal(next_message(&t, payload, &len), WIRE_RESULT);
	assert_int_equal(len, TASK_MESSAGE_MAX - 1);
	assert_int_equal(next_message(&t, payload, &len), TASK_DONE);
	end_task(&t);
	free(payload);
}

/* A child that dies inside a message. */
static void test_broken_messages(void **state)
{
	static const struct {
		uint8_t bytes[8];
		size_t n;
	} broken[] = {
		{ { WIRE_LOG }, 1 },
		{ { WIRE_LOG, 5 }, 2 },
		{ { WIRE_LOG, 5, 0, 'a' }, 4 },
	};
	char *payload = malloc(TASK_MESSAGE_MAX);

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		int fd[2];
		struct task t = { .pid = -1 };
		uint32_t len;

		assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
		fcntl(fd[0], F_SETFL, O_NONBLOCK);
		assert_int_equal(write(fd[1], broken[i].bytes, broken[i].n), broken[i].n);
		close(fd[1]);
		t.report_fd = fd[0];
		assert_int_equal(task_read(&t, payload, &len), -1);
		close(fd[0]);
	}
	free(payload);
}

/* A length that no message has, with as many bytes behind it: they do not fit where they would go. */
static void test_oversized_message(void **state)
{
	static uint8_t message[3 + TASK_MESSAGE_MAX] = { WIRE_LOG, 0x00, 0x80 }; /* 32768 */
	char *payload = malloc(TASK_MESSAGE_MAX);
	struct task t = { .pid = -1 };
	uint32_t len;
	int fd[2];

	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	assert_int_equal(write(fd[1], message, sizeof(message)), (ssize_t)sizeof(message));
	t.report_fd = fd[0];
	assert_int_equal(task_read(&t, payload, &len), -1);
	close(fd[0]);
	close(fd[1]);
	free(payload);
}

static void holds_score(struct task_child *c, void *arg)
{
	char text[16] = "";
	int fd = open("/proc/self/oom_score_adj", O_RDONLY);

	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	task_send(c, WIRE_LOG, "%d", atoi(text));
}

/* Anyone may raise it; to lower it below its start takes CAP_SYS_RESOURCE. */
static void test_oom_score(void **state)
{
	char payload[TASK_MESSAGE_MAX];
	struct task t;
	uint32_t len;

	assert_int_equal(task_start(&t, holds_score, NULL, 1000), 0);
	assert_int_equal(next_message(&t, payload, &len), WIRE_LOG);
	assert_string_equal(payload, "1000");
	end_task(&t);
}

static void test_json_escape(void **state)
{
	char out[100];

	json_escape(out, sizeof(out), "plain");
	assert_string_equal(out, "plain");
	json_escape(out, sizeof(out), "a\"b\\c\td\x7f\xc3\xa9");
	assert_string_equal(out, "a\\\"b\\\\c\\u0009d\\u007f\\u00c3\\u00a9");
	json_escape(out, sizeof(out), "");
	assert_string_equal(out, "");
}

/* Never behind the room, always closed, and an escape is whole or left out. */
static void test_json_escape_room(void **state)
{
	static const char *const texts[] = { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
					     "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"",
					     "\n\n\n\n\n\n\n\n\n\n", "a\"\377b\\\n\001zz\"\"" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char all[200];

		json_escape(all, sizeof(all), texts[i]);
		for (size_t room = 1; room < 100; room++) {
			char *out = malloc(room);
			size_t n;

			memset(out, 'Z', room);
			json_escape(out, room, texts[i]);
			n = strnlen(out, room);
			assert_true(n < room);
			assert_memory_equal(out, all, n);
			/* The cut is between two escapes. */
			for (size_t k = 0; k < n; k += out[k] != '\\' ? 1 : out[k + 1] == 'u' ? 6 : 2)
				assert_true(out[k] != '\\' || k + (out[k + 1] == 'u' ? 6 : 2) <= n);
			assert_true(room < 100 - 1 || n == strlen(all) || n + 7 >= room);
			free(out);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),	cmocka_unit_test(test_large_messages),
		cmocka_unit_test(test_broken_messages), cmocka_unit_test(test_oversized_message),
		cmocka_unit_test(test_oom_score),	cmocka_unit_test(test_json_escape),
		cmocka_unit_test(test_json_escape_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
