/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One visit as the event loop sees it: the wait at the gate, then a worker and what it tells. A check that is queued meanwhile stops
 * the worker after the command that it is at. */

#include "gate.h"
#include "worker.h"

typedef struct Visitor Visitor;

typedef enum VisitEnd {
        VISIT_OVER,
        VISIT_DEFERRED,    /* visitor_stop(): what was not done is deferred, and said to be */
        VISIT_INTERRUPTED, /* a check came in between: of what was not done nothing is said */
} VisitEnd;

typedef struct VisitorEvents {
        void (*waiting)(void *userdata, Wait w,
                        bool deferred); /* WAIT_NOTHING: no more; deferred: longer than allowed */
        void (*ready)(void *userdata);  /* the gate is open: visitor_work() when you can */
        /* These of its wishes (worker_message_has()) are about to be written; call visitor_intended(). */
        void (*intends)(void *userdata, const WorkerMessage *m);
        void (*writing)(void *userdata, size_t wish); /* what is sent now; WORKER_READS: nothing is written */
        void (*settling)(
                        void *userdata); /* the first commands are over: what is read and written that matters comes now */
        void (*step)(void *userdata, const Step *s);
        void (*bridged)(void *userdata, const Bridge *bridge, const DriveIdentity *identity); /* visit.h */
        void (*silent)(void *userdata, unsigned seconds); /* its worker has not said a word for so long */
        /* The visitor may be freed from here, and only from here and from outside its events. `lost`: the worker died; how. */
        void (*ended)(void *userdata, VisitEnd end, const char *lost);
} VisitorEvents;

/* `patience_usec`: how long to wait at the gate before that is told as `deferred`; UINT64_MAX: for ever. `visit` is copied;
 * drive, wishes and memories must outlive it. */
int visitor_new(sd_event *event, Broker *broker, Gate *gate, const Visit *visit, uint64_t patience_usec,
                const VisitorEvents *events, void *userdata, Visitor **ret);
Visitor *visitor_free(Visitor *v); /* a worker that is still there is left to end by itself */
DEFINE_CLEANUP(Visitor *, visitor_free);

/* `active`: the drive has been in use just now. */
int visitor_work(Visitor *v, bool active);

/* What was intended is on stable storage, or (error < 0) is not. */
void visitor_intended(Visitor *v, int error);

/* End the visit after the command that is under way; `ended` comes with VISIT_DEFERRED. Without a worker: nothing. */
void visitor_stop(Visitor *v);

/* The drive is gone, or has another medium: says so of each setting that nothing was said of yet, at once, and lets go of the
 * worker. */
void visitor_vanish(Visitor *v);

bool visitor_has_worker(const Visitor *v);

/* Has it a worker that is not silent for long? */
bool visitor_is_busy(const Visitor *v);
