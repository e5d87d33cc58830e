// SPDX-License-Identifier: GPL-2.0-only
#include "harness/cmd/output.h"

#include "results/store.h"
#include "results/util/cleanup.h"
#include "results/util/output.h"
#include "results/verdict.h"

int command_check_output(const char *path, const char *const *input, struct error *err)
{
	cleanup_error struct error why = ERROR_INIT;

	if (output_check(path, input, &why) < 0)
		return error_set(err, why.status, "--output %s", why.text);
	if (store_owns(path))
		return error_set(err, EXIT_USAGE, "--output %s: is a place of the recorded runs; give another name",
				 path);
	return 0;
}
