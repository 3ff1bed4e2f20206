/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <check.h>
#include <stdlib.h>

/* Like ck_assert(), for conditions that a test checks very often: Check logs each call of ck_assert(), also for true conditions. */
#define quick_assert(condition)                                       \
        do {                                                          \
                if (!(condition))                                     \
                        ck_abort_msg("%s does not hold", #condition); \
        } while (0)

/* Runs a suite of test cases. Returns the exit status for main(). */
static inline int suite_run(Suite *suite) {
        SRunner *runner = srunner_create(suite);
        int failed;

        srunner_run_all(runner, CK_ENV);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
