// SPDX-License-Identifier: GPL-2.0-only
#include "guest/wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const char *const wire_phase_names[PHASE_COUNT] = {
	[PHASE_BOOT] = "boot",		 [PHASE_LAYOUT] = "layout",   [PHASE_SETTLE] = "settle",
	[PHASE_WORKLOAD] = "workload",	 [PHASE_COLLECT] = "collect",
};

static uint32_t crc_table[256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

/* Castagnoli polynomial, reflected: 0x82f63b78 (RFC 3720, appendix B.4 has check values). */
static void crc_table_fill(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
		crc_table[i] = c;
	}
}

uint32_t wire_crc32c(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	pthread_once(&crc_once, crc_table_fill);
	crc = ~crc;
	while (len--)
		crc = crc >> 8 ^ crc_table[(crc ^ *p++) & 0xff];
	return ~crc;
}

static void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static const char magic[4] = { 'M', 'M', 'R', 'G' };

void wire_header(uint8_t header[WIRE_HEADER], enum wire_type type, uint16_t flags, uint32_t seq,
		 const void *payload, uint32_t len)
{
	memcpy(header, magic, 4);
	header[4] = WIRE_VERSION;
	header[5] = (uint8_t)type;
	header[6] = (uint8_t)flags;
	header[7] = (uint8_t)(flags >> 8);
	put32(header + 8, len);
	put32(header + 12, seq);
	put32(header + 16, wire_crc32c(wire_crc32c(0, header, 16), payload, len));
}

int wire_reader_feed(struct wire_reader *r, const void *data, size_t len)
{
	if (!len)
		return 0;
	if (r->vain > WIRE_VAIN_MAX) {
		r->skipped += r->end - r->start + len;
		r->start = r->end = 0;
		return 0;
	}
	if (r->start && r->start == r->end)
		r->start = r->end = 0;
	if (r->end + len > r->room) {
		size_t held = r->end - r->start, room = r->room ? r->room : 65536;
		uint8_t *buf;

		if (r->start) {
			memmove(r->buf, r->buf + r->start, held);
			r->start = 0;
			r->end = held;
		}
		while (room < held + len)
			room *= 2;
		if (room != r->room) {
			buf = realloc(r->buf, room);
			if (!buf)
				return -1;
			r->buf = buf;
			r->room = room;
		}
	}
	memcpy(r->buf + r->end, data, len);
	r->end += len;
	return 0;
}

static void skip_to_magic(struct wire_reader *r)
{
	const uint8_t *p = r->buf + r->start, *end = r->buf + r->end;

	while (p < end) {
		const uint8_t *m = memchr(p, magic[0], (size_t)(end - p));
		size_t have;

		if (!m) {
			p = end;
			break;
		}
		p = m;
		have = (size_t)(end - p) < 4 ? (size_t)(end - p) : 4;
		if (memcmp(p, magic, have) == 0)
			break;
		p++;
	}
	r->skipped += (uint64_t)(p - (r->buf + r->start));
	r->start = (size_t)(p - r->buf);
}

bool wire_reader_next(struct wire_reader *r, struct wire_frame *frame)
{
	for (;;) {
		const uint8_t *h;
		uint32_t len;

		if (!r->buf || r->vain > WIRE_VAIN_MAX)
			return false;
		skip_to_magic(r);
		if (r->end - r->start < WIRE_HEADER)
			return false;
		h = r->buf + r->start;
		len = get32(h + 8);
		/* The more is refused at once the less a header cut short makes us wait for a MiB. */
		if (h[4] != WIRE_VERSION || (h[6] & ~WIRE_MORE) || h[7] || len > WIRE_PAYLOAD_MAX) {
			r->bad_crc++;
			r->start++;
			r->skipped++;
			continue;
		}
		if (r->end - r->start < WIRE_HEADER + (size_t)len)
			return false;
		if (wire_crc32c(wire_crc32c(0, h, 16), h + WIRE_HEADER, len) != get32(h + 16)) {
			r->bad_crc++;
			r->vain += len;
			r->start++;
			r->skipped++;
			continue;
		}
		frame->type = h[5];
		frame->flags = (uint16_t)(h[6] | h[7] << 8);
		frame->len = len;
		frame->seq = get32(h + 12);
		frame->payload = h + WIRE_HEADER;
		r->lost += (uint32_t)(frame->seq - r->next_seq);
		r->next_seq = frame->seq + 1;
		r->start += WIRE_HEADER + (size_t)len;
		return true;
	}
}

void wire_reader_free(struct wire_reader *r)
{
	free(r->buf);
	memset(r, 0, sizeof(*r));
}

size_t wire_sample_head(uint8_t *payload, uint64_t mono_ns, enum wire_edge edge, enum wire_phase phase,
			const char *name)
{
	size_t name_len = strlen(name);

	put32(payload, (uint32_t)mono_ns);
	put32(payload + 4, (uint32_t)(mono_ns >> 32));
	payload[8] = (uint8_t)edge;
	payload[9] = (uint8_t)phase;
	payload[10] = (uint8_t)name_len;
	memcpy(payload + WIRE_SAMPLE_HEAD, name, name_len);
	return WIRE_SAMPLE_HEAD + name_len;
}

bool wire_sample_parse(const uint8_t *payload, uint32_t len, struct wire_sample *s)
{
	size_t name_len;

	if (len < WIRE_SAMPLE_HEAD)
		return false;
	s->mono_ns = (uint64_t)get32(payload) | (uint64_t)get32(payload + 4) << 32;
	s->edge = payload[8];
	s->phase = payload[9];
	name_len = payload[10];
	if (s->edge > EDGE_END || s->phase >= PHASE_COUNT || name_len >= sizeof(s->name) ||
	    WIRE_SAMPLE_HEAD + name_len > len)
		return false;
	memcpy(s->name, payload + WIRE_SAMPLE_HEAD, name_len);
	s->name[name_len] = '\0';
	if (strlen(s->name) != name_len)
		return false;
	s->data = payload + WIRE_SAMPLE_HEAD + name_len;
	s->len = len - WIRE_SAMPLE_HEAD - (uint32_t)name_len;
	return true;
}
