/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What helps against a program that wakes drives. */

#include "test-cli.h"
#include "wakes.h"

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
        TCase *t = tcase_create("wake-advice");

        tcase_add_loop_test(t, test_advice, 0, ELEMENTSOF(advices));
        return test_main("cli-wake-advice", t);
}
