/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "settings.h"

const Remedy by_service_remedy = { "spindown_by = \"service\" has the service spin it down" };
const Remedy recovery_remedy = {
        "error_recovery_fallback_timeout has the kernel wait as long as the drive may try",
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
                kernel_read_only_settings,
                optical_settings,
                never_settings,
        },
};
