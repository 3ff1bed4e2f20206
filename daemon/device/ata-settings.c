/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The settings an ATA drive holds itself. Most are a pair of SET FEATURES subcommands and three places in IDENTIFY
 * DEVICE, and need a row only. */

#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#include "ata.h"
#include "ata-identify.h"
#include "ata-sct.h"
#include "plan.h"
#include "settings.h"
#include "sysfs.h"

typedef struct Bit {
        uint8_t word, bit;
} Bit;

typedef struct AtaFeature {
        Bit supported, enabled;
        uint8_t level;   /* IDENTIFY word whose low byte is the level, for settings that have one */
        uint8_t on, off; /* SET FEATURES subcommands; the level goes into COUNT */
} AtaFeature;

static int ata_feature_read(Device *d, const Setting *s, Reading *ret) {
        const AtaFeature *f = s->detail;
        bool enabled;
        int r;

        r = ata_identify(d);
        if (r < 0)
                return r;

        enabled = identify_bit(d->identify, f->enabled.word, f->enabled.bit);
        *ret = (Reading){
                .supported = identify_bit(d->identify, f->supported.word, f->supported.bit),
                .known = identify_word_valid(d->identify, f->enabled.word),
                .value = { .type = s->range.type, .number = enabled },
        };
        /* The high byte may hold anything, and the low one counts only while the feature is enabled. */
        if (s->range.type == VALUE_INT)
                ret->value.number = enabled ? d->identify[f->level] & 0xFF : s->range.off;
        return 0;
}

static int ata_feature_write(Device *d, const Setting *s, const Value *v) {
        const AtaFeature *f = s->detail;

        if (v->type == VALUE_BOOL)
                return ata_set_features(d, v->number ? f->on : f->off, 0);
        if (v->number == s->range.off)
                return ata_set_features(d, f->off, 0);
        return ata_set_features(d, f->on, v->number);
}

/* What the kernel believes of the cache: 1 write back, 0 write through, negative when it does not say. */
static int kernel_cache_view(Device *d) {
        char path[PATH_MAX], type[64];
        struct dirent *e;
        int r = -ENOENT;
        DIR *dir;

        (void) snprintf(path, sizeof path, "%s/device/scsi_disk", d->drive->syspath);
        dir = opendir(path);
        if (!dir)
                return -errno;

        while (r < 0 && (e = readdir(dir))) {
                if (e->d_name[0] == '.')
                        continue;
                (void) snprintf(path, sizeof path, "device/scsi_disk/%s/cache_type", e->d_name);
                if (sysfs_read(d, path, type, sizeof type) >= 0)
                        r = strncmp(type, "write back", 10) == 0;
        }

        (void) closedir(dir);
        return r;
}

/* libata reads the drive anew a moment after it saw the command pass; behind bridges and HBAs nothing tells the kernel
 * (catalogue 3.1, -W), so it is asked to look. */
static int kernel_cache_follow(Device *d, bool enabled) {
        int r;

        if (d->drive->transport != TRANSPORT_SATA && d->drive->transport != TRANSPORT_PATA) {
                r = sysfs_write(d, "device/rescan", "1");
                if (r == STEP_DEFERRED || r == STEP_VANISHED)
                        return r;
        }

        for (unsigned i = 0; i < 20; i++) {
                r = kernel_cache_view(d);
                if (r < 0 || r == enabled)
                        return 0;
                (void) usleep(100 * 1000);
        }

        return -ETIME;
}

/* A cache that the kernel does not know of loses data when the power goes: that is not "on", and written again. */
static int write_cache_read(Device *d, const Setting *s, Reading *ret) {
        int r;

        r = ata_feature_read(d, s, ret);
        if (r < 0)
                return r;

        if (ret->known && ret->value.number && kernel_cache_view(d) == 0) {
                ret->value = (Value){ .type = VALUE_NAME };
                (void) snprintf(ret->value.name, sizeof ret->value.name, "on, unknown to the kernel");
        }
        return 0;
}

static int write_cache_write(Device *d, const Setting *s, const Value *v) {
        int r;

        r = ata_feature_write(d, s, v);
        if (r < 0)
                return r;

        /* Once the kernel takes the cache for write-through it sends no more flushes: what is left in it must get out. */
        if (!v->number) {
                bool ext = identify_bit(d->identify, 83, 13);

                r = ata_command(d,
                                &(Taskfile){
                                                .command = ext ? ATA_CMD_FLUSH_CACHE_EXT : ATA_CMD_FLUSH_CACHE,
                                                .ext = ext,
                                                .timeout_ms = SG_TIMEOUT_FLUSH_MS,
                                },
                                SG_NONE, NULL, 0, NULL);
                if (r < 0)
                        return r;
        }

        r = kernel_cache_follow(d, v->number);
        if (r == -ETIME && v->number) {
                r = ata_feature_write(d, s, &VALUE_BOOLEAN(false));
                if (r < 0)
                        return r;
                return device_fail(
                                d, STEP_FORBIDDEN,
                                "the kernel goes on believing that there is no cache and would not flush it, so it was turned off again");
        }
        /* The other way round costs flushes that are not needed, and no data. */
        return r == -ETIME ? 0 : r;
}

static int standby_timer_read(Device *d, const Setting *s, Reading *ret) {
        int r;

        /* A sleeping drive may wake up to answer IDENTIFY; STANDBY is answered, or refused, without. */
        if (d->power == POWER_STANDBY) {
                *ret = (Reading){ .supported = true, .value.type = s->range.type };
                return 0;
        }

        r = ata_identify(d);
        if (r < 0)
                return r;

        *ret = (Reading){ .supported = identify_bit(d->identify, 82, 3), .value.type = s->range.type };
        return 0;
}

static int standby_timer_write(Device *d, const Setting *s _unused_, const Value *v) {
        Registers regs;
        int r;

        /* IDLE spins a sleeping drive up. STANDBY sets the timer and leaves it asleep, but some drives do not take its
         * count of 0 as "disabled" (catalogue 3.1, -S): that waits until the drive is awake. */
        if (d->power == POWER_STANDBY && v->number == 0)
                return device_fail(d, STEP_DEFERRED,
                                   "the drive sleeps, and its timer can be disabled only while it is awake");

        r = ata_command(d,
                        &(Taskfile){
                                        .command = d->power == POWER_STANDBY ? ATA_CMD_STANDBY : ATA_CMD_IDLE,
                                        .count = v->number,
                                        .timeout_ms = SG_TIMEOUT_SPINUP_MS,
                        },
                        SG_NONE, NULL, 0, &regs);
        /* Nothing else will ever tell. */
        if (r >= 0 && !regs.valid)
                (void) snprintf(d->note, sizeof d->note, "sent; the bridge does not tell what the drive made of it");
        return r;
}

static int error_recovery_read(Device *d, const Setting *s, Reading *ret) {
        uint16_t read_limit, write_limit;
        int r;

        r = ata_identify(d);
        if (r < 0)
                return r;

        *ret = (Reading){ .supported = identify_bit(d->identify, 206, 0) && identify_bit(d->identify, 206, 3) };
        ret->value.type = s->range.type;
        if (!ret->supported)
                return 0;

        r = sct_erc_get(d, SCT_ERC_READ, &read_limit);
        if (r >= 0)
                r = sct_erc_get(d, SCT_ERC_WRITE, &write_limit);
        if (r == -ENODATA)
                return 0; /* the bridge returns no registers: it can be set, and nobody can read it */
        if (r < 0)
                return r;

        /* Two different limits are no value that a file can ask for, so they equal none. */
        ret->known = true;
        ret->value.number = read_limit == write_limit ? read_limit * 100 : -1;
        return 0;
}

static int error_recovery_write(Device *d, const Setting *s _unused_, const Value *v) {
        int r;

        r = sct_erc_set(d, SCT_ERC_READ, v->number / 100);
        if (r < 0)
                return r;
        return sct_erc_set(d, SCT_ERC_WRITE, v->number / 100);
}

/* clang-format off */
const Setting ata_settings[] = {
        {
                .name = "write_cache",
                .backend = BACKEND_ATA,
                .range = { .type = VALUE_BOOL, .max = 1 },
                .order = 100, /* the kernel revalidates the disk afterwards (catalogue 1.4) */
                .summary = "volatile write cache",
                .equivalent = "hdparm -W",
                .lost_by = "power",
                .source = "ACS SET FEATURES 02h/82h; catalogue 3.1",
                .read = write_cache_read,
                .write = write_cache_write,
                .detail = &(const AtaFeature) { .supported = { 82, 5 }, .enabled = { 85, 5 }, .on = 0x02, .off = 0x82 },
        },
        {
                .name = "lookahead",
                .backend = BACKEND_ATA,
                .range = { .type = VALUE_BOOL, .max = 1 },
                .order = 110,
                .summary = "read look-ahead of the drive",
                .equivalent = "hdparm -A",
                .lost_by = "power",
                .source = "ACS SET FEATURES AAh/55h; catalogue 3.1",
                .read = ata_feature_read,
                .write = ata_feature_write,
                .detail = &(const AtaFeature) { .supported = { 82, 6 }, .enabled = { 85, 6 }, .on = 0xAA, .off = 0x55 },
        },
        {
                .name = "acoustic_management",
                .backend = BACKEND_ATA,
                .range = { .type = VALUE_INT, .min = 1, .max = 254, .has_off = true, .off = 0 },
                .order = 120,
                .summary = "noise against seek speed: 128 quiet, 254 fast",
                .equivalent = "hdparm -M",
                .lost_by = "power (some drives keep it)",
                .source = "ATA-6 SET FEATURES 42h/C2h; catalogue 3.1",
                .read = ata_feature_read,
                .write = ata_feature_write,
                .detail = &(const AtaFeature) { .supported = { 83, 9 }, .enabled = { 86, 9 }, .level = 94, .on = 0x42, .off = 0xC2 },
        },
        {
                .name = "error_recovery",
                .backend = BACKEND_ATA,
                .range = { .type = VALUE_DURATION, .min = 100, .max = 6553400, .step = 100, .has_off = true, .off = 0 },
                .order = 130,
                .summary = "how long the drive tries to recover a sector before it reports an error (SCT ERC, TLER)",
                .equivalent = "smartctl -l scterc",
                .lost_by = "power, link reset",
                .source = "ACS SCT Error Recovery Control; catalogue 4.1",
                .read = error_recovery_read,
                .write = error_recovery_write,
        },
        {
                .name = "apm",
                .backend = BACKEND_ATA,
                .range = { .type = VALUE_INT, .min = 1, .max = 254, .has_off = true, .off = 255 },
                .order = 200, /* before the standby timer */
                .summary = "Advanced Power Management: 1 saves most, 127 and below may spin down, 254 fastest",
                .equivalent = "hdparm -B",
                .lost_by = "power",
                .source = "ACS SET FEATURES 05h/85h; catalogue 3.1",
                .read = ata_feature_read,
                .write = ata_feature_write,
                .detail = &(const AtaFeature) { .supported = { 83, 3 }, .enabled = { 86, 3 }, .level = 91, .on = 0x05, .off = 0x85 },
        },
        {
                .name = "apm_battery",
                .alias_of = "apm",
                .backend = BACKEND_ATA,
                .range = { .type = VALUE_INT, .min = 1, .max = 254, .has_off = true, .off = 255 },
                .flags = SETTING_ON_BATTERY,
                .order = 200,
                .summary = "apm while the machine runs on battery, as hdparm.conf has it: on_battery = { apm = … }",
                .equivalent = "hdparm -B",
                .lost_by = "power",
                .source = "hdparm.conf(5)",
        },
        {
                .name = "spindown_time",
                .backend = BACKEND_ATA,
                .range = { .type = VALUE_STANDBY_TIMER, .max = 255, .has_off = true, .off = 0 },
                .flags = SETTING_UNREADABLE | SETTING_STANDBY_SAFE,
                .order = 210,
                .summary = "idle time after which the drive spins down",
                .equivalent = "hdparm -S",
                .lost_by = "power",
                .source = "ACS IDLE E3h, STANDBY E2h; catalogue 3.1",
                .read = standby_timer_read,
                .write = standby_timer_write,
        },
        {},
};
/* clang-format on */
