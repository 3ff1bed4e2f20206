/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that finds out who wakes a drive, in a unit of its own (drivekeep-tracer.service), which alone may read the kernel's
 * trace. It exists only while a drive sleeps whose wakes are logged. It has an instance of tracefs to itself
 * (Documentation/trace/ftrace.rst, "Instances"), with five events and with filters that let through what is about these drives: while
 * nothing happens to them, the process does not run. It takes one kind of message, of fixed size, from the manager alone. */

#include <systemd/sd-event.h>

#include "waker.h"
#include "wire.h"

#define TRACER_SOCKET "/run/drivekeep-tracer"
#define TRACER_INSTANCE "/sys/kernel/tracing/instances/drivekeep"

/* So many drives can be watched at once: the kernel takes filters of one page. */
#define TRACER_DRIVES_MAX 64U

/* ---- the manager's half ---- */

typedef struct Tracer Tracer;

typedef struct TracerEvents {
        /* From now on what happens to the drive is seen. */
        void (*watched)(void *userdata, WatchDevice disk);
        /* A command has gone to the drive that wakes it, or (WAKE_COMMAND) may wake it. It is still watched. */
        void (*woken)(void *userdata, WatchDevice disk, const Wake *w);
        /* No drive is watched any more: the process has ended, or has never begun (tracer_tracing()). */
        void (*lost)(void *userdata);
} TracerEvents;

/* Connects when the first drive is to be watched, which has systemd start the process; the process ends when the last one is not to
 * be any more. `path` and `events` outlive the Tracer. */
int tracer_new(sd_event *event, const char *path, const TracerEvents *events, void *userdata, Tracer **ret);
Tracer *tracer_free(Tracer *t);
DEFINE_CLEANUP(Tracer *, tracer_free);

/* Watch this drive, which sleeps; a second time: what lies on it is other now. -ENOSPC: there are too many; -EBUSY: the process was
 * lost not long ago. */
int tracer_watch(Tracer *t, const WatchDrive *d);
void tracer_unwatch(Tracer *t, WatchDevice disk); /* one that is not watched: nothing happens */

/* Whether the last drive given to tracer_watch() could be watched, and if not, why. */
Tracing tracer_tracing(const Tracer *t);

/* ---- messages: wire_send(), wire_receive() ---- */

extern const WireField tracer_request_fields[], tracer_answer_fields[];

typedef struct TracerRequest {
        bool watch;
        WatchDrive drive; /* to unwatch: `disk` alone */
} TracerRequest;

typedef struct TracerAnswer {
        WatchDevice disk;
        Tracing tracing; /* not TRACING_FINE: nothing can be watched, and the process ends */
        bool woken;      /* else: it is watched now */
        Wake wake;
} TracerAnswer;

/* ---- the tracer itself: tracer-process.c ---- */

/* Serves one manager at the socket that listens, until that goes: 0, or a negative errno. `instance`: TRACER_INSTANCE, which the
 * unit makes before and removes afterwards, also where the process was killed: this one may make and remove nothing. */
int tracer_run(int listener, const char *instance);
