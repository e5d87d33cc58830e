// SPDX-License-Identifier: GPL-2.0-only
#include "guest/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

/* splitmix64: the same bytes on every machine. */
static uint64_t random_state;

static uint64_t random_u64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

struct bytes {
	uint8_t data[1 << 16];
	size_t len;
};

static void put(struct bytes *b, const void *data, size_t len)
{
	assert_true(b->len + len <= sizeof(b->data));
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void put_frame(struct bytes *b, enum wire_type type, uint32_t seq, const void *payload,
		      uint32_t len)
{
	uint8_t header[WIRE_HEADER];

	wire_header(header, type, 0, seq, payload, len);
	put(b, header, sizeof(header));
	put(b, payload, len);
}

static void assert_next(struct wire_reader *r, enum wire_type type, uint32_t seq, const void *payload,
			uint32_t len)
{
	struct wire_frame f;

	assert_true(wire_reader_next(r, &f));
	assert_int_equal(f.type, type);
	assert_int_equal(f.seq, seq);
	assert_int_equal(f.len, len);
	assert_memory_equal(f.payload, payload, len);
}

static void assert_none(struct wire_reader *r)
{
	struct wire_frame f;

	assert_false(wire_reader_next(r, &f));
}

/* RFC 3720, B.4, and the check value that catalogues of CRCs give. */
static void test_crc(void **state)
{
	static const uint8_t read10[48] = { [0] = 0x01, [1] = 0xc0, [16] = 0x14, [22] = 0x04,
					    [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02 };
	uint8_t b[32];

	memset(b, 0, sizeof(b));
	assert_int_equal(wire_crc32c(0, b, sizeof(b)), 0x8a9136aa);
	memset(b, 0xff, sizeof(b));
	assert_int_equal(wire_crc32c(0, b, sizeof(b)), 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		b[i] = (uint8_t)i;
	assert_int_equal(wire_crc32c(0, b, sizeof(b)), 0x46dd794e);
	for (int i = 0; i < 32; i++)
		b[i] = (uint8_t)(31 - i);
	assert_int_equal(wire_crc32c(0, b, sizeof(b)), 0x113fdb5c);
	assert_int_equal(wire_crc32c(0, read10, sizeof(read10)), 0xd9963a56);
	assert_int_equal(wire_crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(wire_crc32c(0, "", 0), 0);
	for (size_t cut = 0; cut <= 9; cut++)
		assert_int_equal(wire_crc32c(wire_crc32c(0, "123456789", cut), &"123456789"[cut], 9 - cut),
				 0xe3069283);
}

/* The bytes as the description of the format has them; the CRC was computed elsewhere, bit by bit. */
static void test_layout_of_a_frame(void **state)
{
	static const uint8_t expected[] = {
		0x4d, 0x4d, 0x52, 0x47, 0x01, 0x03, 0x01, 0x00, 0x02, 0x00, 0x00,
		0x00, 0x04, 0x03, 0x02, 0x01, 0x10, 0x7e, 0x87, 0xaf, 0x7b, 0x7d,
	};
	uint8_t header[WIRE_HEADER];
	struct wire_reader r = { 0 };
	struct wire_frame f;

	wire_header(header, WIRE_STEP, WIRE_MORE, 0x01020304, "{}", 2);
	assert_memory_equal(header, expected, WIRE_HEADER);
	assert_int_equal(wire_reader_feed(&r, expected, sizeof(expected)), 0);
	assert_true(wire_reader_next(&r, &f));
	assert_int_equal(f.type, WIRE_STEP);
	assert_int_equal(f.flags, WIRE_MORE);
	assert_int_equal(f.seq, 0x01020304);
	assert_int_equal(f.len, 2);
	assert_memory_equal(f.payload, "{}", 2);
	assert_none(&r);
	wire_reader_free(&r);
	assert_null(r.buf);
}

static void fill_stream(struct bytes *b, uint32_t n)
{
	static uint8_t payload[1000];

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7);
	for (uint32_t i = 0; i < n; i++)
		put_frame(b, WIRE_PROGRESS, i, payload, i * 31 % 1000);
}

static uint32_t take_all(struct wire_reader *r, uint32_t from)
{
	struct wire_frame f;

	while (wire_reader_next(r, &f)) {
		assert_int_equal(f.seq, from);
		assert_int_equal(f.len, from * 31 % 1000);
		for (uint32_t i = 0; i < f.len; i++)
			assert_int_equal(f.payload[i], (uint8_t)(i * 7));
		from++;
	}
	return from;
}

static void test_any_chunks(void **state)
{
	static struct bytes b;
	uint32_t n = 60;

	b.len = 0;
	fill_stream(&b, n);
	for (size_t most = 1; most < 5000; most = most * 3 + 1) {
		struct wire_reader r = { 0 };
		uint32_t seen = 0;

		random_state = most;
		for (size_t at = 0; at < b.len;) {
			size_t m = most == 1 ? 1 : 1 + random_u64() % most;

			if (m > b.len - at)
				m = b.len - at;
			assert_int_equal(wire_reader_feed(&r, b.data + at, m), 0);
			at += m;
			seen = take_all(&r, seen);
		}
		assert_int_equal(seen, n);
		assert_int_equal(r.skipped + r.bad_crc + r.lost, 0);
		wire_reader_free(&r);
	}
}

static void test_fed_nothing(void **state)
{
	struct wire_reader r = { 0 };

	assert_none(&r);
	assert_int_equal(wire_reader_feed(&r, NULL, 0), 0);
	assert_none(&r);
	wire_reader_free(&r);
	wire_reader_free(&r);
}

/* Noise around frames, also such as begins like a frame. */
static void test_garbage_between(void **state)
{
	static const char *const noise[] = { "x", "M", "MM", "MMR", "MMRMMRG", "MMMMRG\x02",
					     "SeaBIOS (1.16)\r\n",
					     "MMRG", "MMRG\x01\x05\x01" };
	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++) {
		static struct bytes b;
		struct wire_reader r = { 0 };
		size_t n = strlen(noise[i]);

		b.len = 0;
		put_frame(&b, WIRE_LOG, 0, "one", 3);
		put(&b, noise[i], n);
		put_frame(&b, WIRE_LOG, 1, "two", 3);
		put_frame(&b, WIRE_LOG, 2, "three", 5);
		assert_int_equal(wire_reader_feed(&r, b.data, b.len), 0);
		assert_next(&r, WIRE_LOG, 0, "one", 3);
		assert_next(&r, WIRE_LOG, 1, "two", 3);
		assert_next(&r, WIRE_LOG, 2, "three", 5);
		assert_none(&r);
		assert_int_equal(r.skipped, n);
		assert_int_equal(r.lost, 0);
		wire_reader_free(&r);
	}
}

/*
 * Every prefix of a frame gives nothing; new frames behind a cut one are found at once, though a
 * header that is cut takes its length from what follows.
 */
static void test_truncated(void **state)
{
	static struct bytes b, tail;

	b.len = tail.len = 0;
	put_frame(&b, WIRE_RESULT, 0, "0123456789", 10);
	for (uint32_t i = 1; i <= 4; i++)
		put_frame(&tail, WIRE_LOG, i, "good", 4);
	for (size_t cut = 0; cut < b.len; cut++) {
		struct wire_reader r = { 0 };

		assert_int_equal(wire_reader_feed(&r, b.data, cut), 0);
		assert_none(&r);
		assert_int_equal(wire_reader_feed(&r, tail.data, tail.len), 0);
		for (uint32_t i = 1; i <= 4; i++)
			assert_next(&r, WIRE_LOG, i, "good", 4);
		assert_none(&r);
		assert_int_equal(r.lost, 1);
		assert_int_equal(r.skipped, cut);
		wire_reader_free(&r);
	}
}

static void test_every_flipped_bit(void **state)
{
	static struct bytes good, b;
	size_t first;

	good.len = 0;
	put_frame(&good, WIRE_RESULT, 0, "{\"metrics\":{}}", 14);
	first = good.len;
	put_frame(&good, WIRE_END, 1, "{}", 2);
	for (size_t bit = 0; bit < first * 8; bit++) {
		struct wire_reader r = { 0 };
		struct wire_frame f;

		b = good;
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(wire_reader_feed(&r, b.data, b.len), 0);
		if (!wire_reader_next(&r, &f)) {
			/* A longer length than there is: the reader waits for the rest, up to its limit. */
			static const uint8_t zeros[WIRE_PAYLOAD_MAX];

			assert_in_range(bit / 8, 8, 11);
			assert_int_equal(wire_reader_feed(&r, zeros, sizeof(zeros)), 0);
			assert_true(wire_reader_next(&r, &f));
		}
		assert_int_equal(f.type, WIRE_END);
		assert_int_equal(f.seq, 1);
		assert_memory_equal(f.payload, "{}", 2);
		assert_int_equal(r.lost, 1);
		assert_true(r.skipped >= first);
		wire_reader_free(&r);
	}
}

static void test_lengths(void **state)
{
	uint8_t *payload = calloc(1, WIRE_PAYLOAD_MAX + 1), header[WIRE_HEADER];
	struct wire_reader r = { 0 };

	memset(payload, 'a', WIRE_PAYLOAD_MAX + 1);
	wire_header(header, WIRE_SAMPLE, 0, 0, payload, WIRE_PAYLOAD_MAX);
	wire_reader_feed(&r, header, sizeof(header));
	wire_reader_feed(&r, payload, WIRE_PAYLOAD_MAX - 1);
	assert_none(&r);
	wire_reader_feed(&r, payload, 1);
	assert_next(&r, WIRE_SAMPLE, 0, payload, WIRE_PAYLOAD_MAX);
	assert_int_equal(r.bad_crc, 0);
	/* One byte more is refused at the header, though its CRC is right: nobody waits for it. */
	wire_header(header, WIRE_SAMPLE, 0, 1, payload, WIRE_PAYLOAD_MAX + 1);
	wire_reader_feed(&r, header, sizeof(header));
	assert_none(&r);
	assert_int_equal(r.bad_crc, 1);
	wire_header(header, WIRE_END, 0, 1, "", 0);
	wire_reader_feed(&r, header, sizeof(header));
	assert_next(&r, WIRE_END, 1, "", 0);
	wire_reader_free(&r);
	free(payload);
}

/* What is drained is given back: the buffer does not grow with the stream. */
static void test_bounded_buffer(void **state)
{
	static struct bytes b;
	struct wire_reader r = { 0 };
	struct wire_frame f;

	b.len = 0;
	fill_stream(&b, 60);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(wire_reader_feed(&r, b.data, b.len), 0);
		while (wire_reader_next(&r, &f))
			;
	}
	assert_true(r.room <= 4 * sizeof(b.data));
	wire_reader_free(&r);
}

static void test_lost(void **state)
{
	static struct bytes b;
	struct wire_reader r = { 0 };
	struct wire_frame f;

	b.len = 0;
	put_frame(&b, WIRE_LOG, 0, "", 0);
	put_frame(&b, WIRE_LOG, 3, "", 0);
	wire_reader_feed(&r, b.data, b.len);
	while (wire_reader_next(&r, &f))
		;
	assert_int_equal(r.lost, 2);
	/* The counter may wrap without a loss. */
	b.len = 0;
	put_frame(&b, WIRE_LOG, UINT32_MAX, "", 0);
	put_frame(&b, WIRE_LOG, 0, "", 0);
	put_frame(&b, WIRE_LOG, 1, "", 0);
	r.lost = 0;
	r.next_seq = UINT32_MAX;
	wire_reader_feed(&r, b.data, b.len);
	while (wire_reader_next(&r, &f))
		;
	assert_int_equal(r.lost, 0);
	assert_int_equal(r.next_seq, 2);
	wire_reader_free(&r);
}

/* Headers within each other, each with a length of 1 MiB: the work must not be length x headers. */
static void test_vain_checks_are_bounded(void **state)
{
	static const uint8_t head[12] = { 'M', 'M', 'R', 'G', WIRE_VERSION, WIRE_LOG, 0, 0, 0, 0, 0x10, 0 };
	const size_t total = 4 << 20;
	uint8_t *hostile = malloc(total), end[WIRE_HEADER];
	struct wire_reader r = { 0 };
	clock_t start = clock();
	struct wire_frame f;

	for (size_t i = 0; i < total; i++)
		hostile[i] = head[i % sizeof(head)];
	for (size_t at = 0; at < total; at += 65536) {
		assert_int_equal(wire_reader_feed(&r, hostile + at, 65536), 0);
		while (wire_reader_next(&r, &f))
			fail();
	}
	/* 4 MiB hold 350,000 such headers: 300 GiB to sum. A minute is far above what 64 MiB take. */
	assert_true((clock() - start) / CLOCKS_PER_SEC < 60);
	assert_in_range(r.vain, WIRE_VAIN_MAX, WIRE_VAIN_MAX + WIRE_PAYLOAD_MAX);
	assert_in_range(r.bad_crc, 64, 66);
	wire_header(end, WIRE_END, 0, 0, "", 0);
	wire_reader_feed(&r, end, sizeof(end));
	assert_none(&r);
	assert_true(r.room <= 4 << 20);
	wire_reader_free(&r);
	free(hostile);
}

static size_t make_sample(uint8_t *p, uint8_t edge, uint8_t phase, const char *name, size_t name_len,
			  const char *data)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(i + 1);
	p[8] = edge;
	p[9] = phase;
	p[10] = (uint8_t)name_len;
	memcpy(p + 11, name, name_len);
	memcpy(p + 11 + name_len, data, strlen(data));
	return 11 + name_len + strlen(data);
}

static void test_sample(void **state)
{
	uint8_t p[512];
	struct wire_sample s;
	size_t n = make_sample(p, EDGE_END, PHASE_WORKLOAD, "extfrag/unusable_index", 22, "x 1\n");

	assert_true(wire_sample_parse(p, (uint32_t)n, &s));
	assert_true(s.mono_ns == 0x0807060504030201u);
	assert_int_equal(s.edge, EDGE_END);
	assert_int_equal(s.phase, PHASE_WORKLOAD);
	assert_string_equal(s.name, "extfrag/unusable_index");
	assert_int_equal(s.len, 4);
	assert_memory_equal(s.data, "x 1\n", 4);
	/* Cut anywhere before the end of the name it is nothing; behind, a shorter file. */
	for (uint32_t cut = 0; cut <= n; cut++) {
		uint8_t *exact = malloc(cut ? cut : 1);

		memcpy(exact, p, cut);
		assert_int_equal(wire_sample_parse(exact, cut, &s), cut >= 33);
		if (cut >= 33)
			assert_int_equal(s.len, cut - 33);
		free(exact);
	}
}

static void test_sample_head(void **state)
{
	char longest[64];
	uint8_t p[512], q[512];
	struct wire_sample s;
	size_t n = wire_sample_head(p, 0x0807060504030201u, EDGE_END, PHASE_COLLECT, "pageblocks");

	assert_int_equal(n, 21);
	assert_int_equal(make_sample(q, EDGE_END, PHASE_COLLECT, "pageblocks", 10, ""), n);
	assert_memory_equal(p, q, n);
	memset(longest, 'n', 63);
	longest[63] = '\0';
	n = wire_sample_head(p, UINT64_MAX, EDGE_NONE, PHASE_BOOT, longest);
	assert_true(wire_sample_parse(p, (uint32_t)n, &s));
	assert_true(s.mono_ns == UINT64_MAX);
	assert_int_equal(s.edge, EDGE_NONE);
	assert_int_equal(s.phase, PHASE_BOOT);
	assert_string_equal(s.name, longest);
	assert_int_equal(s.len, 0);
}

static void test_hostile_samples(void **state)
{
	static const char long_name[] = "0123456789012345678901234567890123456789012345678901234567890123456789";
	uint8_t p[512];
	struct wire_sample s;

	for (unsigned int v = 0; v < 256; v++) {
		size_t n = make_sample(p, (uint8_t)v, PHASE_BOOT, "vmstat", 6, "");

		assert_int_equal(wire_sample_parse(p, (uint32_t)n, &s), v <= 2);
		n = make_sample(p, EDGE_NONE, (uint8_t)v, "vmstat", 6, "");
		assert_int_equal(wire_sample_parse(p, (uint32_t)n, &s), v <= 4);
	}
	for (size_t len = 0; len < sizeof(long_name); len++) {
		size_t n = make_sample(p, EDGE_NONE, PHASE_BOOT, long_name, len, "d");

		assert_int_equal(wire_sample_parse(p, (uint32_t)n, &s), len <= 63);
		if (len <= 63)
			assert_int_equal(strlen(s.name), len);
	}
	/* A NUL in the name would make two names of one. */
	make_sample(p, EDGE_NONE, PHASE_BOOT, "vm\0tat", 6, "");
	assert_false(wire_sample_parse(p, 17, &s));
	/* A length of 255 with nothing behind. */
	p[10] = 255;
	assert_false(wire_sample_parse(p, 17, &s));
}

/* Streams of good frames, mutated: whatever comes out was checked, and nothing reads beyond. */
static void test_fuzz(void **state)
{
	static struct bytes good, b;
	clock_t start = clock();
	uint64_t frames = 0, intact = 0;

	good.len = 0;
	fill_stream(&good, 12);
	random_state = 20240501;
	for (int round = 0; round < 4000 && clock() - start < 2 * CLOCKS_PER_SEC; round++) {
		struct wire_reader r = { 0 };
		struct wire_frame f;
		unsigned int edits = (unsigned int)(random_u64() % 6);

		b = good;
		for (unsigned int i = 0; i < edits; i++) {
			size_t at = random_u64() % b.len, n = 1 + random_u64() % 40;

			if (n > b.len - at)
				n = b.len - at;
			switch (random_u64() % 4) {
			case 0: b.data[at] ^= (uint8_t)(1u << random_u64() % 8); break;
			case 1: b.data[at] = (uint8_t)random_u64(); break;
			case 2: /* out */
				memmove(b.data + at, b.data + at + n, b.len - at - n);
				b.len -= n;
				break;
			case 3: /* twice */
				memmove(b.data + at + n, b.data + at, b.len - at);
				b.len += n;
				break;
			}
		}
		for (size_t at = 0; at < b.len;) {
			size_t n = 1 + random_u64() % 3000;
			uint8_t *exact;

			n = n > b.len - at ? b.len - at : n;
			exact = malloc(n);
			memcpy(exact, b.data + at, n);
			assert_int_equal(wire_reader_feed(&r, exact, n), 0);
			free(exact);
			at += n;
			while (wire_reader_next(&r, &f)) {
				frames++;
				assert_true(f.len <= WIRE_PAYLOAD_MAX);
				/* CRC-32C misses no such edit of ours: what comes is one of the twelve. */
				assert_true(f.seq < 12 && f.len == f.seq * 31 % 1000);
				for (uint32_t i = 0; i < f.len; i++)
					assert_int_equal(f.payload[i], (uint8_t)(i * 7));
			}
		}
		intact += edits == 0 && r.skipped == 0 && r.lost == 0;
		wire_reader_free(&r);
	}
	assert_true(frames > 1000 && intact > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc),
		cmocka_unit_test(test_layout_of_a_frame),
		cmocka_unit_test(test_any_chunks),
		cmocka_unit_test(test_fed_nothing),
		cmocka_unit_test(test_garbage_between),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_every_flipped_bit),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_bounded_buffer),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_vain_checks_are_bounded),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_sample_head),
		cmocka_unit_test(test_hostile_samples),
		cmocka_unit_test(test_fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
