/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_GUEST_STATE_H
#define MMRIG_GUEST_STATE_H
/*
 * What the wire has told of one guest so far. Every byte is hostile: JSON is parsed with bounds,
 * unknown frames are ignored, numbers are checked.
 */
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "guest/wire.h"
#include "results/metrics.h"
#include "results/run.h"
#include "results/util/str.h"

struct guest_state {
	struct wire_reader reader;
	uint64_t frames;
	bool hello, ready, ended, failed;
	enum wire_phase phase; /* the current one */
	uint64_t begin_ns[PHASE_COUNT], end_ns[PHASE_COUNT]; /* guest clock; 0: not seen */
	uint64_t done, total; /* progress of the phase */
	uint64_t hello_ns;    /* guest clock at the hello */
	uint64_t last_ns;     /* guest clock, as last told; 0: not yet */
	bool taint_before_known, taint_after_known;
	uint64_t taint_before, taint_after; /* as HELLO and END say */
	double sampling_s;    /* guest seconds of sampling within the workload phase */
	char *fail_verdict, *fail_what;
	char *release; /* as the guest says */
	char *channel;
	json_t *steps;	/* array of the STEP payloads of steps that are done */
	uint64_t begun; /* one above the index of the last step that was begun; 0: none */
	json_t *result; /* of the PARTIALs and the RESULT, put together */
	bool whole;	/* the RESULT has come */
	size_t result_bytes;
	struct vmstat vmstat[PHASE_COUNT][2]; /* [phase][begin, end] */
	struct edges edges; /* every file at the edges of the workload */
	struct strbuf log;
	void (*sample)(void *arg, const void *payload, uint32_t len);
	/* Of guest/symbols.h, which are no sample to be kept; may be NULL. */
	void (*symbols)(void *arg, const void *text, uint32_t len);
	void *arg;
};

void guest_state_feed(struct guest_state *g, const uint8_t *data, size_t len);
/*
 * phases, metrics, layout, workload, no_effect. A workload that did not come to its RESULT has what
 * it told before, and "partial": true there. moves: canonical names that had to move. Once:
 * kcompactd's counts of the workload are completed from the snapshot that was taken at rest.
 */
void guest_state_to_run(struct guest_state *g, char *const *moves, struct run *r);
void guest_state_free(struct guest_state *g);

#endif
