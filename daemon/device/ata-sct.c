/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <endian.h>

#include "ata.h"

enum {
        SMART_READ_LOG = 0xD5,
        SMART_WRITE_LOG = 0xD6,
        SCT_LOG_COMMAND_STATUS = 0xE0,
        SCT_STATUS_RUNNING = 0xFFFF,
};

static Taskfile sct_taskfile(bool to_device, void *data) {
        return (Taskfile){
                .command = ATA_CMD_SMART,
                .feature = to_device ? SMART_WRITE_LOG : SMART_READ_LOG,
                .count = 1,
                .lbal = SCT_LOG_COMMAND_STATUS,
                .lbam = 0x4F, /* the SMART signature */
                .lbah = 0xC2,
                .want_registers = to_device,
                .to_device = to_device,
                .data = data,
                .len = 512,
        };
}

/* A drive runs one SCT command at a time, and a new table would break into a running one (a write-same, say). Asked
 * once per visit. */
static int sct_check_free(Device *d) {
        uint8_t data[512] = {};
        Taskfile tf = sct_taskfile(false, data);
        unsigned format, extended;
        int r;

        if (d->sct_checked)
                return 0;

        r = ata_command(d, &tf, NULL);
        if (r < 0)
                return r;

        format = data[0] | data[1] << 8;
        extended = data[14] | data[15] << 8;
        if (format != 2 && format != 3)
                return device_fail(d, -EBADMSG, "its SCT status has format %u, not 2 or 3", format);
        if (extended == SCT_STATUS_RUNNING)
                return device_fail(d, -EBUSY, "another SCT command is running in the drive");

        d->sct_checked = true;
        return 0;
}

/* What comes back is in COUNT and LBA 7:0. */
static int sct_command(Device *d, SctFunction function, uint16_t selection, uint16_t value, uint16_t options,
                       Registers *ret) {
        uint16_t table[256] = {
                htole16(function >> 8), htole16(function & 0xFF), htole16(selection), htole16(value), htole16(options),
        };
        Taskfile tf = sct_taskfile(true, table);
        int r;

        r = sct_check_free(d);
        return r < 0 ? r : ata_command(d, &tf, ret);
}

int sct_get(Device *d, SctFunction function, uint16_t selection, uint16_t *ret) {
        Registers regs;
        uint16_t value;
        int r;

        r = sct_command(d, function, selection, 0, 0, &regs);
        if (r < 0)
                return r;

        /* Registers that stand as they were sent come from a bridge that never fetched them (smartmontools knows it). */
        value = regs.count | regs.lbal << 8;
        if (!regs.valid || value == (SCT_LOG_COMMAND_STATUS << 8 | 1))
                return -ENODATA;

        *ret = value;
        return 0;
}

int sct_set(Device *d, SctFunction function, uint16_t selection, uint16_t value, uint16_t options) {
        return sct_command(d, function, selection, value, options, NULL);
}
