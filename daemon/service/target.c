/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A drive comes, is described anew, and goes; what the files want of it; and the one place that decides when it is visited. */

#include <assert.h>
#include <syslog.h>

#include "clock.h"
#include "device.h"
#include "kernel-view.h"
#include "state.h"
#include "target-guard.h"
#include "target-held.h"
#include "target-spindown.h"
#include "target-use.h"
#include "target.h"
#include "visit.h"

/* What is wanted of the drive now. */
static int find_wishes(const Target *t, Wishes *ret) {
        _cleanup_(wishes_done) Wishes w = {};
        int r;

        r = config_resolve(t->env->files->config, t->drive, t->env->on_battery, &w);
        if (r >= 0)
                r = target_held_overlay(t, &w);
        if (r < 0)
                return r;

        *ret = w;
        w = (Wishes){};
        return 0;
}

/* A drive that refused or did not answer may do so no more. */
#define HELD_AGAIN_USEC (5ULL * 1000 * 1000)

static int target_adopt(Target *t, Drive *drive) {
        int r;

        (void) drive_free(t->drive);
        t->drive = drive;
        r = drive_record_reveal(t->record, drive);
        if (r >= 0)
                r = drive_record_set_identity(t->record, drive, t->env->boot_id);
        return r < 0 ? r : target_guard_attach(t);
}

int target_new(const TargetEnv *env, Drive *drive, Target **ret) {
        Target *t;
        int r;

        t = calloc(1, sizeof *t);
        if (!t)
                return -ENOMEM;

        *t = (Target){ .env = env, .files = files_ref(env->files) };
        if (state_read(STATE_DIR, drive->name, &t->record) < 0 ||
            !drive_record_continues(t->record, drive, env->boot_id)) {
                (void) drive_record_free(t->record);
                t->record = calloc(1, sizeof *t->record);
        } else
                drive_record_begin_run(t->record);

        r = t->record ? target_adopt(t, drive) : -ENOMEM;
        if (r >= 0)
                target_use_attach(t);
        if (r >= 0)
                r = target_held_attach(t);
        if (r >= 0)
                r = find_wishes(t, &t->wishes);
        if (r < 0) {
                t->drive = NULL;
                (void) target_free(t);
                return r;
        }

        /* The machine slept, or the drive lost its link, while no service ran that would have noticed. */
        if (link_news(drive->syspath, &t->record->link_since) != LINK_SAME)
                drive_record_forget(t->record, env->settings);
        if (slept_usec() > t->record->slept + SLEPT_JITTER_USEC)
                drive_record_resume(t->record, env->settings);

        *ret = t;
        return 0;
}

Target *target_free(Target *t) {
        if (!t)
                return NULL;

        target_guard_done(t);
        target_standby_done(t);
        (void) visit_job_free(t->visit.job);
        free(t->visit.selected.items);
        free(t->visit.memories);
        free(t->told_waiting);
        free(t->held.items);
        wishes_done(&t->wishes);
        (void) files_unref(t->files);
        (void) drive_record_free(t->record);
        (void) drive_free(t->drive);
        (void) drive_free(t->successor);
        free(t);
        return NULL;
}

/* ---- when it is visited ---- */

/* Does the visit that has no worker yet do all that is pending? */
static bool target_does_as_well(const Target *t) {
        return !(t->pending.work & WORK_DONE & ~t->visit.pending.work);
}

static uint64_t target_not_before(const Target *t) {
        return t->pending.work & WORK_NOW ? 0 : MAX(t->pending.not_before, t->guard.steady_until);
}

/* All that leads to a visit comes through here: an event, the end of a visit, and the time that was set here. */
static void target_decide(Target *t) {
        int r;

        if (!pending_any(&t->pending) || target_has_worker(t))
                return;

        if (t->visit.job && target_does_as_well(t)) {
                t->pending = (Pending){};
                return;
        }
        if (target_not_before(t) > monotonic_usec()) {
                t->env->changed(t->env->userdata, t);
                return;
        }

        if (t->visit.job)
                target_withdraw(t);
        r = target_begin(t);
        if (!t->visit.job)
                target_spindown_passes(t, &t->visit.pending);
        if (r < 0)
                journal_log(LOG_ERR, "%s cannot be visited: %s", t->drive->name, strerror(-r));
}

/* Somebody asks for a visit, and wants what cannot be read to be sent: also by the visit that is about to begin. */
static void target_distrust(Target *t) {
        CurrentVisit *v = &t->visit;

        drive_record_distrust(t->record, t->env->settings);
        for (size_t i = 0; v->memories && i < v->selected.n_items; i++) {
                const SettingRecord *s = drive_record_find(t->record, v->selected.items[i].name);

                v->memories[i].sent.known = v->memories[i].sent.known && s && s->sent.known;
        }
}

/* `not_before`: CLOCK_MONOTONIC, µs. */
static void target_visit_later(Target *t, VisitReason reason, VisitWork work, uint64_t not_before) {
        if (work & WORK_DISTRUST)
                target_distrust(t);

        pending_add(&t->pending, reason, work, not_before);
        target_guard_hesitates(t);
        target_decide(t);
}

void target_visit(Target *t, VisitReason reason) {
        target_visit_for(t, reason, visit_reason_work(reason));
}

void target_visit_for(Target *t, VisitReason reason, VisitWork work) {
        target_visit_later(t, reason, work, 0);
}

uint64_t target_due(const Target *t) {
        uint64_t due = UINT64_MAX;

        if (pending_any(&t->pending) && !target_has_worker(t))
                due = target_not_before(t);
        if (t->guard.healthy_at > 0)
                due = MIN(due, t->guard.healthy_at);
        if (t->save_again > 0)
                due = MIN(due, t->save_again);
        due = MIN(due, target_spindown_due(t));
        return MIN(due, target_standby_due(t));
}

void target_tick(Target *t) {
        uint64_t now = monotonic_usec();

        if (t->save_again > 0 && now >= t->save_again)
                target_save(t);
        if (t->guard.healthy_at > 0 && now >= t->guard.healthy_at)
                target_guard_look(t);
        target_spindown_tick(t);
        target_standby_tick(t);

        target_decide(t);
}

/* ---- what comes from outside of drive and kernel, and what their counters tell ---- */

static int open_nothing(void *userdata _unused_, const Drive *drive _unused_) {
        return -EPERM;
}

/* The kernel looked at it anew, or only said so, as it does whenever something that was open for writing is closed: is what the
 * kernel holds still as it was left? That is read from here, from the same files of sysfs as the drive's identity, and needs no
 * process of its own. */
static bool was_revalidated(const Target *t) {
        static const DeviceIO io = { .open_node = open_nothing };
        _cleanup_free_ Memory *memories = NULL;
        VisitWork work = visit_reason_work(VISIT_REVALIDATION);
        Visit v = { .drive = t->drive, .settings = t->env->settings, .io = &io, .dry = true, .work = work };
        Wishes selected;
        bool news = true;
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
                news = false;
                for (size_t i = 0; i < p.n_steps; i++)
                        news = news || target_finds_news(t, work, p.steps + i);
                plan_done(&p);
        }

        free(selected.items);
        return news;
}

void target_disturbed(Target *t, VisitReason reason, uint64_t seqnum) {
        uint64_t end = t->disturbed_since + DISTURBANCES_USEC;

        if (reason == VISIT_REVALIDATION && !was_revalidated(t))
                return;
        if ((visit_reason_work(reason) & WORK_LOST) && seqnum != 0 && seqnum <= t->made_up)
                return;

        if (t->n_disturbances >= DISTURBANCES && monotonic_usec() < end) {
                if (t->n_disturbances == DISTURBANCES)
                        journal_storm(t->drive, reason, DISTURBANCES_USEC / 60000000);
                t->n_disturbances = DISTURBANCES + 1;
                t->pending.put_off = true;
                target_visit_later(t, reason, visit_reason_work(reason), end);
                return;
        }

        /* A look at what the kernel holds costs nothing; a visit that had to write counts when it ends. */
        if (reason != VISIT_REVALIDATION)
                target_count_disturbance(t);
        target_visit(t, reason);
}

bool target_look_at_link(Target *t, bool visited) {
        uint64_t since = t->record->link_since;
        LinkNews news;

        if (target_has_worker(t))
                return false;

        news = link_news(t->drive->syspath, &since);
        if (news != LINK_SAME && !visited && link_is_recovering(t->drive->syspath))
                return true;
        t->record->link_since = since;
        /* It may be about to go away: then udev tells. */
        if (news < (visited ? LINK_LOST : LINK_RESET) || health_read(t->drive->syspath) < 0)
                return false;
        target_disturbed(t, VISIT_RESET, 0);
        return false;
}

void target_recheck(Target *t, bool in_use) {
        VisitWork work = visit_reason_work(VISIT_RECHECK);

        /* A visit that is under way sees all that this one could. */
        if (t->visit.job)
                return;

        if (t->files->config->on_drift == ON_DRIFT_REPORT)
                work &= ~(WORK_WRITE_KERNEL | WORK_WRITE);
        target_visit_for(t, VISIT_RECHECK, work | (in_use ? WORK_DRIVE | WORK_ACTIVE : 0));
}

void target_read(Target *t) {
        /* A visit that has not begun yet sees all that this one could; another one may have looked before. */
        if (t->visit.job && !target_has_worker(t))
                return;

        target_visit_for(t, VISIT_RECHECK, WORK_KERNEL | WORK_DRIVE | WORK_REPORT);
}

void target_meddled(Target *t) {
        /* What cannot be read may have been written, too. */
        if (t->files->config->on_drift == ON_DRIFT_RESTORE)
                target_visit_for(t, VISIT_PARAMETERS, visit_reason_work(VISIT_PARAMETERS) | WORK_DISTRUST);
        else
                target_read(t);
}

/* ---- what is wanted changes ---- */

/* Has the drive what was asked for, and keeps it? Not what it never took, what it has not got at all, and what was done once. */
static bool is_kept(const Target *t, const SettingRecord *s) {
        const Setting *row = setting_find(t->env->settings, s->name);

        if (row && (row->flags & SETTING_AT_ATTACH))
                return false;

        if (s->verdict == VERDICT_UNVERIFIABLE || s->sent.known)
                return true;
        return verdict_is_in_order(s->verdict) && s->actual;
}

/* A key that was taken out leaves the drive as it is, which may not be what is expected: that is said, once. */
static void tell_released(const Target *t) {
        for (size_t i = 0; i < t->record->n_settings; i++) {
                const SettingRecord *s = t->record->settings + i;

                if (!wishes_find(&t->wishes, s->name) && is_kept(t, s))
                        journal_log(LOG_NOTICE,
                                    "%s: nothing asks for %s any more; the drive keeps %s until it loses it.",
                                    t->drive->name, s->name, s->actual ?: strna(s->wanted));
        }
}

/* Returns 1 when the wishes are others now. */
static int target_resolve(Target *t) {
        Wishes wishes = {};
        bool same;
        int r;

        r = find_wishes(t, &wishes);
        if (r < 0)
                return r;

        same = wishes_equal(&t->wishes, &wishes, t->env->settings);
        wishes_done(&t->wishes);
        t->wishes = wishes;
        (void) files_unref(t->files);
        t->files = files_ref(t->env->files);
        if (!same)
                target_spindown_resolved(t);
        return !same;
}

/* The drive is described anew, or the files are read anew; no worker is at the drive. A visit that has not begun yet begins anew:
 * the links of partitions, which it waited for, may say that this drive is to be left alone. */
static void target_refresh(Target *t) {
        bool described = t->successor, interrupted = t->visit.job;
        Pending new_files = t->new_files;
        int r = 0;

        assert(!target_has_worker(t));

        t->new_files = (Pending){};
        if (interrupted)
                target_withdraw(t);
        if (described)
                r = target_adopt(t, TAKE_PTR(t->successor));
        if (r >= 0)
                r = target_resolve(t);

        /* A rule that is for what only the drive itself can say is none of its wishes before that was asked; and of a value that
         * was held a visit is to say that it is gone, even where nothing else is wanted now. */
        if (r < 0)
                journal_log(LOG_ERR, "%s keeps its old settings: %s", t->drive->name, strerror(-r));
        else if (pending_any(&new_files) &&
                 (r > 0 || interrupted || target_wants_identity(t) || target_held_returns(t))) {
                tell_released(t);
                pending_merge(&t->pending, &new_files);
        } else if (r > 0)
                pending_add(&t->pending, VISIT_CHANGE, visit_reason_work(VISIT_CHANGE), 0);
        else if (described && !interrupted && !pending_any(&new_files))
                target_disturbed(t, VISIT_REVALIDATION, 0);
        target_decide(t);
        if (!t->visit.job)
                target_standby_rested(t);
        if (interrupted && !t->visit.job)
                t->env->rested(t->env->userdata, t);
}

void target_update(Target *t, Drive *drive) {
        (void) drive_free(t->successor);
        t->successor = drive;
        if (!target_has_worker(t))
                target_refresh(t);
}

void target_reconfigure(Target *t, VisitReason reason) {
        pending_add(&t->new_files, reason, visit_reason_work(reason), 0);
        if (!target_has_worker(t))
                target_refresh(t);
}

/* What came up meanwhile has its turn. */
void target_visited(Target *t, bool identified) {
        int r = 0;

        if (identified)
                r = target_guard_attach(t);
        if (identified && r >= 0) {
                target_use_attach(t);
                r = target_resolve(t);
        }
        /* New files are compared with the wishes of before. */
        if (!pending_any(&t->new_files) && target_held_ended(t)) {
                r = target_resolve(t);
                drive_record_drop_unwanted(t->record, &t->wishes);
                target_save(t);
        } else if (!pending_any(&t->pending) && target_held_again(t))
                pending_add(&t->pending, VISIT_RETRY, visit_reason_work(VISIT_RETRY),
                            monotonic_usec() + HELD_AGAIN_USEC);
        if (r < 0)
                journal_log(LOG_ERR, "%s keeps its old settings: %s", t->drive->name, strerror(-r));

        if (t->successor || pending_any(&t->new_files))
                target_refresh(t);
        else
                target_decide(t);
        (void) target_look_at_link(t, true);
        target_standby_rested(t);
        t->env->rested(t->env->userdata, t);
}

/* ---- the end ---- */

unsigned target_release(Target *t, const char *setting) {
        unsigned n = guarded_release(t->guard.drive, setting);

        if (n > 0)
                target_visit(t, VISIT_REQUEST);
        return n;
}

void target_leave(Target *t) {
        if (target_has_worker(t)) {
                visit_job_vanish(t->visit.job);
                journal_visit(t->drive, t->visit.pending.reason, &t->visit.summary);
        }
        t->visit.job = visit_job_free(t->visit.job);
        t->pending = (Pending){};
        target_spindown_leaves(t);
        target_use_keep(t);
        target_guard_leaves(t);
}
