// SPDX-License-Identifier: GPL-2.0-only
#include "harness/cmd/output.h"

#include <string.h>
#include <strings.h>

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

/* .htm is .html too. */
int command_check_form(const char *path, const char *suffix, const char *is, struct error *err)
{
	static const char *const others[] = { ".png", ".pdf",  ".jpg", ".jpeg", ".gif", ".webp", ".bmp",  ".tif",
					      ".tiff", ".eps", ".ps",  ".svg",	".html", ".htm", ".json", ".yaml",
					      ".csv", ".md" };
	const char *slash = strrchr(path, '/'), *end = strrchr(slash ? slash : path, '.');

	for (size_t i = 0; end && i < ARRAY_SIZE(others); i++)
		if (strcasecmp(end, others[i]) == 0 && strncasecmp(end, suffix, strlen(end)) != 0)
			return error_set(err, EXIT_USAGE, "--output %s: %s; give a name that ends in %s", path, is, suffix);
	return 0;
}
