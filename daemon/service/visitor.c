/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include "visitor.h"

/* Our patience with a drive; the kernel's is longer, and nothing is aborted. A silent drive takes no worker's place. */
#define SILENT_SECONDS 20U

struct Visitor {
        sd_event *event;
        Broker *broker;
        Gate *gate;
        Visit visit;
        const VisitorEvents *events;
        void *userdata;

        uint64_t patience_usec;
        sd_event_source *patience; /* runs while it waits at the gate */
        GateTicket *ticket;
        WaitKind waiting_kind;
        char *waiting_for;
        bool deferred;

        Worker worker;
        bool working, asking, intending, stopping, silent;
        bool dismissed;           /* the worker was told to end the visit, and has nothing more to ask */
        unsigned n_asked;         /* how often the worker has asked whether it may send something */
        size_t n_said;            /* all messages of the worker's */
        size_t asks;              /* the wish that the worker last asked to write, or WORKER_READS */
        size_t writing;           /* the wish that is being written, or WORKER_READS */
        sd_event_source *silence; /* runs out when the worker says nothing */
        sd_event_source *io;
        bool *told;             /* per wish: its verdict came */
        bool bridged, unveiled; /* it told of the bridge; … and of the drive behind that, and has nothing more to tell */
        bool finished;          /* it told all */
        bool vanished;          /* the drive is gone: what the worker says counts no more */
};

static int on_patience(sd_event_source *source, uint64_t usec, void *userdata);

static void visitor_stop_waiting(Visitor *v) {
        v->patience = sd_event_source_disable_unref(v->patience);
        v->waiting_kind = WAIT_NOTHING;
        free(TAKE_PTR(v->waiting_for));
}

static Wait visitor_waits(const Visitor *v) {
        return (Wait){ v->waiting_kind, v->waiting_for };
}

static void on_waiting(Visitor *v, Wait w) {
        v->waiting_kind = w.kind;
        (void) string_replace(&v->waiting_for, w.name);

        /* Should the timer fail, it waits without a bound, and nothing is written. */
        if (!v->patience && !v->deferred && v->patience_usec != UINT64_MAX)
                (void) sd_event_add_time_relative(v->event, &v->patience, CLOCK_MONOTONIC, v->patience_usec, 0,
                                                  on_patience, v);

        v->events->waiting(v->userdata, w, false);
}

/* A drive that was reset answers its first command with a unit attention, which the kernel tells udev of at once. It gets CHECK
 * POWER MODE, that once more, or IDENTIFY, before anything is asked for the third time. */
#define SETTLING_ASKED 3U

/* More than an honest worker has to say. It reads a setting three times and writes it once, each with ten commands at most, and
 * sends each command five times at most; then there are a question for each partition, of which a disk has 256 at most, and what
 * is said once. */
#define SAID_MAX 1024U
#define SAID_MAX_PER_WISH 256U

/* ---- before the worker ---- */

static void on_first_gate(void *userdata, Wait w) {
        Visitor *v = userdata;

        if (w.kind != WAIT_NOTHING)
                return on_waiting(v, w);

        v->ticket = gate_ticket_free(v->ticket);
        visitor_stop_waiting(v);
        v->events->ready(v->userdata);
}

static Step visitor_step(const Visitor *v, size_t wish) {
        return (Step){
                .wish = v->visit.wishes->items + wish,
                .setting = setting_for_backends(v->visit.settings, v->visit.wishes->items[wish].name,
                                                drive_backends(v->visit.drive)),
                .verdict = _VERDICT_INVALID,
        };
}

static void visitor_tell(Visitor *v, size_t wish, Verdict verdict, const char *reason) {
        Step s = visitor_step(v, wish);

        s.verdict = verdict;
        (void) snprintf(s.reason, sizeof s.reason, "%s", reason);
        v->events->step(v->userdata, &s);
}

/* To the question whether a command may go to the drive. */
static void visitor_answer(Visitor *v, WorkerAnswer answer) {
        v->asking = false;
        v->dismissed = answer != WORKER_GO;
        (void) worker_answer(&v->worker, answer);
}

static int on_patience(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Visitor *v = userdata;
        char reason[STEP_REASON_MAX];

        v->patience = sd_event_source_disable_unref(v->patience);
        v->deferred = true;
        v->events->waiting(v->userdata, visitor_waits(v), true);

        if (v->asking) {
                /* The worker ends the visit, and tells of each setting itself. */
                v->ticket = gate_ticket_free(v->ticket);
                visitor_answer(v, WORKER_DEFER);
                return 0;
        }

        /* It stays at the gate, and is let in when that opens. */
        (void) snprintf(reason, sizeof reason, "still waiting for %s", wait_describe(visitor_waits(v)));
        for (size_t i = 0; i < v->visit.wishes->n_items; i++)
                visitor_tell(v, i, VERDICT_DEFERRED, reason);
        return 0;
}

int visitor_new(sd_event *event, Broker *broker, Gate *gate, const Visit *visit, uint64_t patience_usec,
                const VisitorEvents *events, void *userdata, Visitor **ret) {
        _cleanup_(visitor_freep) Visitor *v = NULL;
        int r;

        v = calloc(1, sizeof *v);
        if (!v)
                return -ENOMEM;

        *v = (Visitor){
                .event = sd_event_ref(event),
                .broker = broker,
                .gate = gate,
                .visit = *visit,
                .patience_usec = patience_usec,
                .events = events,
                .userdata = userdata,
                .worker.fd = -EBADF,
                .asks = WORKER_READS,
                .writing = WORKER_READS,
        };

        v->told = calloc(MAX(visit->wishes->n_items, 1U), sizeof *v->told);
        if (!v->told)
                return -ENOMEM;

        r = gate_ask(gate, visit->drive->name, true, on_first_gate, v, &v->ticket);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(v);
        return 0;
}

Visitor *visitor_free(Visitor *v) {
        if (!v)
                return NULL;

        visitor_stop_waiting(v);
        (void) gate_ticket_free(v->ticket);
        sd_event_source_disable_unref(v->io);
        sd_event_source_disable_unref(v->silence);
        if (v->worker.fd >= 0)
                (void) close(v->worker.fd);
        free(v->told);
        sd_event_unref(v->event);
        free(v);
        return NULL;
}

/* ---- the worker ---- */

static int on_silence(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Visitor *v = userdata;

        if (v->asking || v->intending)
                return 0;
        v->silent = true;
        v->events->silent(v->userdata, SILENT_SECONDS);
        return 0;
}

/* It said something, or was told something. */
static void visitor_heard(Visitor *v) {
        v->silent = false;
        if (sd_event_source_set_time_relative(v->silence, SILENT_SECONDS * 1000000ULL) >= 0)
                (void) sd_event_source_set_enabled(v->silence, SD_EVENT_ONESHOT);
}

static void visitor_writing(Visitor *v, size_t wish) {
        if (wish == v->writing)
                return;
        v->writing = wish;
        v->events->writing(v->userdata, wish);
}

static void on_worker_gate(void *userdata, Wait w) {
        Visitor *v = userdata;

        if (w.kind != WAIT_NOTHING)
                return on_waiting(v, w);

        v->ticket = gate_ticket_free(v->ticket);
        if (v->waiting_kind != WAIT_NOTHING)
                v->events->waiting(v->userdata, w, false);
        visitor_stop_waiting(v);
        visitor_heard(v);
        visitor_writing(v, v->asks);
        visitor_answer(v, WORKER_GO);
}

static void on_step(Visitor *v, const WorkerMessage *m) {
        Step s = visitor_step(v, m->wish);

        s.before = m->before;
        s.after = m->after;
        s.written = m->written;
        s.failed = m->failed;
        s.lost = m->lost;
        s.error = m->error;
        s.verdict = m->verdict;
        memcpy(s.reason, m->reason, sizeof s.reason);
        /* The worker does not know for what. */
        if (s.verdict == VERDICT_DEFERRED && v->deferred && v->waiting_kind != WAIT_NOTHING)
                (void) snprintf(s.reason, sizeof s.reason, "still waiting for %s", wait_describe(visitor_waits(v)));

        v->told[m->wish] = true;
        v->events->step(v->userdata, &s);
}

static void on_asks(Visitor *v, size_t wish) {
        int r;

        if (++v->n_asked == SETTLING_ASKED)
                v->events->settling(v->userdata);
        /* What was sent before has ended; what is asked for may have to wait, and is not sent before that is over. */
        if (wish != v->writing)
                visitor_writing(v, WORKER_READS);
        v->asks = wish;
        if (v->stopping) {
                visitor_answer(v, WORKER_STOP);
                return;
        }

        v->asking = true;
        r = gate_ask(v->gate, v->visit.drive->name, false, on_worker_gate, v, &v->ticket);
        if (r < 0) {
                v->deferred = true;
                visitor_answer(v, WORKER_DEFER);
        }
}

static bool visitor_was_told_all(const Visitor *v) {
        for (size_t i = 0; i < v->visit.wishes->n_items; i++)
                if (!v->told[i])
                        return false;
        return true;
}

/* May the worker say this now? While it waits for an answer it says nothing; it tells each thing once, and only what it was
 * asked for. One that was taken over says what it likes. */
static bool visitor_expects(const Visitor *v, const WorkerMessage *m) {
        if (v->asking || v->intending || v->finished)
                return false;
        if (v->unveiled)
                return m->type == WORKER_END;

        switch (m->type) {
        case WORKER_ASKS:
        case WORKER_INTENDS:
                return !v->dismissed;
        case WORKER_STEP:
                /* What no row is for nothing can have been sent for. */
                return !v->told[m->wish] && (visitor_step(v, m->wish).setting || (!m->written && !m->failed));
        case WORKER_BRIDGE:
                return !v->bridged && v->visit.bridge && v->visit.drive->transport == TRANSPORT_USB &&
                       (!m->identified || visit_asks_identity(&v->visit));
        case WORKER_END:
                return visitor_was_told_all(v);
        }
        return false;
}

static void visitor_hear(Visitor *v, const WorkerMessage *m) {
        visitor_heard(v);
        switch (m->type) {
        case WORKER_INTENDS:
                v->intending = true;
                v->events->intends(v->userdata, m);
                break;
        case WORKER_ASKS:
                on_asks(v, m->wish);
                break;
        case WORKER_STEP:
                on_step(v, m);
                break;
        case WORKER_BRIDGE:
                v->bridged = true;
                v->unveiled = m->identified;
                v->events->bridged(v->userdata, &m->bridge, m->identified ? &m->identity : NULL);
                break;
        case WORKER_END:
                v->finished = true;
                /* The broker sees that it is let go of, should it not end. */
                (void) shutdown(v->worker.fd, SHUT_WR);
                break;
        }
}

/* `lost`: how, where it had not told all. Without its socket it can ask nothing more: it ends, or the broker kills it. */
static void visitor_ended(Visitor *v, const char *reason, const char *lost) {
        v->io = sd_event_source_disable_unref(v->io);
        v->ticket = gate_ticket_free(v->ticket);
        visitor_stop_waiting(v);
        v->working = v->asking = v->intending = false;
        v->silence = sd_event_source_disable_unref(v->silence);
        (void) close(TAKE_FD(v->worker.fd));

        for (size_t i = 0; lost && i < v->visit.wishes->n_items; i++)
                if (!v->told[i])
                        visitor_tell(v, i, VERDICT_FAILED, reason);
        v->events->ended(v->userdata, v->deferred, lost);
}

/* One message at a time: a worker that never stops does not keep the others waiting. */
static int on_io(sd_event_source *source _unused_, int fd _unused_, uint32_t events _unused_, void *userdata) {
        Visitor *v = userdata;
        WorkerMessage m;
        int r;

        r = worker_receive(&v->worker, v->visit.wishes->n_items, &m);
        if (r == -EAGAIN || r == -EINTR)
                return 0;

        if (r > 0 && ++v->n_said > SAID_MAX + SAID_MAX_PER_WISH * v->visit.wishes->n_items)
                r = -EBADMSG;

        if (r > 0 && v->vanished)
                return 0;
        if (r > 0 && visitor_expects(v, &m))
                visitor_hear(v, &m);
        else if (r > 0 || r == -EBADMSG)
                visitor_ended(v, "the worker process broke the protocol, and is heard no more",
                              "broke the protocol, and is heard no more");
        else if (v->finished || v->vanished)
                visitor_ended(v, NULL, NULL);
        else
                visitor_ended(v, "the worker process ended before it could tell", "ended before it could tell all");
        return 0;
}

int visitor_work(Visitor *v, bool active) {
        int r;

        v->visit.active = active;

        r = worker_start(v->broker, &v->visit, &v->worker);
        if (r < 0)
                return r;

        v->working = true;
        /* A bound that has passed once is not counted anew for the same visit. */
        if (v->deferred)
                v->patience_usec = UINT64_MAX;
        v->deferred = false;
        r = sd_event_add_time_relative(v->event, &v->silence, CLOCK_MONOTONIC, SILENT_SECONDS * 1000000ULL, 0,
                                       on_silence, v);
        if (r >= 0)
                r = sd_event_add_io(v->event, &v->io, v->worker.fd, EPOLLIN, on_io, v);
        if (r < 0) {
                /* Nobody would hear it: it ends when it asks for its first command. */
                (void) close(TAKE_FD(v->worker.fd));
                v->io = sd_event_source_disable_unref(v->io);
                v->silence = sd_event_source_disable_unref(v->silence);
                v->working = false;
        }
        return r;
}

void visitor_intended(Visitor *v, int error) {
        if (!v->intending)
                return;

        v->intending = false;
        visitor_heard(v);
        (void) worker_answer(&v->worker, error < 0 ? WORKER_UNGUARDED : WORKER_GO);
}

void visitor_stop(Visitor *v) {
        if (!v->working || v->stopping)
                return;

        v->stopping = v->deferred = true;
        if (!v->asking)
                return;

        v->ticket = gate_ticket_free(v->ticket);
        visitor_stop_waiting(v);
        visitor_answer(v, WORKER_STOP);
}

void visitor_vanish(Visitor *v) {
        bool changed = drive_medium_changed(v->visit.drive);

        for (size_t i = 0; i < v->visit.wishes->n_items; i++)
                if (!v->told[i]) {
                        v->told[i] = true;
                        visitor_tell(v, i, changed ? VERDICT_DEFERRED : VERDICT_VANISHED,
                                     changed ? "another medium came into the drive while it was visited, so it is visited anew"
                                             : "the drive was unplugged while it was visited");
                }

        /* What it is at hangs in the kernel until that gives up; then nobody answers it any more, and it ends or is killed. */
        v->vanished = true;
        v->ticket = gate_ticket_free(v->ticket);
        visitor_stop_waiting(v);
        v->asking = false;
        if (v->working)
                (void) shutdown(v->worker.fd, SHUT_WR);
}

bool visitor_has_worker(const Visitor *v) {
        return v->working;
}

bool visitor_is_busy(const Visitor *v) {
        return v->working && !(v->asking && v->waiting_kind != WAIT_NOTHING) && !v->silent;
}
