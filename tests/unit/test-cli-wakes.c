/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the `find` command for inodes in the mounted file systems of a drive, and the advice about wakers. */

#include "changed-file.h"
#include "test-cli.h"
#include "wakes.h"

#define LINE(number, root, point, type, source) \
        "30 1 " number " " root " " point " rw,relatime shared:1 - " type " " source " rw\n"
#define DATA LINE("8:1", "/", "/data", "ext4", "/dev/sda1")
#define SRV LINE("253:0", "/", "/srv", "xfs", "/dev/mapper/box-srv")
#define OTHER LINE("8:17", "/", "/other", "ext4", "/dev/sdb1")
#define BTRFS LINE("0:40", "/@home", "/home", "btrfs", "/dev/sda2")

static const struct {
        const char *mountinfo; /* NULL: mountinfo cannot be read */
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
        /* For each file system, the command contains only one mount point, at which the root of the file system is
         * mounted. */
        { LINE("8:1", "/sub", "/bind", "ext4", "/dev/sda1") DATA LINE("8:1", "/", "/again", "ext4", "/dev/sda1"), "sda",
          1, "find /data -xdev -inum 12" },
        { LINE("0:5", "/", "/dev", "devtmpfs", "udev") DATA, "sda", 1, "find /data -xdev -inum 12" },
        /* The source is a device only for btrfs. */
        { LINE("0:50", "/", "/fuse", "fuse.btrfs", "/dev/sda2") LINE("0:51", "/", "/tmp", "tmpfs", "/dev/sda2") DATA,
          "sda", 1, "find /data -xdev -inum 12" },
        /* A source outside /dev is not looked up. */
        { LINE("0:50", "/", "/cold", "btrfs", "./sda2") DATA, "sda", 1, "find /data -xdev -inum 12" },
        { LINE("0:50", "/", "/cold", "btrfs", "/dev/../cold/sda2") DATA, "sda", 1, "find /data -xdev -inum 12" },
        /* The command omits mount points with characters that a shell would interpret. */
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
        command = changed_file_command("mountinfo", "class", cases[_i].drive, inodes, cases[_i].n_inodes);
        ck_assert_str_eq(command, cases[_i].command);
}
END_TEST

/* ---- advice about wakers ---- */

static const struct {
        const char *process, *unit, *kind, *advice; /* advice: part of the expected advice; NULL: no advice */
        const char *content;
} advices[] = {
        { "smartd", "smartd.service", "command", "smartd.conf(5)" },
        { "smartd", "smartmontools.service", "command", "-n standby,q" },
        { "smartctl", "cron.service", "command", "the program that calls smartctl" },
        { "smartctl", "prometheus-node-exporter-smartmon.service", "command", "the exporter" },
        { "smartctl_export", NULL, "command", "the exporter" },
        { "node_exporter", "node_exporter.service", "read", "the exporter" },
        { "prometheus", "prometheus.service", "write", NULL },
        { "pvedaemon worke", NULL, "read", "Proxmox" },
        { "udisksd", "udisks2.service", "command", "another request" },
        { "lvs", "pvestatd.service", "read", "Proxmox" },
        { "pvs", "session-1.scope", "read", "lvmdevices(8)" },
        { "dockerd", "docker.service", "write", "data-root" },
        { "containerd-shim", NULL, "read", "data-root" },
        { "hd-idle", NULL, "command", "spindown_time" },
        { "updatedb.plocat", "plocate-updatedb.service", "read", "PRUNEPATHS" },
        { "hddtemp", NULL, "command", "-w" },
        { "smbd", "smbd.service", "flush", "smbstatus(1)" },
        { "smbd-notifyd", "smb.service", "read", "smbstatus(1)" },
        { "systemd-journal", "systemd-journald.service", "flush", "journald.conf(5)" },
        { NULL, NULL, "udev", "closed it" },
        { NULL, NULL, "swap", "swapon" },
        { NULL, NULL, "md", "AUTOCHECK" },
        { "cat", NULL, "flush", "noatime" },
        { "cat", NULL, "flush", NULL, "1" },
        { "smbd", "smbd.service", "flush", "smbstatus(1)", "1" },
        { NULL, NULL, "flush", NULL },
        { "cat", "getty@tty1.service", "read", NULL },
        { NULL, NULL, NULL, NULL },
};

START_TEST(test_advice) {
        const WakeRecord w = { .process = (char *) advices[_i].process,
                               .unit = (char *) advices[_i].unit,
                               .kind = (char *) advices[_i].kind,
                               .content = (char *) advices[_i].content };
        const char *advice = wake_advice(&w);

        if (advices[_i].advice)
                ck_assert_ptr_nonnull(strstr(advice, advices[_i].advice));
        else
                ck_assert_ptr_null(advice);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("wakes");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_command, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_advice, 0, ELEMENTSOF(advices));
        return test_main("cli-wakes", t);
}
