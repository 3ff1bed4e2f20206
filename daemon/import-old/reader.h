/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kinds of files that can be imported, and the way from a text to its rules. */

#include "import.h"
#include "links.h"

typedef enum ImportKind {
        IMPORT_HDPARM_CONF,
        IMPORT_UDISKS, /* udisks2's /etc/udisks2/VENDOR-MODEL-SERIAL.conf */
        IMPORT_SCRIPT, /* rc.local, hooks, one command */
        IMPORT_CRONTAB,
        IMPORT_UNIT, /* systemd's */
        IMPORT_UDEV_RULES,
        _IMPORT_KIND_MAX,
        _IMPORT_KIND_INVALID = -1,
} ImportKind;

const char *import_kind_to_string(ImportKind k);
_public_ ImportKind import_kind_from_string(const char *s);

/* By the file's name and by what stands in it; _IMPORT_KIND_INVALID: it is nothing of these. */
ImportKind import_kind_detect(const char *file, const char *text, size_t size);

/* Reads a text of any bytes, with a NUL behind it. _IMPORT_KIND_INVALID: as import_kind_detect() says. `links` may be NULL.
 * Returns 0, or 1 when it is nothing to be read, with why in *ret_objection, or -ENOMEM. */
_public_ int import_read(const char *file, const char *text, size_t size, ImportKind kind, const Links *links,
                         Import *ret, const char **ret_objection);
