/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Why and when a drive is visited next: all the reasons that came up since its last visit began. The next visit makes up for all
 * of them. Pure. */

#include "plan.h"

typedef struct Pending {
        unsigned reasons;    /* a bit for each VisitReason; 0: the drive is not to be visited */
        uint64_t not_before; /* CLOCK_MONOTONIC, µs; 0: at once */
        bool put_off;        /* not_before is there because the drive was disturbed too often */
        bool reads;          /* of VISIT_RECHECK: what the drive holds is read, too */
        bool looks;          /* of VISIT_RECHECK: nothing is written, whatever on_drift says */
        bool busy;           /* the drive is in use just now, and so cannot be asleep */
        bool requested;      /* of VISIT_SLEEP: a user requested it, so that I/O of the drive does not cancel it */
} Pending;

/* Of several times the earliest counts. */
void pending_add(Pending *p, VisitReason reason, uint64_t not_before);

/* All of `other` is pending, too, and at once. */
void pending_merge(Pending *p, const Pending *other);

static inline bool pending_has(const Pending *p, VisitReason reason) {
        return p->reasons & 1U << reason;
}

/* The reason that does most (visit_reason_rank()): the visit's, in the journal. There must be one. */
VisitReason pending_reason(const Pending *p);

/* Must what was sent, and cannot be read, be taken for lost? */
bool pending_forgets(const Pending *p);

/* Does somebody ask for the visit, and want it now? */
static inline bool pending_is_request(const Pending *p) {
        return pending_has(p, VISIT_REQUEST) || pending_has(p, VISIT_PERMANENT);
}
