/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* ATA commands over SCSI/ATA Translation: taskfile -> ATA PASS-THROUGH(16) -> SG_IO -> registers. Command and register names: ACS. CDB
 * layout and sense formats: SAT-4. */

#include "ata-identify.h"
#include "device.h"
#include "sg-io.h"

enum {
        ATA_CMD_READ_LOG_EXT = 0x2F,
        ATA_CMD_READ_VERIFY_SECTORS = 0x40,
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
        bool ext;            /* 48-bit command */
        uint32_t timeout_ms; /* 0: SG_TIMEOUT_MS */
        bool want_registers; /* for data commands: return registers (CK_COND); non-data commands always return registers */
        void *data;
        size_t len;     /* whole sectors of 512 bytes; 0: non-data */
        bool to_device; /* direction of the data; false: from the device */
} Taskfile;

typedef struct Registers {
        bool valid; /* the bridge or kernel returned the registers */
        uint8_t error, status, count, lbal;
        bool hob_valid;    /* the upper half of the registers of a 48-bit command was returned */
        uint8_t hob_count; /* COUNT 15:8, if hob_valid */
} Registers;

#define ATA_STATUS_ERR 0x01
#define ATA_ERROR_ABRT 0x04

/* Sends an ATA command. Repeats the command immediately after a unit attention (power-on, resume). Returns 0 if the drive accepted the
 * command; otherwise an END_… error, -ETIMEDOUT or another errno, with a reason in d->failure. `ret` may be NULL. *ret is also filled
 * for END_REFUSED, and shows whether the drive itself rejected the command. */
int ata_command(Device *d, const Taskfile *tf, Registers *ret);

/* Returns 0 if the drive may get ATA commands, or an error if its USB bridge must not get any. The capabilities of a bridge are learned
 * from its answers (Device.bridge). */
int bridge_check(Device *d);

/* Reads IDENTIFY DEVICE into d->identify, once per device_refresh(). A wrong checksum is an error, and the data is not used. */
int ata_identify(Device *d);

/* Sends SMART READ DATA (B0h/D0h). END_UNSUPPORTED: the data is not available, or its checksum is wrong. */
int smart_read_data(Device *d, uint8_t data[static 512]);

/* `lost_by` of settings that Software Settings Preservation covers, according to drive manuals. */
#define LOST_WITHOUT_SSP "power; link reset, unless software_settings_preservation is on"

/* Setting.detail of ATA settings. Most features have fields in IDENTIFY DEVICE for "supported" and "enabled", and one command each for on
 * and off. The settings of these features need no functions of their own. */
typedef struct AtaFeature AtaFeature;
struct AtaFeature {
        /* The drive supports the feature if all fields in `supported` are nonzero, and has enabled it if all fields in `enabled` are
         * nonzero. Both arrays end with {}. If `enabled` has no fields, the state of the feature cannot be read. */
        IdentifyField supported[3];
        IdentifyField enabled[3];
        IdentifyField level; /* {}: the setting has no level */
        Taskfile on, off;    /* commands; 0 in `command` means SET FEATURES; a level is sent in COUNT of `on` */
        const char *no_off;  /* why the drive cannot turn the feature off; NULL: the feature can be turned off */
        uint16_t code;       /* number for the functions of one setting: an SCT code, or an offset in a log */
        /* Reads the part of the feature's state that IDENTIFY does not report. NULL: IDENTIFY reports the whole state. */
        int (*query)(Device *d, const AtaFeature *f, Reading *ret);
};

/* Reads the feature from IDENTIFY and by AtaFeature.query. The value of an unsupported feature is "off". */
int ata_feature_read(Device *d, const Setting *s, Reading *ret);
int ata_feature_write(Device *d, const Setting *s, const Value *v);

/* Members common to all ATA settings. The arguments after `what` are members of AtaFeature. */
#define ATA_ROW(key, read_, write_, order_, lost, how, from, what, ...)                                        \
        .name = key, .backend = BACKEND_ATA, .read = read_, .write = write_, .order = order_, .lost_by = lost, \
        .equivalent = how, .source = from, .summary = what, .detail = &(const AtaFeature) {                    \
                __VA_ARGS__                                                                                    \
        }

/* An ATA setting that uses the common read and write functions. */
#define ATA_FEATURE(key, ...) ATA_ROW(key, ata_feature_read, ata_feature_write, __VA_ARGS__)

/* SMART Command Transport (ACS-4): action and function code of a command table. Other codes must never be sent: some erase the disk
 * (Write Same). */
typedef enum SctFunction {
        SCT_SET_ERC = 0x0301, /* Error Recovery Control: current limit in units of 100 ms; 0: no limit */
        SCT_GET_ERC = 0x0302,
        SCT_SET_ERC_POWER_ON = 0x0303, /* limit after each power-on, on drives that support ACS-4 */
        SCT_GET_ERC_POWER_ON = 0x0304,
        SCT_SET_FEATURE = 0x0401, /* Feature Control: state of the write cache or of write reordering */
        SCT_GET_FEATURE = 0x0402,
        SCT_GET_FEATURE_OPTIONS = 0x0403, /* the answer has the bit SCT_FEATURE_SAVED */
} SctFunction;

#define SCT_FEATURE_SAVED 1 /* the state persists over power loss */

/* Sends an SCT command. `selection`: code of the limit or of the feature. `options`: only for SCT_SET_FEATURE. `ret` may be NULL. */
int sct_command(Device *d, SctFunction function, uint16_t selection, uint16_t value, uint16_t options, Registers *ret);

/* Reads a limit or state into *ret. -ENODATA: the bridge did not return the registers with the answer. */
int sct_get(Device *d, SctFunction function, uint16_t selection, uint16_t *ret);
