/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests which disk a file system check concerns, and whether udev and PID 1 know all devices of a disk. */

#include "device.h"
#include "done-log.h"
#include "inject.h"
#include "pid1.h"
#include "stack.h"
#include "suite.h"

#define UNIT "dev-sda1.device"

/* States of sda1, a partition of sda. udev and PID 1 always know sda itself. */
static const struct {
        bool gone, initialized, not_ready, container, has_holders, no_unit, inactive; /* state of sda1 */
        bool settled; /* expected: true if udev and PID 1 know all devices of sda */
        bool hides;   /* expected: true if a check of an unknown device may concern sda */
} cases[] = {
        { .initialized = true, .settled = true },
        { .hides = true },
        { .gone = true, .settled = true },
        { .initialized = true, .inactive = true, .hides = true },
        { .initialized = true, .inactive = true, .no_unit = true, .settled = true },
        { .initialized = true, .not_ready = true, .settled = true, .hides = true },
        { .initialized = true,
          .container = true,
          .settled = true,
          .hides = true }, /* the device that will be stacked on the container is not known yet */
        { .initialized = true, .container = true, .has_holders = true, .settled = true },
};

START_TEST(test_disk) {
        char *inactive[] = { (char *) "dev-sdz.device", cases[_i].inactive ? (char *) UNIT : NULL, NULL };
        FsckDevice items[] = {
                { .name = (char *) "nonesuch", .ready = { .initialized = true, .ready = true } },
                { .name = (char *) "nonesuch1",
                  .unit = cases[_i].no_unit ? NULL : (char *) UNIT,
                  .gone = cases[_i].gone,
                  .has_holders = cases[_i].has_holders,
                  .ready = { .initialized = cases[_i].initialized,
                             .ready = !cases[_i].not_ready,
                             .container = cases[_i].container } },
        };
        const FsckDevices d = { items, ELEMENTSOF(items) }, first = { items, 1 }, second = { items + 1, 1 };
        const FsckStatus s = { .inactive = inactive };
        const FsckUnit root = { .name = (char *) "systemd-fsck-root.service", .root = true };
        const FsckUnit unknown = { .name = (char *) "systemd-fsck@x.service" };

        ck_assert_int_eq(fsck_devices_settled(&d, &s), cases[_i].settled);
        ck_assert_int_eq(fsck_devices_covered(&d, &s, &unknown), cases[_i].hides);
        ck_assert(fsck_devices_covered(&d, &s, &root));

        /* The list `first` contains only a disk without partitions. In the list `second`, the device in the state of
         * sda1 is the disk itself. */
        ck_assert(fsck_devices_settled(&first, &s));
        ck_assert(!fsck_devices_covered(&first, &s, &unknown));
        ck_assert_int_eq(fsck_devices_settled(&second, &s), cases[_i].settled);
        ck_assert_int_eq(fsck_devices_covered(&second, &s, &unknown), cases[_i].hides);
}
END_TEST

static const struct {
        const char *sysname, *disks[3];
        bool covers;
} units[] = {
        { "nonesuch", { "nonesuch" }, true },      { "nonesuch", {}, true },
        { "nonesuch1", { "nonesuch" }, true },     { "dm-7", {}, true },
        { "dm-8", { "other", "nonesuch" }, true }, /* dm-8 appeared after the list of devices was read */
        { "other", { "other" }, false },           { "nonesuch2", {}, false },
};

/* A check of a known device concerns the disk in two cases: the device is in the list of the disk's devices, or the
 * disk is in the list of the device's disks. In both cases, udev and PID 1 need not know the other devices. */
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

/* For a disk that no longer exists, fsck_devices_read() returns one device, which is marked as gone. All devices of the
 * disk then count as known. */
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

/* ---- replacements for udev and the kernel, called by the linker's --wrap ---- */

/* The simulated machine has sda, a partition of sda, LVM on this partition, and a partition that disappears during the
 * read. */
static const struct {
        const char *name;
        Readiness ready;
        bool gone;
        const char *found; /* expected: kernel name, device unit ("-": none), "has holders" or "gone" */
} machine[] = {
        { "sda", { .initialized = true, .ready = true, .plugged = true }, false, "sda dev-sda.device" },
        { "sda1",
          { .initialized = true, .ready = true, .plugged = true, .container = true },
          false,
          "sda1 dev-sda1.device has holders" },
        { "dm-0", { .initialized = true, .container = true }, false, "dm-0 -" },
        { "sda2", { .plugged = true }, true, "sda2 - gone" },
};
static bool wrapped; /* true: the replaced functions describe the simulated machine, not the real machine */
static const char *failing;

int __real_inventory_readiness(const char *name, Readiness *ret);
int __wrap_inventory_readiness(const char *name, Readiness *ret);
int __wrap_inventory_readiness(const char *name, Readiness *ret) {
        if (!wrapped)
                return __real_inventory_readiness(name, ret);
        if (failing && streq(name, failing))
                return -EIO;
        for (size_t i = 0; i < ELEMENTSOF(machine); i++)
                if (streq(name, machine[i].name)) {
                        *ret = machine[i].ready;
                        return machine[i].gone ? -ENODEV : 0;
                }
        return -ENODEV;
}
int __real_device_node(const char *name, char **ret);
int __wrap_device_node(const char *name, char **ret);
int __wrap_device_node(const char *name, char **ret) {
        if (!wrapped)
                return __real_device_node(name, ret);
        return asprintf(ret, "/dev/%s", name) < 0 ? -ENOMEM : 0;
}
int __real_stack_above(const char *classdir, const char *name, char ***ret);
int __wrap_stack_above(const char *classdir, const char *name, char ***ret);
int __wrap_stack_above(const char *classdir, const char *name, char ***ret) {
        int r = 0;

        if (!wrapped)
                return __real_stack_above(classdir, name, ret);
        if (failing && streq(failing, "above"))
                return -EIO;
        for (size_t i = 1; i < ELEMENTSOF(machine) && streq(name, "sda") && r >= 0; i++)
                r = names_add(ret, machine[i].name);
        return MIN(r, 0);
}
bool __real_stack_has_holders(const char *classdir, const char *name, char *const *known);
bool __wrap_stack_has_holders(const char *classdir, const char *name, char *const *known);
bool __wrap_stack_has_holders(const char *classdir, const char *name, char *const *known) {
        if (!wrapped)
                return __real_stack_has_holders(classdir, name, known);
        return !streq(name, "dm-0") && names_contain(known, "dm-0");
}

/* Reads the state of the disk, and then of each device on the disk. has_holders is read only for containers. */
START_TEST(test_read) {
        FsckDevices d = {};

        wrapped = true;
        for (int i = 0; i < 2; i++) {
                ck_assert_int_eq(fsck_devices_read(&d, "sda", NULL), 0);
                ck_assert_uint_eq(d.n_items, ELEMENTSOF(machine));
                for (size_t k = 0; k < d.n_items; k++) {
                        const FsckDevice *item = d.items + k;

                        note("%s %s%s%s", item->name, item->unit ?: "-", item->has_holders ? " has holders" : "",
                             item->gone ? " gone" : "");
                        ck_assert(starts_with(all_done(), machine[k].found));
                        if (!item->gone)
                                ck_assert_mem_eq(&item->ready, &machine[k].ready, sizeof item->ready);
                }
        }
        fsck_devices_done(&d);
}
END_TEST

/* udev is not queried for the disk if the caller knows the disk's state. */
START_TEST(test_known_state) {
        const Readiness known = { .initialized = true, .plugged = _i == 0 };
        FsckDevices d = {};

        wrapped = true;
        failing = "sda";
        ck_assert_int_eq(fsck_devices_read(&d, "sda", &known), 0);
        ck_assert_uint_eq(d.n_items, ELEMENTSOF(machine));
        ck_assert_mem_eq(&d.items[0].ready, &known, sizeof known);
        ck_assert(streq_ptr(d.items[0].unit, _i == 0 ? "dev-sda.device" : NULL));
        ck_assert_mem_eq(&d.items[1].ready, &machine[1].ready, sizeof machine[1].ready);
        fsck_devices_done(&d);
}
END_TEST

static const char *const failures[] = { "above", "sda", "sda1", "sda2" };

START_TEST(test_read_fails) {
        FsckDevices d = {};

        wrapped = true;
        failing = failures[_i];
        ck_assert_int_eq(fsck_devices_read(&d, "sda", NULL), -EIO);
        fsck_devices_done(&d);
}
END_TEST

static bool read_once(Injected what, size_t nth) {
        FsckDevices d = {};
        bool failed;
        int r;

        inject_arm(what, nth);
        r = fsck_devices_read(&d, "sda", NULL);
        failed = inject_disarm();
        ck_assert_int_eq(r, failed ? -ENOMEM : 0);
        fsck_devices_done(&d);
        return failed;
}

START_TEST(test_no_memory) {
        wrapped = true;
        ck_assert_uint_gt(inject_each(read_once, INJECT_MEMORY), 5);
}
END_TEST

int main(void) {
        Suite *s = suite_create("fsck-devices");
        TCase *t = tcase_create("fsck-devices");

        tcase_add_loop_test(t, test_disk, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_unit, 0, ELEMENTSOF(units));
        tcase_add_test(t, test_gone);
        tcase_add_test(t, test_read);
        tcase_add_loop_test(t, test_known_state, 0, 2);
        tcase_add_loop_test(t, test_read_fails, 0, ELEMENTSOF(failures));
        tcase_add_test(t, test_no_memory);
        suite_add_tcase(s, t);

        return suite_run(s);
}
