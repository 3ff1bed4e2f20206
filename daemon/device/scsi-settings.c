/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <limits.h>

#include "settings.h"
#include "sysfs.h"

/* clang-format off */
const Setting scsi_settings[] = {
        {
                .name = "timeout",
                .backend = BACKEND_SCSI,
                /* The kernel does not check what is stored there (catalogue 4.3): this range is our own. */
                .range = { .type = VALUE_DURATION, .min = 1000, .max = 3600 * 1000, .step = 1000 },
                .flags = SETTING_KERNEL,
                .order = 20,
                .summary = "how long the kernel waits for a command before it resets the drive",
                .equivalent = "/sys/block/*/device/timeout",
                .lost_by = "re-add",
                .source = "Linux drivers/scsi/scsi_sysfs.c; catalogue 4.3",
                .read = sysfs_setting_read,
                .write = sysfs_setting_write,
                .detail = &(const SysfsAttribute) { .path = "device/timeout", .scale = 1000 },
        },
        {
                .name = "queue_depth",
                .backend = BACKEND_SCSI,
                .range = { .type = VALUE_INT, .min = 1, .max = 65535 },
                .flags = SETTING_KERNEL,
                .order = 30, /* before nr_requests (catalogue 1.4) */
                .summary = "commands outstanding at the drive at once; 1 turns NCQ off",
                .equivalent = "hdparm -Q",
                .lost_by = "re-add",
                .source = "Linux drivers/scsi/scsi_sysfs.c, drivers/ata/libata-sata.c; catalogue 3.2",
                .read = sysfs_setting_read,
                .write = sysfs_setting_write,
                .detail = &(const SysfsAttribute) { .path = "device/queue_depth", .scale = 1 },
        },
        {},
};
/* clang-format on */
