/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_VM_QMP_H
#define MMRIG_VM_QMP_H
/*
 * The QMP conversation as a machine without I/O: bytes in through qmp_feed(), lines out through
 * `send`. Commands given before the greeting wait for it. Events are skipped.
 */
#include <stdbool.h>
#include <stddef.h>

#include "results/util/error.h"

struct qmp;

typedef void (*qmp_done_fn)(void *arg, const char *json);

/* send gets one whole line, newline included; returns < 0 when the peer is gone. */
struct qmp *qmp_new(int (*send)(void *arg, const char *line, size_t len), void *arg);
/* Contract of vm_qmp(). EXIT_USAGE when arguments is no JSON object. */
int qmp_command(struct qmp *q, const char *command, const char *arguments, qmp_done_fn done,
		void *arg, struct error *err);
/* EXIT_NO_VERDICT when this is no QMP; nothing more is read then, and what is pending ends. */
int qmp_feed(struct qmp *q, const char *data, size_t len, struct error *err);
/* The peer is gone: every pending command is answered with NULL, further ones are refused. */
void qmp_close(struct qmp *q);
void qmp_free(struct qmp *q);

#endif
