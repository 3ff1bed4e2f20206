/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "settings.h"
#include "macro.h"

const SettingTable all_settings = { .tables = { ata_settings, nvme_settings, scsi_settings, block_settings } };
