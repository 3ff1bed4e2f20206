/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "guard-key.h"

/* A file name has room for 255 bytes, and gets ".new~" while it is written. */
#define KEY_TEXT_MAX 200

/* FNV-1a: tells apart what looks alike as a file name. */
static uint64_t hash_text(const char *text) {
        uint64_t hash = UINT64_C(0xcbf29ce484222325);

        for (; *text; text++)
                hash = (hash ^ (unsigned char) *text) * UINT64_C(0x100000001b3);
        return hash;
}

int guard_key(const Drive *d, char **ret) {
        _cleanup_free_ char *identity = NULL, *key = NULL;
        int r;

        if (d->wwn)
                r = asprintf(&identity, "wwn-%s", d->wwn);
        else if (d->serial && d->model)
                r = asprintf(&identity, "serial-%s-%s", d->model, d->serial);
        else
                r = asprintf(&identity, "path-%s", d->syspath);
        if (r < 0) {
                identity = NULL;
                return -ENOMEM;
        }

        if (asprintf(&key, "%.*s-%016" PRIx64, KEY_TEXT_MAX, identity, hash_text(identity)) < 0) {
                key = NULL;
                return -ENOMEM;
        }
        for (char *c = key; *c; c++)
                if ((unsigned char) *c >= 0x80 || (!isalnum((unsigned char) *c) && !strchr("-.", *c)))
                        *c = '_';

        *ret = TAKE_PTR(key);
        return 0;
}

int guard_place(const Drive *d, char **ret) {
        bool has_ports = d->wwn && !d->ata &&
                         (d->transport == TRANSPORT_SAS || d->transport == TRANSPORT_SCSI ||
                          d->transport == TRANSPORT_NVME);
        const char *plug = drive_property(d, "ID_PATH") ?: d->syspath;
        _cleanup_free_ char *text = NULL;

        if (has_ports && asprintf(&text, "%s %s %s %" PRIu64 " %d", d->wwn, strna(d->model), strna(d->serial), d->size,
                                  (int) d->transport) < 0) {
                text = NULL;
                return -ENOMEM;
        }

        return asprintf(ret, "%016" PRIx64, hash_text(text ?: plug)) < 0 ? -ENOMEM : 0;
}
