/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Decides when the tracer watches an active drive, to find the programs that keep the drive from its spin-down. Has no clock and no access
 * to the drive. All times are CLOCK_MONOTONIC, in µs.
 *
 * `patience` is the time without I/O after which the drive should be in standby (PowerPolicy.patience in power-watch.h). The tracer
 * watches the drive in two cases: during four times the patience, no interval without I/O was as long as the patience; or a probe found
 * the drive active after such an interval. In the second case, commands may have restarted the drive's own timer: the kernel's I/O
 * counters do not count commands.
 *
 * The tracer then watches the drive for twice the patience, at most one hour, and again after a pause. Each pause is twice as long as the
 * previous pause. A drive that is put into standby in time is never watched while it is active. */

#include "power-watch.h"

typedef struct ActiveWatch {
        uint64_t since; /* since this time, no interval without I/O was as long as the patience; 0: there was one, or not known */
        bool still_active; /* a probe found the drive active after the patience without I/O */
        uint64_t until;    /* the tracer watches the drive until this time; 0: the tracer does not watch the drive */
        uint64_t again_at; /* the tracer does not watch the drive before this time */
        uint64_t pause;    /* length of the last pause; 0: none */
} ActiveWatch;

typedef enum ActiveStep {
        ACTIVE_NOTHING,
        ACTIVE_BEGIN,  /* let the tracer watch the drive, then call active_watch_begun() or active_watch_ended() */
        ACTIVE_REPORT, /* let the tracer report what it has counted, then call active_watch_ended() */
        ACTIVE_DROP,   /* end the watch: the drive is in standby, or had no I/O for the patience */
} ActiveStep;

/* Returns true if the events of the power mode (mask of PowerEvent) show that nothing keeps the drive active. */
static inline bool active_watch_is_over(unsigned events, PowerMode mode) {
        return power_mode_in_standby(mode) || (events & POWER_NEWS_IDLE);
}

/* Call this function for each event of the power mode. `events`: mask of PowerEvent. */
ActiveStep active_watch_power(ActiveWatch *w, unsigned events, PowerMode mode, uint64_t patience, uint64_t now);

/* Returns the time at which to call active_watch_tick(); UINT64_MAX: never. */
uint64_t active_watch_due(const ActiveWatch *w);
ActiveStep active_watch_tick(ActiveWatch *w, uint64_t now);

void active_watch_begun(ActiveWatch *w, uint64_t patience, uint64_t now);
/* Call this function when the tracer no longer watches the drive. `found`: the tracer has seen programs that use the drive. */
void active_watch_ended(ActiveWatch *w, bool found, uint64_t patience, uint64_t now);
