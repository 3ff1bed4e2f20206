/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How often something may happen: so many times in a stretch of time that begins with the first. */

#include <stdbool.h>
#include <stdint.h>

typedef struct RateLimit {
        uint64_t usec; /* the stretch … */
        unsigned most; /* … and how often in it */

        uint64_t begin_usec; /* of the present stretch; 0: none yet */
        unsigned n;
} RateLimit;

/* It happened. `now_usec`: CLOCK_MONOTONIC. */
void rate_limit_count(RateLimit *l, uint64_t now_usec);

/* It happened, and is not to happen again in a whole stretch from now on. */
void rate_limit_exhaust(RateLimit *l, uint64_t now_usec);

/* May it happen now? */
bool rate_limit_allows(const RateLimit *l, uint64_t now_usec);

/* When it may happen again, if not now. */
uint64_t rate_limit_end(const RateLimit *l);
