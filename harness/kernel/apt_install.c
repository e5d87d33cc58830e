// SPDX-License-Identifier: GPL-2.0-only
/* What apt would install of packages on a machine that has nothing, from stable alone. */
#include <ctype.h>
#include <string.h>

#include "harness/kernel/apt.h"
#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define PACKAGES_MAX 64
#define DEBS_MAX 1000

static void collect_line(void *arg, const char *text)
{
	strbuf_addf(arg, "%s\n", text);
}

/* apt writes an epoch's colon as %3a in names of files. In place. */
static void undo_percent(char *text)
{
	char *out = text;

	for (const char *p = text; *p; p++) {
		bool colon = p[0] == '%' && p[1] == '3' && (p[2] == 'a' || p[2] == 'A');

		*out++ = colon ? ':' : *p;
		p += colon ? 2 : 0;
	}
	*out = '\0';
}

/* "fio_3.39-1_amd64.deb", cut in place. */
static bool split_name(char *file, struct apt_deb *d)
{
	char *version = strchr(file, '_'), *arch = version ? strchr(version + 1, '_') : NULL;
	char *end = arch ? strrchr(arch, '.') : NULL;

	if (!end || strcmp(end, ".deb") != 0 || version == file)
		return false;
	*version = *arch = *end = '\0';
	undo_percent(version + 1);
	d->name = xstrdup(file);
	d->version = xstrdup(version + 1);
	d->arch = xstrdup(arch + 1);
	return true;
}

bool apt_parse_uri(const char *line, struct apt_deb *d)
{
	cleanup_free char *copy = xstrdup(line);
	char *save = NULL, *uri = strtok_r(copy, " ", &save), *file = strtok_r(NULL, " ", &save);
	char *size = strtok_r(NULL, " ", &save), *hash = strtok_r(NULL, " ", &save);

	*d = (struct apt_deb){ 0 };
	if (!uri || *uri != '\'' || !hash || !isdigit((unsigned char)*size) ||
	    !str_starts(hash, "SHA256:") || !split_name(file, d))
		return false;
	d->bytes = strtoull(size, NULL, 10);
	d->sha256 = xstrdup(hash + strlen("SHA256:"));
	return true;
}

static int take_uris(char *out, struct apt_debs *debs, struct error *err)
{
	char *save = NULL;

	for (char *l = strtok_r(out, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		struct apt_deb d;

		if (*l != '\'')
			continue;
		if (debs->n == DEBS_MAX)
			return error_set(err, EXIT_NO_VERDICT, "apt: more than %d packages",
					 DEBS_MAX);
		if (!apt_parse_uri(l, &d))
			return error_set(err, EXIT_NO_VERDICT, "apt: cannot read \"%.200s\"", l);
		debs->item = xreallocarray(debs->item, debs->n + 1, sizeof(*debs->item));
		debs->item[debs->n++] = d;
	}
	return debs->n ? 0 : error_set(err, EXIT_NO_VERDICT, "apt: nothing to install");
}

/* What the progress of a download names. */
static void put_first(struct apt_debs *debs, const char *name)
{
	for (size_t i = 1; i < debs->n; i++) {
		struct apt_deb d = debs->item[i];

		if (strcmp(d.name, name) == 0) {
			debs->item[i] = debs->item[0];
			debs->item[0] = d;
		}
	}
}

int apt_install_list(struct apt *a, const char *const *packages, struct apt_debs *debs,
		     struct error *err)
{
	const char *argv[PACKAGES_MAX + 16] = {
		"apt-get",
		"--config-file",
		a->config,
		"-qq",
		"-o",
		"Acquire::ForceHash=SHA256",
		"--target-release",
		"stable",
		"--no-install-recommends",
		"--print-uris",
		"install",
	};
	cleanup_strbuf struct strbuf out = STRBUF_INIT, errors = STRBUF_INIT;
	size_t n = 11;
	int status;

	*debs = (struct apt_debs){ 0 };
	if (a->stale && apt_update(a, err) < 0)
		return -1;
	for (size_t i = 0; packages[i] && i < PACKAGES_MAX; i++)
		argv[n++] = packages[i];
	status = child_run(argv, a->dir, collect_line, &out, &errors, err);
	if (status < 0)
		return -1;
	if (status > 0) {
		cleanup_free char *why = apt_complaint(&errors);

		error_set(err, EXIT_NO_VERDICT, "apt: %s", why);
		if (!strstr(why, "Unable to locate"))
			return -1;
		return error_hint(err, "Debian's stable does not have it; correct the workload's list of packages");
	}
	strbuf_add(&out, "", 0);
	if (take_uris(out.data ? out.data : (char[]){ 0 }, debs, err) < 0)
		return -1;
	put_first(debs, *packages);
	return 0;
}
