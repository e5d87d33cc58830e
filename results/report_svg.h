/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_REPORT_SVG_H
#define MMRIG_REPORT_SVG_H
/*
 * From gnuplot's SVG the shapes that count. Built anew rather than edited: what is not a path, a
 * dot or a text does not come over, nor do ids, colours, fonts, definitions and backgrounds.
 *
 * A colour says what a shape is: rgb(ROLE, 0, N) becomes a class, "l0" for line 0, "d0" for its
 * dots, "b0" for its bars; "ax", "gr", "ed" for axes, grid and edges.
 */
#include <stddef.h>

enum svg_role { SVG_LINE = 1, SVG_FRAME, SVG_BAR, SVG_DOT }; /* SVG_FRAME: N = 0 ax, 1 gr, 2 ed */

/*
 * The shapes of the document at *at, which moves behind it; heap, or NULL when there is none, or
 * one that is cut off. A text "@N@" is label[N], escaped; of any other only plain characters stay.
 */
char *svg_shapes(const char **at, char *const *label, size_t nlabels);

#endif
