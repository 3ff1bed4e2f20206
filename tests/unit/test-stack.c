/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <sys/stat.h>

#include "stack.h"
#include "suite.h"

/* Tree: sda (sda1, sda2) and sdb (sdb1); md0 on sda2 and sdb1, LUKS dm-0 on md0, LVM dm-1 and dm-2 on dm-0; sdc has no
 * holders. sdd and sde1 form one btrfs; sdf is the only device of another btrfs. */
static char root[] = "/tmp/drivekeep-test-XXXXXX";
static char classdir[64];

static void make_directory(const char *path) {
        char name[256];

        snprintf(name, sizeof name, "%s/%s", root, path);
        ck_assert_int_eq(mkdir(name, 0755), 0);
}

static void make_link(const char *target, const char *path) {
        char from[512], to[512];

        snprintf(from, sizeof from, "%s/%s", root, target);
        snprintf(to, sizeof to, "%s/%s", root, path);
        ck_assert_int_eq(symlink(from, to), 0);
}

static void make_file(const char *path) {
        char name[512];
        FILE *f;

        snprintf(name, sizeof name, "%s/%s", root, path);
        f = fopen(name, "w");
        ck_assert_ptr_nonnull(f);
        fclose(f);
}

static void make_device(const char *name, const char *parent) {
        char path[256];

        snprintf(path, sizeof path, "devices/%s%s%s", parent ?: "", parent ? "/" : "", name);
        make_directory(path);
        snprintf(path, sizeof path, "devices/%s%s%s/holders", parent ?: "", parent ? "/" : "", name);
        make_directory(path);
        snprintf(path, sizeof path, "devices/%s%s%s/%s", parent ?: "", parent ? "/" : "", name,
                 parent ? "partition" : "slaves");
        if (parent)
                make_file(path);
        else
                make_directory(path);

        char link[256], target[256];
        snprintf(link, sizeof link, "class/%s", name);
        snprintf(target, sizeof target, "devices/%s%s%s", parent ?: "", parent ? "/" : "", name);
        make_link(target, link);
}

static void make_stacked(const char *upper, const char *lower) {
        char link[256], target[256];

        snprintf(link, sizeof link, "class/%s/slaves/%s", upper, lower);
        snprintf(target, sizeof target, "class/%s", lower);
        make_link(target, link);
        snprintf(link, sizeof link, "class/%s/holders/%s", lower, upper);
        snprintf(target, sizeof target, "class/%s", upper);
        make_link(target, link);
}

static void setup(void) {
        static const char *const devices[][2] = {
                { "sda" }, { "sda1", "sda" }, { "sda2", "sda" }, { "sdb" },  { "sdb1", "sdb" },
                { "sdc" }, { "md0" },         { "dm-0" },        { "dm-1" }, { "dm-2" },
                { "sdd" }, { "sde" },         { "sde1", "sde" }, { "sdf" },
        };
        static const char *const stacked[][2] = {
                { "md0", "sda2" }, { "md0", "sdb1" }, { "dm-0", "md0" }, { "dm-1", "dm-0" }, { "dm-2", "dm-0" },
        };

        ck_assert_ptr_nonnull(mkdtemp(root));
        snprintf(classdir, sizeof classdir, "%s/class", root);
        make_directory("class");
        make_directory("devices");
        for (size_t i = 0; i < ELEMENTSOF(devices); i++)
                make_device(devices[i][0], devices[i][1]);
        for (size_t i = 0; i < ELEMENTSOF(stacked); i++)
                make_stacked(stacked[i][0], stacked[i][1]);

        make_directory("btrfs");
        make_directory("btrfs/one");
        make_directory("btrfs/one/devices");
        make_link("class/sdd", "btrfs/one/devices/sdd");
        make_link("class/sde1", "btrfs/one/devices/sde1");
        make_directory("btrfs/two");
        make_directory("btrfs/two/devices");
        make_link("class/sdf", "btrfs/two/devices/sdf");
}

static void teardown(void) {
        char command[128];

        snprintf(command, sizeof command, "rm -r %s", root);
        ck_assert_int_eq(system(command), 0);
}

static int group(const char *dir, const char *name, char ***ret) {
        char btrfsdir[64];

        snprintf(btrfsdir, sizeof btrfsdir, "%s/btrfs", root);
        return stack_group(dir, btrfsdir, name, ret);
}

typedef int (*StackFn)(const char *classdir, const char *name, char ***ret);

/* clang-format off */
static const struct {
        StackFn fn;
        const char *name;
        const char *expected[8];
} cases[] = {
        { stack_above, "sda", { "sda1", "sda2", "md0", "dm-0", "dm-1", "dm-2" } },
        { stack_above, "sdb", { "sdb1", "md0", "dm-0", "dm-1", "dm-2" } },
        { stack_above, "sdc", {} },
        { stack_above, "nothing", {} },
        { stack_partitions, "sda", { "sda1", "sda2" } },
        { stack_partitions, "md0", {} },
        { stack_disks_below, "dm-2", { "sda", "sdb" } },
        { stack_disks_below, "sda1", { "sda" } },
        { stack_disks_below, "sdc", { "sdc" } },
        { group, "sda", { "sda", "sdb" } },
        { group, "sdb", { "sda", "sdb" } },
        { group, "sdc", { "sdc" } },
        { group, "sdd", { "sdd", "sde" } },
        { group, "sde", { "sdd", "sde" } },
        { group, "sdf", { "sdf" } },
        { group, "nothing", { "nothing" } },
};
/* clang-format on */

/* The link has the names of drivers/misc/enclosure.c. */
START_TEST(test_bay) {
        _cleanup_free_ char *bay = NULL;
        char syspath[64];

        snprintf(syspath, sizeof syspath, "%s/class/sdc", root);
        ck_assert_int_eq(stack_bay(syspath, &bay), -ENOENT);
        make_directory("class/sdc/device");
        make_directory("devices/enclosure");
        make_directory("devices/enclosure/0:0:24:0");
        make_link("devices/enclosure/0:0:24:0/Slot 04", "class/sdc/device/enclosure_device:Slot 04");
        ck_assert_int_eq(stack_bay(syspath, &bay), -ENOENT);
        make_directory("devices/enclosure/0:0:24:0/Slot 04");
        ck_assert_int_eq(stack_bay(syspath, &bay), 0);
        ck_assert_str_eq(bay, "0:0:24:0/Slot 04");
}
END_TEST

START_TEST(test_stack) {
        _cleanup_(names_freep) char **names = NULL;
        size_t n = 0, expected = 0;

        ck_assert_int_eq(cases[_i].fn(classdir, cases[_i].name, &names), 0);
        while (names && names[n])
                n++;
        while (cases[_i].expected[expected])
                ck_assert_msg(names_contain(names, cases[_i].expected[expected++]), "%s: %s", cases[_i].name,
                              cases[_i].expected[expected - 1]);
        ck_assert_uint_eq(n, expected);
}
END_TEST

START_TEST(test_has_holders) {
        _cleanup_(names_freep) char **above = NULL;

        ck_assert_int_eq(stack_above(classdir, "md0", &above), 0);
        ck_assert(stack_has_holders(classdir, "md0", above));
        ck_assert(!stack_has_holders(classdir, "md0", NULL)); /* false: `known` is NULL, so md0 has an unknown holder */
        ck_assert(!stack_has_holders(classdir, "dm-1", above));
        ck_assert(!stack_has_holders(classdir, "sda", above)); /* false: holders of partitions are not holders of sda */
}
END_TEST

START_TEST(test_belongs_to_parent) {
        char dir[] = "/tmp/drivekeep-test-XXXXXX", command[512], disk[128], controller[128];

        ck_assert(stack_belongs_to("/sys/devices/a/0:0:0:0/block/sda", "/sys/devices/a/0:0:0:0"));
        ck_assert(!stack_belongs_to("/sys/devices/a/0:0:0:0/block/sda", "/sys/devices/a/0:0:0:1"));
        ck_assert(!stack_belongs_to("/sys/devices/a/0:0:0:01/block/sda", "/sys/devices/a/0:0:0:0"));
        ck_assert(stack_belongs_to("/sys/devices/p/nvme/nvme0/nvme0n1", "/sys/devices/p/nvme/nvme0"));
        ck_assert(!stack_belongs_to("/sys/devices/p/nvme/nvme0/nvme0n1", "/sys/devices/p/nvme/nvme1"));

        /* With NVMe multipath, a namespace belongs to each controller to which its subsystem links. */
        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(command, sizeof command,
                        "cd %s && mkdir -p pci/nvme/nvme0 pci/nvme/nvme1 subsystem/nvme0n1 && "
                        "ln -s ../pci/nvme/nvme0 subsystem/nvme0",
                        dir);
        ck_assert_int_eq(system(command), 0);
        (void) snprintf(disk, sizeof disk, "%s/subsystem/nvme0n1", dir);
        (void) snprintf(controller, sizeof controller, "%s/pci/nvme/nvme0", dir);
        ck_assert(stack_belongs_to(disk, controller));
        (void) snprintf(controller, sizeof controller, "%s/pci/nvme/nvme1", dir);
        ck_assert(!stack_belongs_to(disk, controller));

        (void) snprintf(command, sizeof command, "rm -r %s", dir);
        ck_assert_int_eq(system(command), 0);
}
END_TEST

static const struct {
        const char *path, *host;
} hosts[] = {
        { "/sys/devices/pci0/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda", "host0" },
        { "/sys/devices/platform/host1x@50000000/usb2/2-1/2-1:1.0/host12/target12:0:0/12:0:0:0/block/sdb", "host12" },
        { "/sys/devices/host3/session1/host14/target14:0:0/14:0:0:1/block/sdc", "host14" },
        { "/sys/devices/pci0/0000:00:04.0/nvme/nvme0/nvme0n1", NULL },
        { "/sys/devices/platform/hostess/block/vda", NULL },
        { "/sys/devices/platform/host7", NULL },
};

START_TEST(test_scsi_host) {
        const char *host = NULL;
        size_t n = stack_scsi_host(hosts[_i].path, &host);

        ck_assert_uint_eq(n, hosts[_i].host ? strlen(hosts[_i].host) : 0);
        ck_assert(n == 0 || strncmp(host, hosts[_i].host, n) == 0);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("stack");
        TCase *t = tcase_create("stack");

        tcase_add_unchecked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_stack, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_has_holders);
        tcase_add_test(t, test_belongs_to_parent);
        tcase_add_test(t, test_bay);
        tcase_add_loop_test(t, test_scsi_host, 0, ELEMENTSOF(hosts));
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
