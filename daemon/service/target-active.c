/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "active-watch.h"
#include "clock.h"
#include "target-active.h"
#include "target-power.h"
#include "target-trace.h"
#include "wake-count.h"

/* The same programs are logged again after this time, since the journal may have lost the earlier records. */
#define LOG_AGAIN_USEC (24ULL * 3600 * 1000 * 1000)
#define PROGRAMS_MAX 4U

/* The programs with the most uses. The rest is not needed to find the cause. */
typedef struct Programs {
        struct {
                Wake wake;
                unsigned times;
        } items[PROGRAMS_MAX];
        unsigned n_items;
} Programs;

typedef struct TargetActive {
        ActiveWatch watch;
        uint64_t begun;     /* when the tracer began to watch the drive; CLOCK_MONOTONIC, µs */
        Programs *counted;  /* the programs reported so far; NULL: none */
        Programs *logged;   /* the programs in the journal; NULL: none */
        uint64_t logged_at; /* when they were logged; CLOCK_MONOTONIC, µs */
} TargetActive;

static TargetActive *active_of(const Target *t) {
        return target_part(t, &active_part);
}

/* Returns true if the drive has a time for its spin-down, and may be traced. */
static bool is_wanted(const Target *t) {
        return power_watch_wants_trace(target_power(t)) && target_spin_down(t).wish;
}

/* Returns true if commands, other than reads and writes, postpone the drive's spin-down. */
static bool commands_count(const Target *t) {
        SpinDown d = target_spin_down(t);

        return d.by != SPIN_DOWN_BY_SERVICE || (d.wish && d.wish->commands_are_use);
}

static void drop(Programs **p) {
        free(*p);
        *p = NULL;
}

static void active_end(Target *t, bool found) {
        active_watch_ended(&active_of(t)->watch, found, target_power(t)->policy.patience, monotonic_usec());
        drop(&active_of(t)->counted);
}

static void active_step(Target *t, ActiveStep step) {
        TargetActive *a = active_of(t);

        switch (step) {
        case ACTIVE_BEGIN:
                drop(&a->counted);
                a->begun = monotonic_usec();
                if (target_trace_begin(t, true) >= 0)
                        active_watch_begun(&a->watch, target_power(t)->policy.patience, a->begun);
                else
                        active_end(t, false);
                break;
        case ACTIVE_REPORT:
                if (target_trace_report(t) < 0) {
                        target_trace_end(t);
                        active_end(t, false);
                }
                break;
        case ACTIVE_DROP:
                target_trace_end(t);
                break;
        case ACTIVE_NOTHING:
                break;
        }
}

bool target_active_is_traced(const Target *t) {
        return active_of(t)->watch.until > 0;
}

static uint64_t active_due(const Target *t) {
        return active_watch_due(&active_of(t)->watch);
}

static void active_tick(Target *t) {
        active_step(t, active_watch_tick(&active_of(t)->watch, monotonic_usec()));
}

/* Drops the programs of an earlier count: the drive was in standby since, or its spin-down time was removed. Returns true if there
 * were some. */
static bool active_forget(Target *t) {
        bool had = t->record->kept_when > 0;

        drop(&active_of(t)->logged);
        t->record->kept_when = 0;
        return had;
}

/* Returns true if commands, not I/O, may keep the drive active: the drive had no I/O for the patience. POWER_NEWS_STILL_ACTIVE alone does
 * not prove this, because a probe after a command may come before the patience has passed. */
static bool is_still_active(const Target *t, uint64_t now) {
        const PowerWatch *w = target_power(t);

        return commands_count(t) && now - w->quiet.since >= w->patience;
}

static void active_power(Target *t, const PowerNews *n) {
        uint64_t now = monotonic_usec();
        unsigned events = is_still_active(t, now) ? n->events : n->events & ~(unsigned) POWER_NEWS_STILL_ACTIVE;
        PowerMode mode = power_watch_mode(target_power(t));
        ActiveStep step;

        if (!is_wanted(t))
                return;
        step = active_watch_power(&active_of(t)->watch, events, mode, target_power(t)->policy.patience, now);
        /* In standby, trace_part has replaced the watch of the active drive. */
        if (step != ACTIVE_DROP || !power_watch_is_traced(target_power(t)))
                active_step(t, step);
        if (active_watch_is_over(events, mode) && active_forget(t))
                target_save(t);
}

static bool active_settled(Target *t) {
        if (is_wanted(t))
                return false;
        if (target_active_is_traced(t))
                target_trace_end(t);
        drop(&active_of(t)->counted);
        active_of(t)->watch = (ActiveWatch){};
        return active_forget(t);
}

static void active_done(Target *t) {
        if (target_active_is_traced(t))
                target_trace_end(t);
        drop(&active_of(t)->counted);
        drop(&active_of(t)->logged);
}

const TargetPart active_part = {
        .size = sizeof(TargetActive),
        .done = active_done,
        .due = active_due,
        .tick = active_tick,
        .settled = active_settled,
        .power = active_power,
};

/* ---- reports of the tracer ---- */

static bool has_program(const Programs *p, const Wake *w) {
        for (unsigned i = 0; p && i < p->n_items; i++)
                if (wake_same_program(&p->items[i].wake, w))
                        return true;
        return false;
}

static void active_add(TargetActive *a, const Wake *w, unsigned times) {
        a->counted = a->counted ?: calloc(1, sizeof *a->counted);
        if (!a->counted || a->counted->n_items == PROGRAMS_MAX)
                return;
        a->counted->items[a->counted->n_items].wake = *w;
        a->counted->items[a->counted->n_items++].times = times;
}

/* Returns true if the programs can have kept the drive active. They cannot if they used the drive only once in twice the patience. */
static bool active_found(const Target *t) {
        const TargetActive *a = active_of(t);
        unsigned n = 0;

        for (unsigned i = 0; a->counted && i < a->counted->n_items; i++)
                n += a->counted->items[i].times;
        return n > 1 || (n == 1 && monotonic_usec() - a->begun < 2 * target_power(t)->policy.patience);
}

/* Logs the programs if one of them is new. */
static void active_log(Target *t) {
        TargetActive *a = active_of(t);
        uint64_t now = monotonic_usec();
        bool is_news = !a->logged || now - a->logged_at >= LOG_AGAIN_USEC;

        for (unsigned i = 0; i < a->counted->n_items; i++)
                is_news = is_news || !has_program(a->logged, &a->counted->items[i].wake);
        if (!is_news)
                return;

        t->record->kept_when = now_usec();
        for (unsigned i = 0; i < a->counted->n_items; i++)
                journal_active(t->drive, &a->counted->items[i].wake, a->counted->items[i].times, now - a->begun,
                               t->record->kept_when);
        free(a->logged);
        a->logged = TAKE_PTR(a->counted);
        a->logged_at = now;
}

void target_active_counted(Target *t, const Wake *w, unsigned times) {
        TargetActive *a = active_of(t);
        bool found;

        if (!target_active_is_traced(t))
                return;
        if (w) {
                if (w->kind != WAKE_COMMAND || commands_count(t))
                        active_add(a, w, times);
                return;
        }

        target_trace_end(t);
        found = active_found(t);
        if (found)
                active_log(t);
        else
                (void) active_forget(t);
        active_end(t, found);
        target_save(t);
        target_changed(t);
}

void target_active_lost(Target *t) {
        if (target_active_is_traced(t))
                active_end(t, true);
}
