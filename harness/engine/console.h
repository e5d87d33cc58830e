/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CONSOLE_H
#define MMRIG_CONSOLE_H
/*
 * The guest's console: kept as its head and its tail (with the bytes in between counted), cut into
 * lines, and watched for splats and for a second boot. Bytes are hostile: lines are bounded,
 * nothing grows with what the guest prints.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/engine/splat.h"
#include "results/util/str.h"

#define CONSOLE_HEAD_BYTES (2u << 20)
#define CONSOLE_TAIL_BYTES (1u << 20)

struct console; /* opaque */

/* keep is called with what is to be kept, in order; its return value is ignored. */
struct console *console_new(void (*keep)(void *arg, const void *data, size_t len), void *arg);
void console_feed(struct console *c, const uint8_t *data, size_t len);
/* Kept, but not watched for splats: answers to questions of ours. */
void console_feed_quietly(struct console *c, const uint8_t *data, size_t len);
/* The tail goes to keep(), after a line that counts what was dropped. Once. */
void console_end(struct console *c);
void console_free(struct console *c);

/* The phase (enum wire_phase) of the splats that begin from now on: the context of their reports. */
void console_phase(struct console *c, int phase);
/* Every report so far; complete after console_end(). */
const struct splat_log *console_splats(const struct console *c);
/* A panic was seen: the guest will not come back. */
bool console_panicked(const struct console *c);
/* "Linux version" came a second time. */
bool console_rebooted(const struct console *c);
/* "Linux version" came at all. */
bool console_booted(const struct console *c);
uint64_t console_bytes(const struct console *c);
/* The last lines, at most n, oldest first; heap. */
char *console_last_lines(const struct console *c, size_t n);

#endif
