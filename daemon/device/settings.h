/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* List of the backends' tables of settings. A new setting is a row in one of the tables, and needs no change here. */

#include "setting.h"

/* Each table ends with a row without a name. */
extern const Setting ata_settings[];
extern const Setting ata_cache_settings[];
extern const Setting ata_power_settings[];
extern const Setting error_recovery_settings[];
extern const Setting ata_lock_settings[];
extern const Setting ata_epc_settings[];
extern const Setting nvme_settings[];
extern const Setting scsi_settings[];
extern const Setting kernel_scsi_settings[];
extern const Setting kernel_block_settings[];
extern const Setting iosched_settings[];
extern const Setting kernel_read_only_settings[];
extern const Setting optical_settings[];
extern const Setting never_settings[];

extern const SettingTable all_settings;

extern const ValueWord standby_words[];

/* Ranges shared by several settings. Settings of different backends with the same name have the same range. */
#define RANGE_BOOL \
        { .type = VALUE_BOOL, .max = 1 }
/* The row for a drive that the service keeps active by reads. */
#define KEEP_ACTIVE_ROW(backend_)                                                                                  \
        .brief = "read the drive at this interval", .name = "keep_active", .backend = backend_, .order = 890,      \
        .lost_by = "nothing: the service sends the reads", .equivalent = "sg_verify",                              \
        .summary = "interval without I/O after which the service reads a sector, so that the drive neither parks " \
                   "its heads nor spins down; costs wear and power",                                               \
        .source = "ACS-3 READ VERIFY SECTOR(S) 40h; SBC-3 VERIFY(10) 2Fh",                                         \
        .range = { .type = VALUE_DURATION, .min = 5000, .max = 600000, .step = 1000, .has_off = true },            \
        .keeps_active = true, .read = keep_active_read, .write = keep_active_write
#define RANGE_STANDBY \
        { .type = VALUE_BOOL, .words = standby_words }
#define RANGE_RECOVERY \
        { .type = VALUE_DURATION, .min = 100, .max = 6553400, .step = 100, .has_off = true, .off = 0 }
#define RANGE_TIMER \
        { .type = VALUE_STANDBY_TIMER, .max = 255, .has_off = true, .off = 0 }

/* Advice for drives without a standby timer, and for drives without a limit for error recovery. */
extern const Remedy by_service_remedy, recovery_remedy;

/* Harm of a timeout that is shorter than a spin-up, for all settings that limit how long the kernel waits for a
 * drive. */
extern const Harm spin_up_harm;
