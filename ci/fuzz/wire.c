// SPDX-License-Identifier: GPL-2.0-only
/* The wire: frames out of a stream, and what the host makes of them. */
#include <jansson.h>
#include <string.h>

#include "ci/fuzz/fuzz.h"
#include "harness/engine/guest_state.h"
#include "results/util/cleanup.h"

void fuzz_stream_make(const uint8_t *recipe, size_t len, struct fuzz_stream *s)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	uint8_t header[WIRE_HEADER];

	*s = (struct fuzz_stream){ 0 };
	while (len >= 4) {
		size_t n = recipe[2] | (size_t)recipe[3] << 8;

		n = n < len - 4 ? n : len - 4;
		if (recipe[0]) {
			wire_header(header, (enum wire_type)recipe[0], recipe[1] & WIRE_MORE,
				    (uint32_t)s->frames, recipe + 4, (uint32_t)n);
			strbuf_add(&sb, header, sizeof(header));
			s->frames++;
		}
		s->junk |= !recipe[0] && n;
		strbuf_add(&sb, recipe + 4, n);
		recipe += 4 + n;
		len -= 4 + n;
	}
	s->len = sb.len;
	s->data = (uint8_t *)strbuf_steal(&sb);
}

struct tally {
	size_t frames;
	uint64_t payload;
	uint32_t crc; /* over everything that came, in order */
};

static void take_frames(struct wire_reader *r, struct tally *t)
{
	struct wire_frame f;

	while (wire_reader_next(r, &f)) {
		struct wire_sample s;

		FUZZ_CHECK(f.len <= WIRE_PAYLOAD_MAX && !(f.flags & ~WIRE_MORE));
		t->frames++;
		t->payload += f.len;
		t->crc = wire_crc32c(t->crc, &f.type, 1);
		t->crc = wire_crc32c(t->crc, f.payload, f.len);
		if (!wire_sample_parse(f.payload, f.len, &s))
			continue;
		FUZZ_CHECK(strlen(s.name) < sizeof(s.name));
		FUZZ_CHECK(s.data >= f.payload && s.data + s.len == f.payload + f.len);
	}
	FUZZ_CHECK(r->start <= r->end && r->end <= r->room);
}

/* In pieces of `step` bytes. Nothing is lost: each byte is of a frame, skipped, or still held. */
static void read_stream(const uint8_t *data, size_t len, size_t step, struct tally *t)
{
	struct wire_reader r = { 0 };

	*t = (struct tally){ 0 };
	for (size_t at = 0; at < len; at += step) {
		FUZZ_CHECK(wire_reader_feed(&r, data + at, step < len - at ? step : len - at) == 0);
		take_frames(&r, t);
	}
	FUZZ_CHECK(t->frames * WIRE_HEADER + t->payload + r.skipped + (r.end - r.start) == len);
	wire_reader_free(&r);
}

static void check_stream(const uint8_t *data, size_t len, size_t step, struct tally *whole)
{
	struct tally pieces;

	read_stream(data, len, len + 1, whole);
	read_stream(data, len, step, &pieces);
	FUZZ_CHECK(pieces.frames == whole->frames && pieces.crc == whole->crc);
}

/* The first byte: 0 for the bytes of a stream, else a recipe, read in pieces of so many bytes. */
static void run_wire(const uint8_t *data, size_t len)
{
	struct fuzz_stream s;
	struct tally t;

	if (!len)
		return;
	if (!data[0]) {
		check_stream(data + 1, len - 1, 7, &t);
		return;
	}
	fuzz_stream_make(data + 1, len - 1, &s);
	check_stream(s.data, s.len, data[0], &t);
	FUZZ_CHECK(s.junk || t.frames == s.frames);
	free(s.data);
}

static void check_guest(struct guest_state *g, struct run *r)
{
	FUZZ_CHECK(g->phase < PHASE_COUNT);
	FUZZ_CHECK(g->failed || (!g->fail_verdict && !g->fail_what));
	for (int p = 0; p < PHASE_COUNT; p++)
		FUZZ_CHECK(!(r->phase[p] < 0));
	fuzz_check_run(r);
	if (r->layout_json) {
		json_t *steps = json_loads(r->layout_json, 0, NULL);

		FUZZ_CHECK(json_is_array(steps));
		json_decref(steps);
	}
}

static void run_guest(const uint8_t *data, size_t len)
{
	static char stall[] = "allocstall|pgscan_direct", lru[] = "nr_inactive_anon";
	char *const moves[] = { stall, lru, NULL };
	struct guest_state g = { 0 };
	struct run r = { 0 };
	struct fuzz_stream s;

	fuzz_stream_make(data, len, &s);
	guest_state_feed(&g, s.data, s.len);
	FUZZ_CHECK(s.junk || g.frames == s.frames);
	guest_state_to_run(&g, moves, &r);
	check_guest(&g, &r);
	run_free(&r);
	guest_state_free(&g);
	free(s.data);
}

const struct fuzz_target fuzz_wire = { "wire", run_wire };
const struct fuzz_target fuzz_guest = { "guest", run_guest };
