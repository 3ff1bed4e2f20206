/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "guard-key.h"

/* A file name has room for 255 bytes, and gets ".new~" while it is written. */
#define KEY_TEXT_MAX 200U

/* FNV-1a: tells apart what looks alike as a file name. */
static uint64_t hash_text(const char *text) {
        uint64_t hash = UINT64_C(0xcbf29ce484222325);

        for (; *text; text++)
                hash = (hash ^ (unsigned char) *text) * UINT64_C(0x100000001b3);
        return hash;
}

int guard_key(const Drive *d, char **ret) {
        _cleanup_free_ char *identity = NULL;
        char text[KEY_TEXT_MAX + 1];
        size_t n;
        int r = -1;

        switch (drive_identity_kind(d)) {
        case IDENTITY_WWN:
                r = asprintf(&identity, "wwn-%s", d->wwn);
                break;
        case IDENTITY_SERIAL:
                r = asprintf(&identity, "serial-%s-%s", d->model, d->serial);
                break;
        case IDENTITY_PATH:
                r = asprintf(&identity, "path-%s", d->syspath);
                break;
        }
        if (r < 0) {
                identity = NULL;
                return -ENOMEM;
        }

        for (n = 0; n < KEY_TEXT_MAX && identity[n]; n++) {
                unsigned char c = identity[n];

                text[n] = (c < 0x80 && isalnum(c)) || c == '-' || c == '.' ? (char) c : '_';
        }
        text[n] = '\0';

        return asprintf(ret, "%s-%016" PRIx64, text, hash_text(identity)) < 0 ? -ENOMEM : 0;
}

int guard_place(const Drive *d, char **ret) {
        bool has_ports = d->wwn && !d->ata &&
                         (d->transport == TRANSPORT_SAS || d->transport == TRANSPORT_SCSI ||
                          d->transport == TRANSPORT_NVME);
        const char *plug = drive_property(d, "ID_PATH") ?: d->syspath;
        _cleanup_free_ char *text = NULL;
        int r;

        if (has_ports)
                r = asprintf(&text, "%s %s %s %" PRIu64 " %d", d->wwn, strna(d->model), strna(d->serial), d->size,
                             (int) d->transport);
        else
                r = asprintf(&text, "%s", plug);
        if (r < 0) {
                text = NULL;
                return -ENOMEM;
        }

        return asprintf(ret, "%016" PRIx64, hash_text(text)) < 0 ? -ENOMEM : 0;
}
