/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "standby-timer.h"

#define NO_SPIN_DOWN ((SpinDown){ .usec = UINT64_MAX })

bool drive_has_standby(const Drive *d, unsigned backends) {
        return d->rotational && (backends & (1U << BACKEND_ATA | 1U << BACKEND_SCSI_MODE));
}

/* ---- one setting ---- */

/* Returns true if the verdict means that the drive will not get the value. */
static bool verdict_is_rejection(Verdict v) {
        return v == VERDICT_UNSUPPORTED || v == VERDICT_REFUSED || v == VERDICT_FORBIDDEN || v == VERDICT_QUARANTINED;
}

typedef enum InForce {
        IN_FORCE_NO,
        IN_FORCE_PENDING,
        IN_FORCE_YES,
} InForce;

/* Determines the number that was last read or sent, and whether that number is in force. `s` is NULL before the first visit. */
static InForce number_in_force(const SettingRecord *s, const Wish *w, int64_t *ret) {
        *ret = w->value.number;
        if (!s)
                return IN_FORCE_PENDING;
        if (verdict_is_rejection(s->verdict))
                return IN_FORCE_NO;

        switch (s->verdict) {
        case VERDICT_ADJUSTED:
        case VERDICT_DRIFTED:
        case VERDICT_IGNORED:
                *ret = s->read.number;
                return s->read.known ? IN_FORCE_YES : IN_FORCE_NO;
        case VERDICT_APPLIED:
        case VERDICT_UNCHANGED:
        case VERDICT_UNVERIFIABLE:
        case VERDICT_DEFERRED: /* the earlier value is in force until the new value is written */
                if (s->read.known || s->sent.known)
                        *ret = s->read.known ? s->read.number : s->sent.number;
                else if (s->verdict == VERDICT_UNVERIFIABLE || s->verdict == VERDICT_DEFERRED)
                        return IN_FORCE_PENDING;
                return IN_FORCE_YES;
        default:
                return IN_FORCE_PENDING;
        }
}

static bool is_by_service(const DriveRecord *r, const SettingRecord *s, const Wish *w) {
        if (s && verdict_is_rejection(s->verdict))
                return false;
        return w->spindown_by == SPINDOWN_BY_SERVICE ||
               (w->spindown_by == SPINDOWN_BY_AUTO && (r->ignores_timer || (s && s->by_service)));
}

static SpinDown spin_down_of(const DriveRecord *r, const Wish *w, const Setting *setting, bool can_sleep) {
        const SettingRecord *s = drive_record_find(r, w->name);
        SpinDown d = { .wish = w, .setting = setting, .value = w->value };
        InForce in_force;
        uint64_t ms;

        /* "off" sets no timer, whatever the verdict. */
        if (setting_spin_down_ms(setting, &w->value) == UINT64_MAX)
                return NO_SPIN_DOWN;

        if (is_by_service(r, s, w)) {
                in_force = can_sleep ? IN_FORCE_YES : IN_FORCE_NO;
                d.by = SPIN_DOWN_BY_SERVICE;
        } else
                in_force = number_in_force(s, w, &d.value.number);

        ms = setting_spin_down_ms(setting, &d.value);
        if (in_force == IN_FORCE_NO || ms == UINT64_MAX)
                return NO_SPIN_DOWN;
        d.pending = in_force == IN_FORCE_PENDING;
        d.usec = ms * 1000;
        return d;
}

/* ---- all timers ---- */

SpinDown spin_down_by_kernel(const SettingTable *t, uint64_t usec) {
        return (SpinDown){ .usec = usec,
                           .setting = setting_find(t, "autosuspend_delay"),
                           .value = { .type = VALUE_DURATION, .number = (int64_t) (usec / 1000) },
                           .by = SPIN_DOWN_BY_KERNEL };
}

SpinDown spin_down_timer(const DriveRecord *r, const Wishes *w, const SettingTable *t, const Drive *d,
                         unsigned backends) {
        SpinDown found = NO_SPIN_DOWN;

        for (const Wish *i = w->items; i < w->items + w->n_items; i++) {
                const Setting *s = i->withheld ? NULL : setting_for_backends(t, i->name, backends);
                SpinDown one = s ? spin_down_of(r, i, s, drive_has_standby(d, backends)) : NO_SPIN_DOWN;

                if (one.usec != UINT64_MAX && (!found.wish || one.pending < found.pending ||
                                               (one.pending == found.pending && one.usec < found.usec)))
                        found = one;
        }

        return found;
}

SpinDown spin_down_in_force(const DriveRecord *r, const Wishes *w, const SettingTable *t, const Drive *d,
                            unsigned backends, uint64_t kernel_usec) {
        SpinDown timer = spin_down_timer(r, w, t, d, backends);

        if (timer.pending)
                timer = NO_SPIN_DOWN;
        return kernel_usec < timer.usec && drive_has_standby(d, backends) ? spin_down_by_kernel(t, kernel_usec) : timer;
}

const char *spin_down_format(const SpinDown *s, char buf[static SPIN_DOWN_TEXT_MAX]) {
        char time[VALUE_TEXT_MAX];
        const char *by = s->by == SPIN_DOWN_BY_SERVICE ? "the service" : NULL;

        if (s->usec == UINT64_MAX)
                return NULL;
        /* A drive may have several timers: name the timer in force. */
        if (!by && !streq(s->setting->name, SETTING_SPINDOWN_TIME))
                by = s->setting->name;
        (void) snprintf(buf, SPIN_DOWN_TEXT_MAX, "%s%s%s", value_format(&s->setting->range, &s->value, time),
                        by ? ", by " : "", by ?: "");
        return buf;
}

const char *spin_down_key(const SpinDown *s, char buf[static SPIN_DOWN_TEXT_MAX]) {
        static const char *const actors[] = {
                [SPIN_DOWN_BY_DRIVE] = "drive",
                [SPIN_DOWN_BY_SERVICE] = "service",
                [SPIN_DOWN_BY_KERNEL] = "kernel",
        };

        if (s->usec == UINT64_MAX)
                return NULL;
        (void) snprintf(buf, SPIN_DOWN_TEXT_MAX, "%s %s %" PRIu64, actors[s->by], s->setting->name, s->usec);
        return buf;
}
