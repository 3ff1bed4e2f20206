/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A visit, and the permission to send commands.
 *
 * 1. target_visit() adds a request to the pending work of a drive. Nothing happens until target_begin() starts a visit for it.
 * 2. target_begin() selects the settings that the visit is about, and creates a VisitJob. The VisitJob waits for the permission to send
 *    commands: PID 1 must report that no file system check is queued or running for the drive, or for a device stacked on the drive.
 * 3. With the permission the visit is ready. The manager limits the number of workers, and calls target_work() when one is available.
 *    Until then no command was sent, and the visit can be withdrawn: for new work, for new wishes, or because udev describes the drive
 *    again.
 * 4. The worker must have the permission for every command. If a check is queued meanwhile, the VisitJob stops the worker after its
 *    current command, and the unfinished work becomes pending again.
 * 5. The worker reports each setting before and after writing it. If the worker dies, the service knows which setting was being
 *    written.
 * 6. At the end the record, the journal and the state file contain all verdicts. TargetEvents.visited() decides what happens next. */

#include <assert.h>
#include <stdio.h>
#include <syslog.h>

#include "kernel-view.h"
#include "clock.h"
#include "device.h"
#include "target-guard.h"
#include "target-temporary.h"
#include "target-power.h"
#include "target-rewrite.h"
#include "target-spin-down.h"
#include "target-together.h"
#include "target-trigger.h"
#include "target-use.h"
#include "target-visit.h"

/* Delay before the visit is repeated after its worker died. By then the cause, such as a lack of memory, may have
 * passed. */
#define LOST_AGAIN_USEC (5ULL * 1000 * 1000)

static const VisitJobEvents visit_job_events;

/* ---- logging ---- */

/* Logs settings from rules that name an array or a volume. Such a rule applies to every drive below the array or volume, which the author
 * of the rule may not expect. */
static void log_stacked(const Target *t) {
        for (size_t i = 0; i < t->wishes.n_items; i++)
                if (t->wishes.items[i].via_stacked)
                        journal_log(LOG_NOTICE, "%s:%u names %s, which lies on %s, so %s applies to %s too.",
                                    t->wishes.items[i].file, t->wishes.items[i].line, t->wishes.items[i].via_stacked,
                                    t->drive->name, t->wishes.items[i].name, t->drive->name);
}

/* Logs a setting that differs from its last value, unless the visit follows an event that explains the difference. */
static void log_drift(const Target *t, const Step *s) {
        const SettingRecord *record;

        if (t->visit.pending.work & WORK_NO_DRIFT)
                return;
        if (!s->written && !s->failed && s->verdict != VERDICT_DRIFTED)
                return;
        if (drive_record_drift(t->record, s, now_usec()) <= 0)
                return;

        record = drive_record_find(t->record, s->wish->name);
        journal_drift(t->drive, t->visit.pending.reason, s, record->drift_from, record->drift_to);
}

/* ---- beginning ---- */

/* Called after the first commands of the visit. From now on, a visit after a reset covers all resets that the kernel
 * has reported. For example, a drive that was reset during suspend reports a unit attention at its first command after
 * the resume. The visit after the resume covers this unit attention. */
static void on_settling(void *userdata) {
        Target *t = userdata;

        if (t->disturbances.handled_until == UINT64_MAX)
                t->disturbances.handled_until = activity_last_event();
}

void target_withdraw(Target *t) {
        assert(!target_has_worker(t));

        on_settling(t);

        pending_merge(&t->pending, &t->visit.pending);
        t->visit.job = visit_job_free(t->visit.job);
        t->visit.ready = false;
        (void) drive_record_wait(t->record, (Wait){ WAIT_NOTHING });
}

static int begin_job(Target *t) {
        const CurrentVisit *v = &t->visit;
        bool may_have_spun_up = (v->pending.work & WORK_LOST) && power_watch_is_traced(target_power(t));

        /* A visit without WORK_REPORT waits for a file system check without a time limit, since it retries settings
         * that were already reported as deferred. */
        return visit_job_new(t->env->event, t->env->broker, t->env->fsck_wait,
                             &(Visit){
                                             .drive = t->drive,
                                             .wishes = &v->selected,
                                             .memories = v->memories,
                                             .bridge = &t->record->bridge,
                                             .settings = t->env->settings,
                                             /* The visit probes the power mode if the event that lost the settings may
                                              * have spun the drive up. */
                                             .work = v->pending.work | (may_have_spun_up ? WORK_POWER : 0),
                                             .ata_sleep = target_is_in_ata_sleep(t),
                             },
                             v->pending.work & WORK_REPORT ? t->files->config->fsck_wait_ms * 1000 : UINT64_MAX,
                             &visit_job_events, t, &t->visit.job);
}

static void visit_done(CurrentVisit *v) {
        free(v->memories);
        free(v->selected.items);
        *v = (CurrentVisit){ .reported_wait = v->reported_wait, .lost_before = v->lost_before };
}

void target_visit_free(Target *t) {
        (void) visit_job_free(t->visit.job);
        visit_done(&t->visit);
        free(t->visit.reported_wait);
}

int target_begin(Target *t) {
        CurrentVisit *v = &t->visit;
        VisitWork work = t->pending.work;
        bool spins_down = work & WORK_SPIN_DOWN;
        int r;

        assert(!v->job && pending_any(&t->pending));

        visit_done(v);
        v->pending = t->pending;
        t->pending = (Pending){};

        /* Clears the wait of the previous visit. Whether this visit must wait is not known yet. */
        (void) drive_record_wait(t->record, (Wait){ WAIT_NOTHING });
        if (target_guard_blocks(t))
                return 0;

        if (work & WORK_RESUMED)
                /* Does not count a resume as a disturbance. The visit after a resume covers all earlier
                 * disturbances. */
                t->disturbances.n = 0;
        else if (v->pending.throttled)
                /* Restarts the period of DISTURBANCES_USEC: until the disturbances end, there is one visit per
                 * period. */
                t->disturbances.since = monotonic_usec();
        drive_record_drop_unwanted(t->record, &t->wishes);
        if (work & WORK_RESUMED)
                drive_record_resume(t->record, t->env->settings);
        else if (work & WORK_LOST)
                drive_record_forget(t->record, t->env->settings);

        r = scope_select(work, &t->wishes, t->env->settings, drive_backends(t->drive), t->record, &v->selected);
        if (r >= 0)
                r = target_rewrite_select(t, work, &v->selected);
        if (r >= 0 && spins_down)
                r = scope_add_standby(&v->selected);
        if (r < 0)
                return r;
        if (v->selected.n_items == 0 && !target_wants_identity(t) &&
            !(work & (WORK_POWER | WORK_SPIN_UP | WORK_WEAR))) {
                target_save(t);
                return 0;
        }

        /* The record shows the reason of the last visit that read or wrote settings. */
        if (work & WORK_SETTINGS)
                r = string_replace(&t->record->visit_reason, visit_reason_to_string(v->pending.reason));
        if (r < 0)
                return r;

        if (v->selected.n_items == t->wishes.n_items + spins_down && (work & WORK_ALL))
                log_stacked(t);
        r = drive_record_memories(t->record, &v->selected, &v->memories);
        /* Clears the memory of the standby command: otherwise the worker would skip the command, since an earlier visit
         * already sent it. */
        if (r >= 0 && spins_down)
                v->memories[v->selected.n_items - 1] = (Memory){};
        if (r >= 0)
                r = begin_job(t);
        if (r < 0)
                return r;
        if (work & WORK_LOST)
                t->disturbances.handled_until = UINT64_MAX;

        /* Writes the state file now, so that it shows a new drive that waits for a worker. If the service dies, the
         * next run must also know which settings the drive has lost. */
        target_save_progress(t, work);
        return 0;
}

/* ---- the worker starts ---- */

int target_work(Target *t) {
        CurrentVisit *v = &t->visit;
        int r;

        FOREACH_PART(part, t)
        if ((*part)->visit_begins)
                (*part)->visit_begins(t);
        v->active = target_is_active(t);
        r = visit_job_work(v->job, v->active);
        if (r < 0)
                return r;
        v->ready = false;
        target_guard_begins(t);

        target_save_progress(t, v->pending.work);
        return 0;
}

/* ---- events of the VisitJob ---- */

static void on_waiting(void *userdata, Wait wait, bool deferred) {
        Target *t = userdata;
        VisitWork work = t->visit.pending.work;
        bool fsck = wait.kind == WAIT_CHECK, logged = fsck && streq_ptr(t->visit.reported_wait, wait.name);

        t->visit.ready = false;
        (void) drive_record_wait(t->record, wait);
        /* The short wait for udev at every hotplug is not logged. If a visit is withdrawn, the next visit's wait for
         * the same check is not logged again. */
        if (deferred || (fsck && !logged && (work & WORK_REPORT))) {
                journal_waiting(t->drive, wait, deferred);
                (void) string_replace(&t->visit.reported_wait, wait.name);
        }
        if (deferred)
                target_together_drop(t, &t->visit.pending);
        if (deferred && (work & WORK_RETRY)) {
                t->visit.pending.reason = VISIT_RETRY;
                t->visit.pending.work = work & (WORK_APPLY | WORK_PERMANENT | WORK_SPIN_DOWN | WORK_DESPITE_IO |
                                                WORK_RETRY | WORK_NO_DRIFT);
        }
        target_save(t);
        /* D-Bus clients stop waiting in three cases: a visit that only identifies the drive is deferred; a file system
         * check delays a visit that retries deferred settings or only spins the drive down; or a visit that writes
         * values again must wait. */
        if ((deferred && t->visit.selected.n_items == 0) || (work & WORK_REWRITE) ||
            (fsck && !deferred && (!(work & WORK_REPORT) || pending_only_spins_down(&t->visit.pending))))
                t->env->events->visit_finished(t->env->userdata, t);
}

static void on_ready(void *userdata) {
        Target *t = userdata;

        (void) drive_record_wait(t->record, (Wait){ WAIT_NOTHING });
        t->visit.summary = (VisitSummary){};
        t->visit.ready = true;
        target_changed(t);
}

static void on_bridge_learned(void *userdata, const Bridge *bridge, const DriveIdentity *identity) {
        Target *t = userdata;
        bool crashed = bridge->fragile && !t->record->bridge.fragile;

        t->record->bridge = *bridge;
        if (crashed)
                journal_log(LOG_WARNING,
                            "%s: the USB bridge crashed during an ATA command; no ATA commands are sent until the bridge is plugged in again.",
                            t->drive->name);
        if (!identity)
                return;

        if (drive_reveal(t->drive, identity) < 0 ||
            drive_record_set_identity(t->record, t->drive, t->env->boot_id) < 0) {
                journal_log(LOG_ERR, "Out of memory for the identity of %s", t->drive->name);
                return;
        }

        journal_log(LOG_INFO, "%s: the drive behind USB bridge %s (serial %s) is %s (serial %s).", t->drive->name,
                    strna(t->drive->dock_model), strna(t->drive->dock_serial), t->drive->model, t->drive->serial);
        t->visit.identified = true;
}

/* Returns true if the visit spins the drive down. The last wish of such a visit is the standby command. */
static bool spins_down(const Target *t) {
        return t->visit.pending.work & WORK_SPIN_DOWN;
}

static void on_step(void *userdata, const Step *s) {
        Target *t = userdata;
        CurrentVisit *v = &t->visit;

        if (spins_down(t) && s->wish == v->selected.items + v->selected.n_items - 1) {
                target_spindown_step(t, s);
                return;
        }

        if (s->wish->rewrite) {
                target_rewrite_step(t, s);
                if (s->verdict == VERDICT_VANISHED)
                        target_guard_lost(t);
                journal_step(t->drive, v->pending.reason, s);
                return;
        }

        v->summary.n_settings++;
        v->summary.n_written += s->written;
        if (!(v->pending.work & WORK_ALL) && !target_should_report(t, v->pending.work, s)) {
                drive_record_seen(t->record, s, now_usec());
                return;
        }
        if (!verdict_is_absent(s->verdict, s->wish->optional))
                v->summary.n_verdicts[s->verdict]++;

        target_temporary_step(t, s);
        log_drift(t, s);
        if (s->verdict == VERDICT_VANISHED)
                target_guard_lost(t);
        journal_step(t->drive, v->pending.reason, s);
        if (target_note_step(t, s) < 0)
                journal_log(LOG_ERR, "Out of memory for the record of %s", t->drive->name);

        /* If all settings were deferred before the visit had the permission to send commands, D-Bus clients need not
         * wait for the end of the visit. */
        if (s->verdict == VERDICT_DEFERRED && t->record->waiting_kind != WAIT_NOTHING &&
            v->summary.n_settings == v->selected.n_items - spins_down(t)) {
                target_save(t);
                t->env->events->visit_finished(t->env->userdata, t);
        }
}

static void on_silent(void *userdata, unsigned seconds) {
        Target *t = userdata;

        journal_worker(t->drive, "no answer for %u s; the kernel keeps trying, and other drives are visited meanwhile.",
                       seconds);
        t->env->events->visit_finished(t->env->userdata, t);
}

/* ---- end ---- */

/* Makes the remaining work pending: deferred settings, the work of a visit that was interrupted or whose worker died,
 * and the settings of a drive that was identified during the visit. A recheck is not repeated, since the next recheck
 * follows anyway. */
static void request_remaining_work(Target *t, VisitEnd end, bool lost) {
        const CurrentVisit *v = &t->visit;
        VisitWork work = v->pending.work;
        bool again = work & WORK_RETRY;

        if (end == VISIT_DEFERRED && again)
                pending_add(&t->pending, VISIT_RETRY, visit_reason_work(VISIT_RETRY), 0);
        /* Omits WORK_LOST: the interrupted visit marked all settings as lost when it began. With another WORK_LOST, the
         * next visit would repeat settings that the interrupted visit has sent. */
        if (end == VISIT_INTERRUPTED && (work & WORK_LOST))
                pending_add(&t->pending, work & WORK_PERMANENT ? VISIT_PERMANENT : VISIT_CHANGE,
                            work & ~(WORK_LOST | WORK_RESUMED | WORK_ACTIVE), 0);
        else if (end == VISIT_INTERRUPTED && (again || (work & WORK_DESPITE_IO)))
                pending_merge(&t->pending, &v->pending);
        if (lost && !v->lost_before && again) {
                pending_add(&t->pending, VISIT_RETRY, visit_reason_work(VISIT_RETRY),
                            monotonic_usec() + LOST_AGAIN_USEC);
                journal_worker(t->drive, "the drive is visited again in %llu s.", LOST_AGAIN_USEC / 1000000);
        }
        if (v->identified) {
                pending_merge(&t->pending, &v->pending);
                /* Other rules may match a drive that was just identified behind the bridge. */
                if (!(work & WORK_ALL))
                        pending_add(&t->pending, VISIT_CHANGE, visit_reason_work(VISIT_CHANGE), 0);
                /* The next visit begins at once, so a drive that is active now is still active then. */
                t->pending.work |= v->active ? WORK_ACTIVE : 0;
        }
}

static void on_ended(void *userdata, VisitEnd end, const char *lost) {
        Target *t = userdata;
        CurrentVisit *v = &t->visit;
        bool identified = v->identified, read_all = v->pending.work & WORK_ALL;
        VisitWork work = v->pending.work;

        if (lost)
                journal_worker(t->drive, "the worker process %s.", lost);
        /* Logs no summary after an identification or an interruption: the next visit begins soon and logs its own
         * summary. */
        if (!identified && end != VISIT_INTERRUPTED && (v->pending.work & WORK_SETTINGS))
                journal_visit(t->drive, v->pending.reason, &v->summary);
        t->record->visit_when = now_usec();
        target_count(t, &t->record->visits, visit_reason_to_string(v->pending.reason));
        on_settling(t);
        /* Counts the visit, to limit the number of visits if another program keeps changing a setting. */
        if ((v->pending.work & (WORK_ALL | WORK_RETRY)) == WORK_RETRY && v->summary.n_written > 0)
                target_count_disturbance(t);
        FOREACH_PART(part, t)
        if ((*part)->visit_ends)
                (*part)->visit_ends(t);
        request_remaining_work(t, end, lost);
        v->lost_before = lost;

        (void) visit_job_free(v->job);
        visit_done(v);
        (void) string_replace(&v->reported_wait, NULL);
        /* If settings are still deferred after a visit without WORK_ALL, the counters stay as they are: the next poll
         * (recheck.c) must see the I/O during the visit. */
        if (read_all || !target_has_deferred(t))
                target_note_counters(t);
        target_save_progress(t, work);

        t->env->events->visited(t, identified);
}

void target_abandon(Target *t) {
        if (target_has_worker(t)) {
                visit_job_vanish(t->visit.job);
                if (t->visit.pending.work & WORK_SETTINGS)
                        journal_visit(t->drive, t->visit.pending.reason, &t->visit.summary);
        }
        t->visit.job = visit_job_free(t->visit.job);
}

static const VisitJobEvents visit_job_events = {
        .waiting = on_waiting,
        .bridge_learned = on_bridge_learned,
        .ready = on_ready,
        .intends = target_guard_intends,
        .writing = target_guard_writing,
        .settling = on_settling,
        .step = on_step,
        .power = target_power_probed,
        .wear = target_use_wear,
        .silent = on_silent,
        .ended = on_ended,
};
