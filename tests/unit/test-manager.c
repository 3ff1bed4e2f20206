/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All drives together: how they come and go, how many are visited at once, and when none is. */

#include "fake-visits.h"

static void setup(void) {
        manager_setup_with(APM);
}

/* The service starts with these. */
static void start(size_t n) {
        static const char *const names[] = { "sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg", "sdh", "sdi", "sdj",
                                             "sdk", "sdl", "sdm", "sdn", "sdo", "sdp", "sdq", "sdr", "sds", "sdt" };

        ck_assert_uint_le(n, ELEMENTSOF(names));
        for (n_present = 0; n_present < n; n_present++)
                present[n_present] = (typeof(present[0])){ .name = names[n_present], .diskseq = n_present + 1 };
        ck_assert_int_eq(manager_enumerate(manager, VISIT_BOOT), 0);
}

/* ---- drives come and go ---- */

/* Nobody is visited before it is known who is to be left alone. */
START_TEST(test_start) {
        start(2);
        ck_assert_str_eq(all_done(), "judged sda:boot sdb:boot sdz:pruned ");
        ck_assert_ptr_eq(manager_first(manager), drive("sda"));
        ck_assert_ptr_null(manager_find(manager, "sdc"));
}
END_TEST

int main(void) {
        Suite *s = suite_create("manager");
        TCase *t = tcase_create("manager");

        tcase_add_checked_fixture(t, setup, manager_teardown);
        tcase_add_test(t, test_start);
        suite_add_tcase(s, t);

        return suite_run(s);
}
