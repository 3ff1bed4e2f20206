/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "macro.h"
#include "nearest.h"
#include "setting.h"

static const char *const backend_table[_BACKEND_MAX] = {
        [BACKEND_ATA] = "ata",
        [BACKEND_NVME] = "nvme",
        [BACKEND_SCSI] = "scsi",
        [BACKEND_BLOCK] = "block",
};

const char *backend_to_string(Backend b) {
        return (size_t) b < _BACKEND_MAX ? backend_table[b] : NULL;
}

const char *setting_state(const Setting *s) {
        return s->alias_of ?: s->name;
}

const Setting *setting_find(const SettingTable *t, const char *name) {
        SETTING_TABLE_FOREACH(s, t)
                if (streq(s->name, name))
                        return s;

        return NULL;
}

const Setting *setting_for_backends(const SettingTable *t, const char *name, unsigned backends) {
        const Setting *found = setting_find(t, name);
        const char *state;

        if (!found)
                return NULL;

        state = setting_state(found);
        SETTING_TABLE_FOREACH(s, t)
                if (!s->alias_of && (backends & 1U << s->backend) && streq(s->name, state))
                        return s;

        return NULL;
}

const char *setting_nearest(const SettingTable *t, const char *name) {
        Nearest n = { .typed = name };

        SETTING_TABLE_FOREACH(s, t)
                nearest_offer(&n, s->name);

        return n.word;
}
