// SPDX-License-Identifier: GPL-2.0-only
/*
 * An agent that misbehaves, for ci/e2e/faults.sh. It goes through the phases of a run, says the name
 * of each on the console as it enters it, and stays there for a while, with heartbeats. The job's
 * constants say more:
 *
 *	dwell	ms in each phase
 *	bad	what it does wrong (enum bad)
 *	at	in which phase (enum wire_phase); in boot: before the hello
 *
 * The agent's own channel is a part of it, for its static functions: what goes wrong below the
 * frames needs the descriptor.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/reboot.h>

#include "guest/boot.h"
#include "guest/channel.c"
#include "guest/job.h"
#include "guest/procfs.h"
#include "guest/task.h"

#define BEAT_MS 100

enum bad {
	BAD_NONE,
	BAD_CRC,	 /* one frame with a wrong check sum */
	BAD_LENGTH,	 /* a header that announces more than a frame may have */
	BAD_TYPE,	 /* a valid frame of no known type */
	BAD_GAP,	 /* a number of the sequence is left out */
	BAD_JSON,	 /* valid frames, payloads of nonsense */
	BAD_HALF,	 /* stops in the middle of a frame */
	BAD_HANG,	 /* says nothing any more */
	BAD_IDLE,	 /* heartbeats, and no progress */
	BAD_NOISE,	 /* random bytes on the wire, without end */
	BAD_LOGS,	 /* log lines of 64 KiB, without end */
	BAD_SAMPLES,	 /* samples that do not compress, without end */
	BAD_CONSOLE,	 /* lines on the console, without end */
	BAD_EARLY_END,	 /* the end record, and then it goes on */
};

static struct job job;
static uint64_t done;

static int64_t constant(const char *name)
{
	const struct job_line *line = NULL;

	while ((line = job_next(&job, line, "const"))) {
		const char *have = job_get(line, "name");

		if (have && strcmp(have, name) == 0)
			return job_get_i64(line, "value", 0);
	}
	return 0;
}

static void hang(void)
{
	for (;;)
		pause();
}

static void beat(const char *phase)
{
	channel_sendf(WIRE_PROGRESS, "{\"phase\":\"%s\",\"done\":%llu,\"total\":0,\"mono_ns\":1}", phase,
		      (unsigned long long)done);
}

static uint8_t noise[65536];

static void make_noise(void)
{
	static uint64_t x = 88172645463325252u; /* xorshift64 (Marsaglia, 2003) */

	for (size_t i = 0; i < sizeof(noise); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		noise[i] = (uint8_t)x;
	}
}

static void send_broken(enum bad bad)
{
	uint8_t frame[WIRE_HEADER + 4];

	wire_header(frame, WIRE_LOG, 0, channel_seq++, "text", 4);
	memcpy(frame + WIRE_HEADER, "text", 4);
	if (bad == BAD_CRC)
		frame[WIRE_HEADER]++;
	else
		memset(frame + 8, 0xff, 4); /* length */
	write_all(frame, sizeof(frame));
}

static void send_half(void)
{
	uint8_t header[WIRE_HEADER];

	wire_header(header, WIRE_LOG, 0, channel_seq++, noise, sizeof(noise));
	write_all(header, sizeof(header));
	write_all(noise, sizeof(noise) / 2);
}

static void send_nonsense(void)
{
	static const char *const text[] = {
		"", "{", "[]", "null", "\"phase\"", "{\"phase\":7,\"edge\":{}}",
		"{\"phase\":\"../../etc\",\"edge\":\"begin\"}", "{\"done\":-1,\"total\":1e400}",
		"{\"metrics\":{\"time\":\"x\",\"\":1,\"../a\":2,\"nan\":NaN}}", "\xff\xfe\0{}",
		"{\"a\":1,\"a\":2}", "{\"verdict\":\"ok\"", "{\"step\":[[[[[[]]]]]],\"got\":null}",
	};
	static const enum wire_type type[] = { WIRE_HELLO, WIRE_PHASE, WIRE_STEP, WIRE_SAMPLE,
					       WIRE_PROGRESS, WIRE_RESULT, WIRE_GO };

	for (size_t t = 0; t < sizeof(type) / sizeof(*type); t++)
		for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
			channel_send(type[t], text[i], (uint32_t)strlen(text[i]));
}

static void flood(enum bad bad, enum wire_phase phase)
{
	static uint8_t sample[WIRE_SAMPLE_HEAD + 5 + sizeof(noise)];
	static const char line[] = "bad-agent: flood, flood, flood, flood, flood, flood, flood\n";
	int console = open("/dev/console", O_WRONLY | O_NOCTTY);

	for (;;) {
		if (bad != BAD_CONSOLE)
			make_noise();
		switch (bad) {
		case BAD_NOISE:
			write_all(noise, sizeof(noise));
			break;
		case BAD_LOGS:
			channel_send(WIRE_LOG, noise, sizeof(noise));
			break;
		case BAD_SAMPLES:
			sample[9] = (uint8_t)phase;
			sample[10] = 5;
			memcpy(sample + WIRE_SAMPLE_HEAD, "noise", 5);
			memcpy(sample + WIRE_SAMPLE_HEAD + 5, noise, sizeof(noise));
			channel_send(WIRE_SAMPLE, sample, sizeof(sample));
			break;
		default:
			if (write(console, line, sizeof(line) - 1) < 0)
				hang();
		}
	}
}

static void misbehave(enum bad bad, enum wire_phase phase)
{
	switch (bad) {
	case BAD_CRC:
	case BAD_LENGTH:
		send_broken(bad);
		break;
	case BAD_TYPE:
		channel_send((enum wire_type)99, "{}", 2);
		break;
	case BAD_GAP:
		channel_seq++;
		break;
	case BAD_JSON:
		send_nonsense();
		break;
	case BAD_HALF:
		send_half();
		hang();
		break;
	case BAD_HANG:
		hang();
		break;
	case BAD_IDLE:
		for (;; poll(NULL, 0, BEAT_MS))
			beat(wire_phase_names[phase]);
	case BAD_EARLY_END:
		channel_sendf(WIRE_END, "{\"mono_ns\":1,\"frames\":1,\"sampling\":0,\"tainted\":0}");
		break;
	case BAD_NONE:
		break;
	default:
		flood(bad, phase);
	}
}

/* What a phase consists of here; between its edges, but for boot. */
static void stay(enum wire_phase phase)
{
	char text[64];

	snprintf(text, sizeof(text), "bad-agent: in %s.", wire_phase_names[phase]);
	boot_say(text);
	if (constant("at") == (int64_t)phase)
		misbehave((enum bad)constant("bad"), phase);
	for (int64_t ms = 0; ms < constant("dwell"); ms += BEAT_MS) {
		poll(NULL, 0, BEAT_MS);
		done++;
		if (phase != PHASE_BOOT)
			beat(wire_phase_names[phase]);
	}
}

static void edge(enum wire_phase phase, enum wire_edge edge)
{
	static uint8_t sample[WIRE_SAMPLE_HEAD + 6 + 65536];
	uint64_t now = mono_ns();
	ssize_t len;

	if (edge == EDGE_BEGIN)
		channel_sendf(WIRE_PHASE, "{\"phase\":\"%s\",\"edge\":\"begin\",\"mono_ns\":%llu}",
			      wire_phase_names[phase], (unsigned long long)now);
	memcpy(sample, &now, sizeof(now));
	sample[8] = (uint8_t)edge;
	sample[9] = (uint8_t)phase;
	sample[10] = 6;
	memcpy(sample + WIRE_SAMPLE_HEAD, "vmstat", 6);
	len = file_slurp("/proc/vmstat", (char *)sample + WIRE_SAMPLE_HEAD + 6, 65536);
	if (len > 0)
		channel_send(WIRE_SAMPLE, sample, WIRE_SAMPLE_HEAD + 6 + (uint32_t)len);
	if (edge == EDGE_END)
		channel_sendf(WIRE_PHASE, "{\"phase\":\"%s\",\"edge\":\"end\",\"mono_ns\":%llu}",
			      wire_phase_names[phase], (unsigned long long)mono_ns());
}

static void read_job(void)
{
	static char text[1 << 20];
	int bad;

	if (file_slurp("/job", text, sizeof(text)) < 0 || job_parse(&job, text, &bad) < 0)
		boot_say("bad-agent: no job");
}

int main(void)
{
	const char *how;
	char text[128];

	boot_mounts();
	boot_modules();
	read_job();
	make_noise();
	if (channel_open(&how) < 0)
		boot_say("bad-agent: no channel");
	stay(PHASE_BOOT);
	channel_sendf(WIRE_HELLO, "{\"release\":\"bad\",\"mono_ns\":%llu,\"channel\":\"%s\"}",
		      (unsigned long long)mono_ns(), how);
	for (enum wire_phase phase = PHASE_LAYOUT; phase < PHASE_COUNT; phase++) {
		edge(phase, EDGE_BEGIN);
		stay(phase);
		edge(phase, EDGE_END);
		if (phase != PHASE_LAYOUT || !job_option(&job, "template", 0))
			continue;
		channel_send(WIRE_READY, "{}", 2);
		channel_wait(WIRE_GO, text, sizeof(text));
	}
	channel_sendf(WIRE_END, "{\"mono_ns\":%llu,\"frames\":%u,\"sampling\":0,\"tainted\":0}",
		      (unsigned long long)mono_ns(), channel_frames() + 1);
	channel_drain();
	reboot(RB_POWER_OFF);
	hang();
}
