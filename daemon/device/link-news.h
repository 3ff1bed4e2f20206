/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel's libata noted of errors between it and an ATA drive, in the "ering" file of the drive
 * (Documentation/ABI/testing/sysfs-ata, drivers/ata/libata-transport.c): 32 lines, the newest first, each with its time and the
 * kinds of error. A link that went down and came up is there as "BusError" (ata_ehi_hotplugged() in include/linux/libata.h),
 * also when the kernel kept the drive and udev was told of nothing. Nothing here reaches the drive. */

#include "macro.h"

typedef enum LinkNews {
        LINK_SAME,  /* nothing after which the link was reset */
        LINK_RESET, /* the kernel reset it, since a command had no answer or a wrong one */
        LINK_LOST,  /* it was gone, maybe with the drive's power */
} LinkNews;

/* The worst that was noted after `*since`, which becomes the time of the newest note (the kernel's own clock, in µs). Without
 * such a file, as for every drive that is not libata's, there is no news. `syspath` is the disk's. */
LinkNews link_news(const char *syspath, uint64_t *since);

/* The text of that file. Exported for tests. */
LinkNews link_news_parse(const char *text, uint64_t *since);

/* Is the kernel at it just now, so that a command would have to wait? */
bool link_is_recovering(const char *syspath);
