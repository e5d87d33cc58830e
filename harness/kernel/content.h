/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CONTENT_H
#define MMRIG_CONTENT_H
/*
 * What the bytes of a file are. Files come from users and may be anything: nothing here trusts a
 * length or an offset that it has not checked.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/kernel/kernel.h"

/* What an image's own bytes say. Strings on the heap; content_free(). */
struct content {
	enum kernel_format format;
	char *release;
	char *version;	/* the banner behind the release, or NULL */
	char *build_id; /* or NULL */
	char *config;	/* the text of IKCONFIG, or NULL */
};
void content_free(struct content *c);

/*
 * Returns 0, or -1 and in *why what it is instead ("a gzip file"), or what is wrong with it, on
 * the heap. The data may be written to by libelf: map it privately.
 */
int content_examine(uint8_t *data, size_t len, struct content *c, char **why);

/* "a gzip file", "a text file", ...: never NULL, heap. For what is neither bzImage nor ELF. */
char *content_describe(const uint8_t *data, size_t len);
bool content_is_deb(const uint8_t *data, size_t len);

bool bzimage_detect(const uint8_t *data, size_t len);
int bzimage_examine(const uint8_t *data, size_t len, struct content *c, char **why);

bool vmlinux_detect(const uint8_t *data, size_t len); /* any ELF */
int vmlinux_examine(uint8_t *data, size_t len, struct content *c, char **why);
/* Build id and config only, of the vmlinux that a bzImage carried; what is missing stays NULL. */
void vmlinux_notes(uint8_t *data, size_t len, struct content *c);

#endif
