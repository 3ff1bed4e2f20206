/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <syslog.h>
#include <time.h>

#include "clock.h"
#include "device.h"
#include "state.h"
#include "watched-guard.h"
#include "watched.h"

/* The visit for what the files want of a drive follows at once on the one that found out which drive it is: no drive falls
 * asleep as quickly. */
#define ACTIVE_USEC (30ULL * 1000 * 1000)

static const VisitorEvents visitor_events;
static int watched_resolve(Watched *w);

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
        (void) visitor_free(w->visitor);
        scope_done(&w->selected);
        sd_event_source_disable_unref(w->later);
        sd_event_source_disable_unref(w->second);
        sd_event_source_disable_unref(w->unsaved);
        free(w->memories);
        free(w->told_waiting);
        wishes_done(&w->wishes);
        (void) files_unref(w->files);
        (void) drive_record_free(w->record);
        (void) drive_free(w->drive);
        (void) drive_free(w->successor);
        free(w);
        return NULL;
}

/* ---- the visit ---- */

/* Ends a visit that has no worker yet. */
static void watched_withdraw(Watched *w) {
        w->permanent = w->permanent || w->saves;
        w->visitor = visitor_free(w->visitor);
        w->ready = false;
        (void) drive_record_wait(w->record, (Wait){ WAIT_NOTHING });
}

/* Those that are about what was in order before are not about what is wanted only now. */
static VisitReason reason_for_new_wishes(VisitReason reason) {
        return visit_reason_rank(reason) < visit_reason_rank(VISIT_CHANGE) ? VISIT_CHANGE : reason;
}

/* Does the visit that has not begun yet do what this one would? */
static bool watched_does_as_well(const Watched *w, VisitReason reason) {
        bool whole = w->selected.n_items == w->wishes.n_items;

        return visit_reason_rank(reason) <= visit_reason_rank(w->reason) &&
               (whole || visit_reason_rank(reason) < visit_reason_rank(VISIT_RETRY)) && (w->saves || !w->permanent);
}

static void watched_again(Watched *w, VisitReason reason) {
        if (!w->again || visit_reason_rank(reason) >= visit_reason_rank(w->again_reason))
                w->again_reason = reason;
        w->again = true;
}

int watched_visit(Watched *w, VisitReason reason) {
        uint64_t patience = w->files->config->fsck_wait_ms * 1000;
        int r;

        if (reason == VISIT_REQUEST || reason == VISIT_PERMANENT)
                watched_distrust(w);
        w->permanent = w->permanent || reason == VISIT_PERMANENT;
        if (w->visitor && visitor_has_worker(w->visitor)) {
                watched_again(w, reason);
                return 0;
        }
        if (w->visitor && watched_does_as_well(w, reason)) {
                w->permanent = false;
                return 0;
        }
        if (w->visitor) {
                if (visit_reason_rank(w->reason) > visit_reason_rank(reason))
                        reason = w->reason;
                watched_withdraw(w);
        }
        w->saves = w->permanent;
        w->permanent = false;

        if (watched_guard_holds(w, reason))
                return 0;

        if (reason == VISIT_RESUME)
                watched_resumed(w);
        w->again = w->settles = false;
        w->reason = reason;
        w->summary = (VisitSummary){};
        drive_record_drop_unwanted(w->record, &w->wishes);

        if (visit_reason_forgets(reason))
                drive_record_forget(w->record, w->env->settings);

        scope_done(&w->selected);
        r = scope_select(scope_of_reason(reason, w->reads), &w->wishes, w->env->settings, drive_backends(w->drive),
                         w->record, &w->selected);
        if (r < 0)
                return r;
        if (w->selected.n_items == 0 && !watched_wants_identity(w)) {
                if (w->wishes.n_items == 0 || !w->saved)
                        watched_save(w);
                return 0;
        }

        r = string_replace(&w->record->visit_reason, visit_reason_to_string(reason));
        if (r < 0)
                return r;

        if (w->selected.n_items == w->wishes.n_items)
                watched_tell_stacked(w);
        free(TAKE_PTR(w->memories));
        r = drive_record_memories(w->record, &w->selected, &w->memories);
        if (r < 0)
                return r;

        /* What has been reported as deferred waits for its check as long as that takes. */
        r = visitor_new(w->env->event, w->env->broker, w->env->gate,
                        &(Visit){
                                        .drive = w->drive,
                                        .wishes = &w->selected,
                                        .memories = w->memories,
                                        .bridge = &w->record->bridge,
                                        .settings = w->env->settings,
                                        .permanent = w->saves,
                                        /* Both look whether somebody has changed it: it is not woken for that. */
                                        .no_wake = reason == VISIT_RECHECK || reason == VISIT_PARAMETERS,
                                        .deaf = watched_is_deaf(w),
                                        .look = reason == VISIT_RECHECK &&
                                                w->files->config->on_drift == ON_DRIFT_REPORT,
                        },
                        reason == VISIT_RETRY ? UINT64_MAX : patience, &visitor_events, w, &w->visitor);
        if (r < 0)
                return r;

        /* Whoever comes after us, should we not live to see the worker, is not to take for sent what the drive has lost; and
         * whoever asks for a new drive is to find it, however long it waits for its worker. */
        if (visit_reason_forgets(reason) || !w->saved)
                watched_save(w);
        return 0;
}

int watched_work(Watched *w) {
        int r;

        watched_note_shared(w);
        watched_guard_remember(w);
        w->active = watched_is_active(w);
        r = visitor_work(w->visitor, w->active);
        if (r < 0)
                return r;
        w->ready = false;
        watched_guard_begins(w);

        watched_save(w);
        return 0;
}

static void on_waiting(void *userdata, Wait wait, bool deferred) {
        Watched *w = userdata;
        bool fsck = wait.kind == WAIT_CHECK, told = fsck && streq_ptr(w->told_waiting, wait.name);

        /* While it waits another drive's worker may have its place. */
        if (wait.kind != WAIT_NOTHING)
                w->env->wants_worker(w->env->userdata, w);
        (void) drive_record_wait(w->record, wait);
        /* A moment's wait for udev at every hotplug is no news, nor is the same wait after a visit began anew. */
        if (deferred || (fsck && !told && w->reason != VISIT_RETRY)) {
                journal_waiting(w->drive, wait, deferred);
                (void) string_replace(&w->told_waiting, wait.name);
        }
        /* There will be another recheck. */
        if (deferred && w->reason != VISIT_RECHECK)
                w->reason = VISIT_RETRY;
        watched_save(w);

        /* Nothing is told of a visit that is only to find out which drive it is; and nobody waits for as long as a check takes
         * with what it has left over. */
        if ((deferred && w->selected.n_items == 0) || (fsck && !deferred && w->reason == VISIT_RETRY))
                w->env->rested(w->env->userdata, w);
}

static void on_ready(void *userdata) {
        Watched *w = userdata;

        (void) drive_record_wait(w->record, (Wait){ WAIT_NOTHING });
        w->summary = (VisitSummary){};
        w->ready = true;
        w->env->wants_worker(w->env->userdata, w);
}

static void on_step(void *userdata, const Step *s) {
        Watched *w = userdata;

        w->summary.n_settings++;
        w->summary.n_written += s->written;
        if (!watched_is_news(w, s))
                return;
        w->summary.n_verdicts[s->verdict]++;

        watched_tell_drift(w, s);
        if (s->verdict == VERDICT_VANISHED)
                watched_guard_lost(w);
        journal_step(w->drive, w->reason, s);
        if (drive_record_step(w->record, s, now_usec()) < 0)
                journal_log(LOG_ERR, "Out of memory for the record of %s", w->drive->name);

        /* Told while it still waits at the gate: the whole visit is deferred, and nobody should wait for its end. */
        if (s->verdict == VERDICT_DEFERRED && w->record->waiting_kind != WAIT_NOTHING &&
            w->summary.n_settings == w->selected.n_items) {
                watched_save(w);
                w->env->rested(w->env->userdata, w);
        }
}

static void on_silent(void *userdata, unsigned seconds) {
        Watched *w = userdata;

        if (!w->gone)
                journal_worker(w->drive,
                               "no answer for %u s; the kernel goes on trying, and other drives do not wait for it.",
                               seconds);
        w->env->rested(w->env->userdata, w);
}

/* What came up while the visit was under way: all of it, as each may be about what the others are not. */
static void watched_next(Watched *w, bool deferred) {
        VisitReason reason;
        bool again;

        if (deferred && (!w->again || visit_reason_rank(w->again_reason) < visit_reason_rank(VISIT_RETRY)))
                watched_again(w, VISIT_RETRY);
        w->active_until = w->unveiled && w->active ? monotonic_usec() + ACTIVE_USEC : 0;
        if (w->unveiled) {
                w->unveiled = false;
                (void) watched_guard_attach(w);
                watched_again(w, reason_for_new_wishes(w->reason));
                (void) watched_resolve(w);
        }
        again = w->again;
        reason = w->again_reason;
        w->again = false;

        if (w->stale) {
                bool succeeds = w->successor;

                (void) watched_reconfigure(w, w->stale_reason);
                if (succeeds)
                        (void) watched_disturbed(w, VISIT_REVALIDATION, 0);
        } else if (w->successor)
                (void) watched_update(w, TAKE_PTR(w->successor));
        if (again)
                (void) watched_visit(w, reason);
}

static void on_ended(void *userdata, bool deferred, const char *lost) {
        Watched *w = userdata;

        if (lost)
                journal_worker(w->drive, "the worker process %s.", lost);
        if (!w->unveiled)
                journal_visit(w->drive, w->reason, &w->summary);
        watched_calm(w, lost);
        watched_guard_ended(w);

        w->visitor = visitor_free(w->visitor);
        free(TAKE_PTR(w->memories));
        scope_done(&w->selected);
        w->busy = false;
        (void) drive_record_wait(w->record, (Wait){ WAIT_NOTHING });
        (void) string_replace(&w->told_waiting, NULL);
        watched_save(w);

        if (!w->gone) {
                watched_next(w, deferred && w->reason != VISIT_RECHECK);
                (void) watched_look_at_link(w, true);
        }
        w->env->rested(w->env->userdata, w);
}

static const VisitorEvents visitor_events = {
        .waiting = on_waiting,
        .bridged = watched_bridged,
        .ready = on_ready,
        .intends = watched_guard_intends,
        .writing = watched_guard_writing,
        .settling = watched_settles,
        .step = on_step,
        .silent = on_silent,
        .ended = on_ended,
};

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

void watched_succeed(Watched *w, Drive *drive) {
        /* What is another drive by now, udev is about to tell of. */
        if (!drive_same(w->drive, drive)) {
                (void) drive_free(drive);
                return;
        }
        (void) drive_free(w->successor);
        w->successor = drive;
}

int watched_update(Watched *w, Drive *drive) {
        bool interrupted = w->visitor;
        VisitReason reason = interrupted ? w->reason : VISIT_CHANGE;
        int r;

        if (w->visitor && visitor_has_worker(w->visitor)) {
                watched_succeed(w, drive);
                return 0;
        }

        /* A visit that has not begun yet begins anew: the links of partitions, which it waited for, may say that this drive
         * is to be left alone. */
        if (w->visitor)
                watched_withdraw(w);

        r = watched_adopt(w, drive);
        if (r >= 0)
                r = watched_resolve(w);
        if (r > 0)
                reason = reason_for_new_wishes(reason);
        if (r > 0 || (r == 0 && interrupted))
                return watched_visit(w, reason);
        return r == 0 ? watched_disturbed(w, VISIT_REVALIDATION, 0) : r;
}

int watched_reconfigure(Watched *w, VisitReason reason) {
        bool interrupted = w->visitor;
        int r;

        if (w->visitor && visitor_has_worker(w->visitor)) {
                w->stale = true;
                w->stale_reason = reason;
                return 0;
        }

        w->stale = false;
        if (w->visitor)
                watched_withdraw(w);
        if (w->successor) {
                r = watched_adopt(w, TAKE_PTR(w->successor));
                if (r < 0)
                        return r;
        }

        r = watched_resolve(w);
        if (r < 0)
                return r;
        /* A rule that is for what only the drive itself can say is none of its wishes before that was asked. */
        if (r == 0 && !interrupted && !watched_wants_identity(w))
                return 0;

        watched_tell_released(w);
        return watched_visit(w, reason);
}

bool watched_leave(Watched *w) {
        watched_guard_leaves(w);
        w->gone = true;
        w->later = sd_event_source_disable_unref(w->later);
        w->second = sd_event_source_disable_unref(w->second);
        w->unsaved = sd_event_source_disable_unref(w->unsaved);
        if (!w->visitor || !visitor_has_worker(w->visitor))
                return false;

        visitor_vanish(w->visitor);
        return true;
}
