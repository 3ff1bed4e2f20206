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

/* Returns CLOCK_REALTIME in µs, the form of times in state files. */
static inline uint64_t now_usec(void) {
        return clock_usec(CLOCK_REALTIME);
}

static inline uint64_t monotonic_usec(void) {
        return clock_usec(CLOCK_MONOTONIC);
}

/* The largest error of suspended_usec(), µs. */
#define SUSPENDED_JITTER_USEC (50ULL * 1000)

/* Returns how long the machine has been suspended since boot, µs: the difference of CLOCK_BOOTTIME and CLOCK_MONOTONIC. Time that passes
 * between the reads of the two clocks adds to the result, so the reads are repeated if they take longer than SUSPENDED_JITTER_USEC. */

static inline uint64_t suspended_usec(void) {
        uint64_t before, since_boot;

        do {
                before = monotonic_usec();
                since_boot = clock_usec(CLOCK_BOOTTIME);
        } while (monotonic_usec() - before > SUSPENDED_JITTER_USEC);

        return since_boot - before;
}
