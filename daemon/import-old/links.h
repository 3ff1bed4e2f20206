/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which links below /dev lead to which nodes: of this machine now, or as the caller says. */

#include "macro.h"

typedef struct Link {
        char *path, *node;
} Link;

typedef struct Links {
        Link *items;
        size_t n_items;
} Links;

_public_ int links_add(Links *l, const char *path, const char *node);
/* Those of a directory such as /dev/disk/by-id, in the order of their names; none when there is no such directory. */
_public_ int links_read(Links *l, const char *directory);
_public_ void links_done(Links *l);

/* Where `path` leads, or NULL. */
_public_ const char *links_target(const Links *l, const char *path);

/* The link by which to name the drive at `node` for good: one of a disk that tells model and serial number, or its WWN.
 * NULL: there is none. */
const char *links_best(const Links *l, const char *node);
