// SPDX-License-Identifier: GPL-2.0-only
/* run.json and runset.json: what is read and written again is read as the same. */
#include <string.h>

#include "ci/fuzz/fuzz.h"
#include "results/run_json.h"
#include "results/util/cleanup.h"

/* Consumes o. */
static char *dump(json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);

	FUZZ_CHECK(text);
	json_decref(o);
	return text;
}

static json_t *load(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);

	FUZZ_CHECK(o);
	return o;
}

static void check_error(const struct error *err)
{
	FUZZ_CHECK(err->status == EXIT_NO_VERDICT && err->text);
	FUZZ_CHECK(strncmp(err->text, "fuzz.json: ", 11) == 0);
}

static void try_set(json_t *o)
{
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *first = NULL, *second = NULL;
	double created = 0, created_again = 0;
	struct runset set, again;
	json_t *written;

	if (runset_from_json("fuzz.json", o, &set, &created, &err) < 0) {
		check_error(&err);
		return;
	}
	first = dump(runset_to_json(&set, created));
	written = load(first);
	FUZZ_CHECK(runset_from_json("fuzz.json", written, &again, &created_again, NULL) == 0);
	second = dump(runset_to_json(&again, created_again));
	FUZZ_CHECK(strcmp(first, second) == 0);
	json_decref(written);
	runset_free(&set);
	runset_free(&again);
}

/* Nothing that is known gets lost. */
static void check_kept(const json_t *read, const json_t *written)
{
	static const char *const texts[] = { "id", "verdict", "why", "detail", "accel",
					     "qemu_version", "qemu_command", "host", "reproduce",
					     "forked_from" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *text = json_string_value(json_object_get(read, texts[i]));
		const char *kept = json_string_value(json_object_get(written, texts[i]));

		FUZZ_CHECK(!text || (kept && strcmp(text, kept) == 0));
	}
	FUZZ_CHECK(!json_is_array(json_object_get(read, "layout")) ||
		   json_equal(json_object_get(read, "layout"), json_object_get(written, "layout")));
}

static void try_run(json_t *o)
{
	static char name[] = "k", label[] = "residue=4";
	struct run_kernel kernel[2] = { { .name = name }, { .name = name } };
	struct run_variant variant[2] = { { .label = label }, { .label = label } };
	const struct runset set = { .id = name, .scenario = name, .kernel = kernel, .nkernels = 2,
				    .variant = variant, .nvariants = 2 };
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *first = NULL, *second = NULL;
	struct run r, again;
	json_t *written;

	if (run_from_json("fuzz.json", o, &set, &r, &err) < 0) {
		check_error(&err);
		run_free(&r);
		return;
	}
	FUZZ_CHECK(r.kernel < 2 && r.variant < 2 && r.verdict < VERDICT_COUNT && r.id);
	first = dump(run_to_json(&set, &r));
	written = load(first);
	check_kept(o, written);
	FUZZ_CHECK(run_from_json("fuzz.json", written, &set, &again, NULL) == 0);
	second = dump(run_to_json(&set, &again));
	FUZZ_CHECK(strcmp(first, second) == 0);
	json_decref(written);
	run_free(&r);
	run_free(&again);
}

static void run_json(const uint8_t *data, size_t len)
{
	json_t *o = json_loadb((const char *)data, len, JSON_DECODE_ANY, NULL);

	if (!o)
		return;
	try_set(o);
	try_run(o);
	json_decref(o);
}

const struct fuzz_target fuzz_json = { "json", run_json };
