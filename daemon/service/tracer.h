/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The tracer, a process that finds out what wakes a drive. Only the tracer's unit (drivekeep-tracer.service) may read the kernel's trace.
 * The tracer runs only while it watches a drive: a drive in standby, or an active drive for a limited time (core/active-watch.h). The
 * tracer uses a separate instance of tracefs (Documentation/trace/ftrace.rst, "Instances") with five events. The events are filtered for
 * the watched drives, so that the tracer consumes no CPU time without I/O to these drives. The tracer accepts one kind of message, only
 * from the manager. */

#include <systemd/sd-event.h>

#include "waker.h"
#include "wire.h"

#define TRACER_SOCKET "/run/drivekeep-tracer"
#define TRACER_INSTANCE "/sys/kernel/tracing/instances/drivekeep"

/* The maximum number of watched drives. A filter lists all watched drives, and the kernel limits a filter to one page. */
#define TRACER_DRIVES_MAX 64U

/* ---- the manager's half ---- */

typedef struct Tracer Tracer;

typedef struct TracerEvents {
        /* Called when the watch of a drive has started. */
        void (*watched)(void *userdata, WatchDevice disk);
        /* Called when the drive gets a command that wakes the drive or, if w->kind is WAKE_COMMAND, may wake it. The
         * watch continues. */
        void (*woken)(void *userdata, WatchDevice disk, const Wake *w);
        /* Called for each program that has used an active drive, most uses first. Then called with `w` = NULL: the watch has ended. */
        void (*counted)(void *userdata, WatchDevice disk, const Wake *w, unsigned times);
        /* Called when all watches have ended, because the process ended or did not start; see tracer_tracing(). */
        void (*lost)(void *userdata);
} TracerEvents;

/* Creates a Tracer without a connection. The first tracer_watch() connects, and systemd then starts the process. When
 * no drive is watched any longer, the connection is closed and the process ends. `path` and `events` must outlive the
 * Tracer. */
int tracer_new(sd_event *event, const char *path, const TracerEvents *events, void *userdata, Tracer **ret);
Tracer *tracer_free(Tracer *t);
DEFINE_CLEANUP(Tracer *, tracer_free);

/* Watches a drive in standby, or counts the programs that use an active drive. A second call for the same drive replaces the first watch.
 * Returns -ENOSPC if too many drives are watched, and -EBUSY if the tracer process was lost within the last ten minutes. */
int tracer_watch(Tracer *t, const WatchDrive *d, bool active);
/* Requests the counts of an active drive. TracerEvents.counted follows; an active drive in heavy use is reported without a request. */
int tracer_report(Tracer *t, WatchDevice disk);
void tracer_unwatch(Tracer *t, WatchDevice disk); /* does nothing for a drive without a watch */

/* Returns whether tracing works, or why it does not. */
Tracing tracer_tracing(const Tracer *t);

/* ---- messages: wire_send(), wire_receive() ---- */

extern const WireField tracer_request_fields[], tracer_answer_fields[];

typedef struct TracerRequest {
        bool watch;
        bool active; /* the drive to watch is active. If `watch` is false: report the counts of the drive to unwatch */
        WatchDrive drive; /* the drive to watch. If `watch` is false: the drive to unwatch; only drive.disk is set */
} TracerRequest;

typedef struct TracerAnswer {
        WatchDevice disk;
        Tracing tracing; /* if this is not TRACING_FINE, no drive can be watched, and the tracer process ends */
        bool woken;      /* the answer reports a wake */
        bool counted; /* the answer reports the count of the program in `wake`; if `times` is 0: the watch of an active drive has ended.
                       * If `woken` and `counted` are both false: the watch has started */
        unsigned times; /* how many times the program has used the drive */
        Wake wake;
} TracerAnswer;

/* ---- the tracer itself: tracer-process.c ---- */

/* Serves one manager on a listening socket until the manager disconnects. `instance`: TRACER_INSTANCE, which the unit creates before this
 * process and removes afterwards, since the process itself has no right to do so. */
int tracer_run(int listener, const char *instance);
