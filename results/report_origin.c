// SPDX-License-Identifier: GPL-2.0-only
/* Where the numbers come from, and how to get them again. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results/beside.h"
#include "results/report_internal.h"
#include "results/util/cleanup.h"

static void put_cell(struct strbuf *sb, const char *s)
{
	html_element(sb, "td", s && *s ? s : "-");
}

static void put_row(struct strbuf *sb, const char *head, const char *s)
{
	if (!s || !*s)
		return;
	strbuf_addf(sb, "<tr><th scope=\"row\">%s</th><td>", head);
	html_text(sb, s);
	strbuf_adds(sb, "</td></tr>\n");
}

static void put_details(struct strbuf *sb, const char *summary, const char *text)
{
	if (!text || !*text)
		return;
	strbuf_addf(sb, "<details><summary>%s</summary>\n<pre tabindex=\"0\">", summary);
	html_lines(sb, text, 0);
	strbuf_adds(sb, "</pre></details>\n");
}

/* What it was built of: the files that the run set has of it. */
static void put_kept(struct strbuf *sb, const struct run_kernel *k)
{
	cleanup_strbuf struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; i < k->nkept; i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "", k->kept[i].name);
	if (k->folder && k->nkept)
		strbuf_addf(&names, " (in kernels/%s of the run set)", k->folder);
	put_row(sb, "Built of", names.data);
}

static void put_kernel(struct strbuf *sb, const struct run_kernel *k)
{
	strbuf_adds(sb, "<table>\n<caption>Kernel ");
	html_text(sb, k->name);
	strbuf_adds(sb, "</caption>\n<tbody>\n");
	put_row(sb, "Release", k->release);
	put_row(sb, "Build id", k->build_id);
	put_row(sb, "Comes from", k->provenance);
	put_kept(sb, k);
	put_row(sb, "Image", k->image);
	put_row(sb, "Hash of the image", k->image_hash);
	put_row(sb, "Hash of the config", k->config_hash);
	strbuf_adds(sb, "</tbody>\n</table>\n");
}

/* Each different text once, in the order found: hosts, versions. */
static char *each_once(const struct runset *set, const char *(*get)(const struct run *run))
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "");
	for (size_t i = 0; i < set->nruns; i++) {
		const char *s = get(&set->run[i]);
		bool seen = !s || !*s;

		for (size_t k = 0; k < i && !seen; k++)
			seen = get(&set->run[k]) && strcmp(get(&set->run[k]), s) == 0;
		if (!seen)
			strbuf_addf(&sb, "%s%s", sb.len ? "; " : "", s);
	}
	return strbuf_steal(&sb);
}

static const char *run_host(const struct run *run)
{
	return run->host;
}

static const char *run_qemu(const struct run *run)
{
	return run->qemu_version;
}

static const char *run_accel(const struct run *run)
{
	return run->accel;
}

static char *day_of(double seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	char text[64];

	if (!(seconds > 0) || seconds > 4e11 || !gmtime_r(&t, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		return xstrdup("");
	return xstrdup(text);
}

static void put_phases(struct strbuf *sb, const struct run *run)
{
	for (int i = 0; i < PHASE_COUNT; i++) {
		if (run->phase[i] >= 0)
			strbuf_addf(sb, "<td>%.1f</td>", run->phase[i]);
		else
			strbuf_adds(sb, "<td>-</td>");
	}
}

static void put_share(struct strbuf *sb, double v)
{
	if (v >= 0)
		strbuf_addf(sb, "<td>%.1f %%</td>", 100 * v);
	else
		strbuf_adds(sb, "<td>-</td>");
}

static void put_run_row(struct strbuf *sb, const struct runset *set, const struct run *run)
{
	cleanup_free char *taint = run_taint_letters(run->taint_after_known ? run->taint_after :
									      run->taint_before);

	strbuf_adds(sb, "<tr><th scope=\"row\">");
	html_text(sb, run->id);
	strbuf_adds(sb, "</th>");
	put_cell(sb, run->kernel < set->nkernels ? set->kernel[run->kernel].name : NULL);
	put_cell(sb, run->variant < set->nvariants ? set->variant[run->variant].label : NULL);
	strbuf_addf(sb, "<td>%ju</td><td>%s</td>", (uintmax_t)run->seed, verdict_name(run->verdict));
	put_phases(sb, run);
	put_share(sb, run->host_wait);
	put_share(sb, run->host_steal);
	put_cell(sb, taint);
	strbuf_adds(sb, "<td><code>");
	html_text(sb, run->reproduce);
	strbuf_adds(sb, "</code></td></tr>\n");
}

static void put_runs(struct strbuf *sb, const struct runset *set)
{
	strbuf_adds(sb, "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<caption>Runs; phases in seconds"
			" (boot: of the host), then what the host withheld</caption>\n<thead><tr>");
	for (const char *const *h = (const char *const[]){ "Run", "Kernel", "Variant", "Seed", "Verdict",
							   NULL }; *h; h++)
		strbuf_addf(sb, "<th scope=\"col\">%s</th>", *h);
	for (int i = 0; i < PHASE_COUNT; i++)
		strbuf_addf(sb, "<th scope=\"col\">%s</th>", wire_phase_names[i]);
	for (const char *const *h = (const char *const[]){ "CPU wait", "Steal", "Taint", "Reproduce",
							   NULL }; *h; h++)
		strbuf_addf(sb, "<th scope=\"col\">%s</th>", *h);
	strbuf_adds(sb, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < set->nruns; i++)
		put_run_row(sb, set, &set->run[i]);
	strbuf_adds(sb, "</tbody>\n</table>\n</div>\n");
}

/* {"leave_blocks": 96, ...} as "leave_blocks 96, ..."; what is no number or text is left out. */
static void put_object(struct strbuf *sb, const json_t *o)
{
	const char *key, *between = "";
	json_t *value;

	strbuf_adds(sb, "<td>");
	json_object_foreach((json_t *)o, key, value) {
		if (!json_is_number(value) && !json_is_string(value))
			continue;
		strbuf_adds(sb, between);
		html_text(sb, key);
		strbuf_adds(sb, " ");
		if (json_is_string(value))
			html_text(sb, json_string_value(value));
		else
			strbuf_addf(sb, "%.15g", json_number_value(value));
		between = ", ";
	}
	strbuf_adds(sb, *between ? "</td>" : "-</td>");
}

/* "yes: 0.4% of 2%"; a step that was not reached is neither within nor without. */
static void put_judged(struct strbuf *sb, const json_t *step)
{
	const json_t *ok = json_object_get(step, "ok"), *error = json_object_get(step, "error"),
		     *tolerance = json_object_get(step, "tolerance");

	strbuf_adds(sb, "<td>");
	if (!json_is_boolean(ok))
		html_text(sb, json_string_value(json_object_get(step, "state")));
	else
		strbuf_adds(sb, json_is_true(ok) ? "yes" : "no");
	if (json_is_true(ok) && json_is_number(error) && json_is_number(tolerance))
		strbuf_addf(sb, ": %.4g%% of %.6g%%", 100 * json_number_value(error),
			    100 * json_number_value(tolerance));
	if (json_is_false(ok)) {
		strbuf_adds(sb, ": ");
		html_text(sb, json_string_value(json_object_get(step, "why")));
	}
	strbuf_adds(sb, "</td>");
}

static void put_step(struct strbuf *sb, const char *run, const json_t *step)
{
	strbuf_adds(sb, "<tr><th scope=\"row\">");
	html_text(sb, run);
	strbuf_adds(sb, "</th>");
	put_cell(sb, json_string_value(json_object_get(step, "step")));
	put_object(sb, json_object_get(step, "asked"));
	put_object(sb, json_object_get(step, "got"));
	put_cell(sb, json_string_value(json_object_get(step, "how")));
	put_judged(sb, step);
	strbuf_adds(sb, "</tr>\n");
}

static void put_layouts(struct strbuf *sb, const struct runset *set)
{
	strbuf_adds(sb, "<details><summary>Layout of every run: asked and got</summary>\n"
			"<div class=\"scroll\" tabindex=\"0\">\n<table>\n<caption>Steps of the layouts</caption>\n"
			"<thead><tr><th scope=\"col\">Run</th><th scope=\"col\">Step</th><th scope=\"col\">Asked"
			"</th><th scope=\"col\">Got</th><th scope=\"col\">How</th><th scope=\"col\">Within the"
			" tolerance</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < set->nruns; i++) {
		const struct run *run = &set->run[i];
		json_t *steps = run->layout_json ? json_loads(run->layout_json, 0, NULL) : NULL, *step;
		size_t k;

		json_array_foreach(steps, k, step)
			put_step(sb, run->id, step);
		json_decref(steps);
	}
	strbuf_adds(sb, "</tbody>\n</table>\n</div>\n</details>\n");
}

static void put_set(struct report *r, const struct runset *set)
{
	struct strbuf *sb = &r->html;
	cleanup_free char *hosts = each_once(set, run_host), *qemu = each_once(set, run_qemu);
	cleanup_free char *accel = each_once(set, run_accel), *beside = beside_text(set), *first = NULL;

	first = day_of(set->nruns ? set->run[0].started : 0);
	strbuf_adds(sb, "<h3>Run set ");
	html_text(sb, set->id);
	strbuf_adds(sb, "</h3>\n<table>\n<caption>How it was run</caption>\n<tbody>\n");
	put_row(sb, "Scenario", set->scenario);
	put_row(sb, "Beside the workload", beside);
	put_row(sb, "Command", set->command);
	put_row(sb, "First run began", first);
	put_row(sb, "Host", hosts);
	put_row(sb, "QEMU", qemu);
	put_row(sb, "Accelerator", accel);
	strbuf_adds(sb, "</tbody>\n</table>\n");
	for (size_t i = 0; i < set->nkernels; i++)
		put_kernel(sb, &set->kernel[i]);
	put_details(sb, "Scenario, as it was run", set->scenario_text);
	put_details(sb, "Command line of QEMU, of the first run", set->nruns ? set->run[0].qemu_command : NULL);
	if (!set->nruns)
		return;
	put_layouts(sb, set);
	put_runs(sb, set);
}

void report_put_origin(struct report *r)
{
	struct strbuf *sb = &r->html;

	strbuf_adds(sb, "<section id=\"origin\">\n<h2>Where the numbers come from</h2>\n");
	for (size_t i = 0; i < r->in->nsets; i++)
		put_set(r, &r->in->set[i]);
	strbuf_adds(sb, "<h3>This page</h3>\n<p>Made by mmrig " MMRIG_VERSION);
	if (r->in->command) {
		strbuf_adds(sb, ": <code>");
		html_text(sb, r->in->command);
		strbuf_adds(sb, "</code>");
	}
	strbuf_adds(sb, "</p>\n</section>\n");
}
