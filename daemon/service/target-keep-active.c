/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clock.h"
#include "kernel-view.h"
#include "target-keep-active.h"

typedef struct TargetKeepActive {
        uint64_t used_at; /* the medium was last read or written at this time or later; CLOCK_MONOTONIC, µs; 0: the part is off */
        uint64_t polled_at; /* time of the last poll of the I/O counter */
        uint64_t io;        /* the I/O counter at the last poll */
} TargetKeepActive;

static TargetKeepActive *keep_active_of(const Target *t) {
        return target_part(t, &keep_active_part);
}

/* Returns the interval in µs; 0: the setting is not in force. A failed read is tried again after the interval. A drive in standby has the
 * verdict `deferred` until its next I/O. */
static uint64_t interval(const Target *t) {
        for (const Wish *w = t->wishes.items; w < t->wishes.items + t->wishes.n_items; w++) {
                const Setting *s = setting_for_backends(t->env->settings, w->name, drive_backends(t->drive));
                const SettingRecord *r = drive_record_find(t->record, w->name);

                if (s && s->keeps_active && !w->withheld && setting_is_active(s, &w->value) && r &&
                    (verdict_is_wanted(r->verdict) || r->verdict == VERDICT_FAILED))
                        return (uint64_t) w->value.number * 1000;
        }
        return 0;
}

/* Polls twice in each interval. I/O between two polls counts as I/O at the first of them, so that no interval passes without I/O. */
static uint64_t keep_active_due(const Target *t) {
        const TargetKeepActive *k = keep_active_of(t);
        uint64_t usec = k->used_at > 0 ? interval(t) : 0;

        return usec > 0 ? MIN(k->used_at + usec, k->polled_at + usec / 2) : UINT64_MAX;
}

static void keep_active_tick(Target *t) {
        TargetKeepActive *k = keep_active_of(t);
        uint64_t now = monotonic_usec(), io = k->io;

        if (now < keep_active_due(t))
                return;

        /* Without a counter, the drive is read at each interval. */
        (void) activity_read(t->drive->syspath, &io);
        if (io != k->io)
                k->used_at = k->polled_at;
        k->io = io;
        k->polled_at = now;
        if (now < k->used_at + interval(t))
                return;

        k->used_at = now;
        target_visit(t, VISIT_KEEP_ACTIVE);
}

static bool keep_active_settled(Target *t) {
        TargetKeepActive *k = keep_active_of(t);
        uint64_t now = monotonic_usec();

        if (interval(t) == 0)
                *k = (TargetKeepActive){};
        else if (k->used_at == 0) {
                *k = (TargetKeepActive){ .used_at = now, .polled_at = now };
                (void) activity_read(t->drive->syspath, &k->io);
        }
        return false;
}

const TargetPart keep_active_part = {
        .size = sizeof(TargetKeepActive),
        .due = keep_active_due,
        .tick = keep_active_tick,
        .settled = keep_active_settled,
};
