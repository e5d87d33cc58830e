/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_APT_H
#define MMRIG_APT_H
/*
 * The Debian archive through apt itself, with a state folder of our own. The host's apt is only
 * asked for its mirror and its proxy; its sources, lists, status and hooks are left alone.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/util/error.h"
#include "results/util/str.h"

typedef void apt_progress(void *arg, const char *text, double percent);

struct apt {
	char *dir;		  /* state, in our cache */
	char *config;		  /* given with --config-file */
	char *archive, *security; /* URIs; security may be NULL */
	bool stale;		  /* the index is absent, a day old, or of another mirror */
	apt_progress *progress;	  /* may be NULL */
	void *progress_arg;
};

/* A package in a suite. */
struct apt_package {
	char *name, *version;
	char *suite; /* "trixie-backports", "sid" */
};
struct apt_packages {
	struct apt_package *item;
	size_t n;
};

struct apt_deb {
	char *name, *version, *arch;   /* arch: "amd64", "all" */
	char *sha256;		       /* bare hex */
	char *path;		       /* once downloaded */
	uint64_t bytes;
};
struct apt_debs {
	struct apt_deb *item;
	size_t n;
};

/* mirror NULL: the host's. */
int apt_open(struct apt *a, const char *mirror, apt_progress *progress, void *arg,
	     struct error *err);
void apt_close(struct apt *a);
/* Fetches the index. A suite that the mirror lacks is no error, a mirror without any is. */
int apt_update(struct apt *a, struct error *err);
/* All x86-64 kernel images of a flavour ("cloud", "generic"), oldest version first. */
int apt_images(struct apt *a, const char *flavour, struct apt_packages *p, struct error *err);
/* All linux-source-X.Y packages, oldest version first. */
int apt_sources(struct apt *a, struct apt_packages *p, struct error *err);
void apt_packages_free(struct apt_packages *p);
/*
 * An image package and what it is split into: the packages that it depends on in just its own
 * version, and theirs in turn.
 */
int apt_split(struct apt *a, const struct apt_package *image, struct apt_debs *debs,
	      struct error *err);
/*
 * Packages of stable and all that they depend on, as for a machine that has nothing; what they only
 * recommend is left out. An unknown package is an error that names it.
 */
int apt_install_list(struct apt *a, const char *const *packages, struct apt_debs *debs,
		     struct error *err);
/* Into dir; sizes and hashes are those of the signed index, or it is an error. */
int apt_download(struct apt *a, struct apt_debs *debs, const char *dir, struct error *err);
void apt_debs_free(struct apt_debs *d);

/* Writes the list of sources, by the code names of the present stable and its neighbours. */
int apt_write_sources(struct apt *a, struct error *err);
/*
 * The Packages targets as `apt-get OPTIONS indextargets --format FORMAT` prints them, a line each; a
 * value that apt does not know is empty. Heap, NULL on error.
 */
char *apt_targets(const char *const *options, const char *format, struct error *err);

/* The first "E: ..." line of apt's stderr, without the mark; heap. */
char *apt_complaint(const struct strbuf *errors);

/* ---- parts that are tested by themselves ---- */

/* "'URI' fio_3.39-1_amd64.deb 575528 SHA256:..." as `apt-get --print-uris` has it. */
bool apt_parse_uri(const char *line, struct apt_deb *d);

bool apt_is_image(const char *package, const char *flavour);
/* flavour is not used; there so that both have one form. */
bool apt_is_source(const char *package, const char *flavour);
/*
 * Of lines "ORIGIN|LABEL|URI" as the host's apt gives them: the URI of the Debian archive, or NULL.
 * An index that was never fetched shows no origin: there the URI's last part decides.
 */
char *apt_pick_mirror(const char *lines, const char *label);
/* Of lines "trixie-updates": the first without its "-updates"; heap, or NULL. */
char *apt_codename(const char *lines);
/* Names in a Depends line that are bound to exactly this version; NULL-terminated, heap. */
char **apt_same_version(const char *depends, const char *version);

#endif
