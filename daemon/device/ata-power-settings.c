/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How an ATA drive saves power by itself, and the commands that put it to sleep at once. Extended power conditions: ata-epc-settings.c. */

#include <stdio.h>

#include "ata.h"
#include "plan.h"
#include "settings.h"

/* Drives come from the factory with APM or with extended power conditions, and an abort does not say which. */
static int apm_write(Device *d, const Setting *s, const Value *v) {
        int r;

        r = ata_feature_write(d, s, v);
        if (r != STEP_REFUSED || !identify_bit(d->identify, 120, 7))
                return r;

        return device_fail(
                        d, r,
                        "the drive refused it: its extended power conditions are enabled, and a drive has these or APM; "
                        "epc = false, by 'drivekeep apply --permanent', disables them");
}

static int standby_read(Device *d, const Setting *s, Reading *ret) {
        int r;

        r = power_look(d, BACKEND_ATA);
        if (r < 0)
                return r;

        *ret = (Reading){
                .supported = true,
                .known = d->power == POWER_STANDBY || (d->power == POWER_AWAKE && d->power_told),
                .value = { .type = s->range.type, .number = d->power == POWER_STANDBY },
        };
        return 0;
}

static int standby_write(Device *d, const Setting *s, const Value *v) {
        if (v->number)
                d->power = POWER_UNKNOWN;
        return ata_feature_write(d, s, v);
}

/* Nothing is sent, not even CHECK POWER MODE: a drive in ATA's SLEEP answers no command, and the kernel would reset it. */
static int sleep_read(Device *d _unused_, const Setting *s, Reading *ret) {
        *ret = (Reading){ .supported = true, .value.type = s->range.type };
        return 0;
}

static int standby_timer_read(Device *d, const Setting *s, Reading *ret) {
        /* A sleeping drive may wake up to answer IDENTIFY; STANDBY is answered, or refused, without. */
        return d->power == POWER_STANDBY ? sleep_read(d, s, ret) : ata_feature_read(d, s, ret);
}

static int standby_timer_write(Device *d, const Setting *s _unused_, const Value *v) {
        Taskfile tf = { .command = ATA_CMD_IDLE, .count = v->number, .timeout_ms = SG_TIMEOUT_SPINUP_MS };
        Registers regs;
        int r;

        /* IDLE spins a sleeping drive up. STANDBY sets the timer and leaves it asleep, but some drives do not take its
         * count of 0 as "disabled": that waits until the drive is awake. */
        if (d->power == POWER_STANDBY && v->number == 0 && !d->wake)
                return device_fail(d, STEP_DEFERRED,
                                   "the drive sleeps, and its timer can be disabled only while it is awake");

        if (d->power == POWER_STANDBY && v->number != 0)
                tf.command = ATA_CMD_STANDBY;
        r = ata_command(d, &tf, &regs);
        if (r >= 0 && v->number != 0 && d->identify_valid && !(d->identify[49] & 1U << 13))
                (void) snprintf(d->note, sizeof d->note,
                                "accepted; the drive counts this time in a way of its vendor's, says its IDENTIFY (word 49), "
                                "and it cannot be read back");
        /* Nothing else will ever tell. */
        if (r >= 0 && !regs.valid)
                (void) snprintf(d->note, sizeof d->note, "sent; the bridge does not tell what the drive made of it");
        return r;
}

/* clang-format off */
#define RANGE_APM { .type = VALUE_INT, .min = 1, .max = 254, .has_off = true, .off = 255 }
#define RANGE_TIMER { .type = VALUE_STANDBY_TIMER, .max = 255, .has_off = true, .off = 0 }

/* Another name of such a row. */
#define ALIAS(key, of, order_, lost, how, from, what) \
        .name = key, .alias_of = of, .backend = BACKEND_ATA, .order = order_, .lost_by = lost, .equivalent = how, .source = from, \
        .summary = what

const Setting ata_power_settings[] = {
        /* Before the standby timer. */
        { ATA_ROW("apm", ata_feature_read, apm_write, 200, LOST_WITHOUT_SSP, "hdparm -B", "ACS-4 SET FEATURES 05h/85h",
                  "Advanced Power Management: 1 saves most, 127 and below may spin down, 254 fastest",
                  .supported = { { 83, 3 } }, .enabled = { { 86, 3 } }, .level = { 91, 0, 8 },
                  .on = { .feature = 0x05 }, .off = { .feature = 0x85 }),
          .range = RANGE_APM },
        { ALIAS("apm_battery", "apm", 200, LOST_WITHOUT_SSP, "hdparm -B", "hdparm.conf(5)",
                "apm while the machine runs on battery, as hdparm.conf has it: on_battery = { apm = … }"),
          .range = RANGE_APM,
          .flags = SETTING_ON_BATTERY },
        { ATA_ROW("spindown_time", standby_timer_read, standby_timer_write, 210, LOST_WITHOUT_SSP, "hdparm -S",
                  "ACS-4 IDLE E3h, STANDBY E2h",
                  "idle time after which the drive spins down", .supported = { { 82, 3 } }),
          .range = RANGE_TIMER,
          .flags = SETTING_UNREADABLE | SETTING_STANDBY_SAFE },
        { ALIAS("force_spindown_time", "spindown_time", 210, LOST_WITHOUT_SSP, "hdparm -S", "hdparm.conf(5)",
                "spindown_time, by hdparm.conf's other name; neither asks whether the drive has APM"),
          .range = RANGE_TIMER,
          .flags = SETTING_UNREADABLE | SETTING_STANDBY_SAFE },
        { ATA_FEATURE("poweron_standby", 220, "nothing: the drive keeps it", "hdparm -s", "ACS-4 SET FEATURES 06h/86h",
                      "whether the drive stays asleep at power-on until it is told to spin up (PUIS)",
                      .supported = { { 83, 5 } }, .enabled = { { 86, 5 } }, .on = { .feature = 0x06 }, .off = { .feature = 0x86 }),
          .range = RANGE_BOOL,
          .flags = SETTING_NONVOLATILE,
          .danger = "firmware, USB bridges and RAID controllers that do not know of it never find the drive again" },
        /* These are the last of all: what follows would wake the drive. */
        { ATA_ROW("standby", standby_read, standby_write, 900, "the first access", "hdparm -y",
                  "ACS-4 STANDBY IMMEDIATE E0h, CHECK POWER MODE E5h",
                  "spin the drive down when it is attached",
                  .on = { .command = ATA_CMD_STANDBY_IMMEDIATE, .timeout_ms = SG_TIMEOUT_SPINUP_MS },
                  .no_off = "it sleeps already, and no setting wakes drives; off does nothing"),
          .range = RANGE_BOOL,
          .flags = SETTING_AT_ATTACH | SETTING_STANDBY_SAFE },
        { ATA_ROW("sleep", sleep_read, ata_feature_write, 910, "any command at all", "hdparm -Y", "ACS-4 SLEEP E6h",
                  "put the drive to sleep when it is attached, so deep that only a reset wakes it",
                  .on = { .command = ATA_CMD_SLEEP, .timeout_ms = SG_TIMEOUT_SPINUP_MS },
                  .no_off = "no setting wakes drives; off does nothing"),
          .range = RANGE_BOOL,
          .flags = SETTING_AT_ATTACH | SETTING_UNREADABLE | SETTING_STANDBY_SAFE | SETTING_ATA_SLEEP,
          .danger = "only a reset of the link wakes the drive, which takes other settings with it, and some bridges and "
                    "controllers never manage it",
          .excludes = "standby" },
        {},
};
/* clang-format on */
