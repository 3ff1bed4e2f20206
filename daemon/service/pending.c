/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>

#include "pending.h"

void pending_add(Pending *p, VisitReason reason, uint64_t not_before) {
        assert(reason < _VISIT_REASON_MAX);

        p->not_before = p->reasons ? MIN(p->not_before, not_before) : not_before;
        p->reasons |= 1U << reason;
}

void pending_merge(Pending *p, const Pending *other) {
        p->not_before = 0;
        p->reasons |= other->reasons;
        p->reads = p->reads || other->reads;
        p->looks = p->looks || other->looks;
        p->busy = p->busy || other->busy;
        p->requested = p->requested || (other->requested && pending_has(other, VISIT_SLEEP));
}

VisitReason pending_reason(const Pending *p) {
        VisitReason best = _VISIT_REASON_MAX;

        assert(p->reasons != 0);
        for (VisitReason r = 0; r < _VISIT_REASON_MAX; r++)
                if (pending_has(p, r) && (best == _VISIT_REASON_MAX || visit_reason_rank(r) > visit_reason_rank(best)))
                        best = r;
        return best;
}

bool pending_forgets(const Pending *p) {
        return p->reasons && visit_reason_forgets(pending_reason(p));
}
