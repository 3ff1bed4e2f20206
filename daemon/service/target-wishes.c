/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "target-temporary.h"
#include "target-wishes.h"

int target_find_wishes(const Target *t, Wishes *ret) {
        _cleanup_(wishes_done) Wishes w = {};
        int r;

        r = config_resolve(t->env->files->config, t->drive, t->env->on_battery, &w);
        if (r >= 0)
                r = target_temporary_overlay(t, &w);
        if (r < 0)
                return r;

        *ret = w;
        w = (Wishes){};
        return 0;
}

int target_resolve(Target *t) {
        Wishes wishes = {};
        bool same;
        int r;

        r = target_find_wishes(t, &wishes);
        if (r < 0)
                return r;

        same = wishes_equal(&t->wishes, &wishes, t->env->settings);
        wishes_done(&t->wishes);
        t->wishes = wishes;
        (void) files_unref(t->files);
        t->files = files_ref(t->env->files);
        if (same)
                return 0;

        FOREACH_PART(part, t)
        if ((*part)->wishes_changed)
                (*part)->wishes_changed(t);
        return 1;
}

void target_log_unresolved(const Target *t, int error) {
        journal_log(LOG_ERR, "%s: the new settings cannot be determined: %s; the previous settings stay in force.",
                    t->drive->name, strerror(-error));
}

/* Returns true if the drive still has a value that a former rule set. */
static bool keeps_value(const Target *t, const SettingRecord *s) {
        const Setting *row = setting_find(t->env->settings, s->name);

        if (row && ((row->flags & SETTING_AT_ATTACH) || row->keeps_active))
                return false;

        if (s->verdict == VERDICT_UNVERIFIABLE || s->sent.known)
                return true;
        return verdict_is_in_order(s->verdict) && s->actual;
}

void target_log_unmanaged(const Target *t) {
        for (size_t i = 0; i < t->record->n_settings; i++) {
                const SettingRecord *s = t->record->settings + i;

                if (!wishes_find(&t->wishes, s->name) && keeps_value(t, s))
                        journal_log(LOG_NOTICE,
                                    "%s: %s is no longer managed; the drive keeps the value %s until the value is lost or changed.",
                                    t->drive->name, s->name, s->actual ?: strna(s->wanted));
        }
}
