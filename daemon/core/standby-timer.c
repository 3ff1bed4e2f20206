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

/* ---- the kernel ---- */

/* Returns the number of the wanted value if a verdict shows that this value is in force; otherwise -1. */
static int switch_in_force(const DriveRecord *r, const Wishes *w, const char *name) {
        const Wish *wish = wishes_find(w, name);
        const SettingRecord *s = drive_record_find(r, name);

        return wish && !wish->withheld && s && verdict_is_wanted(s->verdict) ? (int) wish->value.number : -1;
}

/* Returns true if the drive spins down when the kernel runtime-suspends the drive. libata enables this spin-down
 * (drivers/ata/libata-scsi.c); other drives need a setting. Before Linux 6.6, the setting manage_start_stop covered
 * runtime suspend and system suspend. */
static bool kernel_stops(const DriveRecord *r, const Wishes *w, const Drive *d) {
        int stops = switch_in_force(r, w, "manage_runtime_start_stop");

        if (stops < 0)
                stops = switch_in_force(r, w, "manage_start_stop");
        return stops < 0 ? d->ata && d->transport != TRANSPORT_USB : stops;
}

static SpinDown kernel_spin_down(const DriveRecord *r, const Wishes *w, const SettingTable *t, const Drive *d,
                                 unsigned backends) {
        const Wish *delay = wishes_find(w, "autosuspend_delay"), *may = wishes_find(w, "runtime_pm");
        SpinDown k = { .wish = delay, .by = SPIN_DOWN_BY_KERNEL };

        if (!delay || delay->withheld || !may || may->withheld || !streq(may->value.name, "auto") ||
            switch_in_force(r, w, may->name) < 0 || !drive_has_standby(d, backends) || !kernel_stops(r, w, d))
                return NO_SPIN_DOWN;

        k.setting = setting_for_backends(t, delay->name, backends);
        k.value = delay->value;
        /* A negative delay disables autosuspend. */
        if (!k.setting || number_in_force(drive_record_find(r, delay->name), delay, &k.value.number) != IN_FORCE_YES ||
            k.value.number < 0)
                return NO_SPIN_DOWN;
        k.usec = (uint64_t) k.value.number * 1000;
        return k;
}

/* ---- all timers ---- */

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
                            unsigned backends) {
        SpinDown timer = spin_down_timer(r, w, t, d, backends), kernel = kernel_spin_down(r, w, t, d, backends);

        if (timer.pending)
                timer = NO_SPIN_DOWN;
        return kernel.usec < timer.usec ? kernel : timer;
}

const char *spin_down_format(const SpinDown *s, char buf[static SPIN_DOWN_TEXT_MAX]) {
        char time[VALUE_TEXT_MAX];
        const char *by = s->by == SPIN_DOWN_BY_SERVICE  ? "the service"
                         : s->by == SPIN_DOWN_BY_KERNEL ? "the kernel"
                                                        : NULL;

        if (!s->wish)
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

        if (!s->wish)
                return NULL;
        (void) snprintf(buf, SPIN_DOWN_TEXT_MAX, "%s %s %" PRIu64, actors[s->by], s->setting->name, s->usec);
        return buf;
}
