/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What helps against the programs that are known to wake drives. Only what is certain, by their own manuals. */

#include <fnmatch.h>

#include "wakes.h"

/* clang-format off */
static const struct {
        const char *process, *unit; /* either fits; NULL: not asked */
        const char *kind;           /* in place of both */
        const char *advice;
} table[] = {
        /* Those that call the programs below come first. */
        { "@(node_exporter|prometheus-node|smartctl_export|prometheus-smar)*",
          "@(*node[-_]exporter*|*smartctl[-_]exporter*).service", NULL,
          "have the exporter, or the script that collects for it, leave out drives in standby: smartctl does with -n standby" },
        { "@(pvestatd|pvedaemon|pveproxy|pvescheduler)*", "@(pvestatd|pvedaemon|pveproxy|pvescheduler).service", NULL,
          "Proxmox VE looks at its storages: hide the drive from LVM by global_filter in /etc/lvm/lvm.conf, and disable storages on "
          "it that are not needed" },
        { "smartd", "@(smartd|smartmontools).service", NULL,
          "add -n standby,q to the drive's line in smartd.conf(5), so that smartd does not ask the drive while it sleeps" },
        { "smartctl", NULL, NULL,
          "have the program that calls smartctl give it -n standby, so that it does not ask a drive that sleeps" },
        { "udisksd", "udisks2.service", NULL,
          "udisksd does not ask a sleeping drive when it reads SMART data every ten minutes; it did this for another reason, such as "
          "a request of a desktop's program" },
        { "@(lvm|pvs|vgs|lvs|pvscan|vgscan|lvscan|pvdisplay|vgdisplay|lvdisplay|pvchange|vgchange|lvchange|lvmdevices|lvmdbusd)",
          "lvm2-*.service", NULL,
          "LVM's tools read each drive that they may use: hide this one by global_filter in /etc/lvm/lvm.conf, or by a devices file "
          "(lvmdevices(8)) without it" },
        { "@(dockerd|containerd)*", "@(docker|containerd).service", NULL,
          "images, containers and their logs are below Docker's data-root: set it in /etc/docker/daemon.json to a directory on "
          "another drive" },
        { "hd-idle", "hd-idle.service", NULL,
          "disable hd-idle.service: drivekeep does its work, by spindown_time in drivekeep.conf(5)" },
        { "updatedb*", "*updatedb*.service", NULL,
          "add the drive's mount point to PRUNEPATHS in /etc/updatedb.conf, so that updatedb does not search the drive" },
        { "hddtemp", "hddtemp.service", NULL,
          "hddtemp wakes drives if it is called with -w: call it without, or not for this drive" },
        { "@(smbd|nmbd)*", "@(smbd|nmbd|smb|nmb|samba*).service", NULL,
          "smbstatus(1) shows which clients of Samba have files open on the drive" },
        { "systemd-journal*", "systemd-journald*.service", NULL,
          "the journal is on this drive: have /var/log/journal on another one, or set Storage=volatile in journald.conf(5)" },
        /* By what happened, whoever did it. */
        { NULL, NULL, "udev",
          "a program opened the drive for writing and closed it, or asked udev to look at the drive, and then the rules of udev read "
          "the drive" },
        { NULL, NULL, "swap",
          "there is swap space on this drive: have it on another one; 'swapon --show' lists it" },
        { NULL, NULL, "md",
          "if it was a check of an array: mdcheck_start.timer starts it, or on Debian cron, unless AUTOCHECK in /etc/default/mdadm is "
          "false" },
};
/* clang-format on */

static bool wake_advice_fits(const char *pattern, const char *text) {
        return pattern && text && fnmatch(pattern, text, FNM_EXTMATCH) == 0;
}

const char *wake_advice(const WakeRecord *w) {
        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                if (wake_advice_fits(table[i].process, w->process) || wake_advice_fits(table[i].unit, w->unit) ||
                    wake_advice_fits(table[i].kind, w->kind))
                        return table[i].advice;
        /* A program that changed a file's content did not only read it. */
        if (w->process && !w->content && streq_ptr(w->kind, "flush"))
                return "if files were only read: reading a file changes its time of access, unless the file system is mounted with noatime";
        return NULL;
}
