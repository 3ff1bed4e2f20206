/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The work of the next visit to a drive: all requests since the last visit began, merged. The functions access neither
 * drive nor clock. */

#include "visit-reason.h"

typedef struct Pending {
        VisitWork work;      /* the pending work; without a flag of WORK_ANY no visit is pending */
        VisitReason reason;  /* the reason of the visit, for the journal */
        uint64_t not_before; /* earliest time of the visit; CLOCK_MONOTONIC, µs; 0: now */
        bool throttled; /* not_before delays the visit, since resets or changes by other programs are too frequent */
} Pending;

static inline bool pending_any(const Pending *p) {
        return p->work & WORK_ANY;
}

static inline bool pending_only_spins_down(const Pending *p) {
        return (p->work & WORK_ANY) == WORK_SPIN_DOWN;
}

/* Adds a request. The earliest not_before of all requests applies. */
void pending_add(Pending *p, VisitReason reason, VisitWork work, uint64_t not_before);

/* Removes the flags in `work`. If no flag of WORK_ANY remains, no visit is pending. */
void pending_drop(Pending *p, VisitWork work);

/* Adds all work of `other`. The visit may then begin at once: other->not_before is not used. */
void pending_merge(Pending *p, const Pending *other);
