/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CHANNEL_H
#define MMRIG_CHANNEL_H
/*
 * The agent's end of the wire. Used by PID 1 alone: children report to it through a pipe.
 * Writes go out in pieces of at most 1 KiB: virtio_console copies each write into a buffer from
 * kmalloc, and a large one would itself be a high-order allocation in the memory under test.
 */
#include <stdint.h>

#include "guest/wire.h"

/*
 * Finds the virtio-serial port named mmrig.0, else opens the second ISA serial port in raw mode.
 * 0 or -1; the name of what was opened is in *how.
 */
int channel_open(const char **how);
/* Sends one frame; payloads beyond WIRE_PAYLOAD_MAX go as several with WIRE_MORE. */
void channel_send(enum wire_type type, const void *payload, uint32_t len);
void channel_sendf(enum wire_type type, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Waits for a frame of this type from the host; its payload, NUL-terminated, in out. -1 when the
 * channel is closed.
 */
int channel_wait(enum wire_type type, char *out, size_t room);
uint32_t channel_frames(void);
/* Waits until everything has left the guest. */
void channel_drain(void);

#endif
