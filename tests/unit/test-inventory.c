/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Builds drives from udev devices. The test supplies the data of udev. */

#include <glob.h>
#include <libudev.h>

#include "inventory.h"
#include "suite.h"
#include "sysfs-tree.h"

/* No disk of the test machine may have this kernel name, because inventory_drive() looks the name up in the machine's
 * own /sys, too. */
#define DISK "sdnone"

static Drive tree; /* only syspath is used */
static struct udev_device *device;

/* Makes a udev device with these properties, each as "KEY=value". The list ends with NULL. */
static struct udev_device *device_of(const char *syspath, const char *const *properties) {
        char path[PATH_MAX];

        /* libudev prepends "/sys" to DEVPATH. The "/.." cancels this prefix. */
        (void) snprintf(path, sizeof path, "/..%s", syspath);
        ck_assert(clearenv() == 0 && setenv("DEVPATH", path, 1) == 0 && setenv("ACTION", "change", 1) == 0 &&
                  setenv("SEQNUM", "77", 1) == 0);
        for (; *properties; properties++) {
                char key[64];

                (void) snprintf(key, sizeof key, "%.*s", (int) strcspn(*properties, "="), *properties);
                ck_assert_int_eq(setenv(key, *properties + strlen(key) + 1, 1), 0);
        }
        device = udev_device_new_from_environment(NULL);
        ck_assert_ptr_nonnull(device);
        return device;
}

static void setup(void) {
        make_tree(&tree);
}

static void teardown(void) {
        (void) udev_device_unref(device);
        /* Restores PATH, which device_of() cleared, for later commands. */
        ck_assert_int_eq(setenv("PATH", "/usr/bin:/bin", 1), 0);
        drop_tree(&tree);
}

static const char *node_of(const Drive *d, size_t i) {
        ck_assert_uint_lt(i, d->n_links);
        ck_assert_int_eq(d->links[i].via, LINK_OWN);
        return d->links[i].path;
}

/* A drive gets udev properties, attributes of the disk, and attributes of its host. */
START_TEST(test_drive) {
        static const char *const properties[] = {
                "SUBSYSTEM=block",    "DEVTYPE=disk",
                "DEVNAME=/dev/" DISK, "DEVLINKS=/dev/disk/by-id/wwn-0x5000c500a1b2c3d4 /dev/disk/by-path/pci-1",
                "ID_MODEL=ST4000",    "ID_ATA=1",
                "ID_FS_TYPE=ext4",    NULL,
        };
        _cleanup_(drive_freep) Drive *d = NULL;
        char syspath[PATH_MAX];

        put("queue/rotational", "1");
        put("size", "2048");
        put("device/serial", "Z1");
        put("device/../../scsi_host/host0/proc_name", "ahci");
        (void) snprintf(syspath, sizeof syspath, "%.*s" DISK, (int) (strlen(tree.syspath) - strlen("sda")),
                        tree.syspath);
        ck_assert_int_eq(rename(tree.syspath, syspath), 0);

        ck_assert_int_eq(inventory_drive(device_of(syspath, properties), &d), 0);
        ck_assert_str_eq(d->name, DISK);
        ck_assert_str_eq(d->node, "/dev/" DISK);
        ck_assert_str_eq(d->model, "ST4000");
        ck_assert_str_eq(d->serial, "Z1");
        ck_assert_ptr_null(d->firmware);
        ck_assert(d->rotational && d->identified && !d->raid);
        ck_assert_uint_eq(d->size, 1 << 20);
        ck_assert_int_eq(d->transport, TRANSPORT_SATA);
        ck_assert_str_eq(drive_property(d, "ID_FS_TYPE"), "ext4");
        ck_assert_str_eq(drive_property(d, "ID_MODEL"), "ST4000");

        ck_assert_uint_eq(d->n_links, 3);
        ck_assert_str_eq(node_of(d, 0), "/dev/" DISK);
        /* Links 1 and 2 are in no fixed order. */
        ck_assert_str_ne(node_of(d, 1), node_of(d, 2));
        for (size_t i = 1; i < 3; i++)
                ck_assert(STR_IN_SET(node_of(d, i), "/dev/disk/by-id/wwn-0x5000c500a1b2c3d4",
                                     "/dev/disk/by-path/pci-1"));
}
END_TEST

START_TEST(test_raid) {
        static const char *const properties[] = { "SUBSYSTEM=block", "DEVTYPE=disk", "DEVNAME=/dev/" DISK,
                                                  "ID_FS_TYPE=zfs_member", NULL };
        _cleanup_(drive_freep) Drive *d = NULL;

        ck_assert_int_eq(inventory_drive(device_of("/devices/" DISK, properties), &d), 0);
        ck_assert(d->raid);
}
END_TEST

/* A device stacked on the drive adds its links to the drive. A stacked device that has disappeared adds no link. The
 * test uses any block device of the machine as the stacked device. On a machine without block devices, the test is
 * skipped. */
START_TEST(test_above) {
        static const char *const properties[] = { "SUBSYSTEM=block", "DEVTYPE=disk", "DEVNAME=/dev/" DISK, NULL };
        _cleanup_(drive_freep) Drive *d = NULL;
        _cleanup_(globfree) glob_t found = {};
        char path[PATH_MAX], node[PATH_MAX];
        bool is_linked = false;
        const char *name;
        Readiness r;

        if (glob(INVENTORY_CLASSDIR "/[a-r]*[0-9]", 0, NULL, &found) != 0)
                return;
        name = base_name(found.gl_pathv[0]);
        if (strchr(name, '!'))
                return;
        (void) snprintf(path, sizeof path, "holders/%s/x", name);
        put(path, "");
        put("holders/" DISK "/x", "");

        /* Gives the drive a kernel name with slashes ('!' in sysfs). As a path, this name leads from the class
         * directory to the test's tree. */
        (void) snprintf(path, sizeof path, "%s/../..!..!..%s", root, tree.syspath);
        for (char *p = path + strlen(root) + strlen("/../..!"); (p = strchr(p, '/')); p++)
                *p = '!';
        ck_assert_int_eq(inventory_drive(device_of(path, properties), &d), 0);
        ck_assert_str_eq(d->name + strlen("../../.."), tree.syspath);

        (void) snprintf(node, sizeof node, "/dev/%s", name);
        ck_assert_uint_gt(d->n_links, 1);
        for (size_t i = 0; i < d->n_links; i++) {
                ck_assert_int_eq(d->links[i].via, i == 0 ? LINK_OWN : LINK_STACKED);
                ck_assert_str_ne(d->links[i].path, i == 0 ? node : "/dev/" DISK);
                is_linked = is_linked || streq(d->links[i].path, node);
        }
        ck_assert(is_linked);

        ck_assert_int_eq(inventory_readiness(name, &r), 0);
}
END_TEST

/* A drive without a device node is rejected with -ENODEV: it is being unplugged, or is one path of an NVMe multipath drive. */
START_TEST(test_without_node) {
        static const char *const properties[] = { "SUBSYSTEM=block", "DEVTYPE=disk", NULL };
        Drive *d = NULL;

        ck_assert_int_eq(inventory_drive(device_of("/devices/" DISK, properties), &d), -ENODEV);
        ck_assert_ptr_null(d);
}
END_TEST

static const struct {
        const char *path, *properties[4];
        bool drive;
} devices[] = {
        { "/devices/" DISK, { "SUBSYSTEM=block", "DEVTYPE=disk" }, true },
        { "/devices/" DISK "/" DISK "1", { "SUBSYSTEM=block", "DEVTYPE=partition" }, false },
        { "/devices/" DISK, { "SUBSYSTEM=scsi_disk", "DEVTYPE=disk" }, false },
        { "/devices/" DISK, { "SUBSYSTEM=block" }, false },
        { "/devices/loop0", { "SUBSYSTEM=block", "DEVTYPE=disk" }, false },
};

START_TEST(test_is_drive) {
        ck_assert(inventory_is_drive(device_of(devices[_i].path, devices[_i].properties)) == devices[_i].drive);
}
END_TEST

START_TEST(test_by_name) {
        static const char *const names[] = { DISK, "../" DISK, "../mem/null" /* a device that is not a drive */ };
        Drive *d = NULL;
        Readiness r = { .plugged = true };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                ck_assert_int_eq(inventory_drive_by_name(names[i], &d), -ENODEV);
        ck_assert_ptr_null(d);
        ck_assert_int_eq(inventory_readiness(DISK, &r), -ENODEV);
        ck_assert(r.plugged);

        /* /dev/null has no property SYSTEMD_READY=0, so /dev/null counts as ready. It has no device unit. */
        if (access(INVENTORY_CLASSDIR "/../mem/null", F_OK) < 0)
                return;
        ck_assert_int_eq(inventory_readiness("../mem/null", &r), 0);
        ck_assert(r.ready && !r.plugged && !r.container);
}
END_TEST

/* Reads the drives of the machine from udev's database. */
START_TEST(test_read) {
        _cleanup_(inventory_done) Inventory i = {};

        ck_assert_int_eq(inventory_read(&i), 0);
        for (size_t k = 0; k < i.n_drives; k++) {
                ck_assert(drive_name_is_managed(i.drives[k]->name));
                ck_assert(k == 0 || drive_compare(&i.drives[k - 1], &i.drives[k]) < 0);
        }
}
END_TEST

int main(void) {
        Suite *s = suite_create("inventory");
        TCase *t = tcase_create("inventory");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_test(t, test_drive);
        tcase_add_test(t, test_raid);
        tcase_add_test(t, test_above);
        tcase_add_test(t, test_without_node);
        tcase_add_loop_test(t, test_is_drive, 0, ELEMENTSOF(devices));
        tcase_add_test(t, test_by_name);
        tcase_add_test(t, test_read);
        suite_add_tcase(s, t);

        return suite_run(s);
}
