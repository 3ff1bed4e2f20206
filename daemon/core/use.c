/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>

#include "clock.h"
#include "text.h"
#include "use.h"

#define MINUTE_USEC (60ULL * 1000 * 1000)
#define YEAR_DAYS 365.25

const unsigned use_timers[USE_TIMERS] = { 1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720, 1440 };

void drive_use_done(DriveUse *u) {
        free(u->setting);
        free(u->key);
        *u = (DriveUse){};
}

int drive_use_begin(DriveUse *u, const char *setting, const char *key, uint64_t now) {
        DriveUse begun = { .since = now };

        if (string_replace(&begun.setting, setting) < 0 || string_replace(&begun.key, key) < 0) {
                drive_use_done(&begun);
                return -ENOMEM;
        }

        begun.wear = begun.first_wear = u->wear;
        begun.wear_when = begun.first_wear_when = u->wear_when;
        drive_use_done(u);
        *u = begun;
        return 0;
}

/* ---- times without I/O ---- */

static uint64_t bound_usec(unsigned i) {
        return i < USE_TIMERS ? use_timers[i] * MINUTE_USEC : UINT64_MAX;
}

void drive_use_gap(DriveUse *u, uint64_t least, uint64_t most) {
        /* Distributes the idle period over the classes of use_timers: each length between `least` and `most` is equally
         * likely. */
        for (unsigned i = 0; i < USE_TIMERS; i++) {
                uint64_t from = MAX(least, bound_usec(i)), to = MIN(most, bound_usec(i + 1));
                double part;

                if (from > to || (from == to && least < most) || least >= bound_usec(i + 1))
                        continue;
                part = least < most ? (double) (to - from) / (double) (most - least) : 1;
                u->gaps[i] += (uint64_t) (part * 1000 + 0.5);
                u->gap_times[i] += (uint64_t) (part * ((double) from + (double) to) / 2e6 + 0.5);
        }
}

double drive_use_days(const DriveUse *u) {
        return (double) u->watched * 1e6 / (double) DAY_USEC;
}

bool drive_use_predict(const DriveUse *u, unsigned minutes, UsePrediction *ret) {
        double gaps = 0, seconds = 0, days = drive_use_days(u), timer = minutes * 60.0;
        unsigned i = 0;

        while (i < USE_TIMERS && use_timers[i] != minutes)
                i++;
        /* A rate is not reliable if the drive was watched for less than a day. */
        if (i == USE_TIMERS || days < 1 || timer < (double) u->known_from)
                return false;

        for (; i < USE_TIMERS; i++) {
                gaps += (double) u->gaps[i] / 1000;
                seconds += (double) u->gap_times[i];
        }
        *ret = (UsePrediction){
                .spin_ups_per_day = gaps / days,
                .hours_standby_per_day = MAX(seconds - gaps * timer, 0.0) / 3600 / days,
        };
        return true;
}

/* ---- wear ---- */

void drive_use_wear(DriveUse *u, const Wear *w, uint64_t now) {
        u->wear = *w;
        u->wear_when = now;
        if (u->first_wear_when == 0) {
                u->first_wear = *w;
                u->first_wear_when = now;
        }
}

const char *wear_kind_to_string(WearKind k) {
        return k == WEAR_LOAD_CYCLES ? "load cycles" : "spindle starts";
}

KnownNumber wear_count(const Wear *w, WearKind k) {
        return k == WEAR_LOAD_CYCLES ? w->load_cycles : w->start_stops;
}

KnownNumber wear_rated(const Wear *w, WearKind k) {
        return k == WEAR_LOAD_CYCLES ? w->rated_load_cycles : w->rated_start_stops;
}

bool drive_use_wear_rate(const DriveUse *u, WearKind k, WearRate *ret) {
        KnownNumber first = wear_count(&u->first_wear, k), last = wear_count(&u->wear, k);
        KnownNumber rated = wear_rated(&u->wear, k);
        WearRate w;

        /* Rejects a counter or time that ran backwards: the clock may have been set back, or another drive with the
         * same identity may be attached. */
        if (!first.known || !last.known || first.number < 0 || last.number < first.number ||
            u->wear_when < u->first_wear_when || u->wear_when - u->first_wear_when < DAY_USEC)
                return false;
        if (!rated.known && k != WEAR_LOAD_CYCLES)
                return false;

        w = (WearRate){
                .count = last.number,
                .rated = rated.known ? rated.number : USE_RATED_LOAD_CYCLES,
                .assumed = !rated.known,
                .per_day = (double) (last.number - first.number) /
                           ((double) (u->wear_when - u->first_wear_when) / (double) DAY_USEC),
        };
        w.years = w.count >= w.rated ? 0
                  : w.per_day > 0    ? (double) (w.rated - w.count) / w.per_day / YEAR_DAYS
                                     : INFINITY;
        *ret = w;
        return true;
}
