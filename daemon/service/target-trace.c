/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "inventory.h"
#include "target-active.h"
#include "target-power.h"
#include "target-trace.h"
#include "watch-read.h"

typedef struct TargetTrace {
        WatchDevice disk; /* identifies the drive in the tracer's reports; valid while the drive is traced */
} TargetTrace;

static TargetTrace *trace_of(const Target *t) {
        return target_part(t, &trace_part);
}

/* Records whether tracing works. Returns true if the record changed. */
static bool trace_note(Target *t, Tracing tracing) {
        if (t->record->tracing == tracing)
                return false;
        t->record->tracing = tracing;
        return true;
}

int target_trace_begin(Target *t, bool active) {
        WatchDrive w;
        int r;

        r = watch_drive_read(INVENTORY_CLASSDIR, INVENTORY_BTRFSDIR, t->drive, &w);
        if (r >= 0)
                r = tracer_watch(t->env->tracer, &w, active);
        if (r >= 0)
                trace_of(t)->disk = w.disk;
        return r;
}

void target_trace_end(Target *t) {
        tracer_unwatch(t->env->tracer, trace_of(t)->disk);
}

int target_trace_report(Target *t) {
        return tracer_report(t->env->tracer, trace_of(t)->disk);
}

static void trace_begin(Target *t) {
        int r;

        r = target_trace_begin(t, false);
        if (r >= 0) {
                target_power_traced(t);
                return;
        }

        if (r != -EBUSY)
                journal_log(LOG_NOTICE, "%s: in standby, but its next waker cannot be traced: %s", t->drive->name,
                            strerror(-r));
        if (trace_note(t, tracer_tracing(t->env->tracer)))
                target_save(t);
}

static void trace_log(Target *t, const PowerNews *n) {
        const Wake unknown = { .kind = WAKE_UNKNOWN }, *w = n->has_waker ? &n->waker : &unknown;

        journal_wake(t->drive, w, n->standby_until - n->standby_from);
        target_count(t, &t->record->wakes, wake_source(w));
}

static void trace_power(Target *t, const PowerNews *n) {
        if ((n->events & POWER_NEWS_SPUN_UP) && n->to_log)
                trace_log(t, n);
        if (n->events & POWER_NEWS_UNTRACE)
                target_trace_end(t);
        if (n->events & POWER_NEWS_TRACE)
                trace_begin(t);
}

static bool trace_settled(Target *t) {
        return !power_watch_wants_trace(target_power(t)) && trace_note(t, TRACING_FINE);
}

static void trace_done(Target *t) {
        if (power_watch_is_traced(target_power(t)))
                target_trace_end(t);
}

const TargetPart trace_part = {
        .size = sizeof(TargetTrace),
        .done = trace_done,
        .settled = trace_settled,
        .power = trace_power,
};

/* ---- reports of the tracer ---- */

static bool is_traced(const Target *t) {
        return power_watch_is_traced(target_power(t)) || target_active_is_traced(t);
}

static Target *find_traced(const TargetEnv *env, WatchDevice disk) {
        for (Target *t = env->drives; t; t = t->next)
                if (is_traced(t) && watch_device_equal(trace_of(t)->disk, disk))
                        return t;
        return NULL;
}

static void on_watched(void *userdata, WatchDevice disk) {
        Target *t = find_traced(userdata, disk);

        if (!t)
                return;
        if (trace_note(t, TRACING_FINE))
                target_save(t);
        target_power_confirmed(t);
}

static void on_woken(void *userdata, WatchDevice disk, const Wake *w) {
        Target *t = find_traced(userdata, disk);

        if (t)
                target_power_command(t, w);
}

static void on_counted(void *userdata, WatchDevice disk, const Wake *w, unsigned times) {
        Target *t = find_traced(userdata, disk);

        if (t)
                target_active_counted(t, w, times);
}

static void on_lost(void *userdata) {
        const TargetEnv *env = userdata;

        for (Target *t = env->drives; t; t = t->next) {
                if (!is_traced(t))
                        continue;
                if (trace_note(t, tracer_tracing(env->tracer)))
                        target_save(t);
                target_power_lost(t);
                target_active_lost(t);
        }
}

const TracerEvents target_tracer_events = {
        .watched = on_watched,
        .woken = on_woken,
        .counted = on_counted,
        .lost = on_lost,
};
