/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One visit to a drive: what it is about, what its worker tells, and what its user is told of that. */

#include <assert.h>
#include <syslog.h>

#include "clock.h"
#include "device.h"
#include "watched-guard.h"
#include "watched.h"

/* The visit for what the files want of a drive follows at once on the one that found out which drive it is: no drive falls
 * asleep as quickly. */
#define ACTIVE_USEC (30ULL * 1000 * 1000)
/* What killed the worker, such as a lack of memory, may be over by then. */
#define LOST_AGAIN_USEC (5ULL * 1000 * 1000)

static const VisitorEvents visitor_events;

bool watched_wants_identity(const Watched *w) {
        const Config *c = w->files->config;

        if (w->record->bridge.asked || !drive_is_veiled(w->drive))
                return false;

        for (size_t i = 0; i < c->n_blocks; i++)
                if (match_asks_identity(&c->blocks[i].match))
                        return true;
        return false;
}

/* ---- what is told ---- */

/* A rule for an array or a volume is a rule for every drive below: that should surprise nobody. */
static void tell_stacked(const Watched *w) {
        for (size_t i = 0; i < w->wishes.n_items; i++)
                if (w->wishes.items[i].via_stacked)
                        journal_log(LOG_NOTICE, "%s:%u names %s, which lies on %s: %s is for that drive too.",
                                    w->wishes.items[i].file, w->wishes.items[i].line, w->wishes.items[i].via_stacked,
                                    w->drive->name, w->wishes.items[i].name);
}

/* Has the drive what was asked for, and keeps it? Not what it never took, what it has not got at all, and what was done once. */
static bool is_kept(const Watched *w, const SettingRecord *s) {
        const Setting *row = setting_find(w->env->settings, s->name);

        if (row && (row->flags & SETTING_AT_ATTACH))
                return false;

        switch (s->verdict) {
        case VERDICT_APPLIED:
        case VERDICT_UNCHANGED:
        case VERDICT_ADJUSTED:
        case VERDICT_DRIFTED:
                return s->actual;
        case VERDICT_UNVERIFIABLE:
                return true;
        default:
                return s->sent;
        }
}

/* A key that was taken out leaves the drive as it is, which may not be what is expected: that is said, once. */
void watched_tell_released(const Watched *w) {
        for (size_t i = 0; i < w->record->n_settings; i++) {
                const SettingRecord *s = w->record->settings + i;

                if (!wishes_find(&w->wishes, s->name) && is_kept(w, s))
                        journal_log(LOG_NOTICE,
                                    "%s: nothing asks for %s any more; the drive keeps %s until it loses it.",
                                    w->drive->name, s->name, s->actual ?: strna(s->wanted));
        }
}

bool watched_finds_news(const Watched *w, const Step *s) {
        const SettingRecord *known = drive_record_find(w->record, s->wish->name);
        char now[VALUE_TEXT_MAX];

        if (!known || s->written || s->failed)
                return true;

        switch (s->verdict) {
        case VERDICT_UNCHANGED:
                return !verdict_is_wanted(known->verdict) ||
                       (known->read && known->read_value != s->before.value.number);
        case VERDICT_UNVERIFIABLE:
                return known->verdict != VERDICT_UNVERIFIABLE || (s->lost && known->sent);
        case VERDICT_ADJUSTED:
                return known->verdict != VERDICT_ADJUSTED;
        case VERDICT_DRIFTED:
                return known->verdict != VERDICT_DRIFTED || !s->setting ||
                       !streq_ptr(known->actual, value_format(&s->setting->range, &s->before.value, now));
        case VERDICT_DEFERRED:
                return w->visit.reason != VISIT_RECHECK;
        default:
                return true;
        }
}

/* Found otherwise than it was left, by a visit that no loss explains. */
static void tell_drift(const Watched *w, const Step *s) {
        const SettingRecord *record;
        VisitReason reason = w->visit.reason;

        if (reason != VISIT_RECHECK && reason != VISIT_REVALIDATION && reason != VISIT_PARAMETERS)
                return;
        if (!s->written && !s->failed && s->verdict != VERDICT_DRIFTED)
                return;
        if (drive_record_drift(w->record, s, now_usec()) <= 0)
                return;

        record = drive_record_find(w->record, s->wish->name);
        journal_drift(w->drive, reason, s, record->drift_from, record->drift_to);
}

/* ---- it begins ---- */

void watched_withdraw(Watched *w) {
        assert(!watched_has_worker(w));

        pending_restore(&w->pending, &w->visit.pending);
        w->visit.visitor = visitor_free(w->visit.visitor);
        w->visit.ready = false;
        (void) drive_record_wait(w->record, (Wait){ WAIT_NOTHING });
}

static int begin_visitor(Watched *w) {
        const CurrentVisit *v = &w->visit;

        /* What has been reported as deferred waits for its check as long as that takes. */
        return visitor_new(w->env->event, w->env->broker, w->env->gate,
                           &(Visit){
                                           .drive = w->drive,
                                           .wishes = &v->selected,
                                           .memories = v->memories,
                                           .bridge = &w->record->bridge,
                                           .settings = w->env->settings,
                                           .permanent = pending_has(&v->pending, VISIT_PERMANENT),
                                           /* Both look whether somebody has changed it: it is not woken for that. */
                                           .no_wake = v->reason == VISIT_RECHECK || v->reason == VISIT_PARAMETERS,
                                           .deaf = watched_is_deaf(w),
                                           .look = v->reason == VISIT_RECHECK &&
                                                   w->files->config->on_drift == ON_DRIFT_REPORT,
                           },
                           v->reason == VISIT_RETRY ? UINT64_MAX : w->files->config->fsck_wait_ms * 1000,
                           &visitor_events, w, &w->visit.visitor);
}

static void visit_done(CurrentVisit *v) {
        free(v->memories);
        scope_done(&v->selected);
        *v = (CurrentVisit){};
}

int watched_begin(Watched *w) {
        CurrentVisit *v = &w->visit;
        int r;

        assert(!v->visitor && w->pending.reasons);

        visit_done(v);
        v->pending = w->pending;
        v->reason = pending_reason(&v->pending);
        w->pending = (Pending){};

        if (watched_guard_holds(w))
                return 0;

        if (pending_has(&v->pending, VISIT_RESUME))
                watched_resumed(w);
        else if (v->pending.put_off && v->pending.not_before > 0)
                /* Until it has been quiet for that long, one visit is enough. */
                rate_limit_exhaust(&w->disturbances, monotonic_usec());
        (void) drive_record_wait(w->record, (Wait){ WAIT_NOTHING });
        drive_record_drop_unwanted(w->record, &w->wishes);
        if (pending_forgets(&v->pending))
                drive_record_forget(w->record, w->env->settings);

        r = scope_select(scope_of_reason(v->reason, v->pending.reads), &w->wishes, w->env->settings,
                         drive_backends(w->drive), w->record, &v->selected);
        if (r < 0)
                return r;
        if (v->selected.n_items == 0 && !watched_wants_identity(w)) {
                if (w->wishes.n_items == 0 || !w->saved)
                        watched_save(w);
                return 0;
        }

        r = string_replace(&w->record->visit_reason, visit_reason_to_string(v->reason));
        if (r < 0)
                return r;

        if (v->selected.n_items == w->wishes.n_items)
                tell_stacked(w);
        r = drive_record_memories(w->record, &v->selected, &v->memories);
        if (r >= 0)
                r = begin_visitor(w);
        if (r < 0)
                return r;

        /* Whoever comes after us, should we not live to see the worker, is not to take for sent what the drive has lost; and
         * whoever asks for a new drive is to find it, however long it waits for its worker. */
        if (pending_forgets(&v->pending) || !w->saved)
                watched_save(w);
        return 0;
}

int watched_work(Watched *w) {
        CurrentVisit *v = &w->visit;
        int r;

        watched_note_shared(w);
        watched_guard_remember(w);
        v->active = watched_is_active(w);
        r = visitor_work(v->visitor, v->active);
        if (r < 0)
                return r;
        v->ready = false;
        watched_guard_begins(w);

        watched_save(w);
        return 0;
}

/* ---- what the visitor tells ---- */

static void on_waiting(void *userdata, Wait wait, bool deferred) {
        Watched *w = userdata;
        bool fsck = wait.kind == WAIT_CHECK, told = fsck && streq_ptr(w->told_waiting, wait.name);

        w->visit.ready = false;
        (void) drive_record_wait(w->record, wait);
        /* A moment's wait for udev at every hotplug is no news, nor is the same wait after a visit began anew. */
        if (deferred || (fsck && !told && w->visit.reason != VISIT_RETRY)) {
                journal_waiting(w->drive, wait, deferred);
                (void) string_replace(&w->told_waiting, wait.name);
        }
        /* There will be another recheck. */
        if (deferred && w->visit.reason != VISIT_RECHECK) {
                w->visit.reason = VISIT_RETRY;
                w->visit.pending.reasons = 1U << VISIT_RETRY | (w->visit.pending.reasons & 1U << VISIT_PERMANENT);
        }
        watched_save(w);

        /* Nothing is told of a visit that is only to find out which drive it is; and nobody waits for as long as a check takes
         * with what it has left over. */
        if ((deferred && w->visit.selected.n_items == 0) || (fsck && !deferred && w->visit.reason == VISIT_RETRY))
                w->env->rested(w->env->userdata, w);
}

static void on_ready(void *userdata) {
        Watched *w = userdata;

        (void) drive_record_wait(w->record, (Wait){ WAIT_NOTHING });
        w->visit.summary = (VisitSummary){};
        w->visit.ready = true;
        w->env->wants_worker(w->env->userdata, w);
}

static void on_bridged(void *userdata, const Bridge *bridge, const DriveIdentity *identity) {
        Watched *w = userdata;
        bool fell = bridge->fragile && !w->record->bridge.fragile;

        w->record->bridge = *bridge;
        if (fell)
                journal_log(LOG_WARNING,
                            "%s: the bridge did not survive an ATA command, and is sent no more of them until it is plugged in again.",
                            w->drive->name);
        if (!identity)
                return;

        if (drive_reveal(w->drive, identity) < 0 ||
            drive_record_set_identity(w->record, w->drive, w->env->boot_id) < 0) {
                journal_log(LOG_ERR, "Out of memory for the identity of %s", w->drive->name);
                return;
        }

        journal_log(LOG_INFO, "%s: behind the USB bridge %s (serial %s) is %s (serial %s).", w->drive->name,
                    strna(w->drive->dock_model), strna(w->drive->dock_serial), w->drive->model, w->drive->serial);
        w->visit.revealed = true;
}

static void on_step(void *userdata, const Step *s) {
        Watched *w = userdata;
        CurrentVisit *v = &w->visit;

        v->summary.n_settings++;
        v->summary.n_written += s->written;
        if ((v->reason == VISIT_RECHECK || v->reason == VISIT_REVALIDATION) && !watched_finds_news(w, s))
                return;
        v->summary.n_verdicts[s->verdict]++;

        tell_drift(w, s);
        if (s->verdict == VERDICT_VANISHED)
                watched_guard_lost(w);
        journal_step(w->drive, v->reason, s);
        if (drive_record_step(w->record, s, now_usec()) < 0)
                journal_log(LOG_ERR, "Out of memory for the record of %s", w->drive->name);

        /* Told while it still waits at the gate: the whole visit is deferred, and nobody should wait for its end. */
        if (s->verdict == VERDICT_DEFERRED && w->record->waiting_kind != WAIT_NOTHING &&
            v->summary.n_settings == v->selected.n_items) {
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

/* ---- it ends ---- */

/* Reasons that are about what was in order before are not about what is wanted only now. */
static VisitReason reason_for_new_wishes(VisitReason reason) {
        return visit_reason_rank(reason) < visit_reason_rank(VISIT_CHANGE) ? VISIT_CHANGE : reason;
}

/* What is left to do for what the visit was for: what was deferred, what died with the worker, and what is wanted of a drive that
 * is known only now. There will be another recheck. */
static void leave_undone(Watched *w, VisitEnd end, bool lost) {
        const CurrentVisit *v = &w->visit;

        if (end == VISIT_DEFERRED && v->reason != VISIT_RECHECK)
                pending_add(&w->pending, VISIT_RETRY, 0);
        /* What was lost has been forgotten already; what was sent since then is not to be sent twice. */
        if (end == VISIT_INTERRUPTED && pending_forgets(&v->pending))
                pending_add(&w->pending, pending_has(&v->pending, VISIT_PERMANENT) ? VISIT_PERMANENT : VISIT_CHANGE, 0);
        else if (end == VISIT_INTERRUPTED && v->reason != VISIT_RECHECK)
                pending_restore(&w->pending, &v->pending);
        if (lost && !w->lost && v->reason != VISIT_RECHECK) {
                pending_add(&w->pending, VISIT_RETRY, monotonic_usec() + LOST_AGAIN_USEC);
                journal_worker(w->drive, "it is visited again in %llu s.", LOST_AGAIN_USEC / 1000000);
        }
        if (v->revealed)
                pending_add(&w->pending, reason_for_new_wishes(v->reason), 0);
}

static void on_ended(void *userdata, VisitEnd end, const char *lost) {
        Watched *w = userdata;
        CurrentVisit *v = &w->visit;
        bool revealed = v->revealed;

        if (lost)
                journal_worker(w->drive, "the worker process %s.", lost);
        if (!revealed)
                journal_visit(w->drive, v->reason, &v->summary);
        watched_visited(w);
        watched_guard_ended(w);

        if (!w->gone)
                leave_undone(w, end, lost);
        w->lost = lost;
        w->active_until = revealed && v->active ? monotonic_usec() + ACTIVE_USEC : 0;

        (void) visitor_free(v->visitor);
        visit_done(v);
        (void) drive_record_wait(w->record, (Wait){ WAIT_NOTHING });
        (void) string_replace(&w->told_waiting, NULL);
        watched_save(w);

        if (!w->gone) {
                watched_go_on(w, revealed);
                (void) watched_look_at_link(w, true);
        }
        w->env->rested(w->env->userdata, w);
}

static const VisitorEvents visitor_events = {
        .waiting = on_waiting,
        .bridged = on_bridged,
        .ready = on_ready,
        .intends = watched_guard_intends,
        .writing = watched_guard_writing,
        .settling = watched_settles,
        .step = on_step,
        .silent = on_silent,
        .ended = on_ended,
};
