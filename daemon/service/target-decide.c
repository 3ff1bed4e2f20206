/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <syslog.h>

#include "clock.h"
#include "target-decide.h"
#include "target-guard.h"
#include "target-life.h"
#include "target-temporary.h"
#include "target-together.h"
#include "target-trigger.h"
#include "target-visit.h"
#include "target-wishes.h"

/* Delay before the next attempt to restore the value that the drive had before a temporary value. */
#define RETURN_AGAIN_USEC (5ULL * 1000 * 1000)

/* Calls TargetPart.settled of each part. */
static void settle_parts(Target *t) {
        bool changed = false;

        FOREACH_PART(part, t)
        if ((*part)->settled)
                changed = (*part)->settled(t) || changed;
        if (changed)
                target_save(t);
}

/* ---- when the visit begins ---- */

/* Returns true if the visit that waits for its worker does all pending work. */
static bool visit_covers_pending(const Target *t) {
        return !(t->pending.work & WORK_DONE & ~t->visit.pending.work);
}

static uint64_t target_not_before(const Target *t) {
        return t->pending.work & WORK_NOW ? 0 : MAX(t->pending.not_before, target_guard_steady_at(t));
}

/* Begins a visit if work is pending and due. Called after every event, at the end of a visit, and at the time that
 * target_due() returns. */
static void target_decide(Target *t) {
        int r;

        if (!pending_any(&t->pending) || target_has_worker(t))
                return;

        if (t->visit.job && visit_covers_pending(t)) {
                t->pending = (Pending){};
                return;
        }
        if (target_not_before(t) > monotonic_usec()) {
                target_changed(t);
                return;
        }

        if (t->visit.job)
                target_withdraw(t);
        r = target_begin(t);
        if (!t->visit.job)
                target_together_drop(t, &t->visit.pending);
        if (r < 0)
                journal_log(LOG_ERR, "%s: the visit cannot begin: %s", t->drive->name, strerror(-r));
}

/* Marks unreadable settings as not sent, so that the next visit sends them. A visit that waits for its worker also
 * sends them. */
static void target_distrust(Target *t) {
        CurrentVisit *v = &t->visit;

        drive_record_resend_unreadable(t->record, t->env->settings);
        for (size_t i = 0; v->memories && i < v->selected.n_items; i++) {
                const SettingRecord *s = drive_record_find(t->record, v->selected.items[i].name);

                v->memories[i].sent.known = v->memories[i].sent.known && s && s->sent.known;
        }
}

uint64_t target_due(const Target *t) {
        uint64_t due = UINT64_MAX;

        if (pending_any(&t->pending) && !target_has_worker(t))
                due = target_not_before(t);
        if (t->saving.again_at > 0)
                due = MIN(due, t->saving.again_at);
        FOREACH_PART(part, t)
        if ((*part)->due)
                due = MIN(due, (*part)->due(t));
        return due;
}

void target_tick(Target *t) {
        if (t->saving.again_at > 0 && monotonic_usec() >= t->saving.again_at)
                target_save(t);
        FOREACH_PART(part, t)
        if ((*part)->tick)
                (*part)->tick(t);

        target_decide(t);
}

/* ---- changes of the wishes ---- */

/* Applies a new description of the drive, or a new configuration. The drive must have no worker. A visit that waits for
 * its worker begins again, since the drive may now match other rules, for example because of new links to its
 * partitions. */
static void target_refresh(Target *t) {
        bool described = t->update.drive, interrupted = t->visit.job;
        Pending new_files = t->update.files;
        int r = 0;

        assert(!target_has_worker(t));

        t->update.files = (Pending){};
        if (interrupted)
                target_withdraw(t);
        if (described)
                r = target_adopt(t, TAKE_PTR(t->update.drive));
        if (described && r >= 0)
                r = target_attach_parts(t, true);
        if (r >= 0)
                r = target_resolve(t);

        /* A visit is also needed in three cases without changed wishes: a visit was withdrawn, a rule needs the identity
         * of the drive behind a bridge, or the value before a temporary value must be restored. */
        if (r < 0)
                target_log_unresolved(t, r);
        else if (pending_any(&new_files) &&
                 (r > 0 || interrupted || target_wants_identity(t) || target_temporary_returns(t))) {
                target_log_unmanaged(t);
                pending_merge(&t->pending, &new_files);
        } else if (r > 0)
                pending_add(&t->pending, VISIT_CHANGE, visit_reason_work(VISIT_CHANGE), 0);
        else if (described && !interrupted && !pending_any(&new_files))
                target_disturbed(t, VISIT_REVALIDATION, 0);
        target_decide(t);
        if (!t->visit.job)
                settle_parts(t);
        if (interrupted && !t->visit.job)
                t->env->events->visit_finished(t->env->userdata, t);
}

void target_update(Target *t, Drive *drive) {
        (void) drive_free(t->update.drive);
        t->update.drive = drive;
        if (!target_has_worker(t))
                target_refresh(t);
}

void target_requested(Target *t, VisitWork work) {
        if (work & WORK_RESEND)
                target_distrust(t);
        target_guard_delay(t);
        if (pending_any(&t->update.files) && !target_has_worker(t))
                target_refresh(t);
        else
                target_decide(t);
}

void target_visited(Target *t, bool identified) {
        int r = 0;

        if (identified)
                r = target_attach_parts(t, false);
        if (identified && r >= 0)
                r = target_resolve(t);
        /* If a new configuration waits in t->update, the wishes of the ended visit stay as they are: target_refresh()
         * below must compare the new wishes with them. */
        if (!pending_any(&t->update.files) && target_temporary_ended(t)) {
                r = target_resolve(t);
                drive_record_drop_unwanted(t->record, &t->wishes);
                target_save(t);
        } else if (!pending_any(&t->pending) && target_temporary_must_retry(t))
                pending_add(&t->pending, VISIT_RETRY, visit_reason_work(VISIT_RETRY),
                            monotonic_usec() + RETURN_AGAIN_USEC);
        if (r < 0)
                target_log_unresolved(t, r);

        if (t->update.drive || pending_any(&t->update.files))
                target_refresh(t);
        else
                target_decide(t);
        (void) target_poll_link(t, true);
        settle_parts(t);
        t->env->events->visit_finished(t->env->userdata, t);
}
