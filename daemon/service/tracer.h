/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that finds out what wakes a drive. Only its unit (drivekeep-tracer.service) may read the kernel's trace. The process exists
 * only while a drive whose wakes are logged is in standby. It uses a separate instance of tracefs (Documentation/trace/ftrace.rst,
 * "Instances") with five events, filtered for the watched drives, so that it consumes no CPU time without I/O to these drives. It accepts
 * one kind of message, only from the manager. */

#include <systemd/sd-event.h>

#include "waker.h"
#include "wire.h"

#define TRACER_SOCKET "/run/drivekeep-tracer"
#define TRACER_INSTANCE "/sys/kernel/tracing/instances/drivekeep"

/* The number of drives that can be watched at once, since the kernel limits filters to one page. */
#define TRACER_DRIVES_MAX 64U

/* ---- the manager's half ---- */

typedef struct Tracer Tracer;

typedef struct TracerEvents {
        /* Called when the watch of a drive has started. */
        void (*watched)(void *userdata, WatchDevice disk);
        /* Called when the drive gets a command that wakes it or, for WAKE_COMMAND, may wake it. The watch continues. */
        void (*woken)(void *userdata, WatchDevice disk, const Wake *w);
        /* Called when all watches have ended, because the process ended or did not start; see tracer_tracing(). */
        void (*lost)(void *userdata);
} TracerEvents;

/* Does not connect yet. The first watched drive opens the connection, for which systemd starts the process; after the last drive the
 * connection is closed, which ends the process. `path` and `events` must outlive the Tracer. */
int tracer_new(sd_event *event, const char *path, const TracerEvents *events, void *userdata, Tracer **ret);
Tracer *tracer_free(Tracer *t);
DEFINE_CLEANUP(Tracer *, tracer_free);

/* Watches a drive in standby. A second call for the same drive updates the devices stacked on the drive. Returns -ENOSPC if too many drives
 * are watched, and -EBUSY if the tracer process was lost within the last ten minutes. */
int tracer_watch(Tracer *t, const WatchDrive *d);
void tracer_unwatch(Tracer *t, WatchDevice disk); /* does nothing for a drive without a watch */

/* Returns whether the last tracer_watch() succeeded, or why it failed. */
Tracing tracer_tracing(const Tracer *t);

/* ---- messages: wire_send(), wire_receive() ---- */

extern const WireField tracer_request_fields[], tracer_answer_fields[];

typedef struct TracerRequest {
        bool watch;
        WatchDrive drive; /* the drive to watch; without `watch`, only `disk` is set */
} TracerRequest;

typedef struct TracerAnswer {
        WatchDevice disk;
        Tracing tracing; /* other than TRACING_FINE: no drive can be watched, and the process ends */
        bool woken;      /* the answer reports a wake; false: it reports that the watch has started */
        Wake wake;
} TracerAnswer;

/* ---- the tracer itself: tracer-process.c ---- */

/* Serves one manager on a listening socket until the manager disconnects. `instance`: TRACER_INSTANCE, which the unit creates before this
 * process and removes afterwards, since the process itself has no right to do so. */
int tracer_run(int listener, const char *instance);
