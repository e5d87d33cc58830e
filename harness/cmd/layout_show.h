/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CMD_LAYOUT_SHOW_H
#define MMRIG_CMD_LAYOUT_SHOW_H
/* What mmrig layout check prints of the runs that it has made. */
#include <stdbool.h>

#include "results/run.h"
#include "results/util/error.h"

/* "map.svg" of the first cell (0), "map-2.svg" of the second; heap. */
char *layout_picture_path(const char *output, size_t cell);

/*
 * Prints each run, or one JSON document, and draws the map of each into its picture (output may be
 * NULL). Where there is no map nothing is written, which is told; a layout that does not hold says so in
 * its picture.
 */
int layout_show(const struct runset *set, const char *output, bool json, struct error *err);

#endif
