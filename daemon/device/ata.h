/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* ATA commands by SCSI/ATA Translation: taskfile -> ATA PASS-THROUGH(16) -> SG_IO -> registers. Command and register
 * names are ACS's; CDB layout and sense formats: SAT-4. */

#include "device.h"
#include "sg-io.h"

enum {
        ATA_CMD_READ_LOG_EXT = 0x2F,
        ATA_CMD_SMART = 0xB0,
        ATA_CMD_DEVICE_CONFIGURATION = 0xB1,
        ATA_CMD_SANITIZE_DEVICE = 0xB4,
        ATA_CMD_SET_MULTIPLE_MODE = 0xC6,
        ATA_CMD_STANDBY_IMMEDIATE = 0xE0,
        ATA_CMD_STANDBY = 0xE2,
        ATA_CMD_IDLE = 0xE3,
        ATA_CMD_CHECK_POWER_MODE = 0xE5,
        ATA_CMD_SLEEP = 0xE6,
        ATA_CMD_FLUSH_CACHE = 0xE7,
        ATA_CMD_FLUSH_CACHE_EXT = 0xEA,
        ATA_CMD_IDENTIFY_DEVICE = 0xEC,
        ATA_CMD_SET_FEATURES = 0xEF,
        ATA_CMD_SECURITY_FREEZE_LOCK = 0xF5,
};

typedef struct Taskfile {
        uint8_t command;
        uint8_t feature, count;
        uint8_t lbal, lbam, lbah;
        uint8_t hob_lbal;    /* LBA 31:24, of 48-bit commands */
        bool ext;            /* one of the 48-bit commands */
        uint32_t timeout_ms; /* 0: SG_TIMEOUT_MS */
        bool want_registers; /* data commands: ask for the registers too (CK_COND); non-data ones always do */
} Taskfile;

typedef struct Registers {
        bool valid; /* the bridge or kernel handed them back */
        uint8_t error, status, count;
        uint8_t lbal, lbam, lbah;
        bool hob_valid;    /* a 48-bit command's upper half came back too … */
        uint8_t hob_count; /* … of which COUNT 15:8 is used */
} Registers;

#define ATA_STATUS_ERR 0x01
#define ATA_ERROR_ABRT 0x04

/* Data is whole sectors of 512 bytes; none: non-data. A unit attention (after power-on or resume) is retried at once.
 * Returns 0 when the drive took the command, else a STEP_… error, -ETIMEDOUT or another errno, with a sentence. The
 * registers are filled in for STEP_REFUSED too: whether the drive itself said so shows in them. */
int ata_command(Device *d, const Taskfile *tf, SgDirection direction, void *data, size_t len, Registers *ret);
int ata_set_features(Device *d, uint8_t feature, uint8_t count);

/* IDENTIFY DEVICE into d->identify, once per device_refresh(). A wrong checksum is an error: nothing is decided from it. */
int ata_identify(Device *d);

/* CHECK POWER MODE into d->power, which stays as it was without a usable answer. It does not wake a drive in standby, but
 * one that the kernel has suspended: power_look() asks for that first. */
int ata_power_mode(Device *d);

/* Decodes the result of one ATA PASS-THROUGH. Exported for tests. */
int ata_result(Device *d, const Taskfile *tf, const SgRequest *q, Registers *ret);
