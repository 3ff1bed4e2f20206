/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* udisks2's drive files. Its service is started by the bus whenever somebody asks for it, enabled or not. */

#include <stdio.h>

#include "rival.h"
#include "udisks.h"

#define DIRECTORY "/etc/udisks2"
#define BUS_SERVICE "/usr/share/dbus-1/system-services/org.freedesktop.UDisks2.service"

static int presence(const Rivals *r, Presence *ret) {
        UnitState unit;
        int k;

        k = unit_state(r->tree, "udisks2.service", &unit);
        if (k < 0)
                return k;

        if (unit == UNIT_MASKED)
                *ret = PRESENCE_INACTIVE;
        else
                *ret = unit != UNIT_ABSENT || tree_exists(r->tree, BUS_SERVICE) ? PRESENCE_ACTIVE : PRESENCE_ABSENT;
        return 0;
}

typedef struct Look {
        const Rivals *rivals;
        Presence presence;
} Look;

static int check_file(void *userdata, const char *path) {
        const Look *look = userdata;
        const Rivals *r = look->rivals;
        _cleanup_(import_done) Import import = {};
        _cleanup_free_ char *text = NULL;
        Claim c = {
                .level = COMPLAINT_WARNING,
                .who = "udisks2",
                .when = "here, when the drive appears and after sleep",
                .cure = "take this line out, or leave that setting to udisks2",
                .file = path,
        };
        size_t size;
        int k;

        /* Not a drive's. */
        if (streq(path, DIRECTORY "/udisks2.conf") || streq(path, DIRECTORY "/mount_options.conf"))
                return 0;

        k = tree_read(r->tree, path, &text, &size);
        if (k <= 0)
                return k;
        k = udisks_read(path, text, size, &import);
        if (k < 0)
                return k;

        c.text = text;
        claim_by_presence(&c, look->presence);
        return claim_import(r, &c, &import, false);
}

int rival_udisks(const Rivals *r) {
        static const char *const directories[] = { DIRECTORY, NULL };
        Look look = { .rivals = r };
        int k;

        k = presence(r, &look.presence);
        if (k < 0 || look.presence == PRESENCE_INACTIVE)
                return k;
        return tree_each(r->tree, directories, ".conf", check_file, &look);
}
