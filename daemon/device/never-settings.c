/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Keys of hdparm.conf and of other programs that drivekeep recognizes but never writes, each with the reason and an alternative. The values
 * of EXCLUDED keys are not stored, because they may be passwords. */

#include "settings.h"

#define NEVER(key, flag, in_brief, as, what, from, why)                                                                \
        {                                                                                                              \
                .name = key, .backend = BACKEND_ATA, .range = { .type = VALUE_ANY }, .flags = flag, .brief = in_brief, \
                .summary = what, .equivalent = as, .lost_by = "nothing: it is never set", .source = from,              \
                .instead = why,                                                                                        \
        }

/* Keys of hdparm.conf that have no effect today. Some of the keys need drivers/ide, which Linux 5.14 removed. The other keys have no effect
 * on drives built since 2000. */
#define DEAD(key, option, what, today) \
        NEVER(key, SETTING_DEAD, "has no effect today", "hdparm " option, what, "hdparm.conf(5)", today)

/* Keys of commands that are permanent, destroy data, or lock a drive permanently. */
#define EXCLUDED(key, as, what, why) NEVER(key, SETTING_EXCLUDED, "never written", as, what, "hdparm(8)", why)

#define PASSWORD                                                                                                                       \
        "a password in a file is not secret, and a wrong one locks the drive permanently; remove it from the file and set it by hand " \
        "(hdparm --security-...), or encrypt with LUKS"
#define CAPACITY \
        "it changes the drive's capacity, which file systems rely on, and can be permanent; do it by hand (hdparm -N)"
#define ERASES \
        "it destroys the data on the drive, and must never run automatically; do it by hand (hdparm, nvme sanitize)"

/* clang-format off */
const Setting never_settings[] = {
        DEAD("dma", "-d", "DMA of old IDE drivers, on or off",
                "DMA is always on; libata.force=nodma or libata.force=[ID:]udma4 on the kernel command line limits it"),
        DEAD("interrupt_unmask", "-u", "whether old IDE drivers allowed other interrupts",
                "current drivers do not mask interrupts, and no setting replaces interrupt_unmask"),
        DEAD("keep_settings_over_reset", "-k", "whether old IDE drivers kept -d, -m and -u over a reset",
                "the kernel keeps its own settings over a reset; software_settings_preservation makes the drive keep its settings"),
        DEAD("chipset_pio_mode", "-p", "PIO mode of the IDE chipset",
                "libata chooses it; libata.force=[ID:]pio4 on the kernel command line limits it"),
        DEAD("transfer_mode", "-X", "transfer mode of the drive",
                "only libata sets the mode; on the kernel command line, libata.force=[ID:]udma5 limits the mode, and "
                "libata.force=[ID:]1.5Gbps limits the link"),
        DEAD("io32_support", "-c", "32-bit I/O of old IDE chipsets",
                "the setting has no effect with DMA, and libata chooses the value for PIO; no setting replaces it"),
        DEAD("bus", "-b", "state of the IDE bus",
                "write 1 to /sys/block/*/device/delete to remove a drive, and '- - -' to /sys/class/scsi_host/*/scan to scan the drive's "
                "bus again"),
        DEAD("defect_mana", "-D", "defect management of ancient drives",
                "drives since ATA-4 manage defects themselves, and reject the command"),
        DEAD("prefetch_sect", "-P", "prefetch count of ancient drives",
                "drives since ATA-4 reject the command; use lookahead or read_ahead_kb"),
        DEAD("disable_seagate", "-Z", "power saving of ancient Seagate drives",
                "it is a vendor command with unknown effects on other drives; use apm, or epc and its timers"),

        EXCLUDED("security_unlock", "hdparm --security-unlock", "unlocking a drive with its password", PASSWORD),
        EXCLUDED("security_pass", "hdparm --security-set-pass", "setting the password of a drive", PASSWORD),
        EXCLUDED("security_disable", "hdparm --security-disable", "removing the password of a drive", PASSWORD),
        EXCLUDED("user-master", "hdparm --user-master", "choice of the user or the master password", PASSWORD),
        EXCLUDED("security_mode", "hdparm --security-mode", "security level of a drive with a password", PASSWORD),
        EXCLUDED("security_erase", "hdparm --security-erase", "erasing a whole drive with its password", ERASES),
        EXCLUDED("secure_erase", "hdparm --security-erase", "erasing a whole drive with its password", ERASES),
        EXCLUDED("sanitize", "hdparm --sanitize-...", "erasing a whole drive", ERASES),
        EXCLUDED("trim_sector_ranges", "hdparm --trim-sector-ranges", "discarding ranges of sectors",
                 "it destroys the data in the given sectors; fstrim.timer trims the unused space of file systems"),
        EXCLUDED("hpa", "hdparm -N", "the host protected area", CAPACITY),
        EXCLUDED("max_sectors", "hdparm -N", "number of accessible sectors",
                 CAPACITY "; for the size of the kernel's requests use max_sectors_kb"),
        EXCLUDED("dco_setmax", "hdparm --dco-setmax", "capacity by the device configuration overlay", CAPACITY),
        EXCLUDED("dco_restore", "hdparm --dco-restore", "reset of the device configuration",
                 "it permanently resets the drive's size and features, and can lose data; do it by hand (hdparm --dco-restore)"),
        EXCLUDED("sector_size", "hdparm --set-sector-size", "size of the logical sectors of a drive",
                 "it reformats the drive; do it by hand (hdparm --set-sector-size)"),
        EXCLUDED("firmware_download", "hdparm --fwdownload", "firmware update of a drive",
                 "a failed update can make the drive unusable; update it with fwupd or the vendor's program"),
        EXCLUDED("idle3_timer", "hdparm -J, idle3ctl", "the head parking timer of WD's green drives",
                 "it needs undocumented WD commands, is permanent, and takes effect only after a power cycle; set it once by hand "
                 "(idle3ctl, hdparm -J), or try apm or idle_b"),
        {},
};
/* clang-format on */
