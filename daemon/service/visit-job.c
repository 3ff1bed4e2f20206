/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "timer.h"
#include "visit-job.h"

/* A worker that is silent for this time no longer counts against the limit of workers. The worker's command is not
 * aborted: the kernel may wait even longer for the drive. */
#define SILENT_SECONDS 20U

struct VisitJob {
        sd_event *event;
        Broker *broker;
        Visit visit;
        const VisitJobEvents *events;
        void *userdata;

        FsckTicket *ticket;        /* the request for permission to send commands */
        uint64_t patience_usec;    /* limit of the wait for permission; UINT64_MAX: no limit, or already reached */
        sd_event_source *patience; /* runs while the visit waits for permission */

        int worker; /* the socket of the worker; < 0: there is no worker */
        WorkerState state;
        VisitEnd end;      /* why the worker was stopped; VISIT_OVER: not stopped */
        bool identified;   /* the worker has identified the drive behind the USB bridge, so the visit ends */
        size_t n_messages; /* messages from the worker */
        bool *reported;    /* for each wish: the verdict was reported */
        sd_event_source *io;
        sd_event_source *silence; /* a timer, restarted by each message from or to the worker */
};

/* A correct worker does not reach these limits. For each wish it sends at most two MESSAGE_SENDS, one MESSAGE_INTENDS
 * and one MESSAGE_STEP. It also sends a MESSAGE_ALIVE every few seconds. */
#define MESSAGES_MAX 1024U
#define MESSAGES_MAX_PER_WISH 256U

/* ---- reports ---- */

static const Setting *visit_job_setting(const VisitJob *v, size_t wish) {
        return setting_for_backends(v->visit.settings, v->visit.wishes->items[wish].name,
                                    drive_backends(v->visit.drive));
}

/* Reports a step. Sets the pointers of the step, since messages do not contain pointers. */
static void visit_job_report(const VisitJob *v, size_t wish, Step s) {
        s.wish = v->visit.wishes->items + wish;
        s.setting = visit_job_setting(v, wish);
        v->events->step(v->userdata, &s);
}

static bool visit_job_reported_all(const VisitJob *v) {
        size_t i = 0;

        while (i < v->visit.wishes->n_items && v->reported[i])
                i++;
        return i == v->visit.wishes->n_items;
}

/* Reports this verdict for each wish that has no verdict yet. */
static void visit_job_report_missing(const VisitJob *v, Verdict verdict, const char *reason) {
        Step s = { .verdict = verdict };

        (void) snprintf(s.reason, sizeof s.reason, "%s", reason);
        for (size_t i = 0; i < v->visit.wishes->n_items; i++)
                if (!v->reported[i])
                        visit_job_report(v, i, s);
}

/* ---- the permission to send commands ---- */

static int on_patience(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        VisitJob *v = userdata;
        Wait w = fsck_ticket_waits(v->ticket);
        char reason[STEP_REASON_MAX];

        v->patience = sd_event_source_disable_unref(v->patience);
        v->patience_usec = UINT64_MAX;
        v->events->waiting(v->userdata, w, true);

        /* The visit keeps waiting, and begins when the permission comes. */
        (void) snprintf(reason, sizeof reason, "still waiting for %s", wait_describe(w));
        visit_job_report_missing(v, VERDICT_DEFERRED, reason);
        return 0;
}

/* Orders the worker to stop. The worker checks for orders before each command. */
static void visit_job_order_stop(VisitJob *v, VisitEnd end) {
        if (v->end != VISIT_OVER)
                return;

        v->end = end;
        (void) worker_order(v->worker, ORDER_STOP);
}

static void on_permission(void *userdata, Wait w) {
        VisitJob *v = userdata;

        if (visit_job_has_worker(v)) {
                if (w.kind != WAIT_NOTHING)
                        visit_job_order_stop(v, VISIT_INTERRUPTED);
                return;
        }

        if (w.kind == WAIT_NOTHING) {
                v->patience = sd_event_source_disable_unref(v->patience);
                v->events->ready(v->userdata);
                return;
        }

        /* If the timer cannot be started, the visit waits for the permission without a time limit. */
        if (!v->patience && v->patience_usec != UINT64_MAX)
                (void) timer_start(v->event, &v->patience, v->patience_usec, 0, on_patience, v);
        v->events->waiting(v->userdata, w, false);
}

int visit_job_new(sd_event *event, Broker *broker, FsckWait *fsck_wait, const Visit *visit, uint64_t patience_usec,
                  const VisitJobEvents *events, void *userdata, VisitJob **ret) {
        _cleanup_(visit_job_freep) VisitJob *v = NULL;
        int r;

        v = calloc(1, sizeof *v);
        if (!v)
                return -ENOMEM;

        *v = (VisitJob){
                .event = sd_event_ref(event),
                .broker = broker,
                .visit = *visit,
                .patience_usec = patience_usec,
                .events = events,
                .userdata = userdata,
                .worker = -EBADF,
                .state = WORKER_VISITS,
        };

        v->reported = calloc(MAX(visit->wishes->n_items, 1U), sizeof *v->reported);
        if (!v->reported)
                return -ENOMEM;

        r = fsck_wait_request(fsck_wait, visit->drive, on_permission, v, &v->ticket);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(v);
        return 0;
}

/* Closes the worker's socket, and does not wait for the worker, whose current command may hang in the kernel. After that command the worker
 * detects the closed socket and ends, or the broker kills the worker. */
static void visit_job_release(VisitJob *v) {
        v->io = sd_event_source_disable_unref(v->io);
        v->silence = sd_event_source_disable_unref(v->silence);
        closep(&v->worker);
        v->worker = -EBADF;
}

static void visit_job_close(VisitJob *v) {
        v->ticket = fsck_ticket_free(v->ticket);
        v->patience = sd_event_source_disable_unref(v->patience);
        visit_job_release(v);
}

VisitJob *visit_job_free(VisitJob *v) {
        if (!v)
                return NULL;

        visit_job_close(v);
        free(v->reported);
        sd_event_unref(v->event);
        free(v);
        return NULL;
}

/* ---- the worker ---- */

static int on_silence(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        VisitJob *v = userdata;

        v->events->silent(v->userdata, SILENT_SECONDS);
        return 0;
}

/* Called after each message from or to the worker. */
static int visit_job_restart_silence(VisitJob *v) {
        return timer_start(v->event, &v->silence, SILENT_SECONDS * 1000000ULL, 0, on_silence, v);
}

static void on_step(VisitJob *v, const WorkerMessage *m) {
        v->reported[m->wish] = true;
        /* Deferred settings are not reported after an interruption: the next visit reports them. */
        if (m->step.verdict != VERDICT_DEFERRED || v->end != VISIT_INTERRUPTED)
                visit_job_report(v, m->wish, m->step);
}

/* Returns true if the message is permitted now. A compromised worker may send anything. */
static bool visit_job_expects(const VisitJob *v, const WorkerMessage *m) {
        if (v->n_messages > MESSAGES_MAX + MESSAGES_MAX_PER_WISH * v->visit.wishes->n_items)
                return false;

        switch (m->type) {
        case MESSAGE_STEP:
                /* If the table has no row for the setting, the worker cannot have sent a command, so a step with a write or an error is
                 * rejected. */
                return !v->reported[m->wish] &&
                       (visit_job_setting(v, m->wish) || (!m->step.written && !m->step.failed));
        case MESSAGE_BRIDGE:
                return v->visit.bridge && v->visit.drive->transport == TRANSPORT_USB &&
                       (!m->identity.serial[0] || visit_needs_identity(&v->visit));
        case MESSAGE_END:
                return v->identified || visit_job_reported_all(v);
        default:
                return true;
        }
}

static void visit_job_handle(VisitJob *v, const WorkerMessage *m) {
        (void) visit_job_restart_silence(v);
        switch (m->type) {
        case MESSAGE_ALIVE:
                v->events->settling(v->userdata);
                break;
        case MESSAGE_SENDS:
                v->events->writing(v->userdata, m->wish);
                break;
        case MESSAGE_INTENDS:
                v->events->intends(v->userdata, m->wish);
                break;
        case MESSAGE_STEP:
                on_step(v, m);
                break;
        case MESSAGE_POWER:
                v->events->power(v->userdata, m->power);
                break;
        case MESSAGE_WEAR:
                v->events->wear(v->userdata, &m->wear);
                break;
        case MESSAGE_BRIDGE:
                v->identified = m->identity.serial[0];
                v->events->bridge_learned(v->userdata, &m->bridge, v->identified ? &m->identity : NULL);
                break;
        case MESSAGE_END:
                /* Tells the broker that the visit is over: if the worker does not end soon, the broker kills it. */
                (void) shutdown(v->worker, SHUT_WR);
                break;
        case _MESSAGE_MAX:
                break;
        }
}

/* Ends the visit. `lost`: how the worker died; NULL if the worker ended normally. */
static void visit_job_ended(VisitJob *v, const char *lost) {
        char reason[STEP_REASON_MAX];

        visit_job_close(v);

        if (lost) {
                (void) snprintf(reason, sizeof reason, "the worker process %s", lost);
                visit_job_report_missing(v, VERDICT_FAILED, reason);
        }
        v->events->ended(v->userdata, v->end, lost);
}

/* Handles one message per call, so that a flood of messages from one worker does not delay other workers. */
static int on_io(sd_event_source *source _unused_, int fd _unused_, uint32_t events _unused_, void *userdata) {
        VisitJob *v = userdata;
        WorkerMessage m;
        int r;

        r = worker_receive(v->worker, v->visit.wishes->n_items, &m);
        if (r == -EAGAIN || r == -EINTR)
                return 0;

        if (r > 0) {
                v->n_messages++;
                v->state = visit_job_expects(v, &m) ? worker_state_after(v->state, m.type) : WORKER_BROKE;
        }

        if (r == -EBADMSG || v->state == WORKER_BROKE)
                visit_job_ended(v, "broke the protocol, and is ignored from now on");
        else if (r > 0)
                visit_job_handle(v, &m);
        else
                visit_job_ended(v, v->state == WORKER_ENDED ? NULL : "ended before it reported all settings");
        return 0;
}

int visit_job_work(VisitJob *v, bool active) {
        int r;

        v->visit.active = active;
        r = worker_start(v->broker, &v->visit);
        if (r < 0)
                return r;

        v->worker = r;
        r = visit_job_restart_silence(v);
        if (r >= 0)
                r = sd_event_add_io(v->event, &v->io, v->worker, EPOLLIN, on_io, v);
        if (r < 0)
                visit_job_release(v);
        return r;
}

void visit_job_intended(VisitJob *v, int error) {
        if (v->state != WORKER_WAITS)
                return;

        v->state = WORKER_VISITS;
        (void) visit_job_restart_silence(v);
        (void) worker_order(v->worker, error < 0 ? ORDER_UNGUARDED : ORDER_GO);
}

void visit_job_stop(VisitJob *v) {
        if (visit_job_has_worker(v))
                visit_job_order_stop(v, VISIT_DEFERRED);
}

void visit_job_vanish(const VisitJob *v) {
        bool changed = drive_medium_changed(v->visit.drive);

        visit_job_report_missing(v, changed ? VERDICT_DEFERRED : VERDICT_VANISHED,
                                 changed ? "the medium was changed during the visit, so the drive is visited again"
                                         : "the drive was unplugged during the visit");
}

bool visit_job_has_worker(const VisitJob *v) {
        return v->worker >= 0;
}

bool visit_job_is_busy(const VisitJob *v) {
        return visit_job_has_worker(v) && timer_runs(v->silence);
}
