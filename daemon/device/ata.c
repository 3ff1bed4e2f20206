/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <endian.h>
#include <limits.h>
#include <stdio.h>

#include "ata.h"
#include "attribute.h"
#include "drive-command.h"

#define SLOW_ERROR_MS 2000U
#define TIMEOUTS_MAX 2U /* per visit, since each timeout makes the kernel reset the link */

#define ATA_STATUS_DF 0x20

#define ATA_PASS_THROUGH_12 0xA1
#define ATA_PASS_THROUGH_16 0x85

/* The position of the returned registers depends on the sense format (SAT-4, ATA PASS-THROUGH). */
static Registers registers_get(const SgRequest *q) {
        Sense s = sg_sense(q);
        const uint8_t *b = q->sense;
        size_t len = MIN(q->sense_len, (uint8_t) SG_SENSE_MAX);
        Registers regs = {};

        if (s.descriptor_format) {
                /* The ATA Status Return descriptor has 14 bytes, and may follow other descriptors. */
                for (size_t i = 8; i + 14 <= len && !regs.valid; i += 2U + b[i + 1])
                        if (b[i] == 0x09)
                                regs = (Registers){
                                        .valid = true,
                                        .error = b[i + 3],
                                        .count = b[i + 5],
                                        .hob_valid = b[i + 2] & 1,
                                        .hob_count = b[i + 4],
                                        .lbal = b[i + 7],
                                        .status = b[i + 13],
                                };
        } else if (s.valid && len >= 14 && s.asc == 0x00 && s.ascq == 0x1D)
                /* Fixed-format sense data holds registers only if the sense code is "ATA pass-through information available". */
                regs = (Registers){
                        .valid = true,
                        .error = b[3],
                        .status = b[4],
                        .count = b[6],
                        /* Fixed format reports only whether the upper half of COUNT is nonzero. If this half is zero, hob_count = 0 is
                         * valid. */
                        .hob_valid = (b[8] & 0xC0) == 0x80,
                        .lbal = b[9],
                };

        /* A status of 0 means that the bridge did not fill in the registers. A COUNT of 0 would be misread as "standby", or as "off" in an
         * SCT answer. */
        if (regs.status == 0 || q->host_status != 0)
                regs = (Registers){};
        return regs;
}

/* Builds ATA PASS-THROUGH(16) or PASS-THROUGH(12). Some bridges require the 12-byte form, which cannot carry 48-bit commands. */
static SgRequest passthrough(const Taskfile *tf, unsigned cdb_len) {
        /* Protocol 3: non-data, 4: PIO in, 5: PIO out. Flags: CK_COND, T_DIR, BYT_BLOK, and T_LENGTH = count register. */
        uint8_t protocol = 3, flags = 0x20;
        SgRequest q = {
                .cdb_len = cdb_len,
                .data = tf->data,
                .data_len = tf->len,
                .to_device = tf->to_device,
                .timeout_ms = tf->timeout_ms,
        };

        if (tf->len > 0) {
                protocol = tf->to_device ? 5 : 4;
                flags = (tf->to_device ? 0x06 : 0x0E) | (tf->want_registers ? 0x20 : 0);
        }
        protocol = protocol << 1 | tf->ext;

        if (cdb_len == 12)
                memcpy(q.cdb,
                       (const uint8_t[12]){ ATA_PASS_THROUGH_12, protocol, flags, tf->feature, tf->count, tf->lbal,
                                            tf->lbam, tf->lbah, 0x40, tf->command },
                       12);
        else
                memcpy(q.cdb,
                       (const uint8_t[16]){ ATA_PASS_THROUGH_16, protocol, flags, 0, tf->feature, 0, tf->count,
                                            tf->hob_lbal, tf->lbal, 0, tf->lbam, 0, tf->lbah, 0x40, tf->command },
                       16);
        return q;
}

/* Returns the length of the USB interface's path within d->drive->syspath: the part before the SCSI host. Returns 0 if not known. */
static int usb_interface(const Device *d) {
        const char *host = strstr(d->drive->syspath, "/host");

        return d->drive->transport == TRANSPORT_USB && host ? (int) (host - d->drive->syspath) : 0;
}

/* Returns true if the uas driver itself rejected the command. uas rejects ATA commands for bridges with the quirk US_FL_NO_ATA_1X, such as
 * all of Seagate's (drivers/usb/storage/uas.c, unusual_uas.h). The driver usb-storage does not use the list in unusual_uas.h. */
static bool uas_blocks(const Device *d, const Sense *s) {
        char path[PATH_MAX], driver[PATH_MAX];
        ssize_t n;

        if (s->descriptor_format || s->asc != ASC_INVALID_FIELD_IN_CDB || s->ascq != 0)
                return false;
        (void) snprintf(path, sizeof path, "%.*s/driver", usb_interface(d), d->drive->syspath);
        n = readlink(path, driver, sizeof driver - 1);
        if (n < 0)
                return false;
        driver[n] = '\0';
        return streq(base_name(driver), "uas");
}

static int fail_uas(Device *d) {
        char vendor[8], product[8];
        int n = usb_interface(d), r;

        r = attribute_read(vendor, sizeof vendor, "%.*s/../idVendor", n, d->drive->syspath);
        if (r >= 0)
                r = attribute_read(product, sizeof product, "%.*s/../idProduct", n, d->drive->syspath);
        r = device_fail(d, END_UNSUPPORTED,
                        "the kernel's uas driver blocks ATA commands: usb-storage.quirks=%s:%s:u on the kernel command line selects "
                        "usb-storage instead, which is slower (no command queueing)",
                        r < 0 ? "VID" : vendor, r < 0 ? "PID" : product);
        d->failure.remediable = true;
        return r;
}

int bridge_check(Device *d) {
        if (d->bridge.fragile)
                return device_fail(
                                d, END_FORBIDDEN,
                                "the bridge failed during its first ATA command; no ATA commands are sent until the bridge is plugged "
                                "in again");
        if (d->bridge.uas_blocks)
                return fail_uas(d);
        if (d->bridge.without_sat)
                return device_fail(d, END_UNSUPPORTED, "the bridge does not pass ATA commands to its drive");
        return 0;
}

/* Stores what the answer shows about a USB bridge, so that failed commands are not repeated. */
static void bridge_learn(Device *d, const SgRequest *q, const Registers *regs, int r) {
        Bridge *b = &d->bridge;
        Sense s = sg_sense(q);

        if (d->drive->transport != TRANSPORT_USB)
                return;

        /* The bridge rejected the first ATA command, or the kernel did so for this type of bridge. */
        if (b->cdb == 0 && r == END_UNSUPPORTED && s.key == SENSE_ILLEGAL_REQUEST) {
                b->without_sat = true;
                b->uas_blocks = uas_blocks(d, &s);
        }
        /* The bridge did not answer the first ATA command: no further ATA command is sent. */
        if (b->cdb == 0 && q->host_status != 0)
                b->fragile = true;
        if (r < 0 && r != END_REFUSED)
                return;

        b->cdb = q->cdb_len;
        if (regs->valid)
                b->without_registers = false;
        else if (r == 0 && q->data_len == 0)
                b->without_registers = true;
}

/* Returns true if the drive was unplugged. The kernel searches for an unplugged drive for some seconds. The kernel then returns the command
 * as aborted, and removes the disk shortly afterwards. A drive that rejects a command does so immediately. */
static bool was_unplugged(const Device *d, uint64_t took_ms) {
        if (took_ms < SLOW_ERROR_MS)
                return false;

        for (unsigned i = 0; i < 10; i++) {
                if (access(d->drive->syspath, F_OK) < 0)
                        return true;
                (void) usleep(100 * 1000);
        }
        return false;
}

/* Sends the taskfile with a CDB of `cdb_len` bytes. */
static int ata_send(Device *d, const Taskfile *tf, unsigned cdb_len, SgRequest *q, Registers *regs) {
        char buf[COMMAND_NAME_MAX], sense_text[SENSE_TEXT_MAX];
        const char *name;
        Sense s;
        int r;

        *q = passthrough(tf, cdb_len);
        name = command_describe(q->cdb, q->cdb_len, buf);
        r = scsi_command(d, q);
        *regs = registers_get(q);
        s = sg_sense(q);

        /* The drive's status register overrides the sense key, which bridge and kernel derive from the register. */
        if (regs->status & (ATA_STATUS_ERR | ATA_STATUS_DF)) {
                bool fault = regs->status & ATA_STATUS_DF, aborted = !fault && regs->error & ATA_ERROR_ABRT;

                r = device_fail(d, END_REFUSED, "the drive rejected %s (%s, status %02Xh, error %02Xh)", name,
                                fault     ? "device fault"
                                : aborted ? sense_key_name(SENSE_ABORTED_COMMAND)
                                          : "error",
                                regs->status, regs->error);
                d->failure.rejected = aborted;
        }
        /* The bridge or the kernel, not the drive, answers "invalid opcode" or "invalid field in CDB". */
        else if (r == END_REFUSED && s.key == SENSE_ILLEGAL_REQUEST &&
                 (s.asc == ASC_INVALID_OPCODE || s.asc == ASC_INVALID_FIELD_IN_CDB))
                r = device_fail(d, END_UNSUPPORTED, "%s was not passed to the drive (%s)", name,
                                sense_describe(s.key, s.asc, s.ascq, sense_text));
        /* ATA drives abort unknown commands. */
        else if (r == END_REFUSED && s.key == SENSE_ABORTED_COMMAND)
                d->failure.rejected = true;
        else if (r == END_REFUSED && s.key == SENSE_NOT_READY && s.asc == ASC_NO_MEDIUM)
                r = device_fail(d, END_UNSUPPORTED, "the drive has no medium");

        /* libata returns a timed-out command as "aborted". A drive that aborts a command does so immediately. */
        if (r == END_REFUSED && q->took_ms + 500 >= q->timeout_ms)
                r = device_fail(d, -ETIMEDOUT, "the drive did not answer %s in %u s", name, q->timeout_ms / 1000);
        if (r < 0 && was_unplugged(d, q->took_ms))
                r = device_fail(d, END_VANISHED, "the drive was unplugged (%s)", name);
        return r;
}

int ata_command(Device *d, const Taskfile *tf, Registers *ret) {
        unsigned cdb_len = d->bridge.cdb == 12 ? 12 : 16;
        char name[COMMAND_NAME_MAX];
        Registers regs;
        SgRequest q;
        int r;

        assert(tf->len % 512 == 0);

        /* On optical drives, the opcode of ATA PASS-THROUGH(12) is BLANK, which erases the disc. No setting of optical drives calls this
         * function. */
        if (d->drive->optical)
                return device_fail(d, END_FORBIDDEN, "ATA commands are never sent to an optical drive");
        r = bridge_check(d);
        if (r < 0)
                return r;
        if (cdb_len == 12 && tf->ext) {
                q = passthrough(tf, 16);
                return device_fail(d, END_UNSUPPORTED, "the bridge does not accept 48-bit commands (%s)",
                                   command_describe(q.cdb, q.cdb_len, name));
        }
        if (d->n_timeouts >= TIMEOUTS_MAX)
                return device_fail(d, -ETIMEDOUT, "not sent: the drive did not answer %u earlier commands",
                                   d->n_timeouts);

        r = ata_send(d, tf, cdb_len, &q, &regs);
        /* A USB bridge that rejects the first command with "invalid operation code" may support PASS-THROUGH(12). Optical drives, whose
         * names do not begin with "sd", never get PASS-THROUGH(12). */
        if (r == END_UNSUPPORTED && d->drive->transport == TRANSPORT_USB && starts_with(d->drive->name, "sd") &&
            d->bridge.cdb == 0 && !tf->ext && sg_sense(&q).asc == ASC_INVALID_OPCODE)
                r = ata_send(d, tf, 12, &q, &regs);
        bridge_learn(d, &q, &regs, r);
        if (r == END_UNSUPPORTED && d->bridge.without_sat)
                r = bridge_check(d);
        if (r == -ETIMEDOUT)
                d->n_timeouts++;
        if (ret)
                *ret = regs;
        return r;
}

static int identify_query(Device *d, uint16_t data[static 256]) {
        /* True if udev or an earlier visit read d->drive->serial from IDENTIFY. */
        bool serial_is_from_identify = d->drive->identified || d->drive->dock_model || d->drive->dock_serial;
        int r;

        /* An image with a wrong checksum is accepted, because the caller has already reported the checksum. */
        if (d->io.image)
                memcpy(data, d->io.image, sizeof d->identify);
        else {
                /* ACS-4 needs no count, but some bridges need the count 1. */
                Taskfile tf = { .command = ATA_CMD_IDENTIFY_DEVICE,
                                .count = 1,
                                .data = data,
                                .len = sizeof d->identify };

                r = ata_command(d, &tf, NULL);
                if (r < 0)
                        return r;

                for (size_t i = 0; i < ELEMENTSOF(d->identify); i++)
                        data[i] = le16toh(data[i]);
                if (!identify_checksum_ok(data))
                        return device_fail(d, -EBADMSG, "the drive's IDENTIFY data is empty or has a wrong checksum");
        }

        /* IDENTIFY is incomplete until a drive with PUIS has spun up. Bit 2 of word 0 had another meaning in ATA-1. */
        if ((data[0] & 1U << 2) && (data[2] == 0x37C8 || data[2] == 0x8C73))
                return device_fail(
                                d, END_DEFERRED,
                                "the drive has not spun up since power-on (PUIS), and its IDENTIFY data is incomplete until then");
        /* Another serial number means that the drive was exchanged while the machine was suspended, or that one bay of a dock answers for
         * another bay. The settings of this drive must not be applied to another drive. */
        if (d->drive->serial && serial_is_from_identify && !identify_serial_agrees(data, d->drive->serial))
                return device_fail(d, END_VANISHED, "another drive answered at this drive's device node");
        return 0;
}

int ata_identify(Device *d) {
        uint16_t data[256] = {};
        int r;

        if (d->identify_valid)
                return 0;
        /* IDENTIFY is sent only once. If it failed, each further setting that needs IDENTIFY reports the same failure. */
        if (d->identify_failure.error < 0)
                return device_fail_again(d, &d->identify_failure);

        r = identify_query(d, data);
        failure_keep(&d->identify_failure, d, r);
        if (r < 0)
                return r;

        d->identify_repeated = memcmp(d->identify, data, sizeof data) == 0;
        memcpy(d->identify, data, sizeof data);
        d->identify_valid = true;
        return 0;
}

/* Subcommands of SMART (ACS-3). */
enum {
        SMART_READ_DATA = 0xD0,
        SMART_READ_LOG = 0xD5,
        SMART_WRITE_LOG = 0xD6,
};

int smart_read_data(Device *d, uint8_t data[static 512]) {
        Taskfile tf = {
                .command = ATA_CMD_SMART,
                .feature = SMART_READ_DATA,
                .count = 1,
                .lbam = 0x4F, /* the SMART signature */
                .lbah = 0xC2,
                .data = data,
                .len = 512,
        };
        uint8_t sum = 0;
        int r;

        r = ata_identify(d);
        if (r >= 0 && !identify_bit(d->identify, 85, 0))
                return device_fail(d, END_UNSUPPORTED, "the drive has no SMART, or SMART is disabled");
        if (r >= 0)
                r = ata_command(d, &tf, NULL);
        if (r < 0)
                return r == END_REFUSED || r == -EBADMSG ? END_UNSUPPORTED : r;

        for (size_t i = 0; i < 512; i++)
                sum += data[i];
        return sum == 0 ? 0 : device_fail(d, END_UNSUPPORTED, "the drive's SMART data has a wrong checksum");
}

/* SMART Command Transport (ACS-4). */
enum {
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

/* Fails if an SCT command is running. A drive runs one SCT command at a time, and a new command table would interrupt a running command
 * such as Write Same. Reads the status once per visit. */
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
                return device_fail(d, -EBADMSG, "the drive's SCT status has format %u instead of 2 or 3", format);
        if (extended == SCT_STATUS_RUNNING)
                return device_fail(d, -EBUSY, "another SCT command is running in the drive");

        d->sct_checked = true;
        return 0;
}

/* Stores the returned registers in *ret. COUNT and LBA 7:0 hold the result of an SCT command. */
int sct_command(Device *d, SctFunction function, uint16_t selection, uint16_t value, uint16_t options, Registers *ret) {
        uint16_t table[256] = {
                htole16(function >> 8), htole16(function & 0xFF), htole16(selection), htole16(value), htole16(options),
        };
        Taskfile tf = sct_taskfile(true, table);
        int r;

        r = sct_check_free(d);
        return r < 0 ? r : ata_command(d, &tf, ret);
}

int sct_get(Device *d, SctFunction function, uint16_t selection, uint16_t *ret) {
        Registers regs = {};
        uint16_t value;
        int r;

        r = sct_command(d, function, selection, 0, 0, &regs);
        if (r < 0)
                return r;

        /* Some bridges do not fetch the registers, and return the values that were sent. smartmontools detects such bridges too. */
        value = regs.count | regs.lbal << 8;
        if (!regs.valid || value == (SCT_LOG_COMMAND_STATUS << 8 | 1))
                return -ENODATA;

        *ret = value;
        return 0;
}
