/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which check lies on which disk, and when all of a disk is known, by what udev and PID 1 said of it. */

#include "fsck-devices.h"
#include "suite.h"

#define UNIT "dev-sda1.device"

/* sda has the partition sda1. What is said of sda is in order. */
static const struct {
        bool gone, initialized, held_back, container, held, no_unit, inactive; /* sda1 */
        bool settled;
        bool hides; /* a check of something unknown may lie on it */
} cases[] = {
        { .initialized = true, .settled = true },
        { .hides = true },
        { .gone = true, .settled = true },
        { .initialized = true, .inactive = true, .hides = true },
        { .initialized = true, .inactive = true, .no_unit = true, .settled = true },
        { .initialized = true, .held_back = true, .settled = true, .hides = true },
        { .initialized = true, .container = true, .settled = true, .hides = true }, /* nothing is stacked on it */
        { .initialized = true, .container = true, .held = true, .settled = true },
};

START_TEST(test_disk) {
        char *inactive[] = { (char *) "dev-sdz.device", cases[_i].inactive ? (char *) UNIT : NULL, NULL };
        FsckDevice items[] = {
                { .name = (char *) "nonesuch", .ready = { .initialized = true, .ready = true } },
                { .name = (char *) "nonesuch1",
                  .unit = cases[_i].no_unit ? NULL : (char *) UNIT,
                  .gone = cases[_i].gone,
                  .held = cases[_i].held,
                  .ready = { .initialized = cases[_i].initialized,
                             .ready = !cases[_i].held_back,
                             .container = cases[_i].container } },
        };
        const FsckDevices d = { items, ELEMENTSOF(items) }, first = { items, 1 }, second = { items + 1, 1 };
        const FsckStatus s = { .inactive = inactive };
        const FsckUnit root = { .name = (char *) "systemd-fsck-root.service", .root = true };
        const FsckUnit unknown = { .name = (char *) "systemd-fsck@x.service" };

        ck_assert_int_eq(fsck_devices_settled(&d, &s), cases[_i].settled);
        ck_assert_int_eq(fsck_devices_covered(&d, &s, &unknown), cases[_i].hides);
        ck_assert(fsck_devices_covered(&d, &s, &root));

        /* By itself, and where it is the disk itself. */
        ck_assert(fsck_devices_settled(&first, &s));
        ck_assert(!fsck_devices_covered(&first, &s, &unknown));
        ck_assert_int_eq(fsck_devices_settled(&second, &s), cases[_i].settled);
}
END_TEST

static const struct {
        const char *sysname, *disks[3];
        bool covers;
} units[] = {
        { "nonesuch", { "nonesuch" }, true },
        { "nonesuch1", { "nonesuch" }, true },
        { "dm-7", {}, true },
        { "dm-8", { "other", "nonesuch" }, true }, /* it came when PID 1 had been asked */
        { "other", { "other" }, false },
        { "nonesuch2", {}, false },
};

/* What a check is for is known: it lies on the disk, or does not, whatever else is said. */
START_TEST(test_unit) {
        FsckDevice items[] = { { .name = (char *) "nonesuch" },
                               { .name = (char *) "nonesuch1" },
                               { .name = (char *) "dm-7" } };
        const FsckDevices d = { items, ELEMENTSOF(items) };
        const FsckUnit u = { .name = (char *) "systemd-fsck@x.service",
                             .sysname = (char *) units[_i].sysname,
                             .disks = (char **) units[_i].disks };

        ck_assert_int_eq(fsck_devices_covered(&d, &(FsckStatus){}, &u), units[_i].covers);
}
END_TEST

/* A disk that is not there any more. */
START_TEST(test_gone) {
        FsckDevices gone = {};

        for (int i = 0; i < 2; i++) {
                ck_assert_int_eq(fsck_devices_read(&gone, "no-such-disk", NULL), 0);
                ck_assert_uint_eq(gone.n_items, 1);
                ck_assert(gone.items[0].gone);
                ck_assert(fsck_devices_settled(&gone, &(FsckStatus){}));
        }
        fsck_devices_done(&gone);
        ck_assert_uint_eq(gone.n_items, 0);
}
END_TEST

int main(void) {
        Suite *s = suite_create("fsck-devices");
        TCase *t = tcase_create("fsck-devices");

        tcase_add_loop_test(t, test_disk, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_unit, 0, ELEMENTSOF(units));
        tcase_add_test(t, test_gone);
        suite_add_tcase(s, t);

        return suite_run(s);
}
