/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "guard-key.h"

/* A file name has room for 255 bytes, and gets ".new~" while it is written. */
#define KEY_TEXT_MAX 200U

/* FNV-1a: tells apart what looks alike as a file name. */
#define HASH_START UINT64_C(0xcbf29ce484222325)

static uint64_t hash_byte(uint64_t hash, unsigned char c) {
        return (hash ^ c) * UINT64_C(0x100000001b3);
}

int guard_key(const Drive *d, char **ret) {
        _cleanup_free_ char *identity = NULL;
        uint64_t hash = HASH_START;
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

        for (n = 0; identity[n]; n++) {
                unsigned char c = identity[n];

                hash = hash_byte(hash, c);
                if (n < KEY_TEXT_MAX)
                        text[n] = c < 0x80 && isalnum(c) ? (char) c : c == '-' || c == '.' ? (char) c : '_';
        }
        text[MIN(n, KEY_TEXT_MAX)] = '\0';

        return asprintf(ret, "%s-%016" PRIx64, text, hash) < 0 ? -ENOMEM : 0;
}

/* How much of this part of a path comes before a number that is another one next time: "host6", "6:0:0:0", "end_device-6:1". */
static size_t before_number(const char *part, size_t n) {
        static const char *const words[] = { "host",      "target", "port-",   "end_device-",
                                             "expander-", "rport-", "session", "nvme" };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (starts_with(part, words[i]))
                        return strlen(words[i]);

        return memchr(part, ':', n) ? 0 : n;
}

int guard_place(const Drive *d, char **ret) {
        uint64_t hash = HASH_START;

        for (const char *part = d->syspath; *part;) {
                size_t n = strcspn(part, "/"), skip = before_number(part, n), end = skip;

                /* What follows is the name of the disk. */
                if (n == strlen("block") && strncmp(part, "block", n) == 0)
                        break;

                while (end < n && isdigit((unsigned char) part[end]))
                        end++;
                for (size_t i = 0; i < n; i++)
                        if (i < skip || i >= end)
                                hash = hash_byte(hash, part[i]);
                hash = hash_byte(hash, '/');

                part += n;
                part += *part == '/';
        }

        return asprintf(ret, "%016" PRIx64, hash) < 0 ? -ENOMEM : 0;
}

int guard_ports(const Drive *d, char **ret) {
        bool has_ports = d->wwn && !d->ata &&
                         (d->transport == TRANSPORT_SAS || d->transport == TRANSPORT_SCSI ||
                          d->transport == TRANSPORT_NVME);

        *ret = NULL;
        if (!has_ports)
                return 0;
        return asprintf(ret, "%s %s %s %" PRIu64 " %d", d->wwn, strna(d->model), strna(d->serial), d->size,
                        (int) d->transport) < 0
                               ? -ENOMEM
                               : 0;
}
