/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "settings.h"

const Remedy by_service_remedy = { "spindown_by = \"service\" makes the service spin the drive down" };
const Remedy recovery_remedy = {
        "error_recovery_fallback_timeout makes the kernel wait for the retries of the drive",
        { "error_recovery_fallback_timeout", "timeout" },
};

const SettingTable all_settings = {
        .tables = {
                ata_settings,
                ata_cache_settings,
                ata_power_settings,
                error_recovery_settings,
                ata_epc_settings,
                ata_lock_settings,
                nvme_settings,
                scsi_settings,
                kernel_scsi_settings,
                kernel_block_settings,
                iosched_settings,
                kernel_read_only_settings,
                optical_settings,
                never_settings,
        },
};
