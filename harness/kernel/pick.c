// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/pick.h"

#include <stdlib.h>
#include <string.h>

#include "harness/kernel/debversion.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define NEAREST_SHOWN 8

int pick_parse(const char *spec, char **version, char **flavour, struct error *err)
{
	const char *text = spec, *slash;

	*version = *flavour = NULL;
	if (!str_starts(text, "debian:"))
		return error_set(err, EXIT_USAGE,
				 "%s: not a kernel that can be fetched; write debian:VERSION,"
				 " as in debian:7.3",
				 spec);
	text += strlen("debian:");
	slash = strchr(text, '/');
	*version = xstrndup(text, slash ? (size_t)(slash - text) : strlen(text));
	*flavour = slash ? xstrdup(slash + 1) : NULL;
	if (**version < '0' || **version > '9' ||
	    (*version)[strspn(*version,
			      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      ".+~:-")])
		return error_set(err, EXIT_USAGE,
				 "%s: no version of a Debian kernel; write debian:7.3, or a "
				 "whole one as in debian:7.3.4-1~bpo13+1",
				 spec);
	return 0;
}

/* Newest match, the first of its suites; NULL when there is none. packages are sorted. */
static const struct apt_package *newest_match(const struct apt_packages *p, const char *version)
{
	const struct apt_package *best = NULL;

	for (size_t i = 0; i < p->n; i++)
		if (debversion_matches(p->item[i].version, version) &&
		    (!best || debversion_compare(p->item[i].version, best->version) > 0))
			best = &p->item[i];
	return best;
}

static void add_version(struct strbuf *sb, const struct apt_packages *p, size_t i)
{
	if (i && !strcmp(p->item[i].version, p->item[i - 1].version))
		return;
	strbuf_addf(sb, "%s%s", sb->len ? ", " : "", p->item[i].version);
}

/* The versions of the archive around the one that it lacks. */
static int no_match(const struct apt_packages *p, const char *version, const char *what,
		    struct error *err)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	size_t at = 0, from, to;

	if (!p->n)
		return error_set(err, EXIT_NO_VERDICT, "debian:%s: the archive's index has no %ss",
				 version, what);
	while (at < p->n && debversion_compare(p->item[at].version, version) < 0)
		at++;
	from = at > NEAREST_SHOWN / 2 ? at - NEAREST_SHOWN / 2 : 0;
	to = from + NEAREST_SHOWN < p->n ? from + NEAREST_SHOWN : p->n;
	from = to > NEAREST_SHOWN ? to - NEAREST_SHOWN : 0;
	for (size_t i = from; i < to; i++)
		add_version(&sb, p, i);
	return error_set(err, EXIT_USAGE,
			 "debian:%s: the Debian archive has no such %s; the nearest are %s",
			 version, what, sb.data);
}

static int list_packages(struct apt *a, const char *flavour, struct apt_packages *p,
			 struct error *err)
{
	return flavour ? apt_images(a, flavour, p, err) : apt_sources(a, p, err);
}

/* Refreshes the index when it is old or was asked to, and once more when nothing matches. */
int pick_package(struct apt *a, const char *version, const char *flavour, bool refresh,
		 struct apt_package *package, struct error *err)
{
	cleanup_free char *what = flavour ? str_printf("%s kernel", flavour) :
					    xstrdup("linux-source package");
	struct apt_packages p = { 0 };
	const struct apt_package *best;
	bool updated = false;

	for (;;) {
		if (a->stale || refresh) {
			if (apt_update(a, err) < 0)
				return -1;
			updated = true;
		}
		if (list_packages(a, flavour, &p, err) < 0)
			return -1;
		best = newest_match(&p, version);
		if (best || updated)
			break;
		apt_packages_free(&p);
		refresh = true;
	}
	if (best)
		*package = (struct apt_package){ xstrdup(best->name), xstrdup(best->version),
						 xstrdup(best->suite) };
	else
		no_match(&p, version, what, err);
	apt_packages_free(&p);
	return best ? 0 : -1;
}

void pick_free(struct apt_package *package)
{
	free(package->name);
	free(package->version);
	free(package->suite);
	*package = (struct apt_package){ 0 };
}
