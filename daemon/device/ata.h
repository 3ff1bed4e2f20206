/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* ATA commands by SCSI/ATA Translation: taskfile -> ATA PASS-THROUGH(16) -> SG_IO -> registers. Command and register
 * names are ACS's; CDB layout and sense formats: SAT-4. */

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
        bool ext;            /* one of the 48-bit commands */
        uint32_t timeout_ms; /* 0: SG_TIMEOUT_MS */
        bool want_registers; /* data commands: ask for the registers too (CK_COND); non-data ones always do */
        void *data;
        size_t len;     /* whole sectors of 512 bytes; 0: non-data */
        bool to_device; /* the data; else it is what comes back */
} Taskfile;

typedef struct Registers {
        bool valid; /* the bridge or kernel handed them back */
        uint8_t error, status, count, lbal;
        bool hob_valid;    /* a 48-bit command's upper half came back too … */
        uint8_t hob_count; /* … of which COUNT 15:8 is used */
} Registers;

#define ATA_STATUS_ERR 0x01
#define ATA_ERROR_ABRT 0x04

/* A unit attention (after power-on or resume) is retried at once. Returns 0 when the drive took the command, else an END_…
 * error, -ETIMEDOUT or another errno, with a sentence. `ret` may be NULL; it is filled in for END_REFUSED too: whether the
 * drive itself said so shows in it. */
int ata_command(Device *d, const Taskfile *tf, Registers *ret);

/* 0, or why the USB bridge is sent no ATA command. What a bridge passes on is learned from its answers (Device.bridge). */
int bridge_check(Device *d);

/* IDENTIFY DEVICE into d->identify, once per device_refresh(). A wrong checksum is an error: nothing is decided from it. */
int ata_identify(Device *d);

/* SMART READ DATA (B0h/D0h). END_UNSUPPORTED: it cannot be had, or may not be believed, as its checksum is wrong. */
int smart_read_data(Device *d, uint8_t data[static 512]);

/* `lost_by` of settings that Software Settings Preservation covers, by drives' manuals. */
#define LOST_WITHOUT_SSP "power; link reset, unless software_settings_preservation is on"

/* The detail of a row here. Most features of a drive are fields of IDENTIFY DEVICE, which say whether the drive has the feature and
 * whether it is on, and two commands: such a row needs no function of its own. */
typedef struct AtaFeature AtaFeature;
struct AtaFeature {
        IdentifyField supported[3]; /* none of them is 0; ends with {} */
        IdentifyField enabled[3];   /* the same; without any nothing tells */
        IdentifyField level;        /* {}: the setting has none */
        Taskfile on, off;   /* SET FEATURES, unless they name another command; a level goes into COUNT of `on` */
        const char *no_off; /* why the drive cannot turn it off; NULL: it can */
        uint16_t code;      /* for functions of the row's own: what it is called in SCT, or where it is in a log */
        /* Goes on reading where IDENTIFY does not say all of a feature that the drive has. NULL: it does */
        int (*query)(Device *d, const AtaFeature *f, Reading *ret);
};

/* What IDENTIFY says of it, and the row's ask(). A drive that has no such feature is as good as "off", and the value is that. */
int ata_feature_read(Device *d, const Setting *s, Reading *ret);
int ata_feature_write(Device *d, const Setting *s, const Value *v);

/* What all rows have; members of the AtaFeature follow the summary. */
#define ATA_ROW(key, read_, write_, order_, lost, how, from, what, ...)                                        \
        .name = key, .backend = BACKEND_ATA, .read = read_, .write = write_, .order = order_, .lost_by = lost, \
        .equivalent = how, .source = from, .summary = what, .detail = &(const AtaFeature) {                    \
                __VA_ARGS__                                                                                    \
        }

/* A row without functions of its own. */
#define ATA_FEATURE(key, ...) ATA_ROW(key, ata_feature_read, ata_feature_write, __VA_ARGS__)

/* SMART Command Transport (ACS-4): action and function code of a command table. Only those named here are ever sent:
 * others erase the disk (Write Same). */
typedef enum SctFunction {
        SCT_SET_ERC = 0x0301, /* Error Recovery Control; the limit of now, in units of 100 ms, 0: none … */
        SCT_GET_ERC = 0x0302,
        SCT_SET_ERC_POWER_ON = 0x0303, /* … and that of every power-on, which drives by ACS-4 can be given */
        SCT_GET_ERC_POWER_ON = 0x0304,
        SCT_SET_FEATURE = 0x0401, /* Feature Control */
        SCT_GET_FEATURE = 0x0402,
        SCT_GET_FEATURE_OPTIONS = 0x0403, /* SCT_FEATURE_SAVED */
} SctFunction;

#define SCT_FEATURE_SAVED 1 /* the state outlives the loss of power */

/* `selection`: which limit, or which feature. `options`: of SCT_SET_FEATURE. `ret` may be NULL. */
int sct_command(Device *d, SctFunction function, uint16_t selection, uint16_t value, uint16_t options, Registers *ret);

/* -ENODATA: the registers that carry the answer did not come back. */
int sct_get(Device *d, SctFunction function, uint16_t selection, uint16_t *ret);
