/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One visit in the event loop: waits for permission to send commands (fsck-wait.h), then starts a worker and passes on its reports. A file
 * system check that is queued meanwhile stops the worker after its present command. */

#include "fsck-wait.h"
#include "worker-message.h"

typedef struct VisitJob VisitJob;

typedef enum VisitEnd {
        VISIT_OVER,
        VISIT_DEFERRED,    /* visit_job_stop(): the rest was reported as deferred */
        VISIT_INTERRUPTED, /* by a file system check: the rest was not reported */
} VisitEnd;

typedef struct VisitJobEvents {
        void (*waiting)(void *userdata, Wait w,
                        bool deferred); /* WAIT_NOTHING: the wait is over; deferred: it lasts longer than allowed */
        void (*ready)(void *userdata);  /* commands are permitted: call visit_job_work() */
        /* The worker is about to write this dangerous wish, or (NO_WISH) harmless ones. Call visit_job_intended(). */
        void (*intends)(void *userdata, size_t wish);
        void (*writing)(void *userdata, size_t wish); /* is being written; NO_WISH: none is */
        /* The first commands are over, and a unit attention from now on is another event. May come more than once. */
        void (*settling)(void *userdata);
        void (*step)(void *userdata, const Step *s);
        void (*power)(void *userdata, PowerMode power);                                       /* visit.h */
        void (*wear)(void *userdata, const Wear *w);                                          /* visit.h */
        void (*bridged)(void *userdata, const Bridge *bridge, const DriveIdentity *identity); /* visit.h */
        void (*silent)(void *userdata, unsigned seconds); /* no message from the worker for so long */
        /* Of all events, only this one may free the VisitJob. `lost`: how the worker ended without reporting all; NULL: it did not. */
        void (*ended)(void *userdata, VisitEnd end, const char *lost);
} VisitJobEvents;

/* `patience_usec`: reports `deferred` after so long without permission; UINT64_MAX: never. `visit` is copied; its drive, wishes and memories
 * must outlive the VisitJob. */
int visit_job_new(sd_event *event, Broker *broker, FsckWait *fsck_wait, const Visit *visit, uint64_t patience_usec,
                  const VisitJobEvents *events, void *userdata, VisitJob **ret);
VisitJob *visit_job_free(VisitJob *v); /* does not wait for the worker's end */
DEFINE_CLEANUP(VisitJob *, visit_job_free);

/* `active`: the drive has had I/O just now. */
int visit_job_work(VisitJob *v, bool active);

/* The note of the intent is on stable storage, or (error < 0) is not. */
void visit_job_intended(VisitJob *v, int error);

/* Stops the worker after its present command; `ended` follows, with VISIT_DEFERRED. Does nothing without a worker. */
void visit_job_stop(VisitJob *v);

/* The drive is gone or has another medium: reports that for each setting without a verdict. Call it before visit_job_free(). */
void visit_job_vanish(const VisitJob *v);

bool visit_job_has_worker(const VisitJob *v);

/* Is there a worker that has sent a message lately? */
bool visit_job_is_busy(const VisitJob *v);
