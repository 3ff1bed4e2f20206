/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Settings for the time that a drive may spend on a bad sector (SCT Error Recovery Control), and for the kernel's timeout if a drive
 * cannot limit this time. */

#include "ata.h"
#include "settings.h"
#include "sysfs.h"

#define SCT_ERC_UNIT_MS 100

/* SCT selection codes of the two limits. AtaFeature.code of a setting is a mask of these two codes. */
enum {
        READING = 1,
        WRITING = 2,
};

/* Reads the limits in f->code (for reads, writes or both) as one value in milliseconds. If the limits for reads and writes are different,
 * the value is -1, which cannot be configured and differs from every wanted value. */
static int limits_get(Device *d, const AtaFeature *f, SctFunction function, int64_t *ret) {
        uint16_t reading = 0, writing = 0;
        int r = 0;

        if (f->code & READING)
                r = sct_get(d, function, READING, &reading);
        if (r >= 0 && (f->code & WRITING))
                r = sct_get(d, function, WRITING, &writing);
        if (r < 0)
                return r;

        *ret = f->code == (READING | WRITING) && reading != writing ? -1 : MAX(reading, writing) * SCT_ERC_UNIT_MS;
        return 0;
}

static int limits_set(Device *d, const AtaFeature *f, SctFunction function, int64_t ms) {
        int r = 0;

        if (f->code & READING)
                r = sct_command(d, function, READING, ms / SCT_ERC_UNIT_MS, 0, NULL);
        if (r >= 0 && (f->code & WRITING))
                r = sct_command(d, function, WRITING, ms / SCT_ERC_UNIT_MS, 0, NULL);
        return r;
}

static int error_recovery_query(Device *d, const AtaFeature *f, Reading *ret) {
        int r;

        r = limits_get(d, f, SCT_GET_ERC, &ret->value.number);
        if (r == -ENODATA)
                return 0; /* the bridge returns no registers: the limit can be set, but not read */
        if (r < 0)
                return r;
        ret->known = true;

        /* Drives before ACS-4 reject the query for the power-on limit. */
        if (d->permanent)
                ret->saved_known = limits_get(d, f, SCT_GET_ERC_POWER_ON, &ret->saved.number) >= 0;
        return 0;
}

static int error_recovery_write(Device *d, const Setting *s, const Value *v) {
        int64_t saved;
        int r;

        r = limits_set(d, s->detail, SCT_SET_ERC, v->number);
        if (r < 0 || !d->save || limits_get(d, s->detail, SCT_GET_ERC_POWER_ON, &saved) < 0)
                return r;
        return limits_set(d, s->detail, SCT_SET_ERC_POWER_ON, v->number);
}

/* Replaces the wanted timeout by the kernel's current timeout if the current timeout is longer, because the setting is a minimum. */
static int fallback_localize(Device *d, const Setting *s, Value *v) {
        Reading now;
        int r;

        r = sysfs_setting_read(d, s, &now);
        if (r >= 0 && now.known)
                v->number = MAX(v->number, now.value.number);
        return r;
}

static const Harm endless_recovery_harm = {
        .scope = HARM_MEMBER,
        .why = "without a limit the drive retries longer than the kernel waits, and the array drops the drive for one bad sector; use 7s, "
               "or make the kernel wait (error_recovery_fallback_timeout = \"180s\")",
};

/* clang-format off */
#define LIMIT(key, order_, what, limits) \
        ATA_ROW(key, ata_feature_read, error_recovery_write, order_, "power, link reset", "smartctl -l scterc", \
                "ACS-4 SCT Error Recovery Control", what, .supported = { { 206, 0 }, { 206, 3 } }, \
                .query = error_recovery_query, .code = limits), \
        .range = RANGE_RECOVERY, .harm = &endless_recovery_harm, .remedy = &recovery_remedy

const Setting error_recovery_settings[] = {
        { .brief = "how long to retry a bad sector",
          LIMIT("error_recovery", 130,
                "how long the drive tries to recover a sector before it reports an error (SCT ERC, TLER)", READING | WRITING),
          .flags = SETTING_SAVEABLE },
        { .brief = "error_recovery for reads only",
          LIMIT("error_recovery_read", 131, "error_recovery for reads only", READING),
          .flags = SETTING_SAVEABLE | SETTING_SAME,
          .excludes = "error_recovery" },
        { .brief = "error_recovery for writes only",
          LIMIT("error_recovery_write", 132, "error_recovery for writes only", WRITING),
          .flags = SETTING_SAVEABLE | SETTING_SAME,
          .excludes = "error_recovery" },
        { .brief = "timeout without error_recovery",
          .name = "error_recovery_fallback_timeout", .backend = BACKEND_SCSI, SYSFS_ROW(.path = "device/timeout", .scale = 1000),
          .order = 25, .lost_by = "re-add", .equivalent = "/sys/block/*/device/timeout",
          .source = "https://raid.wiki.kernel.org/index.php/Timeout_Mismatch",
          .summary = "minimum of timeout for a drive without error_recovery, so that its array does not drop the drive while it retries",
          .range = { .type = VALUE_DURATION, .min = 1000, .max = 3600 * 1000, .step = 1000 },
          .flags = SETTING_KERNEL,
          .harm = &spin_up_harm,
          .excludes = "timeout",
          .unless = "error_recovery",
          .localize = fallback_localize },
        {},
};
/* clang-format on */
