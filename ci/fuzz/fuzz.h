/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_FUZZ_H
#define MMRIG_FUZZ_H
/*
 * Targets for a fuzzer: one const struct a parser, listed in table.c. Under libFuzzer (make fuzz)
 * each is a program of its own; the corpus, ci/corpus/NAME/, is replayed by the unit tests too.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/wire.h"
#include "results/run.h"

struct fuzz_target {
	const char *name;
	/* Any bytes at all; they end where the allocation ends. Breaking a promise aborts. */
	void (*run)(const uint8_t *data, size_t len);
};
extern const struct fuzz_target *const fuzz_targets[]; /* NULL-terminated */
const struct fuzz_target *fuzz_find(const char *name);

/* A promise of the code under test; also with NDEBUG. */
#define FUZZ_CHECK(condition)                                           \
	do {                                                            \
		if (!(condition))                                       \
			fuzz_broken(__FILE__, __LINE__, #condition);    \
	} while (0)
_Noreturn void fuzz_broken(const char *file, int line, const char *condition);

/* For parsers of text: a copy that ends at the first NUL. */
char *fuzz_text(const uint8_t *data, size_t len);
/* Newlines among them: no parser of rows may find more rows. */
size_t fuzz_lines(const uint8_t *data, size_t len);
/* Metrics are finite, each name is there once; notes are notes. */
void fuzz_check_run(const struct run *r);

/*
 * A stream of frames from a recipe, so that checksums do not stop the fuzzer: u8 type, u8 flags,
 * u16 length (little-endian), payload; type 0 is junk between frames. The caller frees *stream.
 */
struct fuzz_stream {
	uint8_t *data;
	size_t len, frames;
	bool junk;
};
void fuzz_stream_make(const uint8_t *recipe, size_t len, struct fuzz_stream *s);

#endif
