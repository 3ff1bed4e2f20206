/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ata-identify.h"
#include "usb-bridge.h"
#include "plan.h"
#include "power.h"
#include "sysfs.h"

#define OPERATION_12 0xA1
#define SENSE_ILLEGAL_REQUEST 0x5
#define ASC_INVALID_OPERATION_CODE 0x20
#define ASC_INVALID_FIELD 0x24

#define ATA_INFORMATION_SIZE 572U
#define ATA_INFORMATION_IDENTIFY 60U

static bool is_bridge(const Device *d) {
        return d->drive->transport == TRANSPORT_USB;
}

int bridge_check(Device *d) {
        if (d->bridge.fragile)
                return device_fail(
                                d, STEP_FORBIDDEN,
                                "the bridge did not survive its first ATA command, and is sent no more of them until it is plugged in again");
        if (d->bridge.without_sat)
                return device_fail(d, STEP_UNSUPPORTED, "the bridge passes no ATA commands to its drive");
        return 0;
}

unsigned bridge_cdb(const Device *d) {
        return d->bridge.cdb == 12 ? 12 : 16;
}

bool bridge_may_take_12(Device *d, const Taskfile *tf) {
        char type[8];

        /* Direct-access block device, and that of zoned ones (14h); sysfs has it in decimal. */
        return is_bridge(d) && d->bridge.cdb == 0 && !tf->ext && sysfs_read(d, "device/type", type, sizeof type) >= 0 &&
               (streq(type, "0") || streq(type, "20"));
}

void bridge_learn(Device *d, const SgRequest *q, const Registers *regs, int r) {
        Sense s = sense_parse(q->sense, MIN(q->sense_len, (uint8_t) SG_SENSE_MAX));

        if (!is_bridge(d))
                return;

        /* A field that it does not like in its first command: the kernel's answer for bridges that it does not trust. */
        if (r == STEP_UNSUPPORTED && d->bridge.cdb == 0 && s.valid && s.key == SENSE_ILLEGAL_REQUEST &&
            (s.asc == ASC_INVALID_OPERATION_CODE || s.asc == ASC_INVALID_FIELD))
                d->bridge.without_sat = true;
        /* The first one left it without an answer: that is not tried again. */
        if (d->bridge.cdb == 0 && (r == -ETIMEDOUT || r == -EIO || r == STEP_VANISHED))
                d->bridge.fragile = true;
        if (r < 0 && r != STEP_REFUSED)
                return;

        d->bridge.cdb = q->cdb[0] == OPERATION_12 ? 12 : 16;
        if (regs->valid)
                d->bridge.without_registers = false;
        else if (r == 0 && q->direction == SG_NONE)
                d->bridge.without_registers = true;
}

bool ata_information_parse(const uint8_t *page, size_t size, DriveIdentity *ret) {
        uint16_t id[256];

        /* The command that the data is the answer to: that of an ATAPI device is another. */
        if (size < ATA_INFORMATION_SIZE || page[1] != 0x89 || page[56] != ATA_CMD_IDENTIFY_DEVICE)
                return false;

        for (size_t i = 0; i < ELEMENTSOF(id); i++)
                id[i] = (uint16_t) (page[ATA_INFORMATION_IDENTIFY + 2 * i] | page[ATA_INFORMATION_IDENTIFY + 2 * i + 1]
                                                                                             << 8);
        if (!identify_checksum_ok(id))
                return false;

        identify_drive(id, ret);
        return ret->serial[0] != '\0';
}

int bridge_ask(Device *d, DriveIdentity *ret) {
        int r;

        r = bridge_check(d);
        if (r < 0) {
                d->bridge.asked = true;
                return 0;
        }

        r = power_look(d, BACKEND_ATA);
        if (r == STEP_UNSUPPORTED) {
                d->bridge.asked = true;
                return 0;
        }
        if (r < 0)
                return r;
        if (d->power != POWER_AWAKE)
                return device_fail(
                                d, -EAGAIN,
                                "the drive sleeps, and which one it is shows only when it is asked through its bridge");

        r = ata_identify(d);
        if (r == STEP_DEFERRED || r == STEP_VANISHED)
                return r;

        d->bridge.asked = true;
        if (r < 0)
                return 0;
        identify_drive(d->identify, ret);
        d->bridge.identified = ret->serial[0];
        return d->bridge.identified;
}
