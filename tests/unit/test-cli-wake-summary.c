/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep wakes --summary`, and what helps against whom. */

#include "wakes-journal.h"

/* clang-format off */
static const Fields several[] = {
        RECORD("sda", "command", "-", PROCESS "lvs", UNIT "pvestatd.service"),
        RECORD("sda", "read", "-", PROCESS "ls", UNIT "session-3.scope"),
        RECORD("sdb", "command", "-", PROCESS "vgs", UNIT "pvestatd.service"),
        RECORD("sda", "read", "-", PROCESS "ls", UNIT "session-7.scope"),
        RECORD("sda", "command", "-", PROCESS "lvs", UNIT "pvestatd.service"),
        RECORD("sdc", "swap", "-", THREAD "kswapd0"),
};

static const Fields workers[] = {
        RECORD("sda", "flush", "-", THREAD "kworker/u8:1"),
        RECORD("sda", "read", "-", THREAD "kworker/1:1H"),
        RECORD("sdb", "flush", "-", THREAD "kworker/u9:2"),
        RECORD("sda", "flush", "-", THREAD "jbd2/sda1-8"),
        RECORD("sda", "flush", "-", PROCESS "cat", THREAD "kworker/u8:1"),
};
/* clang-format on */

START_TEST(test_summary) {
        journal_set(several, ELEMENTSOF(several), ELEMENTSOF(several));
        assert_wakes(WORDS("--summary"), EXIT_WANTED,
                     "WAKES DRIVES   LAST WHO             UNIT\n"
                     "    3 sda, sdb 2009 lvs, vgs        pvestatd.service\n"
                     "    2 sda      2009 ls              -\n"
                     "    1 sdc      2009 kernel: kswapd0 -\n"
                     "pvestatd.service: Proxmox VE looks at its storages: hide the drive from LVM by global_filter in "
                     "/etc/lvm/lvm.conf, and disable storages on it that are not needed\n"
                     "kernel: kswapd0: there is swap space on this drive: have it on another one; 'swapon --show' lists it\n",
                     "");
}
END_TEST

/* Kernel workers without a known process count as one, without advice on times of access. */
START_TEST(test_workers) {
        journal_set(workers, ELEMENTSOF(workers), ELEMENTSOF(workers));
        assert_wakes(WORDS("--summary"), EXIT_WANTED,
                     "WAKES DRIVES   LAST WHO                 UNIT\n"
                     "    3 sda, sdb 2009 kernel: kworker     -\n"
                     "    1 sda      2009 cat                 -\n"
                     "    1 sda      2009 kernel: jbd2/sda1-8 -\n"
                     "cat: if files were only read: reading a file changes its time of access, unless the file system is mounted "
                     "with noatime\n",
                     "");
}
END_TEST

START_TEST(test_summary_json) {
        journal_set(several, ELEMENTSOF(several), 4);
        assert_wakes(WORDS("--summary", "-j"), EXIT_WANTED,
                     "[\n"
                     "  {\n"
                     "    \"who\": \"ls\",\n"
                     "    \"unit\": null,\n"
                     "    \"wakes\": 2,\n"
                     "    \"drives\": [\n"
                     "      \"sda\"\n"
                     "    ],\n"
                     "    \"last\": \"2009-11-21T12:04:00Z\",\n"
                     "    \"advice\": null\n"
                     "  },\n"
                     "  {\n"
                     "    \"who\": \"lvs, vgs\",\n"
                     "    \"unit\": \"pvestatd.service\",\n"
                     "    \"wakes\": 2,\n"
                     "    \"drives\": [\n"
                     "      \"sda\",\n"
                     "      \"sdb\"\n"
                     "    ],\n"
                     "    \"last\": \"2009-11-21T12:03:00Z\",\n"
                     "    \"advice\": \"Proxmox VE looks at its storages: hide the drive from LVM by global_filter in "
                     "/etc/lvm/lvm.conf, and disable storages on it that are not needed\"\n"
                     "  }\n"
                     "]\n",
                     "");
}
END_TEST

static const struct {
        const char *process, *unit, *kind, *advice; /* a part of it; NULL: none */
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
        { "udisksd", "udisks2.service", "command", "another reason" },
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
        TCase *t = tcase_create("wake-summary");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_test(t, test_summary);
        tcase_add_test(t, test_workers);
        tcase_add_test(t, test_summary_json);
        tcase_add_loop_test(t, test_advice, 0, ELEMENTSOF(advices));
        return test_main("cli-wake-summary", t);
}
