/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Runs one visit in the event loop: waits for the permission to send commands (fsck-wait.h), starts a worker, and passes the worker's
 * reports to the caller. If a file system check is queued during the visit, stops the worker after its current command. */

#include "fsck-wait.h"
#include "worker-message.h"

typedef struct VisitJob VisitJob;

typedef enum VisitEnd {
        VISIT_OVER,        /* the visit is complete */
        VISIT_DEFERRED,    /* stopped by visit_job_stop(): the remaining settings were reported as deferred */
        VISIT_INTERRUPTED, /* stopped by a file system check: the remaining settings were not reported */
} VisitEnd;

typedef struct VisitJobEvents {
        /* The visit waits for the permission to send commands. `deferred`: the visit has waited longer than
         * `patience_usec`. */
        void (*waiting)(void *userdata, Wait w, bool deferred);
        void (*ready)(void *userdata); /* commands are permitted: call visit_job_work() */
        /* The worker is about to write `wish`, which is dangerous. NO_WISH: it is about to write harmless wishes. The
         * worker waits for visit_job_intended(). */
        void (*intends)(void *userdata, size_t wish);
        void (*writing)(void *userdata, size_t wish); /* the worker now writes this wish; NO_WISH: it writes none */
        /* The first commands are over: a later unit attention is a new event. May be called more than once. */
        void (*settling)(void *userdata);
        void (*step)(void *userdata, const Step *s);
        void (*power)(void *userdata, PowerMode power);                                              /* see visit.h */
        void (*wear)(void *userdata, const Wear *w);                                                 /* see visit.h */
        void (*bridge_learned)(void *userdata, const Bridge *bridge, const DriveIdentity *identity); /* see visit.h */
        void (*silent)(void *userdata, unsigned seconds); /* the worker has sent no message for `seconds` */
        /* The visit ended. No other callback may free the VisitJob. `lost`: how the worker died; NULL if the worker
         * ended normally. */
        void (*ended)(void *userdata, VisitEnd end, const char *lost);
} VisitJobEvents;

/* Requests the permission for a visit. After `patience_usec` without permission, calls VisitJobEvents.waiting with `deferred` = true;
 * UINT64_MAX: never. `visit` is copied, but its drive, wishes and memories must outlive the VisitJob. */
int visit_job_new(sd_event *event, Broker *broker, FsckWait *fsck_wait, const Visit *visit, uint64_t patience_usec,
                  const VisitJobEvents *events, void *userdata, VisitJob **ret);
VisitJob *visit_job_free(VisitJob *v); /* does not wait for the worker to end */
DEFINE_CLEANUP(VisitJob *, visit_job_free);

/* Starts the worker. `active`: the drive is known to be active. */
int visit_job_work(VisitJob *v, bool active);

/* Called when the crash guard has tried to store the note of the intended write. `error` < 0: the note is not on stable
 * storage. */
void visit_job_intended(VisitJob *v, int error);

/* Orders the worker to stop after its current command. VisitJobEvents.ended then gets VISIT_DEFERRED. Does nothing without a worker. */
void visit_job_stop(VisitJob *v);

/* Called when the drive was unplugged or its medium changed: reports the loss as the verdict of each setting that has
 * no verdict yet. Must be called before visit_job_free(). */
void visit_job_vanish(const VisitJob *v);

bool visit_job_has_worker(const VisitJob *v);

/* Returns true if there is a worker that sent a message recently. */
bool visit_job_is_busy(const VisitJob *v);
