/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a drive never forgives, under the names that people would try. None of it is sent, whoever asks, and what stands
 * behind such a key is not kept: it may be a password (catalogue 3.5). */

#include "settings.h"

#define EXCLUDED(key, flag, what, why)                                                                          \
        {                                                                                                       \
                .name = key, .backend = BACKEND_ATA, .range = { .type = VALUE_ANY }, .flags = SETTING_EXCLUDED, \
                .summary = what, .equivalent = flag, .lost_by = "nothing: it is never set",                     \
                .source = "hdparm(8); catalogue 3.5", .instead = why,                                           \
        }

#define PASSWORD                                                                                                       \
        "a password in a file is none, and a wrong one locks the drive for ever; take it out of the file and give it " \
        "to the drive by hand (hdparm --security-…), or encrypt with LUKS"
#define CAPACITY \
        "it changes how large the drive is, below its file systems and partly for ever; do it by hand (hdparm -N)"
#define ERASES \
        "it destroys the data on the drive, and no event may ever start that; do it by hand (hdparm, nvme sanitize)"

/* clang-format off */
const Setting ata_excluded_settings[] = {
        EXCLUDED("security_unlock", "hdparm --security-unlock", "unlocking a drive by its password", PASSWORD),
        EXCLUDED("security_pass", "hdparm --security-set-pass", "giving a drive a password", PASSWORD),
        EXCLUDED("security_disable", "hdparm --security-disable", "taking a drive's password away", PASSWORD),
        EXCLUDED("user-master", "hdparm --user-master", "which of a drive's two passwords is meant", PASSWORD),
        EXCLUDED("security_mode", "hdparm --security-mode", "how strict a drive is about its password", PASSWORD),
        EXCLUDED("security_erase", "hdparm --security-erase", "erasing a whole drive by its password", ERASES),
        EXCLUDED("secure_erase", "hdparm --security-erase", "erasing a whole drive by its password", ERASES),
        EXCLUDED("sanitize", "hdparm --sanitize-…", "erasing a whole drive", ERASES),
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
