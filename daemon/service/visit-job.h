/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One visit as the event loop sees it: the wait for leave to send commands (fsck-wait.h), then a worker and what it tells. A check that is queued meanwhile stops
 * the worker after the command that it is at. */

#include "fsck-wait.h"
#include "worker.h"

typedef struct VisitJob VisitJob;

typedef enum VisitEnd {
        VISIT_OVER,
        VISIT_DEFERRED,    /* visit_job_stop(): what was not done is deferred, and said to be */
        VISIT_INTERRUPTED, /* a check came in between: of what was not done nothing is said */
} VisitEnd;

typedef struct VisitJobEvents {
        void (*waiting)(void *userdata, Wait w,
                        bool deferred); /* WAIT_NOTHING: no more; deferred: longer than allowed */
        void (*ready)(void *userdata);  /* there is leave: visit_job_work() when you can */
        /* This wish, which is dangerous, or (NO_WISH) what is not is about to be written; call visit_job_intended(). */
        void (*intends)(void *userdata, size_t wish);
        void (*writing)(void *userdata, size_t wish); /* what is sent now; NO_WISH: nothing is written */
        /* The first commands are over: what is read and written that matters comes now. Later calls say nothing more. */
        void (*settling)(void *userdata);
        void (*step)(void *userdata, const Step *s);
        void (*power)(void *userdata, PowerMode power);                                       /* visit.h */
        void (*wear)(void *userdata, const Wear *w);                                          /* visit.h */
        void (*bridged)(void *userdata, const Bridge *bridge, const DriveIdentity *identity); /* visit.h */
        void (*silent)(void *userdata, unsigned seconds); /* its worker has not said a word for so long */
        /* The VisitJob may be freed from here, and only from here and from outside its events. `lost`: the worker died; how. */
        void (*ended)(void *userdata, VisitEnd end, const char *lost);
} VisitJobEvents;

/* `patience_usec`: how long to wait for leave before that is told as `deferred`; UINT64_MAX: for ever. `visit` is copied;
 * drive, wishes and memories must outlive it. */
int visit_job_new(sd_event *event, Broker *broker, FsckWait *fsck_wait, const Visit *visit, uint64_t patience_usec,
                  const VisitJobEvents *events, void *userdata, VisitJob **ret);
VisitJob *visit_job_free(VisitJob *v); /* a worker that is still there is left to end by itself */
DEFINE_CLEANUP(VisitJob *, visit_job_free);

/* `active`: the drive has been in use just now. */
int visit_job_work(VisitJob *v, bool active);

/* What was intended is on stable storage, or (error < 0) is not. */
void visit_job_intended(VisitJob *v, int error);

/* End the visit after the command that is under way; `ended` comes with VISIT_DEFERRED. Without a worker: nothing. */
void visit_job_stop(VisitJob *v);

/* The drive is gone, or has another medium: says so of each setting that nothing was said of yet. For before visit_job_free(). */
void visit_job_vanish(const VisitJob *v);

bool visit_job_has_worker(const VisitJob *v);

/* Has it a worker that is not silent for long? */
bool visit_job_is_busy(const VisitJob *v);
