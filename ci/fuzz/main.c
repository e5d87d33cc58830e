// SPDX-License-Identifier: GPL-2.0-only
/* For libFuzzer: one program for all targets, which is told by its name (a link) which it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ci/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *slash = strrchr((*argv)[0], '/'), *name = slash ? slash + 1 : (*argv)[0];

	target = fuzz_find(name);
	if (!target) {
		fprintf(stderr, "%s: no such target; call this program by the name of one\n", name);
		exit(2);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	target->run(data, len);
	return 0;
}
