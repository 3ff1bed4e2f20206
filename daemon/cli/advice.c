/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "advice.h"
#include "clock.h"
#include "wake-records.h"

/* Spin-down timers for the estimates, in minutes. */
static const unsigned timer_minutes[] = { 5, 10, 20, 30, 60 };

/* ---- statistics of the current timer ---- */

/* Prints when the statistics began, and the statistics. `set`: the statistics are of the timer that is set now. If `set` is false,
 * they are of an earlier timer: the service keeps no statistics of timers that apply on battery only (service/target-use.c). */
static void print_since(Output *o, const DriveUse *u, bool set, uint64_t now) {
        uint64_t usec = now - MIN(u->since, now), days = usec / DAY_USEC;
        char ago[VALUE_TEXT_MAX];

        output_text(o, "setting", u->setting);
        output_time(o, "since", u->since);
        output_number(o, "watched_seconds", true, (int64_t) u->watched);
        output_number(o, "spin_ups", true, (int64_t) u->spin_ups);
        output_number(o, "standby_seconds", true, (int64_t) u->standby);
        output_note(o, "%s", "");
        if (days >= 2)
                (void) snprintf(ago, sizeof ago, "%" PRIu64 " days", days);
        else
                (void) duration_format_short(usec, ago);
        output_note(o, "%s timer %s, in use for %s:", set ? "Spin-down" : "Earlier spin-down", u->setting, ago);
        if (drive_use_days(u) >= 1)
                output_note(o, "  %" PRIu64 " spin-up%s, %.1f a day; in standby for %.1f h a day", u->spin_ups,
                            u->spin_ups == 1 ? "" : "s", (double) u->spin_ups / drive_use_days(u),
                            (double) u->standby / 3600 / drive_use_days(u));
        else if (u->watched == 0 && u->spin_ups == 0)
                output_note(o, "  spin-ups cannot be estimated: no idle time of this drive has been counted yet");
        else
                output_note(o, "  %" PRIu64 " spin-up%s; in standby for %.1f h", u->spin_ups,
                            u->spin_ups == 1 ? "" : "s", (double) u->standby / 3600);
}

static void print_count(Output *o, const DriveUse *u, WearKind k, const char *key) {
        KnownNumber count = wear_count(&u->wear, k), rated = wear_rated(&u->wear, k);
        const char *kind = wear_kind_to_string(k);
        WearRate r = {};
        bool known = drive_use_wear_rate(u, k, &r), ends = known && !isinf(r.years);

        output_object(o, key);
        output_number(o, "count", count.known, count.number);
        output_number(o, "rated", rated.known, rated.number);
        output_number(o, "assumed_rating", known && r.assumed, r.rated);
        output_number(o, "more_per_100_days", known, (int64_t) (r.per_day * 100 + 0.5));
        output_decimal(o, "years_left", ends, r.years);
        output_end(o);

        if (known && !ends)
                output_note(o, "  %" PRIi64 " %.*s, none of them since this timer was set", r.count,
                            (int) (strlen(kind) - (r.count == 1)), kind);
        else if (known)
                output_note(o, "  %" PRIi64 " %s, %.1f a day: the rating of %" PRIi64 "%s is reached in %.*f years",
                            r.count, kind, r.per_day, r.rated, r.assumed ? " (assumed: the drive reports none)" : "",
                            r.years > 0 && r.years < 9.95, r.years);
        else if (count.known)
                output_note(o, "  %" PRIi64 " %.*s", count.number, (int) (strlen(kind) - (count.number == 1)), kind);
}

static void print_wear(Output *o, const DriveUse *u, uint64_t now) {
        char when[HUMAN_MAX];

        print_count(o, u, WEAR_LOAD_CYCLES, "load_cycles");
        print_count(o, u, WEAR_START_STOPS, "spindle_starts");
        output_number(o, "temperature", u->wear.temperature.known, u->wear.temperature.number);
        output_time(o, "read", u->wear_when);
        if (u->wear.temperature.known)
                output_note(o, "  %" PRIi64 " degrees Celsius, %s", u->wear.temperature.number,
                            time_format_short(u->wear_when, now, when));
}

/* ---- estimates for other timers ---- */

static void print_timers(Output *o, const DriveUse *u) {
        bool any = false;

        output_array(o, "timers");
        for (size_t i = 0; i < ELEMENTSOF(timer_minutes); i++) {
                UsePrediction p = {};
                bool known = drive_use_predict(u, timer_minutes[i], &p);

                output_object(o, NULL);
                output_number(o, "minutes", true, timer_minutes[i]);
                output_number(o, "spin_ups_per_100_days", known, (int64_t) (p.spin_ups_per_day * 100 + 0.5));
                output_number(o, "standby_seconds_per_day", known, (int64_t) (p.hours_standby_per_day * 3600 + 0.5));
                output_end(o);
                if (!known)
                        continue;
                if (!any)
                        output_note(o, "Estimates for this drive alone, with other timers and the same I/O:");
                any = true;
                output_note(o, "  %2u min: %.1f spin-ups a day, in standby for %.1f h a day", timer_minutes[i],
                            p.spin_ups_per_day, p.hours_standby_per_day);
        }
        output_end(o);

        if (drive_use_days(u) < 1)
                output_note(o, "Estimates for other timers need one day of statistics.");
        else if (u->known_from > timer_minutes[0] * 60)
                output_note(o,
                            "There are no estimates for timers below %" PRIu64
                            " min: the service may have missed shorter idle times.",
                            u->known_from / 60);
}

/* ---- the last waker ---- */

static void print_last_wake(Output *o, const DriveRecord *r, uint64_t now) {
        _cleanup_(wake_journal_closep) sd_journal *j = NULL;
        _cleanup_(wake_record_done) WakeRecord w = {};
        char when[HUMAN_MAX], standby[VALUE_TEXT_MAX];
        bool known;

        known = wake_journal_open(RECORDS_OF_WAKES, NULL, &j) >= 0 && wake_record_last(j, r->name, r->serial, &w) > 0;
        output_object(o, "last_wake");
        output_time(o, "time", known ? w.when : 0);
        output_text(o, "process", w.process);
        output_text(o, "unit", w.unit);
        output_end(o);
        if (known)
                output_note(o, "  last woken %s by %s%s%s%s%s%s", time_format_short(w.when, now, when), w.waker,
                            w.unit ? ", " : "", w.unit ?: "", w.standby.known ? ", after " : "",
                            w.standby.known ? duration_format_short((uint64_t) w.standby.number, standby) : "",
                            w.standby.known ? " in standby" : "");
}

void advice_print(Output *o, const DriveRecord *r, uint64_t now) {
        if (!r || !r->spindown || !r->use.setting) {
                output_text(o, "use", NULL);
                return;
        }

        output_object(o, "use");
        print_since(o, &r->use, streq_ptr(r->use.key, r->spindown_key), now);
        print_last_wake(o, r, now);
        print_wear(o, &r->use, now);
        print_timers(o, &r->use);
        output_end(o);
}
