/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "scope.h"

Scope scope_of_reason(VisitReason reason, bool busy) {
        if (reason == VISIT_REVALIDATION)
                return SCOPE_KERNEL;
        if (reason == VISIT_RECHECK)
                return busy ? SCOPE_READABLE : SCOPE_KERNEL;
        return SCOPE_ALL;
}

/* Was the drive left with what the file asks for, or the nearest to it that it has? */
static bool was_in_order(const DriveRecord *record, const char *name) {
        const SettingRecord *s = drive_record_find(record, name);

        return s && (verdict_is_wanted(s->verdict) || s->verdict == VERDICT_ADJUSTED || s->verdict == VERDICT_DRIFTED);
}

static bool scope_has(Scope scope, const Wish *wish, const Setting *setting, const DriveRecord *record) {
        /* Done once, and no loss undoes it. */
        const SettingFlags done_unseen = SETTING_UNREADABLE | SETTING_AT_ATTACH;

        if (scope == SCOPE_ALL)
                return true;

        /* Whether a stand-in is needed only a visit to both can tell. */
        if (!setting || setting->unless || wish->withheld || !was_in_order(record, wish->name))
                return false;

        return scope == SCOPE_KERNEL ? setting->flags & SETTING_KERNEL : (setting->flags & done_unseen) != done_unseen;
}

int scope_select(Scope scope, const Wishes *w, const SettingTable *t, unsigned backends, const DriveRecord *record,
                 Wishes *ret) {
        bool asks = scope == SCOPE_ALL;
        Wish *items;
        size_t n = 0;

        items = calloc(MAX(w->n_items, 1U), sizeof *items);
        if (!items)
                return -ENOMEM;

        /* What cannot be read is nothing to visit a drive for. */
        for (size_t i = 0; i < w->n_items && !asks; i++) {
                const Setting *s = setting_for_backends(t, w->items[i].name, backends);

                asks = scope_has(scope, w->items + i, s, record) && !(s->flags & (SETTING_KERNEL | SETTING_UNREADABLE));
        }
        for (size_t i = 0; i < w->n_items; i++) {
                const Setting *s = setting_for_backends(t, w->items[i].name, backends);

                if (scope_has(scope, w->items + i, s, record) && (asks || !(s->flags & SETTING_UNREADABLE)))
                        items[n++] = w->items[i];
        }

        *ret = (Wishes){ .items = items, .n_items = n };
        return 0;
}

void scope_done(Wishes *selected) {
        free(selected->items);
        *selected = (Wishes){};
}
