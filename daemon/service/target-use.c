/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <syslog.h>

#include "clock.h"
#include "device.h"
#include "target-guard.h"
#include "target-standby.h"
#include "target-use.h"

/* ---- over boots ---- */

void target_use_attach(Target *t) {
        _cleanup_(drive_record_freep) DriveRecord *kept = NULL;
        _cleanup_free_ char *text = NULL;

        if (!target_can_sleep(t))
                return;

        text = target_guard_kept(t);
        if (!text || drive_record_parse(text, strlen(text), &kept) < 0 || !kept->use.setting)
                return;
        /* The same, and newer; or another timer, that was set since. */
        if (t->record->use.setting && t->record->use.since <= kept->use.since)
                return;
        drive_use_done(&t->record->use);
        t->record->use = kept->use;
        kept->use = (DriveUse){};
}

void target_use_keep(Target *t) {
        char *text;

        if (t->record->use.setting && drive_record_serialize(t->record, &text) >= 0)
                target_guard_keep(t, text);
}

/* ---- use ---- */

void target_use_note(Target *t) {
        const char *key = t->record->spindown_key;
        DriveUse *u = &t->record->use;
        int r;

        /* What holds on battery alone is not what the drive is used with. */
        if (!key || (t->env->on_battery && u->setting) || streq_ptr(key, u->key))
                return;
        /* The use of months is not lost by an upgrade to the first version with keys. */
        r = u->setting && !u->key ? string_replace(&u->key, key)
                                  : drive_use_begin(u, t->record->spindown, key, now_usec());
        if (r < 0)
                journal_log(LOG_ERR, "Out of memory for the record of %s", t->drive->name);
}

void target_use_seen(Target *t, uint64_t from, uint64_t to) {
        TargetStandby *s = &t->standby;
        DriveUse *u = &t->record->use;
        uint64_t seconds;

        if (!u->setting || !t->record->spindown || s->watched_at == 0)
                return;

        seconds = (to - s->watched_at) / 1000000;
        u->watched += seconds;
        s->watched_at += seconds * 1000000;
        if (s->quiet_at > 0) {
                drive_use_gap(u, from - s->quiet_since, to - s->used_from);
                /* There are four looks in the timer's time. What is not eight times as long as what lies between two is told too badly. */
                u->known_from = MAX(u->known_from, 2 * target_spin_down(t).usec / 1000000);
        }
}

void target_use_spun_up(Target *t, uint64_t slept_from) {
        DriveUse *u = &t->record->use;

        if (!u->setting || !t->record->spindown)
                return;
        u->spin_ups++;
        u->asleep += (monotonic_usec() - slept_from) / 1000000;
}

/* ---- wear ---- */

static bool wants_wear(const Target *t) {
        uint64_t now = now_usec(), asked = MAX(t->wear_asked, t->record->use.wear_when);

        /* A clock that was set back is no reason to wait for years. */
        return t->record->use.setting && (now < asked || now - asked >= DAY_USEC);
}

void target_use_ask(Target *t) {
        if (!wants_wear(t))
                return;
        t->wear_asked = now_usec();
        target_visit(t, VISIT_WEAR);
}

/* What is likely to be behind it: a drive whose heads are parked far more often than it spins down has another setting for that. */
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
                             "it has %" PRIi64 " of the %" PRIi64
                             " %s that it is %s, and %.0f more each day with %s = %s "
                             "(%s:%u): so they are used up in %.1f years. 'drivekeep explain %s spindown_time' tells what "
                             "other timers cost.",
                             r.count, r.rated, wear_kind_to_string(k), r.assumed ? "taken to be made for" : "made for",
                             r.per_day, w->name, value_format(&s->range, &w->value, value), w->file, w->line, r.years,
                             t->drive->node);
        }
}

void target_use_wear(void *target, const Wear *w) {
        Target *t = target;

        drive_use_wear(&t->record->use, w, now_usec());
        use_warn_of_wear(t);
        /* The drive is awake now, and so, as a rule, is what the file lies on. */
        target_use_keep(t);
}
