/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* hdparm.conf's keys that no kernel since Linux 5.14 takes, when drivers/ide went, and that no drive of this century
 * knows: answered with a sentence, so that an old file can be brought along whole. */

#include "settings.h"

#define RETIRED(key, flag, what, today)                                                                     \
        {                                                                                                   \
                .name = key, .backend = BACKEND_ATA, .range = { .type = VALUE_ANY }, .flags = SETTING_DEAD, \
                .summary = what, .equivalent = "hdparm " flag, .lost_by = "nothing: it is never set",       \
                .source = "hdparm.conf(5); catalogue 3.3", .instead = today,                                \
        }

/* clang-format off */
const Setting ata_retired_settings[] = {
        RETIRED("dma", "-d", "DMA of old IDE drivers, on or off",
                "DMA is always on; libata.force=nodma or libata.force=[ID:]udma4 on the kernel command line limits it"),
        RETIRED("interrupt_unmask", "-u", "whether old IDE drivers let other interrupts through",
                "no driver of today masks them, so there is nothing to set in its place"),
        RETIRED("keep_settings_over_reset", "-k", "whether old IDE drivers kept -d, -m and -u over a reset",
                "the kernel keeps its own settings; software_settings_preservation has the drive keep those it holds"),
        RETIRED("chipset_pio_mode", "-p", "PIO mode of the IDE chipset",
                "libata chooses it; libata.force=[ID:]pio4 on the kernel command line limits it"),
        RETIRED("transfer_mode", "-X", "transfer mode of the drive",
                "libata sets it and lets nobody else; libata.force=[ID:]udma5, or libata.force=[ID:]1.5Gbps for the link, "
                "on the kernel command line limits it"),
        RETIRED("io32_support", "-c", "32-bit I/O of old IDE chipsets",
                "only a few PATA drivers of libata take it, and they choose it themselves; libata.force= has nothing in its "
                "place, as DMA does not use it"),
        RETIRED("bus", "-b", "state of the IDE bus",
                "a drive is taken off by 1 into /sys/block/*/device/delete, and its bus looked at anew by '- - -' into "
                "/sys/class/scsi_host/*/scan"),
        RETIRED("defect_mana", "-D", "defect management of ancient drives",
                "drives have managed their defects themselves since ATA-4 and refuse the command"),
        RETIRED("prefetch_sect", "-P", "prefetch count of ancient drives",
                "drives have refused the command since ATA-4; lookahead and read_ahead_kb are what is left of it"),
        RETIRED("disable_seagate", "-Z", "power saving of ancient Seagate drives",
                "it is a vendor's own command, and may do anything to another drive; use apm, or epc and its timers"),
        {},
};
/* clang-format on */
