// SPDX-License-Identifier: GPL-2.0-only
/*
 * The .c files are included: the table of files is pointed at files of our own, and the channel at
 * a file, which the wire's reader then takes apart.
 */
#include "guest/channel.c"
#include "guest/sampler.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static char folder[] = "/tmp/mmrig-sampler-XXXXXX";
static char paths[FILES][64];
static struct wire_reader reader;

static void write_file(size_t i, const char *text, size_t len)
{
	int fd = open(files[i].path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	close(fd);
}

/* All files but the last, which this "kernel" lacks. */
static int set_up(void **state)
{
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < FILES; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%zu", folder, i);
		files[i].path = paths[i];
		if (i + 1 < FILES)
			write_file(i, "start\n", 6);
	}
	channel_fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (channel_fd < 0) {
		char path[80];

		snprintf(path, sizeof(path), "%s/channel", folder);
		channel_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		unlink(path);
	}
	assert_true(channel_fd >= 0);
	assert_int_equal(sampler_init(1 << 20), 0);
	nmthp = 0; /* the host's own are no part of this */
	return 0;
}

static int tear_down(void **state)
{
	for (size_t i = 0; i < FILES; i++)
		unlink(files[i].path);
	rmdir(folder);
	close(channel_fd);
	wire_reader_free(&reader);
	return 0;
}

/* What has come through the channel since the last call, as one piece. */
static void receive(void)
{
	static off_t at;
	char buf[65536];
	ssize_t n;

	while ((n = pread(channel_fd, buf, sizeof(buf), at)) > 0) {
		assert_int_equal(wire_reader_feed(&reader, buf, (size_t)n), 0);
		at += n;
	}
}

static bool next_sample(struct wire_sample *s)
{
	struct wire_frame f;

	if (!wire_reader_next(&reader, &f))
		return false;
	assert_int_equal(f.type, WIRE_SAMPLE);
	assert_true(wire_sample_parse(f.payload, f.len, s));
	return true;
}

static void assert_sample(const char *name, enum wire_phase phase, enum wire_edge edge, const char *data)
{
	struct wire_sample s;

	assert_true(next_sample(&s));
	assert_string_equal(s.name, name);
	assert_int_equal(s.phase, phase);
	assert_int_equal(s.edge, edge);
	assert_int_equal(s.len, strlen(data));
	assert_memory_equal(s.data, data, s.len);
}

/* Nothing leaves before the flush; vmstat comes last at a beginning and first at an end. */
static void test_snapshots(void **state)
{
	struct wire_sample s;
	uint64_t before = mono_ns(), last;

	receive();
	assert_false(next_sample(&s)); /* the first reading, which warms the files, is not sent */
	write_file(0, "pgfree 1\n", 9);
	sampler_snapshot(PHASE_WORKLOAD, EDGE_BEGIN);
	write_file(0, "pgfree 22\n", 10);
	sampler_snapshot(PHASE_WORKLOAD, EDGE_END);
	receive();
	assert_false(next_sample(&s));
	sampler_flush();
	receive();
	for (size_t i = FILES - 1; i-- > 1;)
		assert_sample(files[i].name, PHASE_WORKLOAD, EDGE_BEGIN, "start\n");
	assert_sample("vmstat", PHASE_WORKLOAD, EDGE_BEGIN, "pgfree 1\n");
	assert_sample("vmstat", PHASE_WORKLOAD, EDGE_END, "pgfree 22\n");
	last = before;
	for (size_t i = 1; i + 1 < FILES; i++) {
		assert_true(next_sample(&s));
		assert_string_equal(s.name, files[i].name);
		assert_true(s.mono_ns >= last && s.mono_ns <= mono_ns());
		last = s.mono_ns;
	}
	assert_false(next_sample(&s));
	sampler_flush(); /* nothing is sent twice */
	receive();
	assert_false(next_sample(&s));
	assert_true(sampler_seconds() > 0 && sampler_seconds() < 60);
	assert_int_equal(reader.skipped + reader.bad_crc + reader.lost, 0);
}

static void test_series(void **state)
{
	struct wire_sample s;

	sampler_series(PHASE_WORKLOAD);
	sampler_flush();
	receive();
	assert_sample("vmstat", PHASE_WORKLOAD, EDGE_NONE, "pgfree 22\n");
	assert_sample("buddyinfo", PHASE_WORKLOAD, EDGE_NONE, "start\n");
	assert_sample("pressure/memory", PHASE_WORKLOAD, EDGE_NONE, "start\n");
	assert_sample("pressure/io", PHASE_WORKLOAD, EDGE_NONE, "start\n");
	assert_sample("pressure/cpu", PHASE_WORKLOAD, EDGE_NONE, "start\n");
	assert_false(next_sample(&s));
}

/* Ten times the arena: it empties itself, nothing is lost, and what is read comes out whole. */
static void test_full_arena(void **state)
{
	static char big[50000];
	struct wire_sample s;
	unsigned int vmstat = 0, all = 0;

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)('a' + i % 26);
	write_file(0, big, sizeof(big));
	for (int i = 0; i < 200; i++) {
		sampler_series(PHASE_LAYOUT);
		assert_true(arena_len <= arena_room);
	}
	sampler_flush();
	receive();
	while (next_sample(&s)) {
		all++;
		if (strcmp(s.name, "vmstat") != 0)
			continue;
		vmstat++;
		assert_int_equal(s.len, sizeof(big));
		assert_memory_equal(s.data, big, sizeof(big));
	}
	assert_int_equal(vmstat, 200);
	assert_int_equal(all, 1000);
	assert_int_equal(reader.skipped + reader.bad_crc + reader.lost, 0);
}

static void test_mthp(void **state)
{
	nmthp = 1;
	memset(&mthp[0], 0, sizeof(mthp[0]));
	strcpy(mthp[0].name, "mthp/64kB");
	mthp[0].nstats = 2;
	for (size_t i = 0; i < 2; i++) {
		strcpy(mthp[0].stat[i].key, i ? "swpout" : "anon_fault_alloc");
		write_file(i, i ? "0\n" : "12345\n", i ? 2 : 6);
		mthp[0].stat[i].fd = files[i].fd;
	}
	take_mthp(&mthp[0], PHASE_SETTLE, EDGE_END);
	nmthp = 0;
	sampler_flush();
	receive();
	assert_sample("mthp/64kB", PHASE_SETTLE, EDGE_END, "anon_fault_alloc 12345\nswpout 0\n");
}

static void test_vmstat(void **state)
{
	static char big[70000];

	write_file(0, "pgscan_kswapd 5\n", 16);
	assert_string_equal(sampler_vmstat(), "pgscan_kswapd 5\n");
	write_file(0, "", 0);
	assert_null(sampler_vmstat());
	memset(big, 'v', sizeof(big));
	write_file(0, big, sizeof(big));
	assert_int_equal(strlen(sampler_vmstat()), 65535);
}

/* A payload beyond the limit goes as several frames, all but the last with WIRE_MORE. */
static void test_channel_splits(void **state)
{
	static const uint32_t lengths[] = { 0, 1, 1003, 1004, 1005, 5000, WIRE_PAYLOAD_MAX,
					    WIRE_PAYLOAD_MAX + 1, 2 * WIRE_PAYLOAD_MAX + 77 };
	uint8_t *payload = malloc(3 * WIRE_PAYLOAD_MAX);
	uint32_t frames = channel_frames();

	for (uint32_t i = 0; i < 3 * WIRE_PAYLOAD_MAX; i++)
		payload[i] = (uint8_t)(i * 251 >> 3);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint32_t at = 0;
		struct wire_frame f;

		channel_send(WIRE_LOG, payload, lengths[i]);
		receive();
		do {
			assert_true(wire_reader_next(&reader, &f));
			assert_int_equal(f.seq, frames++);
			assert_int_equal(f.flags, at + f.len < lengths[i] ? WIRE_MORE : 0);
			assert_memory_equal(f.payload, payload + at, f.len);
			at += f.len;
		} while (f.flags);
		assert_int_equal(at, lengths[i]);
		assert_false(wire_reader_next(&reader, &f));
	}
	assert_int_equal(channel_frames(), frames);
	free(payload);
}

static void test_channel_sendf(void **state)
{
	static char big[5000];
	struct wire_frame f;

	channel_sendf(WIRE_END, "{\"frames\":%d}", 7);
	memset(big, 'b', sizeof(big) - 1);
	channel_sendf(WIRE_LOG, "%s", big);
	receive();
	assert_true(wire_reader_next(&reader, &f));
	assert_int_equal(f.type, WIRE_END);
	assert_int_equal(f.len, 12);
	assert_memory_equal(f.payload, "{\"frames\":7}", 12);
	assert_true(wire_reader_next(&reader, &f));
	assert_int_equal(f.len, 4095);
	assert_memory_equal(f.payload, big, 4095);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_snapshots),      cmocka_unit_test(test_series),
		cmocka_unit_test(test_full_arena),     cmocka_unit_test(test_mthp),
		cmocka_unit_test(test_vmstat),	       cmocka_unit_test(test_channel_splits),
		cmocka_unit_test(test_channel_sendf),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
