/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "rate-limit.h"
#include "suite.h"

START_TEST(test_limit) {
        RateLimit l = { .usec = 100, .most = 2 };

        ck_assert(rate_limit_allows(&l, 5));
        rate_limit_count(&l, 5);
        ck_assert(rate_limit_allows(&l, 6));
        rate_limit_count(&l, 100);
        ck_assert(!rate_limit_allows(&l, 100));
        ck_assert_uint_eq(rate_limit_end(&l), 105);
        ck_assert(!rate_limit_allows(&l, 104));

        /* A new stretch begins with the next time, not when the old one ends. */
        ck_assert(rate_limit_allows(&l, 105));
        rate_limit_count(&l, 500);
        ck_assert_uint_eq(rate_limit_end(&l), 600);
        rate_limit_count(&l, 501);
        rate_limit_count(&l, 502);
        ck_assert(!rate_limit_allows(&l, 599));
        ck_assert(rate_limit_allows(&l, 600));

        rate_limit_exhaust(&l, 600);
        ck_assert(!rate_limit_allows(&l, 600));
        ck_assert(!rate_limit_allows(&l, 699));
        ck_assert(rate_limit_allows(&l, 700));
}
END_TEST

int main(void) {
        Suite *s = suite_create("rate-limit");
        TCase *t = tcase_create("rate-limit");

        tcase_add_test(t, test_limit);
        suite_add_tcase(s, t);
        return suite_run(s);
}
