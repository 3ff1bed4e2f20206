/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "rate-limit.h"

static bool is_over(const RateLimit *l, uint64_t now_usec) {
        return l->begin_usec == 0 || now_usec >= rate_limit_end(l);
}

void rate_limit_count(RateLimit *l, uint64_t now_usec) {
        if (is_over(l, now_usec)) {
                l->begin_usec = now_usec;
                l->n = 0;
        }
        l->n++;
}

void rate_limit_exhaust(RateLimit *l, uint64_t now_usec) {
        l->begin_usec = now_usec;
        l->n = l->most;
}

bool rate_limit_allows(const RateLimit *l, uint64_t now_usec) {
        return is_over(l, now_usec) || l->n < l->most;
}

uint64_t rate_limit_end(const RateLimit *l) {
        return l->begin_usec + l->usec;
}
