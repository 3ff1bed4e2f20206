/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The command that finds the files of inodes, by the mounts of the drive. */

#include "test-cli.h"
#include "wakes.h"

#define LINE(number, root, point, type, source) \
        "30 1 " number " " root " " point " rw,relatime shared:1 - " type " " source " rw\n"
#define DATA LINE("8:1", "/", "/data", "ext4", "/dev/sda1")
#define SRV LINE("253:0", "/", "/srv", "xfs", "/dev/mapper/box-srv")
#define OTHER LINE("8:17", "/", "/other", "ext4", "/dev/sdb1")
#define BTRFS LINE("0:40", "/@home", "/home", "btrfs", "./sda2")

static const struct {
        const char *mountinfo; /* NULL: it cannot be read */
        const char *drive;
        size_t n_inodes;
        const char *command;
} cases[] = {
        { DATA OTHER, "sda", 1, "find /data -xdev -inum 12" },
        { OTHER DATA SRV BTRFS, "sda", 2, "find /data /srv /home -xdev -inum 12 -o -inum 18446744073709551615" },
        { DATA, "sdb", 1, "find MOUNTPOINT -xdev -inum 12" },
        { DATA, NULL, 1, "find MOUNTPOINT -xdev -inum 12" },
        { "", "sda", 1, "find MOUNTPOINT -xdev -inum 12" },
        { NULL, "sda", 1, "find MOUNTPOINT -xdev -inum 12" },
        { "8:1 /\n\n - ext4\n30 1 8:1 / /data rw - ext4\n" DATA, "sda", 1, "find /data -xdev -inum 12" },
        /* Each file system once, and mounts of the whole only. */
        { LINE("8:1", "/sub", "/bind", "ext4", "/dev/sda1") DATA LINE("8:1", "/", "/again", "ext4", "/dev/sda1"), "sda",
          1, "find /data -xdev -inum 12" },
        { LINE("0:5", "/", "/dev", "devtmpfs", "udev") DATA, "sda", 1, "find /data -xdev -inum 12" },
        /* A shell would interpret these names. */
        { LINE("8:1", "/", "/my\\040data", "ext4", "/dev/sda1") SRV, "sda", 1, "find /srv -xdev -inum 12" },
        { LINE("8:1", "/", "/$(reboot)", "ext4", "/dev/sda1"), "sda", 1, "find MOUNTPOINT -xdev -inum 12" },
        { LINE("8:1", "/", "/it's", "ext4", "/dev/sda1"), "sda", 1, "find MOUNTPOINT -xdev -inum 12" },
};

START_TEST(test_command) {
        static const uint64_t inodes[] = { 12, UINT64_MAX };
        _cleanup_free_ char *command = NULL;

        file_make("class/sda/dev", "8:0\n");
        file_make("class/sda/sda1/partition", "1\n");
        file_make("class/sda/sda2/partition", "2\n");
        file_make("class/sda1/dev", "8:1\n");
        file_make("class/sda1/holders/dm-0/dev", "253:0\n");
        file_make("class/sda2/dev", "8:2\n");
        file_make("class/dm-0/dev", "253:0\n");
        file_make("class/sdb/dev", "8:16\n");
        if (cases[_i].mountinfo)
                file_write("mountinfo", cases[_i].mountinfo);
        command = wake_find_command("mountinfo", "class", cases[_i].drive, inodes, cases[_i].n_inodes);
        ck_assert_str_eq(command, cases[_i].command);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("wake-files");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_command, 0, ELEMENTSOF(cases));
        return test_main("cli-wake-files", t);
}
