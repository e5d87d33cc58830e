/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_WIRE_H
#define MMRIG_WIRE_H
/*
 * Frames between agent and host, in both directions, little-endian:
 *
 *	magic    4  "MMRG"
 *	version  1  WIRE_VERSION
 *	type     1  enum wire_type
 *	flags    2  WIRE_MORE: the payload goes on in the next frame of this type; all others are 0
 *	length   4  bytes of payload, at most WIRE_PAYLOAD_MAX
 *	sequence 4  counts frames of this direction from 0; a gap is a lost frame
 *	crc      4  CRC-32C (Castagnoli) over the 16 bytes above and the payload
 *	payload
 *
 * Control payloads are JSON objects. A SAMPLE payload is
 *	u64 CLOCK_MONOTONIC ns of the guest, u8 edge (enum wire_edge), u8 phase (enum wire_phase),
 *	u8 name length, name ("vmstat", "extfrag/unusable_index"), raw bytes of the file.
 * One name is no file: "pageblocks", of guest/pageblocks.h; several samples make one such map.
 * PARTIALs and the RESULT add up to one object: their metrics are put together, and of another member
 * the last one stands. Of a run without a RESULT, the PARTIALs are what is known.
 * The reader resynchronises on the magic and counts what it skipped; it treats every byte as
 * hostile. Libc only: both sides compile this file.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 1
#define WIRE_HEADER 20
#define WIRE_PAYLOAD_MAX (1U << 20)
#define WIRE_MORE 1
/*
 * What a reader checks in vain before it gives up and skips everything: headers one within the
 * other would make it sum a MiB for every dozen bytes that it is fed.
 */
#define WIRE_VAIN_MAX (64ull << 20)

enum wire_type {
	WIRE_HELLO = 1,	   /* {"release","agent","mono_ns","page_size","pageblock_pages","cpus","mem_bytes","channel","tainted"} */
	WIRE_PHASE = 2,	   /* {"phase","edge":"begin"|"end","mono_ns"} */
	/*
	 * A layout step begun: {"index","step","begun":true}. Done: {"index","step","asked":{},"got":{},
	 * "error","tolerance","slack","seconds","ok","why","how"}; guest/judge.h says when the three
	 * in the middle are there.
	 */
	WIRE_STEP = 3,
	WIRE_SAMPLE = 4,   /* binary, above */
	WIRE_PROGRESS = 5, /* {"phase","done","total","mono_ns"}: also the heartbeat */
	WIRE_RESULT = 6,   /* the workload's own numbers: {"metrics":{},"histogram":[[lo_ns,hi_ns,n]..],"error"} */
	WIRE_PARTIAL = 11, /* a part of what RESULT will say, as soon as it is known; same members, see below */
	WIRE_FAIL = 7,	   /* the run cannot go on: {"verdict","what"} */
	WIRE_END = 8,	   /* {"mono_ns","frames","sampling","tainted"}: everything was sent; seconds of sampling */
	WIRE_READY = 10,   /* {}: laid out; the agent waits for WIRE_GO (job option template) */
	WIRE_LOG = 9,	   /* a line of text for the run's log */
	WIRE_GO = 64,	   /* host to guest, forks only: {"seed"} */
};

enum wire_phase { PHASE_BOOT, PHASE_LAYOUT, PHASE_SETTLE, PHASE_WORKLOAD, PHASE_COLLECT, PHASE_COUNT };
enum wire_edge { EDGE_NONE, EDGE_BEGIN, EDGE_END }; /* NONE: one of the periodic series */

extern const char *const wire_phase_names[PHASE_COUNT];

uint32_t wire_crc32c(uint32_t crc, const void *data, size_t len); /* start with 0 */

/* Fills a header for this payload. */
void wire_header(uint8_t header[WIRE_HEADER], enum wire_type type, uint16_t flags, uint32_t seq,
		 const void *payload, uint32_t len);

struct wire_frame {
	uint8_t type;
	uint16_t flags;
	uint32_t seq;
	uint32_t len;
	const uint8_t *payload; /* inside the reader's buffer, until the next call */
};

/* An incremental reader; zero-initialise, free with wire_reader_free(). */
struct wire_reader {
	uint8_t *buf;
	size_t room, start, end;
	uint64_t skipped;  /* bytes that belonged to no frame */
	uint64_t bad_crc;  /* headers whose frame failed the check */
	uint64_t lost;	   /* frames missing by sequence */
	uint64_t vain;	   /* bytes of payload that failed the check */
	uint32_t next_seq;
};

/* Takes bytes in. Returns -1 when out of memory. */
int wire_reader_feed(struct wire_reader *r, const void *data, size_t len);
/* The next whole, checked frame: true and *frame, or false when more bytes are needed. */
bool wire_reader_next(struct wire_reader *r, struct wire_frame *frame);
void wire_reader_free(struct wire_reader *r);

struct wire_sample {
	uint64_t mono_ns;
	enum wire_edge edge;
	enum wire_phase phase;
	char name[64];
	const uint8_t *data; /* inside the payload */
	uint32_t len;
};
#define WIRE_SAMPLE_HEAD 11
/* Writes what stands before a sample's data; its length: WIRE_SAMPLE_HEAD and the name (63 bytes at most). */
size_t wire_sample_head(uint8_t *payload, uint64_t mono_ns, enum wire_edge edge, enum wire_phase phase,
			const char *name);
/* Checks and takes apart a SAMPLE payload; false when it is malformed. */
bool wire_sample_parse(const uint8_t *payload, uint32_t len, struct wire_sample *s);

#endif
