/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <time.h>

#include "macro.h"

static inline uint64_t clock_usec(clockid_t clock) {
        struct timespec ts;

        (void) clock_gettime(clock, &ts);
        return (uint64_t) ts.tv_sec * 1000000 + (uint64_t) ts.tv_nsec / 1000;
}

#define DAY_USEC (24ULL * 60 * 60 * 1000 * 1000)

/* In µs, as records have it. */
static inline uint64_t now_usec(void) {
        return clock_usec(CLOCK_REALTIME);
}

static inline uint64_t monotonic_usec(void) {
        return clock_usec(CLOCK_MONOTONIC);
}

/* How long the machine has slept since it booted: the two clocks differ by that, and by nothing else. Whoever had to let others
 * run between the one look and the other looks again, or it would pass for sleep; what comes of it is too much by
 * SUSPENDED_JITTER_USEC at most. */
#define SUSPENDED_JITTER_USEC (50ULL * 1000)

static inline uint64_t suspended_usec(void) {
        uint64_t before, since_boot;

        do {
                before = monotonic_usec();
                since_boot = clock_usec(CLOCK_BOOTTIME);
        } while (monotonic_usec() - before > SUSPENDED_JITTER_USEC);

        return since_boot - before;
}
