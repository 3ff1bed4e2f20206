/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A drive comes, is described anew, and goes; what the files want of it; and the one place that decides when it is visited. */

#include <assert.h>
#include <syslog.h>

#include "clock.h"
#include "device.h"
#include "state.h"
#include "watched-guard.h"
#include "watched.h"

/* Whoever has filled /run up is at it for a while. */
#define SAVE_AGAIN_USEC (60ULL * 1000 * 1000)

int watched_new(const WatchedEnv *env, Drive *drive, Watched **ret) {
        _cleanup_(drive_record_freep) DriveRecord *record = NULL;
        Watched *w;
        int r;

        if (state_read(env->state_dir, drive->name, &record) < 0 ||
            !drive_record_continues(record, drive, env->boot_id)) {
                (void) drive_record_free(TAKE_PTR(record));
                record = calloc(1, sizeof *record);
                if (!record)
                        return -ENOMEM;
        }

        /* Nobody has looked yet whether it still waits. */
        r = drive_record_wait(record, (Wait){ WAIT_NOTHING });
        if (r >= 0)
                r = drive_record_reveal(record, drive);
        if (r >= 0)
                r = drive_record_set_identity(record, drive, env->boot_id);
        if (r < 0)
                return r;

        w = calloc(1, sizeof *w);
        if (!w)
                return -ENOMEM;

        *w = (Watched){ .env = env,
                        .drive = drive,
                        .files = files_ref(env->files),
                        .record = TAKE_PTR(record),
                        .disturbances = DISTURBANCES };
        /* The machine slept, or the drive lost its link, while no service ran that would have noticed. */
        if (watched_link_changed(w) || slept_usec() > w->record->slept + SLEPT_JITTER_USEC)
                drive_record_forget(w->record, env->settings);

        r = config_resolve(env->files->config, drive, env->on_battery, &w->wishes);
        if (r >= 0)
                r = watched_guard_attach(w);
        if (r < 0) {
                w->drive = NULL;
                (void) watched_free(w);
                return r;
        }

        *ret = w;
        return 0;
}

Watched *watched_free(Watched *w) {
        if (!w)
                return NULL;

        watched_guard_done(w);
        (void) visitor_free(w->visit.visitor);
        scope_done(&w->visit.selected);
        free(w->visit.memories);
        free(w->told_waiting);
        wishes_done(&w->wishes);
        (void) files_unref(w->files);
        (void) drive_record_free(w->record);
        (void) drive_free(w->drive);
        (void) drive_free(w->successor);
        free(w);
        return NULL;
}

/* ---- when it is visited ---- */

/* Does the visit that has no worker yet do all that is pending? */
static bool watched_does_as_well(const Watched *w) {
        unsigned rank = visit_reason_rank(pending_reason(&w->pending));
        bool whole = w->visit.selected.n_items == w->wishes.n_items;

        return rank <= visit_reason_rank(w->visit.reason) && (whole || rank < visit_reason_rank(VISIT_RETRY)) &&
               (pending_has(&w->visit.pending, VISIT_PERMANENT) || !pending_has(&w->pending, VISIT_PERMANENT));
}

static uint64_t watched_not_before(const Watched *w) {
        return pending_is_request(&w->pending) ? 0 : MAX(w->pending.not_before, w->guard.steady_until);
}

/* All that leads to a visit comes through here: an event, the end of a visit, and the time that was set here. */
static void watched_decide(Watched *w) {
        int r;

        if (w->pending.reasons == 0 || watched_has_worker(w))
                return;

        if (w->visit.visitor && watched_does_as_well(w)) {
                w->pending = (Pending){};
                return;
        }
        if (watched_not_before(w) > monotonic_usec()) {
                w->env->wake(w->env->userdata, w);
                return;
        }

        if (w->visit.visitor)
                watched_withdraw(w);
        r = watched_begin(w);
        if (r < 0)
                journal_log(LOG_ERR, "%s cannot be visited: %s", w->drive->name, strerror(-r));
}

void watched_visit_later(Watched *w, VisitReason reason, uint64_t not_before) {
        if (reason == VISIT_REQUEST || reason == VISIT_PERMANENT)
                watched_distrust(w);

        pending_add(&w->pending, reason, not_before);
        watched_guard_hesitates(w);
        watched_decide(w);
}

void watched_visit(Watched *w, VisitReason reason) {
        watched_visit_later(w, reason, 0);
}

uint64_t watched_due(const Watched *w) {
        uint64_t due = UINT64_MAX;

        if (w->pending.reasons && !watched_has_worker(w))
                due = watched_not_before(w);
        if (w->guard.healthy_at > 0)
                due = MIN(due, w->guard.healthy_at);
        if (w->save_again > 0)
                due = MIN(due, w->save_again);
        return due;
}

void watched_tick(Watched *w) {
        uint64_t now = monotonic_usec();

        if (w->save_again > 0 && now >= w->save_again)
                watched_save(w);
        if (w->guard.healthy_at > 0 && now >= w->guard.healthy_at)
                watched_guard_look(w);

        watched_decide(w);
}

/* ---- what is wanted changes ---- */

/* Returns 1 when the wishes are others now. */
static int watched_resolve(Watched *w) {
        Wishes wishes = {};
        bool same;
        int r;

        r = config_resolve(w->env->files->config, w->drive, w->env->on_battery, &wishes);
        if (r < 0)
                return r;

        same = wishes_equal(&w->wishes, &wishes);
        wishes_done(&w->wishes);
        w->wishes = wishes;
        (void) files_unref(w->files);
        w->files = files_ref(w->env->files);
        return !same;
}

static int watched_adopt(Watched *w, Drive *drive) {
        int r;

        (void) drive_free(w->drive);
        w->drive = drive;
        r = drive_record_reveal(w->record, drive);
        if (r >= 0)
                r = drive_record_set_identity(w->record, drive, w->env->boot_id);
        return r < 0 ? r : watched_guard_attach(w);
}

/* The drive is described anew, or the files are read anew; no worker is at the drive. A visit that has not begun yet begins anew:
 * the links of partitions, which it waited for, may say that this drive is to be left alone. */
static void watched_refresh(Watched *w) {
        bool described = w->successor, interrupted = w->visit.visitor;
        unsigned new_files = w->new_files;
        int r = 0;

        assert(!watched_has_worker(w));

        w->new_files = 0;
        if (interrupted)
                watched_withdraw(w);
        if (described)
                r = watched_adopt(w, TAKE_PTR(w->successor));
        if (r >= 0)
                r = watched_resolve(w);
        if (r < 0) {
                journal_log(LOG_ERR, "%s keeps its old settings: %s", w->drive->name, strerror(-r));
                return;
        }

        /* A rule that is for what only the drive itself can say is none of its wishes before that was asked. */
        if (new_files && (r > 0 || interrupted || watched_wants_identity(w))) {
                watched_tell_released(w);
                pending_restore(&w->pending, &(Pending){ .reasons = new_files });
        } else if (r > 0)
                pending_add(&w->pending, VISIT_CHANGE, 0);
        else if (described && !interrupted)
                watched_disturbed(w, VISIT_REVALIDATION, 0);
        watched_decide(w);
}

void watched_go_on(Watched *w, bool identified) {
        int r = 0;

        if (identified)
                r = watched_guard_attach(w);
        if (identified && r >= 0)
                r = watched_resolve(w);
        if (r < 0)
                journal_log(LOG_ERR, "%s keeps its old settings: %s", w->drive->name, strerror(-r));

        if (w->successor || w->new_files)
                watched_refresh(w);
        else
                watched_decide(w);
}

void watched_succeed(Watched *w, Drive *drive) {
        /* What is another drive by now, udev is about to tell of. */
        if (!drive_same(w->drive, drive)) {
                (void) drive_free(drive);
                return;
        }
        (void) drive_free(w->successor);
        w->successor = drive;
}

void watched_update(Watched *w, Drive *drive) {
        watched_succeed(w, drive);
        if (!watched_has_worker(w))
                watched_refresh(w);
}

void watched_reconfigure(Watched *w, VisitReason reason) {
        w->new_files |= 1U << reason;
        if (!watched_has_worker(w))
                watched_refresh(w);
}

/* ---- what others read ---- */

void watched_save(Watched *w) {
        int r;

        if (w->gone)
                return;

        w->record->state = w->record->waiting_kind != WAIT_NOTHING ? DRIVE_WAITING
                           : !w->visit.visitor                     ? DRIVE_IDLE
                           : watched_has_worker(w)                 ? DRIVE_VISITING
                                                                   : DRIVE_QUEUED;

        w->record->slept = slept_usec();
        w->saved = true;
        r = state_write(w->env->state_dir, w->record);
        if (r < 0 && w->save_again == 0)
                journal_log(LOG_WARNING,
                            "%s is looked after, but 'drivekeep status' does not know of it until %s can be written: %s",
                            w->drive->name, w->env->state_dir, strerror(-r));

        w->save_again = r < 0 ? monotonic_usec() + SAVE_AGAIN_USEC : 0;
        if (r < 0)
                w->env->wake(w->env->userdata, w);
}

/* ---- the end ---- */

bool watched_leave(Watched *w) {
        watched_guard_leaves(w);
        w->gone = true;
        w->pending = (Pending){};
        w->save_again = 0;
        if (!watched_has_worker(w))
                return false;

        visitor_vanish(w->visit.visitor);
        return true;
}
