/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Power-saving settings of ATA drives: APM, the standby timer, extended power conditions (EPC), and the commands that spin a drive down
 * immediately. */

#include <endian.h>
#include <stdio.h>

#include "ata.h"
#include "plan.h"
#include "settings.h"
#include "standby-timer.h"
#include "power-mode.h"

#define STANDBY_Z "standby_z"

/* The advice for a rule that sets apm on a SCSI drive. */
static const Remedy no_apm_remedy = {
        "SCSI drives have idle_b, idle_c (both park the heads) and standby_z instead of apm",
        { "idle_b", "idle_c", "standby_z" },
        1U << BACKEND_SCSI_MODE,
};

/* A drive rejects APM while its extended power conditions (EPC) are enabled, but does not report this cause. The function adds the cause to
 * the reason of the failure. */
static int apm_write(Device *d, const Setting *s, const Value *v) {
        int r;

        r = ata_feature_write(d, s, v);
        if (r != END_REFUSED || !identify_bit(d->identify, 120, 7))
                return r;

        return device_fail(
                        d, r,
                        "the drive rejected the APM level: its extended power conditions (EPC) are enabled, and exclude APM; epc = "
                        "false with 'drivekeep apply --permanent' disables them");
}

/* Reports the setting as supported. Sends no command, not even CHECK POWER MODE: a drive in ATA Sleep mode answers no command, and the
 * kernel would reset the drive. */
static int sleep_read(Device *d _unused_, const Setting *s, Reading *ret) {
        *ret = (Reading){ .supported = true, .value.type = s->range.type };
        return 0;
}

/* Returns true if a wish in the plan turns on the drive's timer `name`. */
static bool timer_is_on(const Device *d, const char *name) {
        for (size_t i = 0; d->plan && i < d->plan->n_steps; i++) {
                const Step *s = d->plan->steps + i;

                if (s->setting && streq(s->setting->name, name))
                        return !s->wish->withheld && s->wish->spindown_by != SPINDOWN_BY_SERVICE &&
                               setting_is_active(s->setting, &s->wish->value);
        }

        return false;
}

/* While extended power conditions are enabled, spindown_time (IDLE, STANDBY) and standby_z set the same timer. Fails if the setting `own`
 * is off and `other` is on: writing "off" would stop the timer of `other`. */
static int check_same_timer(Device *d, const char *own, const char *other) {
        if (!identify_bit(d->identify, 120, 7) || timer_is_on(d, own) || !timer_is_on(d, other))
                return 0;

        return device_fail(d, END_UNCHANGED, "not changed: the setting shares its timer with %s, which is on", other);
}

static int standby_timer_read(Device *d, const Setting *s, Reading *ret) {
        int r;

        /* IDENTIFY may spin up a drive in standby. The write needs no IDENTIFY: the drive accepts or rejects STANDBY without a spin-up. */
        if (d->power == POWER_STANDBY)
                return sleep_read(d, s, ret);
        r = ata_feature_read(d, s, ret);
        return r < 0 ? r : check_same_timer(d, SETTING_SPINDOWN_TIME, STANDBY_Z);
}

static int standby_timer_write(Device *d, const Setting *s _unused_, const Value *v) {
        Taskfile tf = { .command = ATA_CMD_IDLE, .count = v->number, .timeout_ms = SG_TIMEOUT_SPINUP_MS };
        Registers regs;
        int r;

        /* The IDLE command spins up a drive in standby. The STANDBY command sets the timer without a spin-up, but some drives do not accept
         * its count of 0 as "disabled". Disabling the timer is therefore deferred until the drive is active. */
        if (d->power == POWER_STANDBY && v->number == 0 && !d->wake)
                return device_fail(d, END_DEFERRED,
                                   "the drive is in standby; its timer can be disabled only when the drive is active");

        if (d->power == POWER_STANDBY && v->number != 0)
                tf.command = ATA_CMD_STANDBY;
        r = ata_command(d, &tf, &regs);
        if (r >= 0 && v->number != 0 && d->identify_valid && !(d->identify[49] & 1U << 13))
                (void) snprintf(d->note, sizeof d->note,
                                "accepted; timer values of this drive are vendor-specific (IDENTIFY word 49), and the timer cannot be "
                                "read back");
        /* Only the registers report whether the drive accepted the command. */
        if (r >= 0 && !regs.valid)
                (void) snprintf(d->note, sizeof d->note, "sent; the bridge does not return the drive's status");
        return r;
}

/* clang-format off */
#define RANGE_APM { .type = VALUE_INT, .min = 1, .max = 254, .has_off = true, .off = 255 }
#define HAS_APM (1U << BACKEND_ATA | 1U << BACKEND_OPTICAL)   /* an ATAPI drive may have APM */
#define HAS_TIMERS (HAS_APM | 1U << BACKEND_SCSI_MODE)        /* a SCSI drive has standby_z */

/* A setting that is another name of an ATA setting. */
#define ALIAS(key, of, order_, lost, how, from, what) \
        .name = key, .alias_of = of, .backend = BACKEND_ATA, .order = order_, .lost_by = lost, .equivalent = how, .source = from, \
        .summary = what

const Setting ata_power_settings[] = {
        /* apm is written before the standby timer. */
        { .brief = "power saving: 1 most, 254 none", .also = "apm_level ata_apm_level advanced_power_management",
          ATA_ROW("apm", ata_feature_read, apm_write, 200, LOST_WITHOUT_SSP, "hdparm -B", "ACS-4 SET FEATURES 05h/85h",
                  "Advanced Power Management level: 1 saves most power, 127 and below allow spin-down, 254 is fastest",
                  .supported = { { 83, 3 } }, .enabled = { { 86, 3 } }, .level = { 91, 0, 8 },
                  .on = { .feature = 0x05 }, .off = { .feature = 0x85 }),
          .range = RANGE_APM,
          .remedy = &no_apm_remedy,
          .off_without = HAS_APM },
        { .brief = "apm while on battery",
          ALIAS("apm_battery", "apm", 200, LOST_WITHOUT_SSP, "hdparm -B", "hdparm.conf(5)",
                "apm while the machine runs on battery: hdparm.conf's name for on_battery = { apm = ... }"),
          .range = RANGE_APM,
          .flags = SETTING_ON_BATTERY },
        { .brief = "idle time before spin-down",
          ATA_ROW(SETTING_SPINDOWN_TIME, standby_timer_read, standby_timer_write, 210, LOST_WITHOUT_SSP, "hdparm -S",
                  "ACS-4 IDLE E3h, STANDBY E2h",
                  "idle time after which the drive spins down", .supported = { { 82, 3 } }),
          .range = RANGE_TIMER,
          .remedy = &by_service_remedy,
          .spins_down = true,
          .off_without = HAS_TIMERS,
          .flags = SETTING_UNREADABLE | SETTING_STANDBY_SAFE },
        { .brief = "same as spindown_time",
          ALIAS("force_spindown_time", "spindown_time", 210, LOST_WITHOUT_SSP, "hdparm -S", "hdparm.conf(5)",
                "hdparm.conf's second name for spindown_time; independent of APM"),
          .range = RANGE_TIMER,
          .flags = SETTING_UNREADABLE | SETTING_STANDBY_SAFE },
        { .brief = "standby at power-on (PUIS)", .also = "puis power_up_in_standby",
          ATA_FEATURE("poweron_standby", 220, "nothing: the drive keeps it", "hdparm -s", "ACS-4 SET FEATURES 06h/86h",
                      "whether the drive stays in standby at power-on until a command spins it up (PUIS)",
                      .supported = { { 83, 5 } }, .enabled = { { 86, 5 } }, .on = { .feature = 0x06 }, .off = { .feature = 0x86 }),
          .range = RANGE_BOOL,
          .flags = SETTING_NONVOLATILE,
          .danger = "firmware, USB bridges and RAID controllers without support for PUIS never find the drive again" },
        { KEEP_ACTIVE_ROW(BACKEND_ATA) },
        /* Written last, because later commands would spin the drive up. */
        { .brief = "spin down once when attached",
          ATA_ROW("standby", standby_read, standby_write, 900, "the first access", "hdparm -y",
                  "ACS-4 STANDBY IMMEDIATE E0h, CHECK POWER MODE E5h, SMART READ DATA B0h/D0h",
                  "spin the drive down when it is attached; \"resume\": also after each resume of the machine",
                  .on = { .command = ATA_CMD_STANDBY_IMMEDIATE, .timeout_ms = SG_TIMEOUT_SPINUP_MS }),
          .range = RANGE_STANDBY,
          .localize = standby_localize,
          .flags = SETTING_AT_ATTACH | SETTING_STANDBY_SAFE | SETTING_READ_SAFE },
        { .brief = "ATA Sleep once when attached",
          ATA_ROW("sleep", sleep_read, ata_feature_write, 910, "any command", "hdparm -Y", "ACS-4 SLEEP E6h",
                  "put the drive into ATA Sleep mode when it is attached; only a reset ends this mode",
                  .on = { .command = ATA_CMD_SLEEP, .timeout_ms = SG_TIMEOUT_SPINUP_MS },
                  .no_off = "off does nothing: no setting spins a drive up"),
          .range = RANGE_BOOL,
          .flags = SETTING_AT_ATTACH | SETTING_UNREADABLE | SETTING_STANDBY_SAFE | SETTING_ATA_SLEEP,
          .danger = "the drive wakes only when its link is reset, which loses other settings and is impossible with some bridges and "
                    "controllers",
          .excludes = "standby" },
        {},
};
/* clang-format on */

/* ---- extended power conditions ----
 *
 * A drive has up to five power conditions from idle_a to standby_z, each with its own timer. LBA 3:0 of SET FEATURES 4Ah selects the
 * subcommand. The Power Conditions log holds the current state. */

#define EPC 0x4A
#define LOG_POWER_CONDITIONS 0x08
#define UNIT_MS 100
#define MINUTE_MS 60000
#define TIMER_MAX 0xFFFF
#define AT_STANDBY_Z (512 + 448)

/* Values in LBA 7:0 of SET FEATURES 4Ah. */
enum {
        EPC_SET_TIMER = 2,
        EPC_SET_STATE = 3,
        EPC_ENABLE = 4,
        EPC_DISABLE = 5,
        EPC_SAVE = 1 << 4,
        EPC_ON = 1 << 5,
        EPC_MINUTES = 1 << 7,
};

/* Bits in byte 1 of a descriptor in the Power Conditions log (Descriptor.flags). */
enum {
        CONDITION_SUPPORTED = 1 << 7,
        CONDITION_SAVEABLE = 1 << 6,
        CONDITION_CHANGEABLE = 1 << 5,
        CONDITION_SAVED_ENABLED = 1 << 3,
        CONDITION_ENABLED = 1 << 2,
};

/* A descriptor of the Power Conditions log. Times are little-endian, in units of 100 ms. */
typedef struct Descriptor {
        uint8_t reserved, flags, reserved2[2];
        uint32_t usual, saved, current, recovery, min, max;
} Descriptor;

/* Reads the descriptor of one timer from the Power Conditions log. AtaFeature.code is the descriptor's offset in the two pages of the
 * log. */
static int read_descriptor(Device *d, const AtaFeature *f, Descriptor *ret) {
        uint8_t log[1024] = {};
        Taskfile tf = {
                .command = ATA_CMD_READ_LOG_EXT,
                .lbal = LOG_POWER_CONDITIONS,
                .count = sizeof log / 512,
                .ext = true,
                .data = log,
                .len = sizeof log,
        };
        int r;

        r = ata_command(d, &tf, NULL);
        if (r < 0)
                return r;

        memcpy(ret, log + f->code, sizeof *ret);
        return 0;
}

/* Returns true if the drive supports EPC, but EPC is disabled. */
static bool epc_is_disabled(const Device *d) {
        return identify_bit(d->identify, 119, 7) && !identify_bit(d->identify, 120, 7);
}

/* Returns true if the plan enables EPC before the timers are written. A dry run enables nothing, so it needs this prediction. */
static bool will_be_enabled(const Device *d) {
        const Step *epc = device_planned(d, "epc");

        return epc && epc->wanted.number;
}

/* Returns false if the drive reports no range. */
static bool read_range(const Descriptor *c, int64_t *ret_min, int64_t *ret_max) {
        *ret_min = (int64_t) le32toh(c->min) * UNIT_MS;
        *ret_max = (int64_t) le32toh(c->max) * UNIT_MS;
        return *ret_max > 0;
}

/* While EPC is disabled, no timer runs, whatever the Power Conditions log reports. Enabling EPC makes the saved timers current (WD's manual
 * of the Ultrastar HC310, 11.46.6.5). */
static int condition_query(Device *d, const AtaFeature *f, Reading *ret) {
        Descriptor c = {};
        int r;

        ret->supported = false; /* set to true below if the log reports this timer */
        r = read_descriptor(d, f, &c);
        if (r < 0)
                return r;

        ret->supported = c.flags & CONDITION_SUPPORTED;
        if (ret->supported && f->code == AT_STANDBY_Z) {
                r = check_same_timer(d, STANDBY_Z, SETTING_SPINDOWN_TIME);
                if (r < 0)
                        return r;
        }
        ret->known = true;
        ret->saved_known = c.flags & CONDITION_SAVEABLE;
        ret->limited = ret->supported && read_range(&c, &ret->min, &ret->max);
        ret->fixed = !(c.flags & CONDITION_CHANGEABLE);
        if (c.flags & CONDITION_SAVED_ENABLED)
                ret->saved.number = (int64_t) le32toh(c.saved ?: c.usual) * UNIT_MS;

        if (epc_is_disabled(d) && will_be_enabled(d))
                ret->value = ret->saved;
        else if (!epc_is_disabled(d) && (c.flags & CONDITION_ENABLED))
                ret->value.number = (int64_t) le32toh(c.current) * UNIT_MS;
        return 0;
}

static int fail_epc_disabled(Device *d) {
        int r = device_fail(
                        d, END_UNSUPPORTED,
                        "the drive's extended power conditions (EPC) are disabled, and their timers do not run; epc = true with "
                        "'drivekeep apply --permanent' enables them");

        d->failure.remediable = true;
        return r;
}

/* Reports that a time is outside the drive's range. ACS-4 permits the drive to reject such a time, or to set its lowest or highest time. */
static int fail_outside(Device *d, const Value *v, int64_t min, int64_t max) {
        static const ValueRange duration = { .type = VALUE_DURATION };
        char span[VALUE_SPAN_MAX], nearest[VALUE_TEXT_MAX];
        const Value bound = { .type = VALUE_DURATION, .number = v->number < min ? min : max };

        return device_fail(d, END_REFUSED,
                           "the drive rejected the time, which is outside its range of %s; the nearest time is %s",
                           value_format_span(VALUE_DURATION, min, max, span), value_format(&duration, &bound, nearest));
}

static int condition_write(Device *d, const Setting *s, const Value *v) {
        const AtaFeature *f = s->detail;
        Taskfile tf = v->number == s->range.off ? f->off : f->on;
        int64_t min, max, timer = v->number / UNIT_MS; /* in units of UNIT_MS; 0: off */
        Descriptor now = {};
        int r;

        if (epc_is_disabled(d))
                return fail_epc_disabled(d);
        r = read_descriptor(d, f, &now);
        if (r < 0)
                return r;
        if (!(now.flags & CONDITION_CHANGEABLE))
                return device_fail(d, END_UNSUPPORTED, "the drive reports that this timer cannot be changed");

        if (timer > TIMER_MAX) {
                timer = v->number / MINUTE_MS;
                tf.lbal |= EPC_MINUTES;
        }
        if (timer > TIMER_MAX)
                return device_fail(d, END_UNSUPPORTED, "the time is too long: timers of ATA drives end at %u minutes",
                                   TIMER_MAX);
        if (d->save && (now.flags & CONDITION_SAVEABLE))
                tf.lbal |= EPC_SAVE;

        tf.lbam = timer & 0xFF;
        tf.lbah = timer >> 8;
        r = ata_command(d, &tf, NULL);
        if (r == END_REFUSED && d->failure.rejected && v->number != s->range.off && read_range(&now, &min, &max) &&
            (v->number < min || v->number > max))
                return fail_outside(d, v, min, max);
        return r;
}

/* The drive counts a time above TIMER_MAX units in minutes, so such a time is rounded up to whole minutes. Fails if EPC is disabled and the
 * plan does not enable EPC. This function checks EPC, and not the write function, so that a dry run reports the failure too. A drive in
 * standby is not checked, because its IDENTIFY data is not read. */
static int condition_localize(Device *d, const Setting *s, Value *v) {
        if (v->number != s->range.off && d->identify_valid && epc_is_disabled(d) && !will_be_enabled(d))
                return fail_epc_disabled(d);

        if (v->number > (int64_t) TIMER_MAX * UNIT_MS)
                v->number = (v->number + MINUTE_MS - 1) / MINUTE_MS * MINUTE_MS;
        return 0;
}

static const Remedy no_standby_remedy = { "use spindown_time, the timer of drives without EPC", { "spindown_time" } };
static const Remedy no_idle_remedy = { "use apm, which parks the heads of drives without EPC", { "apm" } };

/* clang-format off */
#define EPC_COMMAND(...) { .command = ATA_CMD_SET_FEATURES, .feature = EPC, __VA_ARGS__ }

/* The timers have the same range as the SCSI timers with the same names. condition_write() checks ATA's limits. */
#define TIMER(key, brief_, what, order_, id, offset, ...) \
        { \
                .brief = brief_, \
                ATA_ROW(key, ata_feature_read, condition_write, order_, "power, unless saved", \
                        "openSeaChest_PowerControl --" key, "ACS-4 SET FEATURES 4Ah, log 08h", what " (1092 h at most)", \
                        .supported = { { 119, 7 }, { 84, 5 } }, .query = condition_query, .code = offset, \
                        .on = EPC_COMMAND(.count = id, .lbal = EPC_SET_TIMER | EPC_ON), \
                        .off = EPC_COMMAND(.count = id, .lbal = EPC_SET_STATE)), \
                .range = { .type = VALUE_DURATION, .min = UNIT_MS, .max = (int64_t) UINT32_MAX * UNIT_MS, .step = UNIT_MS, \
                           .has_off = true }, \
                .flags = SETTING_SAVEABLE, .localize = condition_localize, .off_without = HAS_TIMERS, __VA_ARGS__ \
        }

const Setting ata_epc_settings[] = {
        /* Enabling EPC disables APM (WD's manual of the Ultrastar HC310, 11.46.6.5). The two settings exclude each other, because no
         * document says whether disabling EPC enables APM again, or whether enabling APM changes EPC. */
        { .brief = "idle and standby timers (EPC)", .also = "extended_power_conditions",
          ATA_FEATURE("epc", 180, "nothing: the drive keeps it", "openSeaChest_PowerControl --EPCfeature", "ACS-4 SET FEATURES 4Ah",
                      "whether the drive uses extended power conditions, each with a timer, instead of apm",
                      .supported = { { 119, 7 } }, .enabled = { { 120, 7 } },
                      .on = EPC_COMMAND(.lbal = EPC_ENABLE), .off = EPC_COMMAND(.lbal = EPC_DISABLE)),
          .range = RANGE_BOOL,
          .flags = SETTING_NONVOLATILE | SETTING_FIRST,
          .excludes = "apm" },
        TIMER("idle_a", "idle time before light idle", "idle time after which the drive powers down some electronics", 190, 0x81, 0),
        TIMER("idle_b", "idle time before heads park", "idle time after which the drive parks its heads", 191, 0x82, 64, .remedy = &no_idle_remedy),
        TIMER("idle_c", "idle time before slower rotation", "idle time after which the drive rotates more slowly", 192, 0x83, 128),
        TIMER("standby_y", "idle time before light standby", "idle time after which the drive stops rotating; the next spin-up takes "
                                                             "less time than from standby_z", 193, 0x01, 512 + 384, .spins_down = true, .remedy = &no_standby_remedy),
        /* While EPC is enabled, the commands IDLE and STANDBY set the timer standby_z. */
        TIMER(STANDBY_Z, "idle time before full standby", "idle time after which the drive stops rotating", 194, 0x00, AT_STANDBY_Z, .excludes = SETTING_SPINDOWN_TIME, .spins_down = true, .remedy = &no_standby_remedy),
        {},
};
/* clang-format on */
