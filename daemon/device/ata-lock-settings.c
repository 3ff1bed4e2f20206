/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Locks that hold until the drive's power is switched off: while they hold, no command can set a password, change the capacity
 * or erase the drive. They are written late, because drives then refuse some of the other settings. */

#include <stdio.h>

#include "ata.h"
#include "plan.h"
#include "settings.h"

enum {
        DCO_FREEZE_LOCK = 0xC1,
        DCO_IDENTIFY = 0xC2,
        SANITIZE_STATUS = 0x00,
        SANITIZE_FREEZE_LOCK = 0x20,
        SANITIZE_FROZEN = 1U << 5, /* COUNT 13 */
};

static int dco_identify(Device *d, uint8_t data[static 512], Registers *ret) {
        Taskfile tf = { .command = ATA_CMD_DEVICE_CONFIGURATION,
                        .feature = DCO_IDENTIFY,
                        .count = 1,
                        .want_registers = true,
                        .direction = SG_FROM_DEVICE,
                        .data = data,
                        .len = 512 };

        return ata_command(d, &tf, ret);
}

/* No bit tells: a frozen drive aborts DEVICE CONFIGURATION IDENTIFY, and any other sends its data. When a bridge fails the command, or
 * sends zeroes, the state of the drive is not known. */
static int dco_read(Device *d, const Setting *s, Reading *ret) {
        uint8_t data[512] = {}, sum = 0;
        Registers regs = {};
        int r;

        r = ata_feature_read(d, s, ret);
        if (r < 0 || !ret->supported)
                return r;

        r = dco_identify(d, data, &regs);
        if (r == STEP_REFUSED || r == STEP_UNSUPPORTED) {
                bool locked = d->identify[128] & 1U << 2; /* by a password: refuses this too */

                ret->known = !locked && regs.valid && (regs.status & ATA_STATUS_ERR) && (regs.error & ATA_ERROR_ABRT);
                ret->value.number = ret->known;
                return 0;
        }
        if (r < 0)
                return r;

        for (size_t i = 0; i < sizeof data; i++)
                sum += data[i];
        ret->known = data[510] == 0xA5 && sum == 0;
        return 0;
}

/* A drive that is frozen refuses to be frozen again. Where its registers do not come back, that is all that can be known. */
static int dco_write(Device *d, const Setting *s, const Value *v) {
        uint8_t data[512];
        Registers regs;
        int r;

        r = ata_feature_write(d, s, v);
        if (r != STEP_REFUSED || dco_identify(d, data, &regs) != STEP_REFUSED)
                return r;

        (void) snprintf(d->note, sizeof d->note,
                        "the drive refuses it, and DEVICE CONFIGURATION IDENTIFY too, as a drive does that is frozen already");
        return 0;
}

static int sanitize_read(Device *d, const Setting *s, Reading *ret) {
        Registers regs;
        int r;

        r = ata_feature_read(d, s, ret);
        if (r < 0 || !ret->supported)
                return r;

        r = ata_command(d, &(Taskfile){ .command = ATA_CMD_SANITIZE_DEVICE, .feature = SANITIZE_STATUS, .ext = true },
                        &regs);
        if (r < 0)
                return r;

        ret->known = regs.valid && regs.hob_valid;
        ret->value.number = ret->known && (regs.hob_count & SANITIZE_FROZEN);
        return 0;
}

/* clang-format off */
#define LOCK(key, option, read_, write_, ...) \
        ATA_ROW(key, read_, write_, .no_off = "only taking its power away thaws the drive", __VA_ARGS__), \
        .range = RANGE_BOOL, .equivalent = "hdparm --" option

const Setting ata_lock_settings[] = {
        {
                LOCK("security_freeze", "security-freeze", ata_feature_read, ata_feature_write, .supported = { { 82, 1 }, { 128, 0 } },
                     .enabled = { { 128, 3 } }, .on = { .command = ATA_CMD_SECURITY_FREEZE_LOCK }),
                .order = 300,
                .summary = "no passwords and no secure erase until the next power-on",
                .lost_by = LOST_WITHOUT_SSP,
                .source = "ACS-4 SECURITY FREEZE LOCK F5h",
        },
        {
                LOCK("dco_freeze", "dco-freeze", dco_read, dco_write, .supported = { { 83, 11 } },
                     .on = { .command = ATA_CMD_DEVICE_CONFIGURATION, .feature = DCO_FREEZE_LOCK }),
                .order = 310,
                .summary = "no change of the device configuration (capacity, features) until the next power-on",
                .lost_by = "power",
                .source = "ATA8-ACS DEVICE CONFIGURATION FREEZE LOCK B1h/C1h",
        },
        {
                /* LBA 31:0 spells "FrLk", by which the drive knows that the command is no accident. */
                LOCK("sanitize_freeze", "sanitize-freeze-lock", sanitize_read, ata_feature_write, .supported = { { 59, 12 } },
                     .on = { .command = ATA_CMD_SANITIZE_DEVICE, .feature = SANITIZE_FREEZE_LOCK, .ext = true,
                             .hob_lbal = 'F', .lbah = 'r', .lbam = 'L', .lbal = 'k' }),
                .order = 320,
                .summary = "no sanitize commands, which erase the whole drive, until the next power-on",
                .lost_by = "power",
                .source = "ACS-4 SANITIZE FREEZE LOCK EXT B4h/0020h",
        },
        {},
};
/* clang-format on */
