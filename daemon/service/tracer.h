/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that finds out what wakes a drive. Its unit (drivekeep-tracer.service) alone may read the kernel's trace, and it runs only
 * while a drive is in standby whose wakes are logged. It has an instance of tracefs of its own (Documentation/trace/ftrace.rst,
 * "Instances"), with five events and filters for these drives: without I/O to them it does not run. It takes one kind of message, from the
 * manager alone. */

#include <systemd/sd-event.h>

#include "waker.h"
#include "wire.h"

#define TRACER_SOCKET "/run/drivekeep-tracer"
#define TRACER_INSTANCE "/sys/kernel/tracing/instances/drivekeep"

/* How many drives can be watched at once: the kernel takes filters of one page. */
#define TRACER_DRIVES_MAX 64U

/* ---- the manager's half ---- */

typedef struct Tracer Tracer;

typedef struct TracerEvents {
        /* The drive is watched from now on. */
        void (*watched)(void *userdata, WatchDevice disk);
        /* The drive got a command that wakes it, or (WAKE_COMMAND) may wake it. The drive is still watched. */
        void (*woken)(void *userdata, WatchDevice disk, const Wake *w);
        /* No drive is watched any more: the process has ended, or did not start (tracer_tracing()). */
        void (*lost)(void *userdata);
} TracerEvents;

/* Connects for the first drive to watch, which has systemd start the process; disconnects, and so ends the process, after the last.
 * `path` and `events` must outlive the Tracer. */
int tracer_new(sd_event *event, const char *path, const TracerEvents *events, void *userdata, Tracer **ret);
Tracer *tracer_free(Tracer *t);
DEFINE_CLEANUP(Tracer *, tracer_free);

/* Watches a drive in standby; once more: with other devices above it. -ENOSPC: too many drives; -EBUSY: the process was lost within the
 * last ten minutes. */
int tracer_watch(Tracer *t, const WatchDrive *d);
void tracer_unwatch(Tracer *t, WatchDevice disk); /* does nothing for a drive that is not watched */

/* Whether the last drive given to tracer_watch() could be watched, and if not, why. */
Tracing tracer_tracing(const Tracer *t);

/* ---- messages: wire_send(), wire_receive() ---- */

extern const WireField tracer_request_fields[], tracer_answer_fields[];

typedef struct TracerRequest {
        bool watch;
        WatchDrive drive; /* not `watch`: `disk` alone */
} TracerRequest;

typedef struct TracerAnswer {
        WatchDevice disk;
        Tracing tracing; /* not TRACING_FINE: no drive can be watched, and the process ends */
        bool woken;      /* false: the drive is watched from now on */
        Wake wake;
} TracerAnswer;

/* ---- the tracer itself: tracer-process.c ---- */

/* Serves one manager at a listening socket until the manager disconnects. `instance`: TRACER_INSTANCE, which the unit makes before this
 * process and removes after it, as the process itself has no right to. */
int tracer_run(int listener, const char *instance);
