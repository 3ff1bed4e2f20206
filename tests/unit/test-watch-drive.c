/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The data that the tracer gets for a drive: device number, SCSI address, and the devices that are stored on the drive. */

#include <inttypes.h>

#include "test-cli.h"
#include "watch-read.h"

#define SYSPATH "/sys/devices/pci0/ata1/host2/target2:0:1/2:0:1:3/block/sda"

static void setup(void) {
        scratch_make();
        file_make("sda/dev", "8:0\n");
}

static const struct {
        const char *syspath, *dev; /* dev: content of the file; NULL: no such file */
        const char *result;        /* expected "DISK SCSI-ADDRESS"; NULL: not a SCSI device */
} addresses[] = {
        { SYSPATH, "8:0\n", "8:0 2:0:1:3" },
        { SYSPATH, "259:1048575", "259:1048575 2:0:1:3" },
        { "/x/10:2:30:18446744073709551615/block/sda", "8:0\n", "8:0 10:2:30:18446744073709551615" },
        { "/x/usb1/1-2:1.0/host7/target7:0:0/7:0:0:0/block/sda", "8:0\n", "8:0 7:0:0:0" },
        { SYSPATH, NULL, NULL },
        { SYSPATH, "8\n", NULL },
        { SYSPATH, "", NULL },
        { "/sys/devices/pci0/nvme/nvme0/nvme0n1", "259:0\n", NULL },
        { "/sys/devices/pci0/virtio0/block/vda", "254:0\n", NULL },
        { "/sys/devices/pci0/host0/block/sda", "8:0\n", NULL },
        { "/x/2:0:1/block/sda", "8:0\n", NULL },
        { "/block/sda", "8:0\n", NULL },
        { "", "8:0\n", NULL },
};

START_TEST(test_address) {
        const Drive d = { .name = (char *) "sda", .syspath = (char *) addresses[_i].syspath };
        WatchDrive w = { .n_above = 99 };
        char text[64];

        if (addresses[_i].dev)
                file_write("sda/dev", addresses[_i].dev);
        else
                ck_assert_int_eq(unlink("sda/dev"), 0);
        ck_assert_int_eq(watch_drive_read(scratch, "btrfs", &d, &w), addresses[_i].result ? 0 : -ENODEV);
        if (!addresses[_i].result) {
                ck_assert_uint_eq(w.n_above, 99);
                return;
        }
        (void) snprintf(text, sizeof text, "%u:%u %u:%u:%u:%" PRIu64, w.disk.major, w.disk.minor, w.host, w.channel,
                        w.id, w.lun);
        ck_assert_str_eq(text, addresses[_i].result);
        ck_assert_uint_eq(w.n_above, 0);
}
END_TEST

/* The data for the tracer include devices that are stored on partitions, at any level. The partitions are not included. */
START_TEST(test_above) {
        static const char *const files[][2] = {
                { "sda/sda1/partition", "1\n" },    { "sda/sda1/dev", "8:1\n" },
                { "sda/sda1/holders/md127", NULL }, { "sda/holders/dm-0", NULL },
                { "md127/dev", "9:127\n" },         { "md127/md127p1/partition", "1\n" },
                { "md127/md127p1/dev", "259:0\n" }, { "md127/md127p1/holders/dm-1", NULL },
                { "dm-0/dev", "253:0\n" },          { "dm-0/holders/dm-1", NULL },
                { "dm-1/dev", "253:1\n" },          { "dm-1/holders/dm-2", NULL }, /* dm-2 was just removed */
        };
        const Drive d = { .name = (char *) "sda", .syspath = (char *) SYSPATH };
        bool md = false, lower = false, upper = false;
        WatchDrive w;

        for (size_t i = 0; i < ELEMENTSOF(files); i++)
                file_make(files[i][0], files[i][1]);
        ck_assert_int_eq(symlink("sda/sda1", "sda1"), 0);
        ck_assert_int_eq(symlink("md127/md127p1", "md127p1"), 0);

        ck_assert_int_eq(watch_drive_read(scratch, "btrfs", &d, &w), 0);
        ck_assert_uint_eq(w.n_above, 3);
        for (unsigned i = 0; i < w.n_above; i++) {
                md = md || (w.above[i].major == 9 && w.above[i].minor == 127);
                lower = lower || (w.above[i].major == 253 && w.above[i].minor == 0);
                upper = upper || (w.above[i].major == 253 && w.above[i].minor == 1);
        }
        ck_assert(md && lower && upper);
}
END_TEST

/* The data for the tracer include at most WATCH_ABOVE_MAX devices. */
START_TEST(test_above_many) {
        const Drive d = { .name = (char *) "sda", .syspath = (char *) SYSPATH };
        unsigned n = WATCH_ABOVE_MAX - 1 + (unsigned) _i, seen = 0;
        WatchDrive w;

        for (unsigned i = 0; i < n; i++) {
                char path[64], text[16];

                (void) snprintf(path, sizeof path, "sda/holders/dm-%u", i);
                file_make(path, NULL);
                (void) snprintf(path, sizeof path, "dm-%u/dev", i);
                (void) snprintf(text, sizeof text, "253:%u\n", i);
                file_make(path, text);
        }
        ck_assert_int_eq(watch_drive_read(scratch, "btrfs", &d, &w), 0);
        ck_assert_uint_eq(w.n_above, MIN(n, WATCH_ABOVE_MAX));
        for (unsigned i = 0; i < w.n_above; i++) {
                ck_assert(w.above[i].major == 253 && w.above[i].minor < n && !(seen & 1U << w.above[i].minor));
                seen |= 1U << w.above[i].minor;
        }
}
END_TEST

/* The data for the tracer include a btrfs file system on a partition of the drive, and a btrfs file system on dm-0 and dm-1
 * if only dm-0 is on the drive. A btrfs file system on a different drive is not included. */
START_TEST(test_btrfs) {
        static const char *const files[][2] = {
                { "sda/sda1/partition", "1\n" },    { "sda/sda1/dev", "8:1\n" },
                { "sda/sda1/holders/dm-0", NULL },  { "dm-0/dev", "253:0\n" },
                { "btrfs/one/devices/sda1", NULL }, { "btrfs/two/devices/dm-0", NULL },
                { "btrfs/two/devices/dm-1", NULL }, { "btrfs/three/devices/sdb", NULL },
                { "btrfs/features/x", "" },
        };
        static const char *const links[][2] = {
                { "../../devices/virtual/bdi/btrfs-2", "btrfs/one/bdi" },
                { "../../devices/virtual/bdi/btrfs-13", "btrfs/two/bdi" },
                { "../../devices/virtual/bdi/btrfs-4", "btrfs/three/bdi" },
                { "sda/sda1", "sda1" },
        };
        static const WatchDevice expected[] = { { WATCH_BTRFS, 2 }, { 253, 0 }, { WATCH_BTRFS, 13 } };
        const Drive d = { .name = (char *) "sda", .syspath = (char *) SYSPATH };
        WatchDrive w;

        for (size_t i = 0; i < ELEMENTSOF(files); i++)
                file_make(files[i][0], files[i][1]);
        for (size_t i = 0; i < ELEMENTSOF(links); i++)
                ck_assert_int_eq(symlink(links[i][0], links[i][1]), 0);

        ck_assert_int_eq(watch_drive_read(scratch, "btrfs", &d, &w), 0);
        ck_assert_uint_eq(w.n_above, ELEMENTSOF(expected));
        for (unsigned i = 0; i < w.n_above; i++)
                ck_assert(watch_device_equal(w.above[i], expected[i]));

        /* Without the link `bdi`, as in Linux before 5.10, a btrfs file system is not included. */
        ck_assert_int_eq(unlink("btrfs/one/bdi"), 0);
        ck_assert_int_eq(watch_drive_read(scratch, "btrfs", &d, &w), 0);
        ck_assert_uint_eq(w.n_above, 2);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("watch-drive");

        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_loop_test(t, test_address, 0, ELEMENTSOF(addresses));
        tcase_add_test(t, test_above);
        tcase_add_loop_test(t, test_above_many, 0, 5);
        tcase_add_test(t, test_btrfs);

        return test_main("watch-drive", t);
}
