/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ata.h"
#include "kernel-view.h"
#include "plan.h"
#include "sg-io.h"

#define SCSI_REQUEST_SENSE 0x03
#define SENSE_DATA_MAX 252U /* the command's allocation length; SPC's own limit for sense data */

#define ASCQ_INITIALIZING_COMMAND_REQUIRED 0x02 /* stopped: somebody has to send START */

/* What REQUEST SENSE's parameter data says. */
static PowerMode power_from_sense(Sense s) {
        if (!s.valid)
                return POWER_UNKNOWN;
        if (s.key == SENSE_NOT_READY && s.asc == ASC_NOT_READY && s.ascq == ASCQ_INITIALIZING_COMMAND_REQUIRED)
                return POWER_STANDBY;
        if (s.key != SENSE_NONE)
                return POWER_UNKNOWN;
        /* idle_a, idle_b and idle_c by timer or command; else standby_z or standby_y, or some low power that is not named. */
        return s.asc != ASC_LOW_POWER_CONDITION || s.ascq == 1 || s.ascq == 3 || (s.ascq >= 5 && s.ascq <= 8)
                               ? POWER_AWAKE
                               : POWER_STANDBY;
}

/* What the drive says to be in progress, of which nobody wants an end: "logical unit not ready", with any sense key (SPC-4). */
static const char *busy_from_sense(Sense s) {
        if (!s.valid || s.asc != ASC_NOT_READY)
                return NULL;

        switch (s.ascq) {
        case 0x04:
                return "the drive is being formatted";
        case 0x07:
                return "the drive says that an operation is in progress";
        case 0x08:
                return "the drive says that a long write is in progress";
        case 0x09:
                return "a self-test runs, and spinning down would end it";
        case 0x1B:
                return "the drive is being sanitized";
        default:
                return NULL;
        }
}

static int scsi_power_mode(Device *d) {
        Sense s = { .key = SENSE_UNIT_ATTENTION };

        /* A unit attention that is pending is told first, and once. */
        for (unsigned i = 0; i <= UNIT_ATTENTION_RETRIES && s.key == SENSE_UNIT_ATTENTION; i++) {
                uint8_t data[SENSE_DATA_MAX] = {};
                SgRequest q = {
                        .cdb = { SCSI_REQUEST_SENSE, 0, 0, 0, SENSE_DATA_MAX },
                        .cdb_len = 6,
                        .data = data,
                        .data_len = sizeof data,
                };
                int r;

                r = scsi_command(d, &q);
                if (r < 0)
                        return r;
                s = sense_parse(data, sizeof data);
        }

        d->busy = busy_from_sense(s);
        d->power = power_from_sense(s);
        d->power_told = d->power != POWER_UNKNOWN;
        return 0;
}

/* It does not wake a drive in standby. Without a usable answer d->power stays as it was. */
static int ata_power_mode(Device *d) {
        Registers regs = {};
        int r;

        /* It would say nothing. */
        if (d->bridge.without_registers)
                return bridge_check(d);

        r = ata_command(d, &(Taskfile){ .command = ATA_CMD_CHECK_POWER_MODE }, &regs);
        if (r < 0)
                return r;

        /* Without registers nothing is known, and that is not "standby": all-zero sense once made an SSD "sleep". */
        d->power_told = regs.valid;
        if (regs.valid)
                d->power = regs.count == 0x00 || regs.count == 0x01 || regs.count == 0x40 ? POWER_STANDBY : POWER_AWAKE;
        return 0;
}

void power_forget(Device *d) {
        d->power = POWER_UNKNOWN;
        d->power_told = false;
        d->busy = NULL;
}

int power_look(Device *d, Backend by) {
        int r;

        if (d->power != POWER_UNKNOWN)
                return 0;

        /* Any command would make the kernel spin it up. */
        if (activity_is_suspended(d->drive->syspath)) {
                d->power = POWER_SUSPENDED;
                return 0;
        }

        /* An optical drive spins its disc up whenever it has to read, which no setting makes it do. */
        if (by == BACKEND_OPTICAL || d->io.image) {
                d->power = POWER_AWAKE;
                return 0;
        }

        r = by == BACKEND_ATA ? ata_power_mode(d) : scsi_power_mode(d);
        /* A bridge that refuses the question has a drive behind it all the same; one that is silent has none. */
        if (r < 0 && r != END_REFUSED && r != -EBADMSG)
                return r;

        if (d->power == POWER_UNKNOWN)
                d->power = d->active || !d->drive->rotational ? POWER_AWAKE : POWER_UNCLEAR;
        return 0;
}

const char *power_state(const Device *d) {
        return d->power == POWER_AWAKE && !d->power_told ? NULL : power_mode_to_string(d->power);
}
