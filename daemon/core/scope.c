/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "scope.h"

static bool was_in_order(const DriveRecord *record, const char *name) {
        const SettingRecord *s = drive_record_find(record, name);

        return s && verdict_is_in_order(s->verdict);
}

/* Returns true if the visit should check the setting. `kernel`: check only settings of the kernel. */
static bool should_check(const Wish *wish, const Setting *setting, const DriveRecord *record, bool kernel) {
        /* An action that cannot be read is done once: a loss of settings does not make the action due again. */
        const SettingFlags unreadable_action = SETTING_UNREADABLE | SETTING_AT_ATTACH;

        /* A row whose field `unless` names a setting can be decided only together with that setting. */
        if (!setting || setting->unless || setting->keeps_active || wish->withheld || !was_in_order(record, wish->name))
                return false;

        return kernel ? setting->flags & SETTING_KERNEL : (setting->flags & unreadable_action) != unreadable_action;
}

int scope_select(VisitWork work, const Wishes *w, const SettingTable *t, unsigned backends, const DriveRecord *record,
                 Wishes *ret) {
        bool all = work & WORK_ALL, kernel = !(work & WORK_DRIVE), sends_commands = all;
        Wish *items;
        size_t n = 0;

        items = calloc(MAX(w->n_items, 1U), sizeof *items);
        if (!items)
                return -ENOMEM;
        *ret = (Wishes){ .items = items };
        if (!(work & (WORK_SETTINGS | WORK_KEEP_ACTIVE)))
                return 0;

        /* Includes unreadable settings only if the visit sends a command to read another setting of the drive. */
        for (size_t i = 0; i < w->n_items && !sends_commands && (work & WORK_SETTINGS); i++) {
                const Setting *s = setting_for_backends(t, w->items[i].name, backends);

                sends_commands = should_check(w->items + i, s, record, kernel) &&
                                 !(s->flags & (SETTING_KERNEL | SETTING_UNREADABLE));
        }
        for (size_t i = 0; i < w->n_items; i++) {
                const Setting *s = setting_for_backends(t, w->items[i].name, backends);

                if (all || ((work & WORK_KEEP_ACTIVE) && s && s->keeps_active) ||
                    ((work & WORK_SETTINGS) && should_check(w->items + i, s, record, kernel) &&
                     (sends_commands || !(s->flags & SETTING_UNREADABLE))))
                        items[n++] = w->items[i];
        }

        ret->n_items = n;
        return 0;
}

int scope_add_standby(Wishes *selected) {
        Wish *old = wishes_find(selected, SETTING_STANDBY);

        /* Removes the configuration's wish for standby at attach: the wish below replaces it. */
        if (old)
                memmove(old, old + 1, (selected->items + --selected->n_items - old) * sizeof *old);
        if (!GREW(selected, items))
                return -ENOMEM;

        selected->items[selected->n_items++] = (Wish){
                .name = SETTING_STANDBY,
                .value = VALUE_BOOLEAN(true),
                .file = "",
        };
        return 0;
}
