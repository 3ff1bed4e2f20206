/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Extended power conditions: five steps from idle to standby, each with a timer, which a drive takes by itself. Commands
 * are subcommands of SET FEATURES 4Ah in LBA 3:0; the present state is in the log of power conditions. */

#include <endian.h>

#include "ata.h"
#include "plan.h"
#include "settings.h"

#define EPC 0x4A
#define LOG_POWER_CONDITIONS 0x08
#define UNIT_MS 100
#define MINUTE_MS 60000
#define TIMER_MAX 0xFFFF

/* LBA 7:0 of SET FEATURES 4Ah. */
enum {
        EPC_SET_TIMER = 2,
        EPC_SET_STATE = 3,
        EPC_ENABLE = 4,
        EPC_DISABLE = 5,
        EPC_SAVE = 1 << 4,
        EPC_ON = 1 << 5,
        EPC_MINUTES = 1 << 7,
};

/* Byte 1 of a descriptor in the log. */
enum {
        CONDITION_SUPPORTED = 1 << 7,
        CONDITION_SAVEABLE = 1 << 6,
        CONDITION_CHANGEABLE = 1 << 5,
        CONDITION_SAVED_ENABLED = 1 << 3,
        CONDITION_ENABLED = 1 << 2,
};

/* Times are in units of 100 ms, little-endian. */
typedef struct Descriptor {
        uint8_t reserved, flags, reserved2[2];
        uint32_t usual, saved, current, recovery, min, max;
} Descriptor;

/* The row's code is its place in the log's two pages. */
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

/* The drive has the feature set, and has it disabled. */
static bool is_disabled(const Device *d) {
        return identify_bit(d->identify, 119, 7) && !identify_bit(d->identify, 120, 7);
}

/* In a dry run: is the feature set, which is disabled, to be enabled before these timers have their turn? */
static bool is_to_be_enabled(const Device *d) {
        const Step *epc = device_planned(d, "epc");

        return epc && epc->wanted.number && epc->verdict == _VERDICT_INVALID;
}

/* While the feature set is disabled no timer runs, whatever the log says. Enabling it makes the saved ones the current
 * ones (WD's manual of the Ultrastar HC310, 11.46.6.5). */
static int condition_ask(Device *d, const AtaFeature *f, Reading *ret) {
        Descriptor c = {};
        int r;

        ret->supported = false; /* which of the timers the drive has the log says */
        r = read_descriptor(d, f, &c);
        if (r < 0)
                return r;

        ret->supported = c.flags & CONDITION_SUPPORTED;
        ret->known = true;
        ret->saved_known = c.flags & CONDITION_SAVEABLE;
        if (c.flags & CONDITION_SAVED_ENABLED)
                ret->saved.number = (int64_t) le32toh(c.saved ?: c.usual) * UNIT_MS;

        if (is_disabled(d) && is_to_be_enabled(d))
                ret->value = ret->saved;
        else if (!is_disabled(d) && (c.flags & CONDITION_ENABLED))
                ret->value.number = (int64_t) le32toh(c.current) * UNIT_MS;
        return 0;
}

static int condition_write(Device *d, const Setting *s, const Value *v) {
        const AtaFeature *f = s->detail;
        Taskfile tf = v->number == s->range.off ? f->off : f->on;
        int64_t timer = v->number / UNIT_MS; /* off is 0 */
        Descriptor now = {};
        int r;

        r = read_descriptor(d, f, &now);
        if (r < 0)
                return r;
        if (!(now.flags & CONDITION_CHANGEABLE))
                return device_fail(d, STEP_UNSUPPORTED, "the drive says that it cannot be changed");

        if (timer > TIMER_MAX) {
                timer = v->number / MINUTE_MS;
                tf.lbal |= EPC_MINUTES;
        }
        if (timer > TIMER_MAX)
                return device_fail(d, STEP_UNSUPPORTED, "an ATA drive counts to %u minutes and no further", TIMER_MAX);
        if (d->save && (now.flags & CONDITION_SAVEABLE))
                tf.lbal |= EPC_SAVE;

        tf.lbam = timer & 0xFF;
        tf.lbah = timer >> 8;
        return ata_command(d, &tf, NULL);
}

/* Long times are counted in minutes: the nearest one that is not shorter. That there is nothing to set is known before
 * anything is written, so that a dry run says so too; a drive that sleeps has not been asked. */
static int condition_localize(Device *d, const Setting *s, Value *v) {
        if (v->number != s->range.off && d->identify_valid && is_disabled(d) && !is_to_be_enabled(d))
                return device_fail(
                                d, STEP_UNSUPPORTED,
                                "the drive has its extended power conditions disabled, so that no timer of theirs runs; "
                                "epc = true, by 'drivekeep apply --permanent', enables them");

        if (v->number > (int64_t) TIMER_MAX * UNIT_MS)
                v->number = (v->number + MINUTE_MS - 1) / MINUTE_MS * MINUTE_MS;
        return 0;
}

/* clang-format off */
#define EPC_COMMAND(...) { .command = ATA_CMD_SET_FEATURES, .feature = EPC, __VA_ARGS__ }

/* The range is that of SCSI's timers, which have the same names; condition_write() has ATA's. */
#define TIMER(key, what, order_, id, offset, ...) \
        { \
                ATA_ROW(key, ata_feature_read, condition_write, order_, "power, where it is not saved", \
                        "openSeaChest_PowerControl --" key, "ACS-4 SET FEATURES 4Ah, log 08h", what " (1092 h at most)", \
                        .supported = { { 119, 7 }, { 84, 5 } }, .ask = condition_ask, .code = offset, \
                        .on = EPC_COMMAND(.count = id, .lbal = EPC_SET_TIMER | EPC_ON), \
                        .off = EPC_COMMAND(.count = id, .lbal = EPC_SET_STATE)), \
                .range = { .type = VALUE_DURATION, .min = UNIT_MS, .max = (int64_t) UINT32_MAX * UNIT_MS, .step = UNIT_MS, \
                           .has_off = true }, \
                .flags = SETTING_SAVEABLE, .localize = condition_localize, __VA_ARGS__ \
        }

const Setting ata_epc_settings[] = {
        /* Enabling it disables APM (WD's manual of the Ultrastar HC310, 11.46.6.5), and disabling it is not said to bring APM back.
         * No manual at hand says how they are affected when APM is enabled then: nobody may want both. */
        { ATA_FEATURE("epc", 180, "nothing: the drive keeps it", "openSeaChest_PowerControl --EPCfeature", "ACS-4 SET FEATURES 4Ah",
                      "whether the drive has extended power conditions, each with its timer, in the place of apm",
                      .supported = { { 119, 7 } }, .enabled = { { 120, 7 } },
                      .on = EPC_COMMAND(.lbal = EPC_ENABLE), .off = EPC_COMMAND(.lbal = EPC_DISABLE)),
          .range = RANGE_BOOL,
          .flags = SETTING_NONVOLATILE | SETTING_FIRST,
          .excludes = "apm" },
        TIMER("idle_a", "idle time after which the drive rests its electronics", 190, 0x81, 0),
        TIMER("idle_b", "idle time after which the drive parks its heads", 191, 0x82, 64),
        TIMER("idle_c", "idle time after which the drive turns more slowly", 192, 0x83, 128),
        TIMER("standby_y", "idle time after which the drive stops, ready to start sooner than from standby_z", 193, 0x01, 512 + 384),
        /* The standby timer of IDLE and STANDBY is this one while extended power conditions are enabled. */
        TIMER("standby_z", "idle time after which the drive stops", 194, 0x00, 512 + 448, .excludes = "spindown_time"),
        {},
};
/* clang-format on */
