/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where Debian 12 did something else than the writer of an hdparm.conf meant (catalogue 5 and 6). */

#include "hdparm-keyword.h"
#include "import.h"
#include "links.h"

/* A block of the file; all 0: the rule does not come from one. */
typedef struct HdparmBlock {
        unsigned line, end; /* of its braces; end 0: it is not closed where Debian would see it */
        bool exact;         /* its header is the name of one drive, as Debian wants it */
        bool sends;         /* there is something in it, or above it for all drives, that Debian hands to hdparm */
} HdparmBlock;

typedef struct HdparmFile {
        Import *import;
        const HdparmBlock *blocks; /* for each rule of the import */
        unsigned gives_up;         /* the line in which Debian stops reading; 0: none */
        const Links *links;
} HdparmFile;

/* A match for the drives that a block's header names, with a remark where Debian cannot have applied it. "": one that says of
 * no drive that drivekeep could tell from the others. 1: it is a drive's name as Debian wants it. */
int hdparm_add_header(ImportRule *rule, const char *header);

/* The node that "UUID=…" and its like, as fstab(5) has them, are links to; "" for what is not like them. */
int hdparm_tag_node(const char *tag, const char *value, char **ret);

/* `outside`: it stands behind a block, where Debian loses it. */
int hdparm_remark_wish(ImportWish *w, const Keyword *k, bool outside);

/* When all has been read: all that depends on other lines. */
int hdparm_remark_file(const HdparmFile *f);
