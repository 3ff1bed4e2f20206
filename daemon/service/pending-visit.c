/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pending-visit.h"

void pending_add(Pending *p, VisitReason reason, VisitWork work, uint64_t not_before) {
        p->not_before = pending_any(p) ? MIN(p->not_before, not_before) : not_before;
        p->reason = pending_any(p) ? visit_reason_merge(p->reason, reason) : reason;
        p->work |= work;
}

void pending_drop(Pending *p, VisitWork work) {
        p->work &= ~work;
        if (!pending_any(p))
                p->work = 0;
}

void pending_merge(Pending *p, const Pending *other) {
        if (pending_any(other))
                pending_add(p, other->reason, other->work, 0);
}
