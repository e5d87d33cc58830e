// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/guest_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "results/util/cleanup.h"

static uint32_t sequence;
static unsigned int samples;

static void count_sample(void *arg, const void *payload, uint32_t len)
{
	samples++;
}

static void begin(struct guest_state *g)
{
	memset(g, 0, sizeof(*g));
	g->sample = count_sample;
	sequence = 0;
	samples = 0;
}

static void send(struct guest_state *g, enum wire_type type, const void *payload, size_t len)
{
	uint8_t header[WIRE_HEADER];

	wire_header(header, type, 0, sequence++, payload, (uint32_t)len);
	guest_state_feed(g, header, sizeof(header));
	guest_state_feed(g, payload, len);
}

static void say(struct guest_state *g, enum wire_type type, const char *text)
{
	send(g, type, text, strlen(text));
}

static void sample(struct guest_state *g, const char *name, enum wire_phase phase, enum wire_edge edge,
		   const char *data)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	uint8_t head[WIRE_SAMPLE_HEAD] = { 1, [8] = (uint8_t)edge, [9] = (uint8_t)phase,
					   [10] = (uint8_t)strlen(name) };

	strbuf_add(&sb, head, sizeof(head));
	strbuf_adds(&sb, name);
	strbuf_adds(&sb, data);
	send(g, WIRE_SAMPLE, sb.data, sb.len);
}

static void start_run(struct run *r)
{
	memset(r, 0, sizeof(*r));
	for (int p = 0; p < PHASE_COUNT; p++)
		r->phase[p] = -1;
}

static void assert_metric(const struct run *r, const char *name, double value)
{
	const double *v = run_metric(r, name);

	if (!v)
		fail_msg("%s: absent", name);
	assert_true(*v == value);
}

/* What the agent could not read, or what is no number, is not known; it is not 0. */
static void test_taint_unknown(void **state)
{
	static const char *const words[] = { "{}", "{\"tainted\":-1}", "{\"tainted\":\"512\"}", "{\"tainted\":1.5}" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct guest_state g;
		struct run r;

		begin(&g);
		say(&g, WIRE_HELLO, words[i]);
		say(&g, WIRE_END, words[i]);
		assert_true(g.hello && g.ended);
		start_run(&r);
		guest_state_to_run(&g, NULL, &r);
		assert_false(r.taint_before_known || r.taint_after_known);
		run_free(&r);
		guest_state_free(&g);
	}
}

static void test_whole_run(void **state)
{
	char *moves[] = { (char *)"pgalloc_dma|pgalloc_normal", (char *)"allocstall",
			  (char *)"no_such|compact_stall", (char *)"pgsteal_kswapd", (char *)"no_such",
			  NULL };
	struct guest_state g;
	struct run r;

	begin(&g);
	assert_false(g.hello);
	say(&g, WIRE_HELLO, "{\"release\":\"7.3.4\",\"agent\":\"0.1\",\"mono_ns\":5,\"channel\":\"virtio-serial\","
			    "\"tainted\":4096}");
	assert_true(g.hello);
	assert_string_equal(g.release, "7.3.4");
	assert_string_equal(g.channel, "virtio-serial");
	say(&g, WIRE_PHASE, "{\"phase\":\"layout\",\"edge\":\"begin\",\"mono_ns\":1000000000}");
	assert_int_equal(g.phase, PHASE_LAYOUT);
	sample(&g, "vmstat", PHASE_LAYOUT, EDGE_BEGIN,
	       "nr_active_anon 5\nnr_inactive_anon 5\nnr_foll_pin_acquired 7\npgfree 1\n");
	say(&g, WIRE_PROGRESS, "{\"phase\":\"layout\",\"done\":3,\"total\":9,\"mono_ns\":1}");
	assert_int_equal(g.done, 3);
	assert_int_equal(g.total, 9);
	say(&g, WIRE_STEP, "{\"index\":0,\"step\":\"fill\",\"asked\":{},\"got\":{},\"ok\":true,\"how\":\"\"}");
	say(&g, WIRE_STEP, "{\"index\":1,\"step\":\"pin\",\"begun\":true}"); /* no report */
	assert_int_equal(g.begun, 2);
	assert_int_equal(json_array_size(g.steps), 1);
	say(&g, WIRE_STEP, "{\"index\":1,\"step\":\"pin\",\"asked\":{},\"got\":{},\"ok\":true,\"how\":\"io_uring\"}");
	sample(&g, "vmstat", PHASE_LAYOUT, EDGE_END,
	       "nr_active_anon 5\nnr_inactive_anon 99\nnr_foll_pin_acquired 7\npgfree 9\n");
	say(&g, WIRE_PHASE, "{\"phase\":\"layout\",\"edge\":\"end\",\"mono_ns\":3500000000}");
	say(&g, WIRE_PHASE, "{\"phase\":\"workload\",\"edge\":\"begin\",\"mono_ns\":4000000000}");
	assert_int_equal(g.phase, PHASE_WORKLOAD);
	assert_int_equal(g.done, 0); /* a new phase starts at nothing */
	sample(&g, "vmstat", PHASE_WORKLOAD, EDGE_BEGIN,
	       "allocstall_dma 1\nallocstall_dma32 2\nallocstall_normal 3\nallocstall_movable 4\n"
	       "pgalloc_dma 0\npgalloc_dma32 10\npgalloc_normal 10\ncompact_stall 5\npgsteal_kswapd 8\n");
	sample(&g, "vmstat", PHASE_WORKLOAD, EDGE_NONE, "allocstall_normal 77\n"); /* a series: no edge */
	sample(&g, "vmstat", PHASE_WORKLOAD, EDGE_END,
	       "allocstall_dma 1\nallocstall_dma32 22\nallocstall_normal 33\nallocstall_movable 44\n"
	       "pgalloc_dma 0\npgalloc_dma32 110\npgalloc_normal 11\ncompact_stall 6\npgsteal_kswapd 8\n");
	sample(&g, "buddyinfo", PHASE_WORKLOAD, EDGE_END, "Node 0, zone    DMA32     12      3      1\n");
	say(&g, WIRE_RESULT, "{\"metrics\":{\"time\":12.5,\"files\":1000}}");
	say(&g, WIRE_PHASE, "{\"phase\":\"workload\",\"edge\":\"end\",\"mono_ns\":16500000000}");
	say(&g, WIRE_LOG, "a line");
	say(&g, WIRE_LOG, "another");
	say(&g, WIRE_END, "{\"mono_ns\":1,\"frames\":16,\"tainted\":4608}");
	assert_true(g.ended);
	assert_false(g.failed);
	assert_int_equal(g.frames, sequence);
	assert_int_equal(samples, 6);
	assert_string_equal(g.log.data, "a line\nanother\n");
	assert_int_equal(g.reader.lost + g.reader.bad_crc + g.reader.skipped, 0);

	start_run(&r);
	guest_state_to_run(&g, moves, &r);
	assert_true(r.taint_before_known && r.taint_after_known);
	assert_int_equal(r.taint_before, 4096);
	assert_int_equal(r.taint_after, 4608);
	assert_true(r.phase[PHASE_BOOT] == -1); /* the host's own measure */
	assert_true(r.phase[PHASE_LAYOUT] == 2.5);
	assert_true(r.phase[PHASE_SETTLE] == -1);
	assert_true(r.phase[PHASE_WORKLOAD] == 12.5);
	assert_metric(&r, "allocstall", 0 + 20 + 30 + 40); /* summed over the zones */
	assert_metric(&r, "pgalloc_dma", 0); /* it is there, and stood still */
	assert_metric(&r, "pgalloc_dma32", 100);
	assert_metric(&r, "pgalloc_normal", 1);
	assert_metric(&r, "compact_stall", 1);
	assert_metric(&r, "time", 12.5);
	assert_metric(&r, "files", 1000);
	assert_metric(&r, "free_order0_DMA32", 12);
	assert_null(run_metric(&r, "oom_kill")); /* absent is not zero */
	/* What stood still in the workload, what is not there, and the pin that nothing counted. */
	assert_string_equal(r.no_effect[0], "workload: pgsteal_kswapd");
	assert_string_equal(r.no_effect[1], "workload: no_such");
	assert_string_equal(r.no_effect[2], "pin: nr_foll_pin_acquired");
	assert_null(r.no_effect[3]);
	assert_non_null(strstr(r.layout_json, "\"step\":\"pin\""));
	assert_string_equal(r.workload_json, "{\"metrics\":{\"time\":12.5,\"files\":1000}}");
	run_free(&r);
	guest_state_free(&g);
}

static void test_nothing_at_all(void **state)
{
	char *moves[] = { (char *)"pgalloc_normal", NULL };
	struct guest_state g;
	struct run r;

	begin(&g);
	start_run(&r);
	guest_state_to_run(&g, moves, &r);
	assert_int_equal(r.nmetrics, 0);
	assert_null(r.no_effect); /* without its two snapshots nobody can say so */
	assert_null(r.layout_json);
	assert_null(r.workload_json);
	for (int p = 0; p < PHASE_COUNT; p++)
		assert_true(r.phase[p] == -1);
	run_free(&r);
	guest_state_free(&g);
}

/* vmsplice takes plain references: no counter of pins moves, and none is missed. */
static void test_vmsplice_is_excused(void **state)
{
	struct guest_state g;
	struct run r;

	begin(&g);
	sample(&g, "vmstat", PHASE_LAYOUT, EDGE_BEGIN, "nr_foll_pin_acquired 7\n");
	sample(&g, "vmstat", PHASE_LAYOUT, EDGE_END, "nr_foll_pin_acquired 7\n");
	say(&g, WIRE_STEP, "{\"step\":\"pin\",\"how\":\"vmsplice\"}");
	say(&g, WIRE_STEP, "{\"step\":\"no such step\",\"how\":5}");
	say(&g, WIRE_STEP, "{\"step\":[\"pin\"]}");
	start_run(&r);
	guest_state_to_run(&g, NULL, &r);
	assert_null(r.no_effect);
	run_free(&r);
	guest_state_free(&g);
}

static void test_fail(void **state)
{
	struct guest_state g;

	begin(&g);
	say(&g, WIRE_FAIL, "{\"verdict\":\"unsupported\",\"what\":\"this kernel lacks fs:tmpfs\"}");
	say(&g, WIRE_FAIL, "{\"verdict\":\"infra\",\"what\":\"second\"}");
	assert_true(g.failed);
	assert_false(g.ended);
	assert_string_equal(g.fail_verdict, "unsupported"); /* the first stands */
	assert_string_equal(g.fail_what, "this kernel lacks fs:tmpfs");
	guest_state_free(&g);
	/* A failure that says nothing is one all the same. */
	begin(&g);
	say(&g, WIRE_FAIL, "{\"verdict\":7,\"what\":null}");
	assert_true(g.failed);
	assert_null(g.fail_verdict);
	assert_null(g.fail_what);
	guest_state_free(&g);
}

/* END must be whole: a frame that is cut, or whose CRC is wrong, ends nothing. */
static void test_end_must_be_whole(void **state)
{
	uint8_t frame[WIRE_HEADER + 2];
	struct guest_state g;

	for (size_t bad = 0; bad <= sizeof(frame); bad++) {
		begin(&g);
		wire_header(frame, WIRE_END, 0, 0, "{}", 2);
		memcpy(frame + WIRE_HEADER, "{}", 2);
		guest_state_feed(&g, frame, bad);
		assert_int_equal(g.ended, bad == sizeof(frame));
		guest_state_free(&g);
		if (bad == sizeof(frame))
			break;
		begin(&g);
		frame[bad] ^= 0x20;
		guest_state_feed(&g, frame, sizeof(frame));
		assert_false(g.ended);
		guest_state_free(&g);
	}
}

static void test_wrong_json(void **state)
{
	static const char *const bad[] = {
		"", " ", "{", "}", "[]", "null", "5", "\"x\"", "{}{}", "{\"phase\":}", "{'a':1}",
		"{\"phase\":\"workload\",\"phase\":\"layout\",\"edge\":\"begin\",\"mono_ns\":1}",
		"{\"phase\":\"workload\",\"edge\":\"begin\",\"mono_ns\":99999999999999999999999}",
		"{\"phase\":\"\\u0000\",\"edge\":\"begin\"}", "{\"phase\":\"\xff\",\"edge\":\"begin\"}",
		"{\"phase\":\"nosuch\",\"edge\":\"begin\",\"mono_ns\":5}",
		"{\"phase\":\"workload\",\"edge\":\"middle\",\"mono_ns\":5}",
		"{\"phase\":\"workload\",\"mono_ns\":5}", "{\"phase\":3,\"edge\":\"end\",\"mono_ns\":5}",
		"{\"phase\":[\"workload\"],\"edge\":{},\"mono_ns\":5}",
		"{\"phase\":\"workload\",\"edge\":\"end\",\"mono_ns\":1e400}",
		"{\"phase\":\"workload\",\"edge\":\"end\",\"mono_ns\":-5}",
		"{\"phase\":\"workload\",\"edge\":\"end\",\"mono_ns\":\"5\"}",
		"{\"phase\":\"workload\",\"edge\":\"end\",\"mono_ns\":5.5}",
	};
	static const enum wire_type types[] = { WIRE_HELLO, WIRE_PHASE, WIRE_STEP, WIRE_PROGRESS, WIRE_RESULT,
						WIRE_PARTIAL, WIRE_FAIL, WIRE_END,	WIRE_GO,   (enum wire_type)0,
						(enum wire_type)200 };

	for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
		for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
			struct guest_state g;
			struct run r;

			begin(&g);
			say(&g, types[t], bad[i]);
			assert_int_equal(g.frames, 1);
			for (int p = 0; p < PHASE_COUNT; p++) {
				assert_int_equal(g.begin_ns[p], 0);
				assert_int_equal(g.end_ns[p], 0);
			}
			if (i < 15) { /* no object at all */
				assert_false(g.hello || g.ended || g.failed);
				assert_null(g.steps);
				assert_null(g.result);
			}
			start_run(&r);
			guest_state_to_run(&g, NULL, &r);
			assert_int_equal(r.nmetrics, 0);
			run_free(&r);
			guest_state_free(&g);
		}
	}
}

static void test_wrong_metrics(void **state)
{
	static const char *const bad[] = {
		"{\"metrics\":[]}", "{\"metrics\":5}", "{\"metrics\":\"time\"}", "{\"metrics\":null}", "{}",
		"{\"metrics\":{\"time\":\"5\",\"a\":[1],\"b\":{\"c\":1},\"d\":true,\"e\":null}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct guest_state g;
		struct run r;

		begin(&g);
		say(&g, WIRE_RESULT, bad[i]);
		start_run(&r);
		guest_state_to_run(&g, NULL, &r);
		assert_int_equal(r.nmetrics, 0);
		run_free(&r);
		guest_state_free(&g);
	}
}

/* Times that run backwards, or an end without a beginning, give no phase. */
static void test_phase_times(void **state)
{
	struct guest_state g;
	struct run r;

	begin(&g);
	say(&g, WIRE_PHASE, "{\"phase\":\"layout\",\"edge\":\"end\",\"mono_ns\":5}");
	say(&g, WIRE_PHASE, "{\"phase\":\"settle\",\"edge\":\"begin\",\"mono_ns\":9}");
	say(&g, WIRE_PHASE, "{\"phase\":\"settle\",\"edge\":\"end\",\"mono_ns\":8}");
	say(&g, WIRE_PHASE, "{\"phase\":\"workload\",\"edge\":\"begin\",\"mono_ns\":9}");
	say(&g, WIRE_PHASE, "{\"phase\":\"workload\",\"edge\":\"end\",\"mono_ns\":9}");
	say(&g, WIRE_PHASE, "{\"phase\":\"collect\",\"edge\":\"begin\",\"mono_ns\":1}");
	say(&g, WIRE_PHASE, "{\"phase\":\"collect\",\"edge\":\"end\",\"mono_ns\":9223372036854775807}");
	start_run(&r);
	guest_state_to_run(&g, NULL, &r);
	assert_true(r.phase[PHASE_LAYOUT] == -1);
	assert_true(r.phase[PHASE_SETTLE] == -1);
	assert_true(r.phase[PHASE_WORKLOAD] == 0);
	assert_true(r.phase[PHASE_COLLECT] > 9.2e9 && r.phase[PHASE_COLLECT] < 9.3e9);
	run_free(&r);
	guest_state_free(&g);
}

static char *repeat(const char *head, const char *unit, const char *tail, size_t bytes, size_t *len)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, head);
	while (sb.len + strlen(unit) + strlen(tail) <= bytes)
		strbuf_adds(&sb, unit);
	strbuf_adds(&sb, tail);
	*len = sb.len;
	return strbuf_steal(&sb);
}

/* Payloads of up to 1 MiB, many of them: time and memory stay bounded, and the wire goes on. */
static void test_large_payloads(void **state)
{
	static const char *const parts[][3] = {
		{ "[", "[", "" },
		{ "{\"a\":", "[", "" },
		{ "{\"a\":", "{\"a\":", "1" },
		{ "{\"a\":[0", ",1", "]}" },
		{ "{\"metrics\":{\"x\":1", ",\"\":1", "}}" },
		{ "{\"release\":\"", "r", "\"}" },
		{ "{\"verdict\":\"", "\\u00e9", "\",\"what\":\"x\"}" },
		{ "", " ", "{}" },
	};
	static const size_t sizes[] = { 1000, 60000, WIRE_PAYLOAD_MAX };
	struct guest_state g;
	struct run r;
	clock_t start = clock();

	begin(&g);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
			size_t len;
			cleanup_free char *text = repeat(parts[i][0], parts[i][1], parts[i][2], sizes[s], &len);

			assert_true(len <= WIRE_PAYLOAD_MAX);
			for (int type = WIRE_HELLO; type <= WIRE_LOG; type++)
				if (type != WIRE_SAMPLE)
					send(&g, (enum wire_type)type, text, len);
		}
	}
	/* More steps than any layout has. */
	for (int i = 0; i < 1000; i++)
		say(&g, WIRE_STEP, "{\"step\":\"pin\"}");
	assert_true(json_array_size(g.steps) <= 256);
	assert_true(g.log.len < 70000);
	assert_true(!g.release || strlen(g.release) <= 4096);
	assert_true(!g.fail_verdict || strlen(g.fail_verdict) <= 4096);
	assert_int_equal(g.reader.lost + g.reader.bad_crc, 0);
	say(&g, WIRE_END, "{}");
	assert_true(g.ended);
	start_run(&r);
	guest_state_to_run(&g, NULL, &r);
	run_free(&r);
	guest_state_free(&g);
	assert_true((clock() - start) / CLOCKS_PER_SEC < 60);
}

/* A STEP of 1 MiB would be an array of half a million numbers, 256 times: none is kept. */
static void test_large_json_is_not_kept(void **state)
{
	struct guest_state g;
	size_t len;
	cleanup_free char *large = repeat("{\"step\":\"pin\",\"a\":[0", ",1", "]}", WIRE_PAYLOAD_MAX, &len);

	begin(&g);
	send(&g, WIRE_STEP, large, len);
	assert_null(g.steps);
	free(large);
	/* The largest that the agent can send is taken. */
	large = repeat("{\"metrics\":{\"time\":1},\"histogram\":[[0,0,0]", ",[1,2,3]", "]}", 32767, &len);
	send(&g, WIRE_RESULT, large, len);
	assert_non_null(g.result);
	guest_state_free(&g);
}

/* As many rows as fit into 1 MiB, on both edges; a row that is none. */
static void test_large_vmstat(void **state)
{
	char *moves[] = { (char *)"pgalloc_normal", (char *)"allocstall", NULL };
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	struct guest_state g;
	struct run r;
	clock_t start = clock();

	begin(&g);
	strbuf_adds(&sb, "pgalloc_normal 5\nno number\n\n 7\nallocstall_normal -1\n"
			 "pgfree 99999999999999999999999999\n");
	for (int i = 0; sb.len < WIRE_PAYLOAD_MAX - 100; i++)
		strbuf_addf(&sb, "k%d %d\n", i, i);
	sample(&g, "vmstat", PHASE_WORKLOAD, EDGE_BEGIN, sb.data);
	sample(&g, "vmstat", PHASE_WORKLOAD, EDGE_END, sb.data);
	start_run(&r);
	guest_state_to_run(&g, moves, &r);
	assert_metric(&r, "pgalloc_normal", 0);
	assert_true(r.nmetrics < 10000);
	assert_true((clock() - start) / CLOCKS_PER_SEC < 60);
	run_free(&r);
	guest_state_free(&g);
}

static void test_wrong_samples(void **state)
{
	struct guest_state g;

	begin(&g);
	say(&g, WIRE_SAMPLE, "");
	say(&g, WIRE_SAMPLE, "too short");
	say(&g, WIRE_SAMPLE, "12345678\xff\xff\xffname");
	assert_int_equal(samples, 0); /* what is malformed is not stored */
	sample(&g, "vmstat", PHASE_WORKLOAD, EDGE_END, "");
	sample(&g, "", PHASE_BOOT, EDGE_BEGIN, "");
	assert_int_equal(samples, 2);
	/* A second snapshot of one edge takes the place of the first. */
	sample(&g, "vmstat", PHASE_WORKLOAD, EDGE_END, "pgfree 1\n");
	sample(&g, "vmstat", PHASE_WORKLOAD, EDGE_END, "pgfree 2\n");
	assert_int_equal(*vmstat_get(&g.vmstat[PHASE_WORKLOAD][1], "pgfree"), 2);
	sample(&g, "buddyinfo", PHASE_WORKLOAD, EDGE_END, "one");
	sample(&g, "buddyinfo", PHASE_WORKLOAD, EDGE_END, "two");
	assert_string_equal(samples_find(&g.edges.end, "buddyinfo")->data, "two");
	guest_state_free(&g);
}

/* A map comes in samples of one name: each is stored, and none is held, or counted as a file. */
static void test_pageblocks(void **state)
{
	struct guest_state g;

	begin(&g);
	for (int chunk = 0; chunk < 1000; chunk++) {
		sample(&g, "pageblocks", PHASE_LAYOUT, EDGE_END, "pageblocks 1 order 9 first 0 blocks 512\n");
		sample(&g, "pageblocks", PHASE_COLLECT, EDGE_END, "pageblocks 1 order 9 first 0 blocks 512\n");
	}
	assert_int_equal(samples, 2000);
	assert_int_equal(g.edges.begin.n + g.edges.end.n + g.edges.rest.n, 0);
	guest_state_free(&g);
}

/* ---- fuzzing ---- */

static uint64_t random_state;

static uint64_t random_u64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void finish(struct guest_state *g)
{
	char *moves[] = { (char *)"pgalloc_dma|pgfree", (char *)"|", (char *)"", NULL };
	struct run r;

	start_run(&r);
	guest_state_to_run(g, moves, &r);
	run_free(&r);
	guest_state_free(g);
}

static void test_fuzz_bytes(void **state)
{
	clock_t start = clock();

	random_state = 1;
	for (int round = 0; round < 20000 && clock() - start < 2 * CLOCKS_PER_SEC; round++) {
		uint8_t bytes[512];
		struct guest_state g;

		begin(&g);
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = random_u64() % 8 ? (uint8_t)random_u64() : (uint8_t)"MMRG\1\0\0{"[i % 8];
		guest_state_feed(&g, bytes, 1 + random_u64() % sizeof(bytes));
		assert_false(g.ended);
		finish(&g);
	}
}

/* Right frames with mutated payloads, so that what lies behind the CRC is reached. */
static void test_fuzz_payloads(void **state)
{
	static const struct {
		enum wire_type type;
		const char *text;
		size_t len;
	} seeds[] = {
#define SEED(type, text) { type, text, sizeof(text) - 1 }
		SEED(WIRE_HELLO, "{\"release\":\"7.3.4\",\"channel\":\"ttyS1\",\"mono_ns\":1}"),
		SEED(WIRE_PHASE, "{\"phase\":\"workload\",\"edge\":\"begin\",\"mono_ns\":12}"),
		SEED(WIRE_PHASE, "{\"phase\":\"workload\",\"edge\":\"end\",\"mono_ns\":99}"),
		SEED(WIRE_PROGRESS, "{\"phase\":\"layout\",\"done\":3,\"total\":9}"),
		SEED(WIRE_STEP, "{\"step\":\"pin\",\"how\":\"vmsplice\",\"asked\":{\"n\":1}}"),
		SEED(WIRE_STEP, "{\"step\":\"fill\",\"how\":\"x\"}"),
		SEED(WIRE_RESULT, "{\"metrics\":{\"time\":1.5e3,\"files\":10},\"histogram\":[[1,2,3]]}"),
		SEED(WIRE_PARTIAL, "{\"metrics\":{\"time\":2,\"x\":1},\"partial\":false}"),
		SEED(WIRE_FAIL, "{\"verdict\":\"infra\",\"what\":\"x\\u00e9\"}"),
		SEED(WIRE_LOG, "text"),
		SEED(WIRE_SAMPLE, "12345678\1\3\6vmstatpgfree 1\npgalloc_dma 7\nnr_x 9\n"),
		SEED(WIRE_SAMPLE, "12345678\2\3\6vmstatpgfree 9\npgalloc_dma 9\nnr_x 1\n"),
		SEED(WIRE_SAMPLE, "12345678\1\1\6vmstatpgfree 1\nnr_foll_pin_acquired 7\n"),
		SEED(WIRE_SAMPLE, "12345678\2\1\6vmstatpgfree 9\nnr_foll_pin_acquired 9\n"),
		SEED(WIRE_SAMPLE, "12345678\2\3\x09" "buddyinfoNode 0, zone DMA32 1 2 3 4\n"),
#undef SEED
	};
	clock_t start = clock();

	random_state = 2;
	for (int round = 0; round < 15000 && clock() - start < 2 * CLOCKS_PER_SEC; round++) {
		struct guest_state g;

		begin(&g);
		for (int i = 0; i < 24; i++) {
			size_t k = random_u64() % ARRAY_SIZE(seeds), len = seeds[k].len;
			char *copy = xmalloc(len + 1);

			memcpy(copy, seeds[k].text, len + 1);
			for (uint64_t edits = random_u64() % 4; edits; edits--)
				copy[random_u64() % len] = random_u64() % 2 ?
								   "\"{}[]:,\\ \n0-9eE.u"[random_u64() % 16] :
								   (char)random_u64();
			if (random_u64() % 8 == 0)
				len = random_u64() % (len + 1);
			send(&g, random_u64() % 16 ? seeds[k].type : (enum wire_type)(random_u64() % 12), copy,
			     len);
			free(copy);
		}
		assert_int_equal(g.frames, 24);
		finish(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_run),
		cmocka_unit_test(test_taint_unknown),
		cmocka_unit_test(test_nothing_at_all),
		cmocka_unit_test(test_vmsplice_is_excused),
		cmocka_unit_test(test_fail),
		cmocka_unit_test(test_end_must_be_whole),
		cmocka_unit_test(test_wrong_json),
		cmocka_unit_test(test_wrong_metrics),
		cmocka_unit_test(test_phase_times),
		cmocka_unit_test(test_large_payloads),
		cmocka_unit_test(test_large_json_is_not_kept),
		cmocka_unit_test(test_large_vmstat),
		cmocka_unit_test(test_wrong_samples),
		cmocka_unit_test(test_pageblocks),
		cmocka_unit_test(test_fuzz_bytes),
		cmocka_unit_test(test_fuzz_payloads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
