/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Replaces clock_gettime(). Time advances only in pass(). The timers of event loops follow this time. */

#include <check.h>
#include <sys/syscall.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

static int64_t passed_usec;

int clock_gettime(clockid_t clock, struct timespec *ts) {
        static struct timespec began[CLOCK_MONOTONIC + 1];
        struct timespec *b = began + (clock == CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC);
        int64_t nsec;

        if (b->tv_sec == 0)
                (void) syscall(SYS_clock_gettime, b - began, b);
        nsec = b->tv_nsec + passed_usec % 1000000 * 1000;
        ts->tv_sec = b->tv_sec + passed_usec / 1000000 + (nsec >= 1000000000) - (nsec < 0);
        ts->tv_nsec = (nsec + 1000000000) % 1000000000;
        return 0;
}

/* Runs the event loop until no event is pending. */
static inline void run(sd_event *event) {
        int r;

        while ((r = sd_event_run(event, 0)) > 0)
                ;
        ck_assert_int_eq(r, 0);
}

/* Advances the clock, and handles the events that are due at the new time. */
static inline void pass(sd_event *event, uint64_t usec) {
        run(event);
        passed_usec += usec;
        run(event);
}
