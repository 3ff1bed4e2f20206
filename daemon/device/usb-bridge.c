/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan.h"
#include "sysfs.h"
#include "usb-bridge.h"

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
        Sense s = sg_sense(q);

        if (!is_bridge(d))
                return;

        /* A field that it does not like in its first command: the kernel's answer for bridges that it does not trust. */
        if (r == STEP_UNSUPPORTED && d->bridge.cdb == 0 && s.valid && s.key == SENSE_ILLEGAL_REQUEST &&
            (s.asc == ASC_INVALID_OPCODE || s.asc == ASC_INVALID_FIELD_IN_CDB))
                d->bridge.without_sat = true;
        /* The first one left it without an answer: that is not tried again. */
        if (d->bridge.cdb == 0 && (r == -ETIMEDOUT || r == -EIO || r == STEP_VANISHED))
                d->bridge.fragile = true;
        if (r < 0 && r != STEP_REFUSED)
                return;

        d->bridge.cdb = q->cdb[0] == ATA_PASS_THROUGH_12 ? 12 : 16;
        if (regs->valid)
                d->bridge.without_registers = false;
        else if (r == 0 && q->direction == SG_NONE)
                d->bridge.without_registers = true;
}
