/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reasons for a visit that come up one after the other, and what visit comes of them. */

#include <check.h>

#include "pending.h"
#include "suite.h"

static const struct {
        VisitReason reasons[3];
        unsigned n;
        uint64_t at[3], not_before;
        VisitReason told;
        bool forgets, request;
} cases[] = {
        { { VISIT_CHANGE }, 1, { 5 }, 5, VISIT_CHANGE, false, false },
        { { VISIT_RECHECK, VISIT_REVALIDATION }, 2, {}, 0, VISIT_REVALIDATION, false, false },
        { { VISIT_REVALIDATION, VISIT_RECHECK, VISIT_RETRY }, 3, {}, 0, VISIT_RETRY, false, false },
        { { VISIT_RESET, VISIT_CHANGE }, 2, { 7, 3 }, 3, VISIT_RESET, true, false },
        { { VISIT_CHANGE, VISIT_RESET }, 2, { 3, 7 }, 3, VISIT_RESET, true, false },
        { { VISIT_PERMANENT, VISIT_RESUME }, 2, { 0, 9 }, 0, VISIT_RESUME, true, true },
        { { VISIT_RETRY, VISIT_REQUEST }, 2, { 9, 0 }, 0, VISIT_REQUEST, false, true },
        { { VISIT_REQUEST, VISIT_PERMANENT }, 2, {}, 0, VISIT_PERMANENT, false, true },
        { { VISIT_CONTROLLER, VISIT_CONTROLLER }, 2, { 4, 4 }, 4, VISIT_CONTROLLER, true, false },
};

START_TEST(test_add) {
        Pending p = {};

        for (unsigned i = 0; i < cases[_i].n; i++)
                pending_add(&p, cases[_i].reasons[i], cases[_i].at[i]);
        ck_assert_uint_eq(p.not_before, cases[_i].not_before);
        ck_assert_str_eq(visit_reason_to_string(pending_reason(&p)), visit_reason_to_string(cases[_i].told));
        ck_assert_int_eq(pending_forgets(&p), cases[_i].forgets);
        ck_assert_int_eq(pending_is_request(&p), cases[_i].request);
}
END_TEST

/* No time of what was done before is left to what comes after. */
START_TEST(test_none) {
        Pending p = { .not_before = 3 };

        ck_assert(!pending_forgets(&p) && !pending_is_request(&p));
        pending_add(&p, VISIT_CHANGE, 8);
        ck_assert_uint_eq(p.not_before, 8);
}
END_TEST

/* A visit that did not begin leaves all its reasons, and is due at once. */
START_TEST(test_restore) {
        Pending p = { .reasons = 1U << VISIT_CHANGE, .not_before = 8, .reads = true };
        const Pending begun = { .reasons = 1U << VISIT_PERMANENT, .not_before = 9, .busy = true };

        pending_merge(&p, &begun);
        ck_assert(pending_has(&p, VISIT_CHANGE) && pending_has(&p, VISIT_PERMANENT) && p.reads && p.busy);
        ck_assert_uint_eq(p.not_before, 0);

        /* A request to put it into standby ends with the reason. */
        pending_merge(&p, &(Pending){ .reasons = 1U << VISIT_RETRY, .requested = true });
        ck_assert(!p.requested);
        pending_merge(&p, &(Pending){ .reasons = 1U << VISIT_SLEEP, .requested = true });
        pending_merge(&p, &(Pending){ .reasons = 1U << VISIT_SLEEP });
        ck_assert(p.requested);
}
END_TEST

int main(void) {
        Suite *s = suite_create("pending");
        TCase *t = tcase_create("pending");

        tcase_add_loop_test(t, test_add, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_none);
        tcase_add_test(t, test_restore);
        suite_add_tcase(s, t);
        return suite_run(s);
}
