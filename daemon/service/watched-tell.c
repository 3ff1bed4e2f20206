/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "clock.h"
#include "watched.h"

/* A rule for an array or a volume is a rule for every drive below: that should surprise nobody. */
void watched_tell_stacked(const Watched *w) {
        for (size_t i = 0; i < w->wishes.n_items; i++)
                if (w->wishes.items[i].via_stacked)
                        journal_log(LOG_NOTICE, "%s:%u names %s, which lies on %s: %s is for that drive too.",
                                    w->wishes.items[i].file, w->wishes.items[i].line, w->wishes.items[i].via_stacked,
                                    w->drive->name, w->wishes.items[i].name);
}

/* Has the drive what was asked for, and keeps it? Not what it never took, what it has not got at all, and what was done once. */
static bool is_kept(const Watched *w, const SettingRecord *s) {
        const Setting *row = setting_find(w->env->settings, s->name);

        if (row && (row->flags & SETTING_AT_ATTACH))
                return false;

        switch (s->verdict) {
        case VERDICT_APPLIED:
        case VERDICT_UNCHANGED:
        case VERDICT_ADJUSTED:
        case VERDICT_DRIFTED:
                return s->actual;
        case VERDICT_UNVERIFIABLE:
                return true;
        default:
                return s->sent;
        }
}

/* A key that was taken out leaves the drive as it is, which may not be what is expected: it is said, once. */
void watched_tell_released(const Watched *w) {
        for (size_t i = 0; i < w->record->n_settings; i++) {
                const SettingRecord *s = w->record->settings + i;

                if (!wishes_find(&w->wishes, s->name) && is_kept(w, s))
                        journal_log(LOG_NOTICE,
                                    "%s: nothing asks for %s any more; the drive keeps %s until it loses it.",
                                    w->drive->name, s->name, s->actual ?: strna(s->wanted));
        }
}

bool watched_finds_news(const Watched *w, const Step *s) {
        const SettingRecord *known = drive_record_find(w->record, s->wish->name);
        char now[VALUE_TEXT_MAX];

        if (!known || s->written || s->failed)
                return true;

        switch (s->verdict) {
        case VERDICT_UNCHANGED:
                return !verdict_is_wanted(known->verdict) ||
                       (known->read && known->read_value != s->before.value.number);
        case VERDICT_UNVERIFIABLE:
                return known->verdict != VERDICT_UNVERIFIABLE || (s->lost && known->sent);
        case VERDICT_ADJUSTED:
                return known->verdict != VERDICT_ADJUSTED;
        case VERDICT_DRIFTED:
                return known->verdict != VERDICT_DRIFTED || !s->setting ||
                       !streq_ptr(known->actual, value_format(&s->setting->range, &s->before.value, now));
        case VERDICT_DEFERRED:
                return w->reason != VISIT_RECHECK;
        default:
                return true;
        }
}

bool watched_is_news(const Watched *w, const Step *s) {
        return (w->reason != VISIT_RECHECK && w->reason != VISIT_REVALIDATION) || watched_finds_news(w, s);
}

void watched_tell_drift(const Watched *w, const Step *s) {
        const SettingRecord *record;

        if (w->reason != VISIT_RECHECK && w->reason != VISIT_REVALIDATION && w->reason != VISIT_PARAMETERS)
                return;
        if (!s->written && !s->failed && s->verdict != VERDICT_DRIFTED)
                return;
        if (drive_record_drift(w->record, s, now_usec()) <= 0)
                return;

        record = drive_record_find(w->record, s->wish->name);
        journal_drift(w->drive, w->reason, s, record->drift_from, record->drift_to);
}
