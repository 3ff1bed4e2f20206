/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which check lies on which disk, and when all of a disk is known, by what udev and PID 1 said of it. */

#include "fsck-devices.h"
#include "suite.h"

#define UNIT "dev-sda1.device"

/* sda has the partition sda1. What is said of sda is in order. */
static const struct {
        bool unknown, gone, initialized, held_back, container, no_unit, inactive; /* sda1 */
        bool settled;
        bool hides; /* a check of something unknown may lie on it */
} cases[] = {
        { .initialized = true, .settled = true },
        { .hides = true },
        { .unknown = true, .hides = true },
        { .gone = true, .settled = true },
        { .initialized = true, .inactive = true, .hides = true },
        { .initialized = true, .inactive = true, .no_unit = true, .settled = true },
        { .initialized = true, .held_back = true, .settled = true, .hides = true },
        { .initialized = true, .container = true, .settled = true, .hides = true }, /* nothing is stacked on it */
};

START_TEST(test_disk) {
        char *above[] = { (char *) "nonesuch1", NULL }, *inactive[] = { (char *) "dev-sdz.device", (char *) UNIT };
        FsckDevice items[] = {
                { .name = (char *) "nonesuch", .ready = { .initialized = true, .ready = true } },
                { .name = cases[_i].unknown ? (char *) "other" : above[0],
                  .unit = cases[_i].no_unit ? NULL : (char *) UNIT,
                  .gone = cases[_i].gone,
                  .ready = { .initialized = cases[_i].initialized,
                             .ready = !cases[_i].held_back,
                             .container = cases[_i].container } },
        };
        const FsckDevices d = { items, ELEMENTSOF(items) };
        const FsckStatus s = { .inactive = inactive, .n_inactive = cases[_i].inactive ? 2 : 1 };
        const FsckUnit unknown = { .name = (char *) "systemd-fsck@x.service" };

        ck_assert_int_eq(disk_is_settled(&d, &s, "nonesuch", above), cases[_i].settled);
        ck_assert_int_eq(unit_covers(&d, &s, &unknown, "nonesuch", above), cases[_i].hides);

        /* By itself, and where it is the disk itself. */
        ck_assert(disk_is_settled(&d, &s, "nonesuch", NULL));
        ck_assert(!unit_covers(&d, &s, &unknown, "nonesuch", NULL));
        if (!cases[_i].unknown)
                ck_assert_int_eq(disk_is_settled(&d, &s, "nonesuch1", NULL), cases[_i].settled);
}
END_TEST

static const struct {
        const char *sysname;
        bool covers;
} units[] = {
        { "nonesuch", true }, { "nonesuch1", true }, { "dm-7", true }, { "other", false }, { "nonesuch2", false }
};

/* What a check is for is known: it lies on the disk, or does not, whatever else is said. */
START_TEST(test_unit) {
        char *above[] = { (char *) "nonesuch1", (char *) "dm-7", NULL };
        const FsckUnit u = { .name = (char *) "systemd-fsck@x.service", .sysname = (char *) units[_i].sysname };

        ck_assert_int_eq(unit_covers(&(FsckDevices){}, &(FsckStatus){}, &u, "nonesuch", above), units[_i].covers);
}
END_TEST

/* The units that PID 1 is asked about, and a disk that is not there any more. */
START_TEST(test_units) {
        FsckDevice items[] = { { .name = (char *) "a" }, { .name = (char *) "b", .unit = (char *) UNIT } };
        const FsckDevices d = { items, ELEMENTSOF(items) };
        _cleanup_free_ char **asked = NULL;
        FsckDevices gone = {};

        ck_assert_int_eq(fsck_devices_units(&d, &asked), 0);
        ck_assert_str_eq(asked[0], UNIT);
        ck_assert_ptr_null(asked[1]);

        ck_assert_int_eq(fsck_devices_add(&gone, "no-such-disk"), 0);
        ck_assert_uint_eq(gone.n_items, 1);
        ck_assert(gone.items[0].gone);
        ck_assert(disk_is_settled(&gone, &(FsckStatus){}, "no-such-disk", NULL));
        fsck_devices_done(&gone);
        ck_assert_uint_eq(gone.n_items, 0);
}
END_TEST

int main(void) {
        Suite *s = suite_create("fsck-devices");
        TCase *t = tcase_create("fsck-devices");

        tcase_add_loop_test(t, test_disk, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_unit, 0, ELEMENTSOF(units));
        tcase_add_test(t, test_units);
        suite_add_tcase(s, t);

        return suite_run(s);
}
