/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Merging several requests into one visit. */

#include <check.h>

#include "pending-visit.h"
#include "suite.h"

static const struct {
        VisitReason reasons[3];
        unsigned n;
        uint64_t at[3], not_before;
        VisitReason reason;
        VisitWork with, without;
} cases[] = {
        { { VISIT_CHANGE }, 1, { 5 }, 5, VISIT_CHANGE, WORK_APPLY, WORK_LOST | WORK_NOW },
        { { VISIT_RECHECK, VISIT_REVALIDATION },
          2,
          {},
          0,
          VISIT_REVALIDATION,
          WORK_KERNEL | WORK_RETRY,
          WORK_DRIVE | WORK_ALL | WORK_WAKE },
        { { VISIT_REVALIDATION, VISIT_RECHECK, VISIT_RETRY }, 3, {}, 0, VISIT_RETRY, WORK_APPLY, WORK_LOST | WORK_NOW },
        { { VISIT_RESET, VISIT_CHANGE }, 2, { 7, 3 }, 3, VISIT_RESET, WORK_LOST, WORK_NOW | WORK_RESUMED },
        { { VISIT_CHANGE, VISIT_RESET }, 2, { 3, 7 }, 3, VISIT_RESET, WORK_LOST, WORK_NOW | WORK_RESUMED },
        { { VISIT_PERMANENT, VISIT_RESUME },
          2,
          { 0, 9 },
          0,
          VISIT_RESUME,
          WORK_LOST | WORK_RESUMED | WORK_PERMANENT | WORK_NOW,
          0 },
        { { VISIT_RETRY, VISIT_REQUEST }, 2, { 9, 0 }, 0, VISIT_REQUEST, WORK_NOW, WORK_LOST | WORK_PERMANENT },
        { { VISIT_REQUEST, VISIT_PERMANENT }, 2, {}, 0, VISIT_PERMANENT, WORK_NOW | WORK_PERMANENT, WORK_LOST },
        { { VISIT_CONTROLLER, VISIT_CONTROLLER }, 2, { 4, 4 }, 4, VISIT_CONTROLLER, WORK_LOST, WORK_NOW },
        /* A visit that retries deferred settings may spin the drive up (WORK_WAKE). A visit after changes by another
         * program must not spin the drive up. */
        { { VISIT_PARAMETERS, VISIT_REVALIDATION },
          2,
          {},
          0,
          VISIT_PARAMETERS,
          WORK_ALL | WORK_WRITE,
          WORK_WAKE | WORK_NO_DRIFT },
        { { VISIT_PARAMETERS, VISIT_RETRY }, 2, {}, 0, VISIT_RETRY, WORK_WAKE | WORK_NO_DRIFT, WORK_LOST },
        { { VISIT_SPIN_DOWN, VISIT_STANDBY },
          2,
          {},
          0,
          VISIT_STANDBY,
          WORK_POWER | WORK_SPIN_DOWN | WORK_DESPITE_IO,
          WORK_SETTINGS },
        { { VISIT_WEAR, VISIT_RECHECK }, 2, {}, 0, VISIT_RECHECK, WORK_WEAR | WORK_KERNEL, WORK_RETRY },
};

START_TEST(test_add) {
        Pending p = {};

        for (unsigned i = 0; i < cases[_i].n; i++)
                pending_add(&p, cases[_i].reasons[i], visit_reason_work(cases[_i].reasons[i]), cases[_i].at[i]);
        ck_assert_uint_eq(p.not_before, cases[_i].not_before);
        ck_assert_str_eq(visit_reason_to_string(p.reason), visit_reason_to_string(cases[_i].reason));
        ck_assert_uint_eq(p.work & cases[_i].with, cases[_i].with);
        ck_assert_uint_eq(p.work & cases[_i].without, 0);
}
END_TEST

/* Each visit reason makes some work pending. VISIT_SPIN_DOWN is the only reason for a visit that only spins the drive
 * down. */
START_TEST(test_reason) {
        VisitReason r = (VisitReason) _i;
        Pending p = {};

        ck_assert(!pending_any(&p));
        pending_add(&p, r, visit_reason_work(r), 0);
        ck_assert(pending_any(&p));
        ck_assert_uint_eq(p.work & ~(_WORK_MAX - 1U), 0);
        ck_assert_int_eq(visit_reason_merge(r, r), r);
        ck_assert(pending_only_spins_down(&p) == (r == VISIT_SPIN_DOWN));
}
END_TEST

/* The time `not_before` of an earlier visit does not apply to the next visit. */
START_TEST(test_not_before) {
        Pending p = { .not_before = 3 };

        pending_add(&p, VISIT_CHANGE, WORK_APPLY, 8);
        ck_assert_uint_eq(p.not_before, 8);
}
END_TEST

/* A visit is withdrawn before it begins. The work of this visit is then pending again, and due at once. */
START_TEST(test_withdrawn) {
        Pending p = { .work = WORK_KERNEL | WORK_DRIVE, .reason = VISIT_RECHECK, .not_before = 8 };
        const Pending begun = { .work = WORK_APPLY | WORK_PERMANENT | WORK_ACTIVE,
                                .reason = VISIT_PERMANENT,
                                .not_before = 9 };

        pending_merge(&p, &(Pending){ .reason = VISIT_RESUME, .work = WORK_ACTIVE });
        ck_assert(p.reason == VISIT_RECHECK && p.not_before == 8);
        pending_merge(&p, &begun);
        ck_assert_uint_eq(p.work, begun.work);
        ck_assert_int_eq(p.reason, VISIT_PERMANENT);
        ck_assert_uint_eq(p.not_before, 0);

        /* A pending spin-down by a user's request keeps WORK_DESPITE_IO when the service also requests a spin-down.
         * Dropping WORK_SPIN_DOWN drops WORK_DESPITE_IO, too. */
        p = (Pending){ .work = WORK_SPIN_DOWN | WORK_DESPITE_IO | WORK_WEAR };
        pending_merge(&p, &(Pending){ .work = WORK_SPIN_DOWN });
        ck_assert(p.work & WORK_DESPITE_IO);
        pending_drop(&p, WORK_WEAR);
        ck_assert(pending_only_spins_down(&p));
        pending_drop(&p, WORK_SPIN_DOWN);
        ck_assert_uint_eq(p.work, 0);
}
END_TEST

int main(void) {
        Suite *s = suite_create("pending");
        TCase *t = tcase_create("pending");

        tcase_add_loop_test(t, test_add, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_reason, 0, _VISIT_REASON_MAX);
        tcase_add_test(t, test_not_before);
        tcase_add_test(t, test_withdrawn);
        suite_add_tcase(s, t);
        return suite_run(s);
}
