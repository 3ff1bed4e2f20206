/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "attribute.h"
#include "plan.h"
#include "provisioning.h"
#include "sysfs.h"

#define DISK "device/scsi_disk/*/"
#define HARDWARE_LIMIT "queue/discard_max_hw_bytes"

/* A vital product data page, from the kernel's copy (since Linux 5.19). Bytes that the drive did not send are 0. */
typedef struct Vpd {
        bool present;
        uint8_t bytes[64];
} Vpd;

static Vpd vpd_read(const Device *d, uint8_t page) {
        char text[sizeof(Vpd){}.bytes + 1] = "";
        Vpd v = {};

        v.present = attribute_read_all(text, sizeof text, "%s/device/vpd_pg%02x", d->drive->syspath, page) >= 0 &&
                    (uint8_t) text[1] == page;
        if (v.present)
                memcpy(v.bytes, text, sizeof v.bytes);
        return v;
}

static uint32_t vpd_number(const Vpd *v, size_t at) {
        const uint8_t *b = v->bytes + at;

        return (uint32_t) b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

/* ---- what the drive reports: SBC-4, READ CAPACITY(16) and the pages Block Limits and Logical Block Provisioning ---- */

#define BLOCK_LIMITS 0xB0
#define UNMAP_LBA_COUNT 20
#define UNMAP_DESCRIPTOR_COUNT 24
#define LOGICAL_BLOCK_PROVISIONING 0xB2

/* LBPME: the drive has thin provisioning. The kernel reads the bit by READ CAPACITY(16), and assumes 0 if it reads only READ
 * CAPACITY(10). */
static bool is_thin(Device *d) {
        char text[8];

        return sysfs_read(d, DISK "thin_provisioning", text, sizeof text) >= 0 && streq(text, "1");
}

static const struct {
        const char *value, *name;
        uint8_t bit; /* in byte 5 of the page Logical Block Provisioning */
} commands[] = {
        { "unmap", "LBPU", 1 << 7 },
        { "writesame_16", "LBPWS", 1 << 6 },
        { "writesame_10", "LBPWS10", 1 << 5 },
};

/* Appends a missing capability to the list: "LBPU = 0". */
static void add(char missing[static 128], const char *name, const char *state) {
        size_t n = strlen(missing);

        (void) snprintf(missing + n, 128 - n, "%s%s%s", n > 0 ? ", " : "", name, state);
}

/* Lists the capabilities that this value requires and that the drive does not report. */
static void find_missing(Device *d, const char *value, char ret[static 128]) {
        Vpd limits = vpd_read(d, BLOCK_LIMITS), provisioning = vpd_read(d, LOGICAL_BLOCK_PROVISIONING);
        int64_t blocks;

        ret[0] = '\0';
        /* WRITE SAME(10) with zeros needs no thin provisioning. The kernel counts no blocks if it found no WRITE SAME. */
        if (streq(value, "writesame_zero") &&
            (sysfs_number(d, DISK "max_write_same_blocks", &blocks) < 0 || blocks == 0))
                add(ret, "max_write_same_blocks", " = 0");

        for (size_t i = 0; i < ELEMENTSOF(commands); i++) {
                if (!streq(value, commands[i].value))
                        continue;
                if (!is_thin(d))
                        add(ret, "LBPME", " = 0");
                if (!provisioning.present)
                        add(ret, "VPD page B2h", " missing");
                else if (!(provisioning.bytes[5] & commands[i].bit))
                        add(ret, commands[i].name, " = 0");
        }

        if (streq(value, "unmap") && !limits.present)
                add(ret, "VPD page B0h", " missing");
        else if (streq(value, "unmap") && vpd_number(&limits, UNMAP_LBA_COUNT) == 0)
                add(ret, "MAXIMUM UNMAP LBA COUNT", " = 0");
        else if (streq(value, "unmap") && vpd_number(&limits, UNMAP_DESCRIPTOR_COUNT) == 0)
                add(ret, "MAXIMUM UNMAP BLOCK DESCRIPTOR COUNT", " = 0");
}

int provisioning_permit(Device *d, const Setting *s, const Value *v) {
        char missing[128];

        find_missing(d, v->name, missing);
        if (missing[0] && !d->allow_dangerous)
                return device_fail(
                                d, END_FORBIDDEN,
                                "the drive does not report this command (%s); allow_dangerous = true in the block permits it",
                                missing);
        return sysfs_setting_permit(d, s, v);
}

/* Adds a note if the kernel may send UNMAP with more blocks than the drive accepts. The kernel ignores the drive's limit while LBPME is
 * 0 (sd_read_block_limits()). */
static void note_limit(Device *d) {
        Vpd limits = vpd_read(d, BLOCK_LIMITS);
        const Step *planned = device_planned(d, "discard_max_bytes");
        int64_t block = 0, now = 0, limit;

        (void) sysfs_number(d, "queue/logical_block_size", &block);
        (void) sysfs_number(d, "queue/discard_max_bytes", &now);
        limit = vpd_number(&limits, UNMAP_LBA_COUNT) * block;
        if (limit > 0 && MIN(now, planned ? planned->wanted.number : INT64_MAX) > limit)
                (void) snprintf(d->note, sizeof d->note,
                                "the kernel does not apply the drive's limit for UNMAP (VPD page B0h): set discard_max_bytes = %" PRIi64
                                " or less",
                                limit);
}

int provisioning_write(Device *d, const Setting *s, const Value *v) {
        int r;

        r = sysfs_setting_write(d, s, v);
        if (r >= 0 && streq(v->name, "unmap") && !is_thin(d))
                note_limit(d);
        return r;
}

/* ---- the largest discard ---- */

static bool step_turns_discards_on(const Step *s) {
        return s->setting && streq(s->setting->name, "provisioning_mode") && s->verdict == _VERDICT_INVALID &&
               !STR_IN_SET(s->wanted.name, "disabled", "full");
}

int discard_read(Device *d, const Setting *s, Reading *ret) {
        int r = sysfs_setting_read(d, s, ret);

        for (size_t i = 0; r >= 0 && !ret->supported && d->plan && i < d->plan->n_steps; i++)
                if (step_turns_discards_on(d->plan->steps + i))
                        *ret = (Reading){ .supported = true, .known = true, .value.type = s->range.type };
        return r;
}

int discard_permit(Device *d, const Setting *s, const Value *v) {
        const Step *mode = device_planned(d, "provisioning_mode");
        char limit[32];

        if ((!mode || mode->written || mode->failed) && sysfs_read(d, HARDWARE_LIMIT, limit, sizeof limit) >= 0 &&
            streq(limit, "0"))
                return device_fail(d, END_UNSUPPORTED,
                                   "the kernel sends this drive no discards (" HARDWARE_LIMIT " is 0)");
        return sysfs_setting_permit(d, s, v);
}
