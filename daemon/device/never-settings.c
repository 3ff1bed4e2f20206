/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Keys of old files and names that people try, which are never written, each with a sentence that says why and what to do
 * instead. What stands behind an excluded key is not kept: it may be a password. */

#include "settings.h"

#define NEVER(key, flag, in_brief, as, what, from, why)                                                                \
        {                                                                                                              \
                .name = key, .backend = BACKEND_ATA, .range = { .type = VALUE_ANY }, .flags = flag, .brief = in_brief, \
                .summary = what, .equivalent = as, .lost_by = "nothing: it is never set", .source = from,              \
                .instead = why,                                                                                        \
        }

/* hdparm.conf's keys that no kernel has taken since Linux 5.14, when drivers/ide went, or that no drive of this century knows. */
#define DEAD(key, option, what, today) \
        NEVER(key, SETTING_DEAD, "has no effect today", "hdparm " option, what, "hdparm.conf(5)", today)

/* What is permanent, destroys data, or locks a drive for ever. */
#define EXCLUDED(key, as, what, why) NEVER(key, SETTING_EXCLUDED, "never written", as, what, "hdparm(8)", why)

#define PASSWORD                                                                                                       \
        "a password in a file is none, and a wrong one locks the drive for ever; take it out of the file and give it " \
        "to the drive by hand (hdparm --security-...), or encrypt with LUKS"
#define CAPACITY \
        "it changes how large the drive is, below its file systems and partly for ever; do it by hand (hdparm -N)"
#define ERASES \
        "it destroys the data on the drive, and no event may ever start that; do it by hand (hdparm, nvme sanitize)"

/* clang-format off */
const Setting never_settings[] = {
        DEAD("dma", "-d", "DMA of old IDE drivers, on or off",
                "DMA is always on; libata.force=nodma or libata.force=[ID:]udma4 on the kernel command line limits it"),
        DEAD("interrupt_unmask", "-u", "whether old IDE drivers let other interrupts through",
                "no driver of today masks them, so there is nothing to set in its place"),
        DEAD("keep_settings_over_reset", "-k", "whether old IDE drivers kept -d, -m and -u over a reset",
                "the kernel keeps its own settings; software_settings_preservation has the drive keep those it holds"),
        DEAD("chipset_pio_mode", "-p", "PIO mode of the IDE chipset",
                "libata chooses it; libata.force=[ID:]pio4 on the kernel command line limits it"),
        DEAD("transfer_mode", "-X", "transfer mode of the drive",
                "libata sets it and lets nobody else; libata.force=[ID:]udma5, or libata.force=[ID:]1.5Gbps for the link, "
                "on the kernel command line limits it"),
        DEAD("io32_support", "-c", "32-bit I/O of old IDE chipsets",
                "only a few PATA drivers of libata take it, and they choose it themselves; libata.force= has nothing in its "
                "place, as DMA does not use it"),
        DEAD("bus", "-b", "state of the IDE bus",
                "a drive is taken off by 1 into /sys/block/*/device/delete, and its bus looked at anew by '- - -' into "
                "/sys/class/scsi_host/*/scan"),
        DEAD("defect_mana", "-D", "defect management of ancient drives",
                "drives have managed their defects themselves since ATA-4 and refuse the command"),
        DEAD("prefetch_sect", "-P", "prefetch count of ancient drives",
                "drives have refused the command since ATA-4; lookahead and read_ahead_kb are what is left of it"),
        DEAD("disable_seagate", "-Z", "power saving of ancient Seagate drives",
                "it is a vendor's own command, and may do anything to another drive; use apm, or epc and its timers"),

        EXCLUDED("security_unlock", "hdparm --security-unlock", "unlocking a drive by its password", PASSWORD),
        EXCLUDED("security_pass", "hdparm --security-set-pass", "giving a drive a password", PASSWORD),
        EXCLUDED("security_disable", "hdparm --security-disable", "taking a drive's password away", PASSWORD),
        EXCLUDED("user-master", "hdparm --user-master", "which of a drive's two passwords is meant", PASSWORD),
        EXCLUDED("security_mode", "hdparm --security-mode", "how strict a drive is about its password", PASSWORD),
        EXCLUDED("security_erase", "hdparm --security-erase", "erasing a whole drive by its password", ERASES),
        EXCLUDED("secure_erase", "hdparm --security-erase", "erasing a whole drive by its password", ERASES),
        EXCLUDED("sanitize", "hdparm --sanitize-...", "erasing a whole drive", ERASES),
        EXCLUDED("trim_sector_ranges", "hdparm --trim-sector-ranges", "telling a drive to forget sectors",
                 "it destroys the data in those sectors; fstrim.timer trims what file systems do not use"),
        EXCLUDED("hpa", "hdparm -N", "the host protected area", CAPACITY),
        EXCLUDED("max_sectors", "hdparm -N", "how many sectors a drive shows",
                 CAPACITY "; the size of the kernel's requests is max_sectors_kb"),
        EXCLUDED("dco_setmax", "hdparm --dco-setmax", "capacity by device configuration overlay", CAPACITY),
        EXCLUDED("dco_restore", "hdparm --dco-restore", "the factory's device configuration",
                 "it puts size and features of the drive back to the factory's for good, with the data beyond; do it by "
                 "hand (hdparm --dco-restore)"),
        EXCLUDED("sector_size", "hdparm --set-sector-size", "the size of a drive's sectors",
                 "it formats the drive anew; do it by hand (hdparm --set-sector-size)"),
        EXCLUDED("firmware_download", "hdparm --fwdownload", "a drive's firmware",
                 "a failure leaves no drive to try again on; fwupd or the vendor's program updates firmware"),
        EXCLUDED("idle3_timer", "hdparm -J, idle3ctl", "the head parking timer of WD's green drives",
                 "it is written by commands that WD never published, kept for ever, and counts after a power cycle only; "
                 "set it once by hand (idle3ctl, hdparm -J), or try apm or idle_b"),
        {},
};
/* clang-format on */
