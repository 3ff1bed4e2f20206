/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the next visit to a drive does, and when: all requests since the last visit began, merged. Pure. */

#include "visit-reason.h"

typedef struct Pending {
        VisitWork work;      /* without any of WORK_ANY there is no visit */
        VisitReason reason;  /* for the journal */
        uint64_t not_before; /* CLOCK_MONOTONIC, µs; 0: at once */
        bool throttled;      /* not_before is there because the drive was disturbed too often */
} Pending;

static inline bool pending_any(const Pending *p) {
        return p->work & WORK_ANY;
}

static inline bool pending_only_spins_down(const Pending *p) {
        return (p->work & WORK_ANY) == WORK_SPIN_DOWN;
}

/* Of several times the earliest counts. */
void pending_add(Pending *p, VisitReason reason, VisitWork work, uint64_t not_before);

/* Withdraws these flags, and with the last one of WORK_ANY the visit. */
void pending_drop(Pending *p, VisitWork work);

/* All of `other` is pending, too, and at once. */
void pending_merge(Pending *p, const Pending *other);
