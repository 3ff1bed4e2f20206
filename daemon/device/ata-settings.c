/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Settings stored in an ATA drive, except write cache, error recovery and power, which have separate files. Most settings need only an
 * entry in the table, and no function. */

#include <inttypes.h>
#include <stdio.h>

#include "ata.h"
#include "settings.h"

static bool all_set(const Device *d, const IdentifyField *f) {
        while (f->word != 0 && identify_field(d->identify, f) != 0)
                f++;
        return f->word == 0;
}

static void identify_read(const Device *d, const Setting *s, Reading *ret) {
        const AtaFeature *f = s->detail;
        bool enabled;

        *ret = (Reading){
                .supported = all_set(d, f->supported),
                .value = { .type = s->range.type, .number = s->range.off },
                .saved.type = s->range.type,
        };
        if (!ret->supported)
                /* A drive before ATA-4 does not report its features, so the value remains unknown. */
                ret->known = identify_word_valid(d->identify, 83) && identify_word_valid(d->identify, 87);
        if (!ret->supported || f->enabled[0].word == 0)
                return;

        /* A bridge may answer IDENTIFY from its cache, so IDENTIFY data that did not change after a write proves nothing. */
        ret->repeated = d->bridge.repeats_identify || (d->drive->transport == TRANSPORT_USB && d->identify_repeated);
        ret->known = !d->bridge.repeats_identify && identify_word_valid(d->identify, f->enabled[0].word);

        enabled = all_set(d, f->enabled);
        if (s->range.type == VALUE_BOOL)
                ret->value.number = enabled;
        if (!enabled || f->level.word == 0)
                return;

        ret->value.number = identify_field(d->identify, &f->level);
        /* Some drives report a level that equals the number for "off", such as 0 for acoustic management, although the feature is enabled.
         * The value then becomes a name with the number as its text. This name differs from every configurable value. */
        if (ret->value.number == s->range.off) {
                ret->value = (Value){ .type = VALUE_NAME };
                (void) snprintf(ret->value.name, sizeof ret->value.name, "%" PRIi64, s->range.off);
        }
}

int ata_feature_read(Device *d, const Setting *s, Reading *ret) {
        const AtaFeature *f = s->detail;
        int r;

        r = ata_identify(d);
        if (r < 0)
                return r;

        identify_read(d, s, ret);
        return ret->supported && f->query ? f->query(d, f, ret) : 0;
}

int ata_feature_write(Device *d, const Setting *s, const Value *v) {
        const AtaFeature *f = s->detail;
        bool off = v->number == s->range.off;
        Taskfile tf = off ? f->off : f->on;

        if (off && f->no_off)
                return device_fail(d, END_UNSUPPORTED, "%s", f->no_off);

        if (tf.command == 0)
                tf.command = ATA_CMD_SET_FEATURES;
        if (!off && v->type != VALUE_BOOL)
                tf.count = v->number;
        return ata_command(d, &tf, NULL);
}

static const ValueWord free_fall_words[] = { { "vendor", 0 }, { "on", 0 }, {} };

#define WRV_BLOCK 1024 /* sectors per unit of mode 3 */

/* Modes 0 to 2 of Write-Read-Verify are negative numbers. All other numbers are sector counts of mode 3. */
enum {
        WRV_ALL = -1,
        WRV_FIRST = -2,
        WRV_VENDOR = -3,
};

/* In hdparm.conf, "on" has always selected all sectors, so it stands for "all" here: see wrv_write(). */
static const ValueWord wrv_words[] = {
        { "all", WRV_ALL }, { "first", WRV_FIRST }, { "vendor", WRV_VENDOR }, { "on", WRV_ALL }, {}
};

/* Only mode 3 of Write-Read-Verify has a level, which is a number of sectors. */
static int wrv_query(Device *d, const AtaFeature *f, Reading *ret) {
        int mode = d->identify[220] & 0xFF;

        if (all_set(d, f->enabled) && mode < 3)
                ret->value = (Value){ .type = VALUE_INT, .number = WRV_ALL - mode };
        else if (all_set(d, f->enabled) && mode > 3)
                ret->known = false;
        return 0;
}

/* LBA 7:0 holds the mode, and COUNT is valid only in mode 3. openSeaChest, a tool of the drive maker Seagate, sends the same command
 * (opensea-operations, set_Write_Read_Verify()). hdparm puts the mode into COUNT and 0 into LBA, which always selects mode 0 (all). The
 * read-back shows which mode the drive chose. */
static int wrv_write(Device *d, const Setting *s, const Value *v) {
        const AtaFeature *f = s->detail;
        Taskfile tf = f->on;

        if (v->number == s->range.off)
                return ata_feature_write(d, s, v);

        tf.lbal = v->number < 0 ? WRV_ALL - v->number : 3;
        tf.count = v->number < 0 ? 0 : v->number / WRV_BLOCK;
        return ata_command(d, &tf, NULL);
}

/* clang-format off */
const Setting ata_settings[] = {
        /* Written before the settings that this feature preserves. */
        { .brief = "keep settings over link resets", .also = "ssp",
          ATA_FEATURE("software_settings_preservation", 90, "power; most drives enable it at power-on",
                      "openSeaChest_Configure --sspFeature", "SATA, ACS-4 SET FEATURES 10h/90h count 06h",
                      "whether the drive keeps its settings when the SATA link is reset",
                      .supported = { { 78, 6 } }, .enabled = { { 79, 6 } },
                      .on = { .feature = 0x10, .count = 0x06 }, .off = { .feature = 0x90, .count = 0x06 }),
          .range = RANGE_BOOL },
        { .brief = "the drive's own read-ahead",
          ATA_FEATURE("lookahead", 110, LOST_WITHOUT_SSP, "hdparm -A", "ACS-4 SET FEATURES AAh/55h",
                      "read look-ahead in the drive",
                      .supported = { { 82, 6 } }, .enabled = { { 85, 6 } }, .on = { .feature = 0xAA }, .off = { .feature = 0x55 }),
          .range = RANGE_BOOL },
        { .brief = "noise: 128 is quiet, 254 is fast", .also = "aam aam_level ata_aam_level acoustic automatic_acoustic_management",
          ATA_FEATURE("acoustic_management", 120, "power, link reset; some drives keep it", "hdparm -M",
                      "ATA-6 SET FEATURES 42h/C2h",
                      "noise or seek speed: 128 is quietest, 254 is fastest",
                      .supported = { { 83, 9 } }, .enabled = { { 86, 9 } }, .level = { 94, 0, 8 },
                      .on = { .feature = 0x42 }, .off = { .feature = 0xC2 }),
          .range = { .type = VALUE_INT, .min = 1, .max = 254, .has_off = true, .off = 0 } },
        { .brief = "park the heads during a fall", .also = "freefall freefall_protection",
          ATA_FEATURE("free_fall_control", 140, "power", "openSeaChest_Configure --freeFall", "ACS-4 SET FEATURES 41h/C1h",
                      "sensitivity to falls, during which the drive parks the heads: 1 least, 255 most",
                      .supported = { { 119, 5 } }, .enabled = { { 120, 5 } }, .level = { 53, 8, 8 },
                      .on = { .feature = 0x41 }, .off = { .feature = 0xC1 }),
          .range = { .type = VALUE_INT, .min = 1, .max = 255, .has_off = true, .off = -1, .words = free_fall_words } },
        { .brief = "report statistics over threshold", .also = "dsn",
          ATA_FEATURE("device_statistics_notification", 141, "power", "smartctl -s dsn", "ACS-4 SET FEATURES 63h count 01h/02h",
                      "whether the drive reports when a statistic passes its threshold",
                      .supported = { { 119, 9 } }, .enabled = { { 120, 9 } },
                      .on = { .feature = 0x63, .count = 0x01 }, .off = { .feature = 0x63, .count = 0x02 }),
          .range = RANGE_BOOL },
        { .brief = "verify writes by reading back", .also = "wrv",
          ATA_ROW("write_read_verify", ata_feature_read, wrv_write, 150, "power; on some drives also link reset", "hdparm -R",
                  "ACS-4 SET FEATURES 0Bh/8Bh",
                  "whether the drive verifies written sectors by reading them back: all, the first 65536, a number that the vendor "
                  "chose, or a given number",
                  .supported = { { 119, 1 } }, .enabled = { { 120, 1 } }, .level = { 210, 0, 32 }, .query = wrv_query,
                  .on = { .command = ATA_CMD_SET_FEATURES, .feature = 0x0B }, .off = { .feature = 0x8B }),
          .range = { .type = VALUE_INT, .min = WRV_BLOCK, .max = 255 * WRV_BLOCK, .step = WRV_BLOCK, .has_off = true,
                     .off = 0, .words = wrv_words },
          .danger = "writes take at least twice as long" },
        { .brief = "sectors per PIO interrupt", .also = "multcount multiple_sectors",
          ATA_FEATURE("mult_sect_io", 160, LOST_WITHOUT_SSP, "hdparm -m", "ACS-4 SET MULTIPLE MODE C6h",
                      "sectors per interrupt in PIO mode; no effect with DMA",
                      .supported = { { 47, 0, 8 } }, .enabled = { { 59, 8 }, { 59, 0, 8 } }, .level = { 59, 0, 8 },
                      .on = { .command = ATA_CMD_SET_MULTIPLE_MODE }, .off = { .command = ATA_CMD_SET_MULTIPLE_MODE }),
          .range = { .type = VALUE_INT, .min = 1, .max = 128, .has_off = true, .off = 0 },
          .danger = "in PIO mode some drives corrupt data; with a kernel driver other than libata, any drive can corrupt data" },
        { .brief = "keep settings over soft resets",
          ATA_FEATURE("keep_features_over_reset", 170, "power", "hdparm -K", "ACS-4 SET FEATURES 66h/CCh",
                      "whether settings survive a software reset; for link resets see software_settings_preservation",
                      .on = { .feature = 0x66 }, .off = { .feature = 0xCC }),
          .range = RANGE_BOOL,
          .flags = SETTING_UNREADABLE },
        {},
};
/* clang-format on */

/* Locks last until the drive loses power. They block commands that set a password, change the capacity or erase the drive. Locks are
 * written late, because a locked drive rejects some other settings. */
enum {
        DCO_FREEZE_LOCK = 0xC1,
        DCO_IDENTIFY = 0xC2,
        SANITIZE_STATUS = 0x00,
        SANITIZE_FREEZE_LOCK = 0x20,
        SANITIZE_FROZEN = 1U << 5, /* bit 13 of COUNT, which is bit 5 of Registers.hob_count */
};

/* Sends DEVICE CONFIGURATION IDENTIFY. Returns 1 if the answer is valid, 0 if it is invalid (some bridges return zeros), or an error. */
static int dco_identify(Device *d, Registers *ret) {
        uint16_t data[256] = {};
        Taskfile tf = { .command = ATA_CMD_DEVICE_CONFIGURATION,
                        .feature = DCO_IDENTIFY,
                        .count = 1,
                        .want_registers = true,
                        .data = data,
                        .len = sizeof data };
        int r;

        r = ata_command(d, &tf, ret);
        return r < 0 ? r : identify_checksum_ok(data);
}

/* No bit reports the freeze, but a frozen drive aborts DEVICE CONFIGURATION IDENTIFY. If a bridge fails the command, the state is not
 * known. */
static int dco_query(Device *d, const AtaFeature *f _unused_, Reading *ret) {
        Registers regs = {};
        int r;

        r = dco_identify(d, &regs);
        if (r == END_REFUSED || r == END_UNSUPPORTED) {
                bool locked = identify_bit(d->identify, 128,
                                           2); /* a drive locked by a password rejects the command, too */

                ret->known = !locked && (regs.status & ATA_STATUS_ERR) && (regs.error & ATA_ERROR_ABRT);
                ret->value.number = ret->known;
                return 0;
        }

        ret->known = r > 0;
        return MIN(r, 0);
}

/* A frozen drive rejects a second freeze. Without returned registers, the rejection is the only evidence of the freeze. */
static int dco_write(Device *d, const Setting *s, const Value *v) {
        Registers regs;
        int r;

        r = ata_feature_write(d, s, v);
        if (r != END_REFUSED || dco_identify(d, &regs) != END_REFUSED)
                return r;

        (void) snprintf(d->note, sizeof d->note,
                        "the drive rejected this lock and DEVICE CONFIGURATION IDENTIFY, so the lock is probably set already");
        return 0;
}

static int sanitize_query(Device *d, const AtaFeature *f _unused_, Reading *ret) {
        Registers regs;
        int r;

        r = ata_command(d, &(Taskfile){ .command = ATA_CMD_SANITIZE_DEVICE, .feature = SANITIZE_STATUS, .ext = true },
                        &regs);
        if (r < 0)
                return r;

        ret->known = regs.hob_valid;
        ret->value.number = ret->known && (regs.hob_count & SANITIZE_FROZEN);
        return 0;
}

/* clang-format off */
#define LOCK(key, write_, order_, lost, option, ...) \
        ATA_ROW(key, ata_feature_read, write_, order_, lost, "hdparm --" option, __VA_ARGS__, \
                .no_off = "only a power cycle ends the lock"), \
        .range = RANGE_BOOL

const Setting ata_lock_settings[] = {
        { .brief = "block passwords until power-on",
          LOCK("security_freeze", ata_feature_write, 300, LOST_WITHOUT_SSP, "security-freeze",
               "ACS-4 SECURITY FREEZE LOCK F5h",
               "block passwords and secure erase until the next power-on",
               .supported = { { 82, 1 }, { 128, 0 } }, .enabled = { { 128, 3 } },
               .on = { .command = ATA_CMD_SECURITY_FREEZE_LOCK }) },
        { .brief = "block resizing until power-on",
          LOCK("dco_freeze", dco_write, 310, "power", "dco-freeze",
               "ATA8-ACS DEVICE CONFIGURATION FREEZE LOCK B1h/C1h",
               "block changes of the device configuration (capacity, features) until the next power-on",
               .supported = { { 83, 11 } }, .query = dco_query, .on = { .command = ATA_CMD_DEVICE_CONFIGURATION, .feature = DCO_FREEZE_LOCK }) },
        /* LBA 31:0 must hold "FrLk", which guards against accidental commands. */
        { .brief = "block sanitize until power-on",
          LOCK("sanitize_freeze", ata_feature_write, 320, "power", "sanitize-freeze-lock",
               "ACS-4 SANITIZE FREEZE LOCK EXT B4h/0020h",
               "block sanitize commands, which erase the whole drive, until the next power-on",
               .supported = { { 59, 12 } }, .query = sanitize_query,
               .on = { .command = ATA_CMD_SANITIZE_DEVICE, .feature = SANITIZE_FREEZE_LOCK, .ext = true,
                       .hob_lbal = 'F', .lbah = 'r', .lbam = 'L', .lbal = 'k' }) },
        {},
};
/* clang-format on */
