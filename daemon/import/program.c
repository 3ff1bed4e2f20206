/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Programs in scripts that no reader is for. */

#include <fnmatch.h>

#include "command.h"

/* Shell builtins and usual programs that set nothing that would have to be kept. One that is missing here is quoted. */
static const char harmless[] =
                "@(:|true|false|test|exit|return|break|continue|cd|pwd|shift|set|unset|export|readonly|local|declare|typeset|read|wait|"
                "type|which|hash|command|umask|ulimit|let|getopts|ls|cat|?([efz])grep|?([gm])awk|cut|tr|sort|uniq|head|tail|wc|mkdir|"
                "rmdir|rm|ln|touch|chmod|chown|mktemp|date|uname|hostname|id|whoami|basename|dirname|readlink|realpath|expr|seq|bc|"
                "logger|wall|mail|sleep|usleep|sync|kill|killall|pkill|pgrep|ps|tput|clear|stty|diff|cmp|stat|file|df|du|free|"
                "mount|umount|findmnt|mountpoint|swapon|swapoff|blkid|lsblk|lsscsi|lspci|lsusb|lsof|fuser|fsck?(.*)|e2fsck|"
                "mkfs?(.*)|mkswap|fstrim|partprobe|parted|sgdisk|[cs]fdisk|fdisk|mdadm|zpool|cryptsetup|badblocks|udevadm|systemctl|"
                "service|update-rc.d|apt?(-get)|dpkg|yum|dnf|zypper|pacman|apk|modprobe|rmmod|depmod|sysctl|log_*_msg|dd|cp|mv|"
                "install|sed|find|xargs|?(f)gconftool|on_ac_power|running_on_ac|iostat|iotop|hddtemp|sensors|fio)";

/* Those that may write into the files they are given. */
static const char writers[] = "@(dd|cp|mv|install|sed|find|xargs|sysctl)";

/* clang-format off */
static const char *const drives[] = {
        "/dev/sd", "/dev/hd", "/dev/sg", "/dev/nvme", "/dev/disk/", "/dev/md", "/dev/dm-", "/dev/mapper/", "/dev/sr", "/dev/bsg/",
        "/dev/$", "/sys/block", "/sys/class/block", "/sys/class/scsi", "/sys/class/nvme", "/sys/class/ata", "/sys/class/bdi",
        "hdparm", "sdparm", "smartctl", "blockdev", "hd-idle", "idle3ctl", "SeaChest_", "nvme ", "sg_", "wdidle3", "spindown",
        "standby", "%k",
};
/* clang-format on */

bool text_names_drive(const char *text) {
        for (size_t i = 0; i < ELEMENTSOF(drives); i++)
                if (strstr(text, drives[i]))
                        return true;

        return false;
}

bool program_is_harmless(const ScriptCommand *c, size_t i) {
        const char *base = base_name(c->words.items[i]);

        if (fnmatch(writers, base, FNM_EXTMATCH) == 0)
                for (size_t k = i + 1; k < c->words.n_items; k++)
                        if (strstr(c->words.items[k], "/sys/") || strstr(c->words.items[k], "hdparm"))
                                return false;
        return fnmatch(harmless, base, FNM_EXTMATCH) == 0;
}
