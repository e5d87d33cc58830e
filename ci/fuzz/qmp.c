// SPDX-License-Identifier: GPL-2.0-only
/* What QEMU, or something in its place, says on the QMP socket. */
#include <jansson.h>
#include <string.h>

#include "ci/fuzz/fuzz.h"
#include "harness/vm/qmp.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define COMMANDS 3

struct peer {
	size_t sent;
	unsigned int answers[COMMANDS];
};

struct command {
	struct peer *peer;
	unsigned int index;
};

static int take_line(void *arg, const char *line, size_t len)
{
	struct peer *p = arg;
	json_t *o = json_loadb(line, len, 0, NULL);

	FUZZ_CHECK(len && line[len - 1] == '\n' && fuzz_lines((const uint8_t *)line, len) == 1);
	FUZZ_CHECK(json_is_object(o));
	json_decref(o);
	p->sent++;
	return 0;
}

static void answered(void *arg, const char *json)
{
	struct command *c = arg;
	json_t *o = json ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL;

	FUZZ_CHECK(!json || o);
	json_decref(o);
	c->peer->answers[c->index]++;
}

static struct peer converse(const uint8_t *data, size_t len, size_t step)
{
	struct peer peer = { 0 };
	struct command command[COMMANDS];
	struct qmp *q = qmp_new(take_line, &peer);

	for (unsigned int i = 0; i < COMMANDS; i++) {
		command[i] = (struct command){ &peer, i };
		FUZZ_CHECK(qmp_command(q, "query-status", i ? "{\"a\": 1}" : NULL, answered,
				       &command[i], NULL) == 0);
	}
	for (size_t at = 0; at < len; at += step) {
		cleanup_error struct error err = ERROR_INIT;

		if (qmp_feed(q, (const char *)data + at, step < len - at ? step : len - at, &err) <
		    0)
			FUZZ_CHECK(err.status == EXIT_NO_VERDICT && err.text);
	}
	qmp_free(q);
	return peer;
}

/* Each command is answered once, whatever comes; and how it comes does not matter. */
static void run_qmp(const uint8_t *data, size_t len)
{
	struct peer whole = converse(data, len, len + 1), pieces = converse(data, len, 1 + len % 7);

	for (unsigned int i = 0; i < COMMANDS; i++)
		FUZZ_CHECK(whole.answers[i] == 1 && pieces.answers[i] == 1);
	FUZZ_CHECK(whole.sent == pieces.sent && whole.sent <= COMMANDS + 1);
}

const struct fuzz_target fuzz_qmp = { "qmp", run_qmp };
