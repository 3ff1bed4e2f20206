/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <endian.h>
#include <stdio.h>

#include "ata.h"
#include "clock.h"
#include "kernel-view.h"
#include "plan.h"
#include "power-mode.h"
#include "settings.h"
#include "sg-io.h"
#include "sysfs.h"

#define SCSI_REQUEST_SENSE 0x03
#define SENSE_DATA_MAX 252U /* allocation length of the command; SPC's limit for sense data */

#define ASCQ_INITIALIZING_COMMAND_REQUIRED 0x02 /* the drive is stopped, and waits for START */

/* Returns the power mode reported by REQUEST SENSE's parameter data. */
static PowerMode power_from_sense(Sense s) {
        if (!s.valid)
                return POWER_UNKNOWN;
        if (s.key == SENSE_NOT_READY && s.asc == ASC_NOT_READY && s.ascq == ASCQ_INITIALIZING_COMMAND_REQUIRED)
                return POWER_STANDBY;
        if (s.key != SENSE_NONE)
                return POWER_UNKNOWN;
        /* Additional sense code qualifiers 1, 3 and 5 to 8 mean idle_a, idle_b or idle_c, entered by timer or command. Other qualifiers
         * mean standby_y, standby_z or an unnamed low power condition. */
        return s.asc != ASC_LOW_POWER_CONDITION || s.ascq == 1 || s.ascq == 3 || (s.ascq >= 5 && s.ascq <= 8)
                               ? POWER_ACTIVE
                               : POWER_STANDBY;
}

/* Returns a sentence about an operation that must not be interrupted, or NULL. The drive reports such an operation as "logical unit not
 * ready", with any sense key (SPC-4). */
static const char *busy_from_sense(Sense s) {
        if (!s.valid || s.asc != ASC_NOT_READY)
                return NULL;

        switch (s.ascq) {
        case 0x04:
                return "the drive is being formatted";
        case 0x07:
                return "the drive reports an operation in progress";
        case 0x08:
                return "the drive reports a long write in progress";
        case 0x09:
                return "a self-test is running, and a spin-down would abort it";
        case 0x1B:
                return "the drive is being sanitized";
        default:
                return NULL;
        }
}

static int scsi_power_mode(Device *d) {
        Sense s = { .key = SENSE_UNIT_ATTENTION };

        /* Repeats the command after a unit attention, because a drive reports a pending unit attention once, in place of its power mode. */
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
        d->power_reported = d->power != POWER_UNKNOWN;
        return 0;
}

/* Sends CHECK POWER MODE, which does not spin a drive up. Without a usable answer, d->power remains POWER_UNKNOWN. */
static int ata_power_mode(Device *d) {
        Registers regs = {};
        int r;

        /* No command is sent through a bridge that does not return registers, because the registers hold the answer to CHECK POWER MODE. */
        if (d->bridge.without_registers)
                return bridge_check(d);

        r = ata_command(d, &(Taskfile){ .command = ATA_CMD_CHECK_POWER_MODE }, &regs);
        if (r < 0)
                return r;

        /* Missing registers do not mean "standby": an SSD with all-zero sense data was once reported as in standby. */
        d->power_reported = regs.valid;
        if (regs.valid)
                d->power = regs.count == 0x00 || regs.count == 0x01 || regs.count == 0x40 ? POWER_STANDBY
                                                                                          : POWER_ACTIVE;
        return 0;
}

/* Discards the result of power_probe(), so that the next call probes again. */
static void power_invalidate(Device *d) {
        d->power = POWER_UNKNOWN;
        d->power_reported = false;
        d->busy = NULL;
}

int power_probe(Device *d, Backend by) {
        int r;

        if (d->power != POWER_UNKNOWN)
                return 0;

        /* Any command would make the kernel resume the drive, which spins it up. */
        if (activity_is_suspended(d->drive->syspath)) {
                d->power = POWER_SUSPENDED;
                return 0;
        }

        /* An optical drive spins up only for reads, and no setting causes a read, so any command may be sent. */
        if (by == BACKEND_OPTICAL || d->io.image) {
                d->power = POWER_ACTIVE;
                return 0;
        }

        r = by == BACKEND_ATA ? ata_power_mode(d) : scsi_power_mode(d);
        /* A rejection, or an answer without usable sense data, still shows that the drive is attached. */
        if (r < 0 && r != END_REFUSED && r != -EBADMSG)
                return r;

        if (d->power == POWER_UNKNOWN)
                d->power = d->active || !d->drive->rotational ? POWER_ACTIVE : POWER_UNCLEAR;
        return 0;
}

const char *power_state(const Device *d) {
        return d->power == POWER_ACTIVE && !d->power_reported ? NULL : power_mode_to_string(d->power);
}

/* ---- immediate spin-down and spin-up ---- */

enum {
        SCSI_START_STOP_UNIT = 0x1B,
        SCSI_VERIFY_10 = 0x2F,

        /* Values for byte 4 of the CDB of START STOP UNIT. The bit NO_FLUSH is 0, so the drive writes its cache to the medium before it
         * stops. */
        CONDITION_STANDBY = 0x30,
        START_NOT = 0x00,
        START = 0x01,
};

enum {
        /* …_STATUS: offsets in SMART data. …_RUNNING: values at these offsets while a data collection or a self-test is running. */
        OFFLINE_STATUS = 362,
        SELF_TEST_STATUS = 363,
        OFFLINE_RUNNING = 0x03,
        SELF_TEST_RUNNING = 0xF, /* upper four bits; the lower four bits hold the remaining tenths of the test */
};

/* Returns true if the USB bridge is known to pass no ATA commands, so that only SCSI commands remain. Returns false for a bridge that
 * crashed during this visit, because the bridge may have left the bus. */
static bool bridge_blocks_ata(const Device *d) {
        return d->bridge.without_sat || (d->bridge.fragile && d->bridge.queried);
}

/* Reads the setting `standby` of a drive whose power mode cannot be probed. As in power_probe(), the drive counts as active only after
 * recent I/O, or if it does not rotate. */
static int standby_read_unreported(Device *d, const Setting *s, Reading *ret) {
        if (!d->active && !d->wake && d->drive->rotational)
                return device_fail(
                                d, END_DEFERRED,
                                "the power mode of the drive is not known; drivekeep sets the value when the drive is next active");

        *ret = (Reading){ .supported = true, .value.type = s->range.type };
        return 0;
}

int standby_read(Device *d, const Setting *s, Reading *ret) {
        int r;

        r = power_probe(d, s->backend);
        if ((r == END_UNSUPPORTED || r == END_FORBIDDEN) && bridge_blocks_ata(d))
                return standby_read_unreported(d, s, ret);
        if (r < 0)
                return r;

        *ret = (Reading){
                .supported = true,
                .known = d->power == POWER_STANDBY || (d->power == POWER_ACTIVE && d->power_reported),
                .value = { .type = s->range.type, .number = d->power == POWER_STANDBY },
        };
        return 0;
}

const ValueWord standby_words[] = { { "off", 0 }, { "on", 1 }, { "resume", AT_RESUME }, {} };

int standby_localize(Device *d _unused_, const Setting *s _unused_, Value *v) {
        v->number = v->number != 0;
        return 0;
}

/* Fails during a self-test or off-line data collection, which STANDBY IMMEDIATE would abort (ACS-4). A data collection that the idle drive
 * started by itself has another status than OFFLINE_RUNNING, and may be aborted. */
static int ata_check_free(Device *d) {
        uint8_t data[512] = {};
        int r;

        r = smart_read_data(d, data);
        if (r < 0)
                return r == END_UNSUPPORTED ? 0 : r;

        if (data[SELF_TEST_STATUS] >> 4 == SELF_TEST_RUNNING)
                return device_fail(d, END_DEFERRED, "a self-test is running, and a spin-down would abort it");
        if (data[OFFLINE_STATUS] == OFFLINE_RUNNING)
                return device_fail(d, END_DEFERRED,
                                   "an off-line data collection is running, and a spin-down would abort it");
        return 0;
}

static int ata_standby(Device *d, const Setting *s, const Value *v) {
        int r;

        r = ata_check_free(d);
        if (r < 0)
                return r;

        power_invalidate(d);
        return ata_feature_write(d, s, v);
}

/* Sends START STOP UNIT without IMMED: the command ends when the drive has stopped or started. */
static int start_stop_unit(Device *d, uint8_t how, Sense *ret) {
        SgRequest q = {
                .cdb = { SCSI_START_STOP_UNIT, [4] = how },
                .cdb_len = 6,
                .timeout_ms = SG_TIMEOUT_SPINUP_MS,
        };
        int r;

        power_invalidate(d);
        r = scsi_command(d, &q);
        *ret = sg_sense(&q);
        return r;
}

/* Stops the drive only if the kernel will start it again. A stopped drive rejects reads until it gets START, which the kernel sends if
 * allow_restart is set (drivers/scsi/sd.c). */
static int scsi_stop(Device *d) {
        int64_t restart;
        Sense sense;
        int r;

        r = sysfs_number(d, "device/scsi_disk/*/allow_restart", &restart);
        if (r < 0)
                return r;
        if (restart != 1)
                return device_fail(d, END_REFUSED,
                                   "the kernel would not start the stopped drive again; set allow_restart = true");
        return start_stop_unit(d, START_NOT, &sense);
}

/* Enters the power condition standby, which the drive leaves at the next read (SBC-3). Older drives support only START=0. */
static int scsi_standby(Device *d) {
        Sense sense;
        int r;

        if (d->busy)
                return device_fail(d, END_DEFERRED, "%s", d->busy);

        r = start_stop_unit(d, CONDITION_STANDBY, &sense);
        if (r == END_REFUSED && sense.key == SENSE_ILLEGAL_REQUEST && sense.asc == ASC_INVALID_FIELD_IN_CDB)
                return scsi_stop(d);
        return r;
}

/* Stops a drive behind a USB bridge by START STOP UNIT, which many bridges translate to STANDBY IMMEDIATE (SAT-4). Bridges have no SCSI
 * power conditions. */
static int bridge_stop(Device *d) {
        int r;

        r = scsi_stop(d);
        if (r >= 0)
                (void) snprintf(d->note, sizeof d->note,
                                "accepted; the bridge gets no ATA commands, so the standby state cannot be verified");
        return r;
}

int standby_write(Device *d, const Setting *s, const Value *v) {
        if (!v->number)
                return device_fail(d, END_UNSUPPORTED, "off does nothing: no setting spins a drive up");

        if (s->backend != BACKEND_ATA)
                return scsi_standby(d);
        return bridge_blocks_ata(d) ? bridge_stop(d) : ata_standby(d, s, v);
}

/* Reads one sector from the medium, and transfers no data. The upper bits of the 28-bit address are 0. */
static int ata_verify(Device *d, uint32_t lba) {
        const Taskfile verify = {
                .command = ATA_CMD_READ_VERIFY_SECTORS,
                .count = 1,
                .lbal = lba & 0xFF,
                .lbam = lba >> 8 & 0xFF,
                .lbah = lba >> 16 & 0xFF,
                .timeout_ms = SG_TIMEOUT_SPINUP_MS,
        };

        return ata_command(d, &verify, NULL);
}

int power_spin_up(Device *d, Backend by) {
        Sense sense;
        int r;

        r = power_probe(d, by);
        if (r < 0 || !d->power_reported)
                return r;

        power_invalidate(d);
        /* Verifies one sector, as the kernel does to start drives (ata_scsi_start_stop_xlat() in drivers/ata/libata-scsi.c). */
        r = by == BACKEND_ATA ? ata_verify(d, 0) : start_stop_unit(d, START, &sense);
        return r < 0 ? r : power_probe(d, by);
}

/* ---- reads that keep the drive active ---- */

static int scsi_verify(Device *d, uint32_t lba) {
        SgRequest q = { .cdb = { SCSI_VERIFY_10 }, .cdb_len = 10, .timeout_ms = SG_TIMEOUT_SPINUP_MS };

        lba = htobe32(lba);
        memcpy(q.cdb + 2, &lba, sizeof lba);
        q.cdb[8] = 1; /* VERIFICATION LENGTH, in blocks */
        return scsi_command(d, &q);
}

int keep_active_read(Device *d, const Setting *s, Reading *ret) {
        *ret = (Reading){ .supported = true, .value.type = s->range.type };
        for (size_t i = 0; d->plan && i < d->plan->n_steps; i++) {
                const Step *step = d->plan->steps + i;

                if (step->setting != s)
                        continue;
                ret->known = d->medium_read || !setting_is_active(s, &step->wanted);
                ret->value = step->wanted;
        }
        return 0;
}

/* VERIFY with BYTCHK 00b and READ VERIFY SECTORS read the medium and transfer no data (SBC-3, ACS-3). A read could be answered from the
 * drive's cache; for the same reason, the address changes. An ATA drive gets the ATA command, because many USB bridges do not translate
 * VERIFY. */
int keep_active_write(Device *d, const Setting *s, const Value *v _unused_) {
        int64_t block_size = 0;
        uint32_t lba;
        int r;

        r = sysfs_number(d, "queue/logical_block_size", &block_size);
        if (r < 0)
                return r;
        if (block_size <= 0 || d->drive->size < (uint64_t) block_size)
                return device_fail(d, END_UNSUPPORTED, "the drive has no medium");

        /* Multiplies the time by a large odd number to spread the addresses over the first 2^24 sectors, more than any cache holds. */
        lba = monotonic_usec() * UINT64_C(0x9E3779B97F4A7C15) %
              MIN(d->drive->size / (uint64_t) block_size, UINT64_C(1) << 24);
        r = s->backend == BACKEND_ATA ? ata_verify(d, lba) : scsi_verify(d, lba);
        d->medium_read = r >= 0;
        /* A defective sector is no reason to end the reads. */
        return r == END_REFUSED && !d->failure.rejected ? -EIO : r;
}
