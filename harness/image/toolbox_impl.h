/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_IMAGE_TOOLBOX_IMPL_H
#define MMRIG_IMAGE_TOOLBOX_IMPL_H
/* Between toolbox.c and toolbox_tree.c, and for their tests. */
#include "harness/image/toolbox.h"

/* The folders, links and files that a root has of itself. dir exists. */
int toolbox_tree_begin(const char *dir, struct error *err);
/* One .deb into the tree. */
int toolbox_tree_add(const char *dir, const char *deb, struct error *err);
/* Archives that are unpacked, and links. */
int toolbox_tree_finish(const char *dir, const struct toolbox_spec *spec, struct error *err);
/*
 * Where a member of a package stands in the image, heap: /bin and its like are in /usr. NULL: it is
 * left out (documentation, what guests mount over).
 */
char *toolbox_place(const char *member);
/* The image of a tree: owned by root, times 0, the same bits for the same tree. */
int toolbox_image(const char *tree, const char *path, struct error *err);

#endif
