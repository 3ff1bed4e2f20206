/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <syslog.h>

#include "clock.h"
#include "device.h"
#include "target-guard.h"
#include "target-use.h"

typedef struct TargetUse {
        uint64_t wear_read; /* when this run of the service last requested the wear counters; CLOCK_REALTIME, µs; 0: never */
} TargetUse;

static TargetUse *use_of(const Target *t) {
        return target_part(t, &use_part);
}

/* ---- storage ---- */

/* Reads the statistics that were stored across boots, unless the record already continues them. */
static int use_attach(Target *t, bool again) {
        _cleanup_(drive_record_freep) DriveRecord *kept = NULL;
        _cleanup_free_ char *text = NULL;

        if (again || !target_has_standby(t))
                return 0;

        text = target_guard_kept(t);
        if (!text || drive_record_parse(text, strlen(text), &kept) < 0 || !kept->use.setting)
                return 0;
        /* The record's statistics stay in two cases: they began no later than the stored statistics, or they are for
         * another timer. If a drive was identified late, the record has begun new statistics, and the stored statistics
         * replace them. */
        if (t->record->use.setting &&
            (t->record->use.since <= kept->use.since || !streq_ptr(t->record->use.key, kept->use.key)))
                return 0;
        drive_use_done(&t->record->use);
        t->record->use = kept->use;
        kept->use = (DriveUse){};
        return 0;
}

void target_use_keep(Target *t) {
        char *text;

        if (t->record->use.setting && drive_record_serialize(t->record, &text) >= 0)
                target_guard_keep(t, text);
}

/* ---- I/O ---- */

/* Begins new statistics if the drive has a new timer. */
static bool use_settled(Target *t) {
        const char *key = t->record->spindown_key;
        DriveUse *u = &t->record->use;
        int r;

        /* A timer that applies only on battery does not begin new statistics. */
        if (!key || (t->env->on_battery && u->setting) || streq_ptr(key, u->key))
                return false;
        /* Statistics without a key, from an older version of this program, are kept. */
        r = u->setting && !u->key ? string_replace(&u->key, key)
                                  : drive_use_begin(u, t->record->spindown, key, now_usec());
        if (r < 0)
                journal_log(LOG_ERR, "Out of memory for the record of %s", t->drive->name);
        return true;
}

static bool is_watched(const Target *t) {
        return t->record->use.setting && t->record->spindown;
}

static void use_io(Target *t, const PowerNews *n) {
        DriveUse *u = &t->record->use;

        u->watched += n->watched;
        if (!n->has_gap)
                return;
        drive_use_gap(u, n->gap_least, n->gap_most);
        /* The drive is polled four times per timer period. Idle periods shorter than eight polls (two timer periods)
         * are not known precisely enough. */
        u->known_from = MAX(u->known_from, 2 * target_spin_down(t).usec / 1000000);
}

static void use_spun_up(Target *t, const PowerNews *n) {
        DriveUse *u = &t->record->use;

        u->spin_ups++;
        u->standby += (monotonic_usec() - n->standby_from) / 1000000;
}

/* ---- wear ---- */

static bool wants_wear(const Target *t) {
        uint64_t now = now_usec(), last_read = MAX(use_of(t)->wear_read, t->record->use.wear_when);

        /* If the clock was set back, the time of the last reading may be in the future: the counters are then read
         * again. */
        return t->record->use.setting && (now < last_read || now - last_read >= DAY_USEC);
}

static void use_power(Target *t, const PowerNews *n) {
        if ((n->events & POWER_NEWS_IO) && is_watched(t))
                use_io(t, n);
        if ((n->events & POWER_NEWS_SPUN_UP) && is_watched(t))
                use_spun_up(t, n);
        if ((n->events & POWER_NEWS_ACTIVE) && wants_wear(t)) {
                use_of(t)->wear_read = now_usec();
                target_visit(t, VISIT_WEAR);
        }
}

/* Returns the wish that probably causes the wear. If the heads are parked far more often than the drive spins down,
 * returns a wish for head parking, if there is one. In all other cases returns the wish for the spin-down timer. */
static const Wish *wearing_wish(const Target *t, WearKind kind) {
        static const char *const parking[] = { "apm", "idle_b", "idle_c", "idle_a" };
        const Wear *first = &t->record->use.first_wear, *last = &t->record->use.wear;
        bool parks = kind == WEAR_LOAD_CYCLES && last->start_stops.known && first->start_stops.known &&
                     last->load_cycles.number - first->load_cycles.number >
                                     2 * (last->start_stops.number - first->start_stops.number);

        for (size_t i = 0; parks && i < ELEMENTSOF(parking); i++) {
                const Wish *w = wishes_find(&t->wishes, parking[i]);

                if (w)
                        return w;
        }
        return target_spin_down(t).wish;
}

static void use_warn_of_wear(Target *t) {
        DriveUse *u = &t->record->use;

        for (WearKind k = 0; k < _WEAR_KIND_MAX && !u->warned; k++) {
                char value[VALUE_TEXT_MAX];
                const Setting *s;
                const Wish *w;
                WearRate r;

                if (!drive_use_wear_rate(u, k, &r) || r.years >= USE_LEAST_YEARS)
                        continue;
                w = wearing_wish(t, k);
                s = w ? setting_find(t->env->settings, w->name) : NULL;
                if (!s)
                        continue;
                u->warned = true;
                journal_wear(t->drive,
                             "%" PRIi64 " of %" PRIi64
                             " %s %s are used, and %.0f more each day with %s = %s (%s:%u), so the rest lasts %.1f years. "
                             "'drivekeep explain %s spindown_time' shows the cost of other timers.",
                             r.count, r.rated, r.assumed ? "assumed" : "rated", wear_kind_to_string(k), r.per_day,
                             w->name, value_format(&s->range, &w->value, value), w->file, w->line, r.years,
                             t->drive->node);
        }
}

void target_use_wear(void *target, const Wear *w) {
        Target *t = target;

        drive_use_wear(&t->record->use, w, now_usec());
        use_warn_of_wear(t);
        /* Storing the statistics now usually spins up no drive: this drive is active, and the drive with the file is
         * usually active, too. */
        target_use_keep(t);
}

const TargetPart use_part = {
        .size = sizeof(TargetUse),
        .attach = use_attach,
        .detach = target_use_keep,
        .settled = use_settled,
        .power = use_power,
};
