/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* ATA commands by SCSI/ATA Translation: taskfile -> ATA PASS-THROUGH(16) -> SG_IO -> registers. Command and register
 * names are ACS's; CDB layout and sense formats: catalogue section 8. */

#include "device.h"
#include "sg-io.h"

enum {
        ATA_CMD_SMART = 0xB0,
        ATA_CMD_STANDBY = 0xE2,
        ATA_CMD_IDLE = 0xE3,
        ATA_CMD_CHECK_POWER_MODE = 0xE5,
        ATA_CMD_FLUSH_CACHE = 0xE7,
        ATA_CMD_FLUSH_CACHE_EXT = 0xEA,
        ATA_CMD_IDENTIFY_DEVICE = 0xEC,
        ATA_CMD_SET_FEATURES = 0xEF,
};

typedef struct Taskfile {
        uint8_t command;
        uint8_t feature, count;
        uint8_t lbal, lbam, lbah;
        bool ext;            /* one of the 48-bit commands */
        uint32_t timeout_ms; /* 0: SG_TIMEOUT_MS */
        bool want_registers; /* data commands: ask for the registers too (CK_COND); non-data ones always do */
} Taskfile;

typedef struct Registers {
        bool valid; /* the bridge or kernel handed them back */
        uint8_t error, status, count;
        uint8_t lbal, lbam, lbah;
} Registers;

/* Data is whole sectors of 512 bytes; none: non-data. A unit attention (after power-on or resume) is retried at once.
 * Returns 0 when the drive took the command, else a STEP_… error, -ETIMEDOUT or another errno, with a sentence. */
int ata_command(Device *d, const Taskfile *tf, SgDirection direction, void *data, size_t len, Registers *ret);
int ata_set_features(Device *d, uint8_t feature, uint8_t count);

/* IDENTIFY DEVICE into d->identify, once per device_refresh(). A wrong checksum is an error: nothing is decided from it. */
int ata_identify(Device *d);

/* CHECK POWER MODE into d->power, once per visit. It does not wake a drive in standby; what sleeps in the kernel's own
 * eyes (runtime PM) is not asked at all. */
int ata_power_mode(Device *d);

/* Decodes the result of one ATA PASS-THROUGH. Exported for tests. */
int ata_result(Device *d, const Taskfile *tf, const SgRequest *q, Registers *ret);
