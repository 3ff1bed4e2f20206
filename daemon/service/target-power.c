/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clock.h"
#include "device.h"
#include "kernel-view.h"
#include "target-power.h"

/* Time without I/O after which a drive is probed if its standby timer is unknown or without effect. */
#define PROBE_USEC (5ULL * 60 * 1000 * 1000)
/* The drive's standby timer may expire this much later than configured: it starts at the end of the last command, and
 * runs on the drive's own clock. */
#define MARGIN_USEC (5ULL * 1000 * 1000)
/* Shorter spin-down times are raised to these values, since polls for a shorter time would wake the service too
 * often. */
#define SHORTEST_USEC (30ULL * 1000 * 1000)
#define SHORTEST_BY_SERVICE_USEC (60ULL * 1000 * 1000)

typedef struct TargetPower {
        PowerWatch watch;
        bool suspended;           /* the drive was runtime-suspended at the last poll */
        uint64_t commands_before; /* the kernel's count of commands when the worker started; 0: there is no worker, or
                                   * commands_are_use is false */
} TargetPower;

static TargetPower *power_of(const Target *t) {
        return target_part(t, &power_part);
}

const PowerWatch *target_power(const Target *t) {
        return &power_of(t)->watch;
}

/* ---- counters ---- */

static bool commands_are_io(const Target *t) {
        const Wish *w = target_spin_down(t).wish;

        return w && w->commands_are_use;
}

PowerCounters target_counters(const Target *t) {
        uint64_t commands = target_has_worker(t) ? power_of(t)->commands_before : 0;
        PowerCounters c = { .now = monotonic_usec() };

        c.error = activity_read(t->drive->syspath, &c.io);
        if ((c.error < 0 && c.error != -ENODATA) || !commands_are_io(t) ||
            (commands == 0 && activity_commands(t->drive->syspath, &commands) < 0))
                return c;
        /* c.io counts reads and writes twice, since `commands` also includes them. This is harmless: the state machine
         * only compares c.io with earlier values. */
        c.io = (c.error < 0 ? 0 : c.io) + commands - t->record->own_commands;
        c.error = 0;
        return c;
}

static PowerCounters counters_with_flight(const Target *t) {
        PowerCounters c = target_counters(t);

        c.in_flight = activity_in_flight(t->drive->syspath);
        return c;
}

uint64_t target_idle_at(const Target *t) {
        PowerCounters c = counters_with_flight(t);

        return power_watch_idle_at(target_power(t), &c);
}

static void power_end_own_commands(Target *t) {
        TargetPower *p = power_of(t);
        uint64_t commands;

        if (p->commands_before > 0 && activity_commands(t->drive->syspath, &commands) >= 0)
                t->record->own_commands += commands - p->commands_before;
        p->commands_before = 0;
}

/* ---- the state machine ---- */

static PowerPolicy power_policy(const Target *t) {
        WakeLog log = (WakeLog) t->files->config->wake_log;
        SpinDown d = target_spin_down(t);
        bool can_trace = t->env->tracer && log != WAKE_LOG_OFF && target_has_standby(t);
        bool by_service = d.wish && d.by == SPIN_DOWN_BY_SERVICE;

        return (PowerPolicy){
                .patience = by_service             ? MAX(d.usec, SHORTEST_BY_SERVICE_USEC)
                            : d.usec == UINT64_MAX ? PROBE_USEC
                                                   : MAX(d.usec, SHORTEST_USEC) + d.usec / 16 + MARGIN_USEC,
                .by_service = by_service,
                .traced = can_trace && ((log == WAKE_LOG_ON && t->wishes.n_items > 0) || d.wish),
                .traced_stopped = can_trace,
        };
}

/* Updates the policy of the state machine for the next event, and returns the state machine. */
static PowerWatch *power_with_policy(Target *t) {
        PowerWatch *w = &power_of(t)->watch;

        w->policy = power_policy(t);
        return w;
}

/* Reads sysfs only for drives that are watched. */
static PowerCounters counters_if_wanted(const Target *t) {
        return power_watch_is_wanted(target_power(t)) ? target_counters(t) : (PowerCounters){ .error = -ENODATA };
}

static void power_note_mode(DriveRecord *r, PowerMode mode) {
        bool was_in_standby = drive_record_in_standby(r);
        uint64_t now = mode != POWER_UNKNOWN ? now_usec() : 0;
        PowerMode before = r->power;

        r->power = mode;
        r->power_seen = now;
        if (before != mode && !(was_in_standby && drive_record_in_standby(r)))
                r->power_when = now;
}

static void power_output(Target *t, const PowerNews *n) {
        const PowerWatch *w = target_power(t);

        if (n->events & POWER_NEWS_LEFT_STANDBY)
                power_note_mode(t->record, POWER_ACTIVE);
        if (n->events & POWER_NEWS_MODE)
                power_note_mode(t->record, power_watch_mode(w));
        if (n->events & POWER_NEWS_COUNTED) {
                t->record->quiet_used = w->quiet.io;
                t->record->quiet_since = w->quiet.since;
        } else if (n->events & POWER_NEWS_UNCOUNTED)
                t->record->quiet_since = 0;

        FOREACH_PART(part, t)
        if ((*part)->power && n->events)
                (*part)->power(t, n);

        if (n->events & (POWER_NEWS_COUNTED | POWER_NEWS_LEFT_STANDBY))
                target_save(t);
        else
                target_changed(t);
        if (n->events & POWER_NEWS_PROBE)
                target_visit_later(t, VISIT_STANDBY, visit_reason_work(VISIT_STANDBY), n->probe_at);
}

/* Passes an event and the counters to the state machine. Then passes the resulting PowerNews to each part
 * (TargetPart.power). */
static void power_feed(Target *t, void (*input)(PowerWatch *, const PowerCounters *, PowerNews *), PowerCounters c) {
        PowerNews n;

        input(power_with_policy(t), &c, &n);
        power_output(t, &n);
}

static int power_attach(Target *t, bool again) {
        /* The kernel may have resumed the drive while no service ran. */
        if (!again && t->record->power == POWER_SUSPENDED && !activity_is_suspended(t->drive->syspath))
                power_note_mode(t->record, POWER_UNKNOWN);
        power_of(t)->watch.mode = t->record->power;
        return 0;
}

static void power_done(Target *t) {
        power_watch_done(&power_of(t)->watch);
}

static uint64_t power_due(const Target *t) {
        return power_watch_due(target_power(t));
}

static void power_tick(Target *t) {
        if (monotonic_usec() >= power_due(t))
                power_feed(t, power_watch_poll, target_counters(t));
}

/* Tells the state machine about a suspend or a resume of a drive that the kernel stops at a suspend. */
static void power_poll_suspend(Target *t, bool suspended) {
        if (suspended == power_watch_is_suspended(target_power(t)))
                return;
        if (!suspended)
                power_feed(t, power_watch_resumed, target_counters(t));
        else if (t->wishes.n_items > 0 && activity_is_stopped_by_suspend(t->drive->syspath))
                power_feed(t, power_watch_suspended, target_counters(t));
}

static void power_visit_begins(Target *t) {
        bool suspended = activity_is_suspended(t->drive->syspath);

        power_of(t)->suspended = suspended;
        /* The kernel may have suspended the drive before the service started. */
        if (!activity_is_suspending(t->drive->syspath))
                power_poll_suspend(t, suspended);
        if (commands_are_io(t))
                (void) activity_commands(t->drive->syspath, &power_of(t)->commands_before);
}

static bool power_settled(Target *t) {
        PowerWatch *w = power_with_policy(t);
        PowerCounters c = counters_if_wanted(t);
        PowerNews n;

        power_watch_settle(w, &c, t->record->quiet_since, t->record->quiet_used, &n);
        power_output(t, &n);
        return false;
}

static void power_visit_ends(Target *t) {
        power_end_own_commands(t);
        /* The event that lost the settings, such as a reset, also made the drive active, so the time without I/O begins
         * again. */
        if (t->visit.pending.work & WORK_LOST)
                power_feed(t, power_watch_restart, target_counters(t));
}

void target_power_probed(void *target, PowerMode mode) {
        Target *t = target;
        PowerWatch *w = power_with_policy(t);
        PowerCounters c = counters_if_wanted(t);
        const PowerProbe p = {
                .mode = mode,
                .on_purpose = t->visit.pending.work & WORK_POWER,
                .spun_down = t->visit.pending.work & WORK_SPIN_DOWN,
                .again = t->pending.work & WORK_POWER,
                .quiet_since = t->record->quiet_since,
                .quiet_io = t->record->quiet_used,
        };
        PowerNews n;

        power_watch_probed(w, &p, &c, &n);
        power_output(t, &n);
}

void target_power_stopped(Target *t, bool unverifiable) {
        PowerNews n;

        power_watch_stopped(power_with_policy(t), unverifiable, monotonic_usec(), &n);
        power_output(t, &n);
}

void target_power_delay(Target *t, uint64_t until) {
        power_watch_delay(&power_of(t)->watch, until, monotonic_usec());
}

void target_power_retry(Target *t) {
        power_watch_retry(&power_of(t)->watch, monotonic_usec());
}

void target_power_give_up(Target *t) {
        power_watch_give_up(&power_of(t)->watch);
}

void target_power_traced(Target *t) {
        PowerCounters c = target_counters(t);

        power_watch_traced(&power_of(t)->watch, &c);
}

void target_power_confirmed(Target *t) {
        PowerCounters c = counters_with_flight(t);

        c.suspended = activity_is_suspended(t->drive->syspath);
        power_feed(t, power_watch_confirmed, c);
}

void target_power_command(Target *t, const Wake *by) {
        PowerCounters c = target_counters(t);
        PowerNews n;

        power_watch_command(power_with_policy(t), by, target_is_about(t, WORK_POWER | WORK_SPIN_UP), &c, &n);
        power_output(t, &n);
}

void target_power_lost(Target *t) {
        power_feed(t, power_watch_lost, target_counters(t));
}

void target_power_suspect(Target *t, const Wake *by) {
        power_watch_suspect(&power_of(t)->watch, by);
}

/* ---- whether the drive is active ---- */

bool target_is_active(const Target *t) {
        uint64_t used;

        /* A visit that only spins down may always send its command: a standby command does no harm to a drive in
         * standby. */
        return (t->visit.pending.work & WORK_ACTIVE) || pending_only_spins_down(&t->visit.pending) ||
               (activity_read(t->drive->syspath, &used) >= 0 && drive_record_had_io(t->record, used, monotonic_usec()));
}

bool target_is_in_ata_sleep(const Target *t) {
        uint64_t used;

        return drive_record_in_ata_sleep(t->record, activity_read(t->drive->syspath, &used) < 0 ? NULL : &used);
}

bool target_poll_active(Target *t) {
        TargetPower *p = power_of(t);
        bool resumed = p->suspended, more;
        uint64_t used;

        p->suspended = activity_is_suspended(t->drive->syspath);
        if (p->suspended)
                return false;
        /* A resume counts as activity even without I/O: the kernel may have resumed the drive for a command, and the
         * counters do not include commands. */
        if (activity_read(t->drive->syspath, &used) < 0)
                return resumed;

        more = used != t->record->used || resumed;
        /* If there was I/O, the kernel has reset the drive, and the reset has ended ATA Sleep mode. */
        t->record->ata_sleep = drive_record_in_ata_sleep(t->record, &used);
        t->record->used = used;
        t->record->used_when = monotonic_usec();
        return more;
}

/* Notes when the drive was first found runtime-suspended. Returns true if this is a new suspend. */
static bool note_suspended(Target *t) {
        DriveRecord *r = t->record;
        uint64_t active = activity_active_time(t->drive->syspath);

        if (r->runtime_suspended_when > 0 && r->runtime_active_time == active)
                return false;
        r->runtime_suspended_when = now_usec();
        r->runtime_active_time = active;
        return true;
}

bool target_poll_runtime(Target *t) {
        bool suspended;

        if (activity_is_suspending(t->drive->syspath))
                return true;
        suspended = activity_is_suspended(t->drive->syspath);
        power_poll_suspend(t, suspended);
        if (suspended) {
                power_of(t)->suspended = true;
                if (note_suspended(t))
                        target_save(t);
        } else if (target_was_suspended(t) && target_has_deferred(t) && target_poll_active(t))
                target_visit(t, VISIT_WAKE);
        return false;
}

void target_note_counters(Target *t) {
        TargetPower *p = power_of(t);
        bool ata_sleep = t->record->ata_sleep, suspended = p->suspended;

        (void) target_poll_active(t);
        t->record->ata_sleep = ata_sleep;
        /* Does not clear `suspended`: if the kernel resumed the drive after the visit had deferred a setting, the next
         * poll must detect the resume. */
        p->suspended = p->suspended || suspended;
}

bool target_was_suspended(const Target *t) {
        return power_of(t)->suspended;
}

const TargetPart power_part = {
        .size = sizeof(TargetPower),
        .attach = power_attach,
        .done = power_done,
        .due = power_due,
        .tick = power_tick,
        .visit_begins = power_visit_begins,
        .visit_ends = power_visit_ends,
        .settled = power_settled,
};
