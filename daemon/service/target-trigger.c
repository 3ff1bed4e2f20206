/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clock.h"
#include "device.h"
#include "kernel-view.h"
#include "target-trigger.h"
#include "visit.h"

/* ---- too many events ---- */

void target_count_disturbance(Target *t) {
        uint64_t now = monotonic_usec();

        if (t->disturbances.n == 0 || now >= t->disturbances.since + DISTURBANCES_USEC) {
                t->disturbances.since = now;
                t->disturbances.n = 0;
        }
        t->disturbances.n = MIN(t->disturbances.n + 1, DISTURBANCES);
}

/* ---- events ---- */

static int open_nothing(void *userdata _unused_, const Drive *drive _unused_) {
        return -EPERM;
}

/* The worker checks whether a program uses the drive before the worker writes the setting read_only. */
static int claim_nothing(void *userdata _unused_, const char *name _unused_) {
        return 0;
}

/* Returns true if a revalidation changed settings that the kernel holds. Reads these settings from sysfs without a
 * worker. The udev event of a revalidation proves nothing: udev sends the same event when a program closes a node that
 * was open for writing. */
static bool was_revalidated(const Target *t) {
        static const DeviceIO io = { .open_node = open_nothing, .is_claimed = claim_nothing };
        _cleanup_free_ Memory *memories = NULL;
        VisitWork work = visit_reason_work(VISIT_REVALIDATION);
        Visit v = { .drive = t->drive, .settings = t->env->settings, .io = &io, .dry = true, .work = work };
        Wishes selected;
        bool changed = true;
        Plan p;
        int r;

        if (scope_select(work, &t->wishes, t->env->settings, drive_backends(t->drive), t->record, &selected) < 0)
                return true;

        v.wishes = &selected;
        r = drive_record_memories(t->record, &selected, &memories);
        v.memories = memories;
        if (r >= 0)
                r = visit_run(&v, &p);
        if (r >= 0) {
                changed = false;
                for (size_t i = 0; i < p.n_steps; i++)
                        changed = changed || target_should_report(t, work, p.steps + i);
                plan_done(&p);
        }

        free(selected.items);
        return changed;
}

void target_disturbed(Target *t, VisitReason reason, uint64_t seqnum) {
        uint64_t end = t->disturbances.since + DISTURBANCES_USEC;

        if (reason == VISIT_REVALIDATION && !was_revalidated(t))
                return;
        if ((visit_reason_work(reason) & WORK_LOST) && seqnum != 0 && seqnum <= t->disturbances.handled_until)
                return;

        if (t->disturbances.n >= DISTURBANCES && monotonic_usec() < end) {
                if (t->disturbances.n == DISTURBANCES)
                        journal_storm(t->drive, reason, DISTURBANCES_USEC / 60000000);
                t->disturbances.n = DISTURBANCES + 1;
                t->pending.throttled = true;
                target_visit_later(t, reason, visit_reason_work(reason), end);
                return;
        }

        /* A revalidation costs only reads of sysfs, so it does not count as a disturbance. A visit that writes settings
         * is counted at its end. */
        if (reason != VISIT_REVALIDATION)
                target_count_disturbance(t);
        target_visit(t, reason);
}

bool target_poll_link(Target *t, bool visited) {
        uint64_t since = t->record->link_since;
        LinkEvent news;

        if (target_has_worker(t))
                return false;

        news = link_last_event(t->drive->syspath, &since);
        if (news != LINK_UNCHANGED && !visited && link_is_recovering(t->drive->syspath))
                return true;
        t->record->link_since = since;
        /* Requests no visit if the drive is being unplugged: a udev event for the removal follows. */
        if (news < (visited ? LINK_LOST : LINK_RESET) || health_read(t->drive->syspath) < 0)
                return false;
        target_disturbed(t, VISIT_RESET, 0);
        return false;
}

void target_recheck(Target *t, bool in_use) {
        VisitWork work = visit_reason_work(VISIT_RECHECK);

        /* The visit under way reads the same settings, so no recheck is needed. */
        if (t->visit.job)
                return;

        if (t->files->config->on_drift == ON_DRIFT_REPORT)
                work &= ~(WORK_WRITE_KERNEL | WORK_WRITE);
        target_visit_for(t, VISIT_RECHECK, work | (in_use ? WORK_DRIVE | WORK_ACTIVE : 0));
}

void target_read(Target *t) {
        /* A visit that waits for its worker will read the settings. A visit with a worker may already have read them,
         * so another visit follows. */
        if (t->visit.job && !target_has_worker(t))
                return;

        target_visit_for(t, VISIT_RECHECK, WORK_KERNEL | WORK_DRIVE | WORK_REPORT);
}

void target_changed_by_other(Target *t) {
        /* Settings that cannot be read may have changed, too: WORK_RESEND sends them again. */
        if (t->files->config->on_drift == ON_DRIFT_RESTORE)
                target_visit_for(t, VISIT_PARAMETERS, visit_reason_work(VISIT_PARAMETERS) | WORK_RESEND);
        else
                target_read(t);
}
