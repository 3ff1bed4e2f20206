/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A clock that is the test's: it stands still, but for what the test lets pass. The timers of an event loop go by it, too. */

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

/* Until nothing more happens by itself. */
static inline void run(sd_event *event) {
        int r;

        while ((r = sd_event_run(event, 0)) > 0)
                ;
        ck_assert_int_eq(r, 0);
}

/* So much time goes by, and what is due happens. */
static inline void pass(sd_event *event, uint64_t usec) {
        run(event);
        passed_usec += usec;
        run(event);
}
