/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks whether a setting is written, and which verdict the setting gets. */

#include <stdio.h>

#include "macro.h"
#include "plan.h"
#include "visit-reason.h"
#include "suite.h"

/* clang-format off */
static const Remedy elsewhere = { "idle_a does it", { "idle_a" }, 1U << BACKEND_SCSI_MODE }, fall_back = { "fallback does it", { "fallback" } };
static const Remedy by_service = { "the service can" };
static const Setting rows[] = {
        { .name = "apm", .backend = BACKEND_ATA,
          .range = { .type = VALUE_INT, .min = 1, .max = 254, .has_off = true, .off = 255 }, .order = 200,
          .off_without = 1U << BACKEND_ATA, .remedy = &elsewhere },
        { .name = "idle_a", .backend = BACKEND_ATA, .range = { .type = VALUE_DURATION, .max = 60000, .has_off = true }, .order = 220,
          .off_without = 1U << BACKEND_ATA | 1U << BACKEND_SCSI_MODE },
        { .name = "epc", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL }, .order = 190, .excludes = "apm" },
        { .name = "puis", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL }, .order = 300,
          .flags = SETTING_NONVOLATILE, .danger = "the drive may never come up" },
        { .name = "timer", .backend = BACKEND_ATA, .range = { .type = VALUE_DURATION, .max = 60000 }, .order = 310,
          .flags = SETTING_SAVEABLE },
        { .name = "spindown", .backend = BACKEND_ATA, .range = { .type = VALUE_DURATION, .max = 60000, .has_off = true },
          .order = 320, .flags = SETTING_UNREADABLE, .spins_down = true, .remedy = &by_service },
        { .name = "recovery", .backend = BACKEND_ATA,
          .range = { .type = VALUE_DURATION, .max = 60000, .has_off = true, .off = 0 }, .order = 130, .remedy = &fall_back },
        { .name = "fallback", .backend = BACKEND_SCSI, .range = { .type = VALUE_DURATION, .max = 600000 },
          .order = 20, .unless = "recovery", .excludes = "patience" },
        { .name = "patience", .backend = BACKEND_SCSI, .range = { .type = VALUE_DURATION, .max = 600000 }, .order = 21 },
        { .name = "apc", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL }, .order = 180, .excludes = "epc" },
        { .name = "standby_z", .backend = BACKEND_ATA, .range = { .type = VALUE_DURATION, .max = 60000, .has_off = true },
          .order = 315, .spins_down = true, .excludes = "spindown" },
        { .name = "standby", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL }, .order = 330 },
        { .name = "sleep", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL }, .order = 340, .danger = "it stays asleep",
          .excludes = "standby" },
        { .name = "lost", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL }, .order = 350, .excludes = "kept" },
        { .name = "kept", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL }, .order = 360, .flags = SETTING_NONVOLATILE },
        { .name = "dma", .backend = BACKEND_ATA, .range = { .type = VALUE_ANY }, .flags = SETTING_DEAD,
          .instead = "no kernel of today takes it" },
        { .name = "password", .backend = BACKEND_ATA, .range = { .type = VALUE_ANY }, .flags = SETTING_EXCLUDED,
          .instead = "drivekeep keeps no passwords" },
        {}
};
static const SettingTable table = { .tables = { rows } };

#define ATA (1U << BACKEND_ATA | 1U << BACKEND_SCSI)
#define NVME (1U << BACKEND_NVME)
#define SCSI (1U << BACKEND_SCSI_MODE | 1U << BACKEND_SCSI)
#define KNOWN(type, n) { .supported = true, .known = true, .value = { (type), (n), "" } }
#define SAVED(n, s) { .supported = true, .known = true, .value = { VALUE_DURATION, (n), "" }, \
                      .saved_known = true, .saved = { VALUE_DURATION, (s), "" } }

/* Decides what happens to one wanted value after one reading. The expected verdict _VERDICT_INVALID means that the
 * value is written. */
static const struct {
        const char *name;
        int64_t wanted;
        bool allow_dangerous, permanent; /* options of the block that sets the wanted value */
        unsigned backends;
        DecideFlags flags;
        Reading before;
        Verdict verdict;
        const char *reason;
} decisions[] = {
        { "apm", 127, false, false, ATA, 0, KNOWN(VALUE_INT, 128), _VERDICT_INVALID, "" },
        { "apm", 127, false, false, ATA, 0, KNOWN(VALUE_INT, 127), VERDICT_UNCHANGED, "" },
        { "apm", 127, false, false, NVME, 0, {}, VERDICT_UNSUPPORTED, "not a setting of this kind of drive" },

        /* "off" is `unchanged` if this kind of drive cannot have the feature (off_without); otherwise "off" is `unsupported`. */
        { "apm",    255, false, false, NVME,     0, {}, VERDICT_UNCHANGED, "this kind of drive has no apm, which counts as off" },
        { "apm",    255, false, false, SCSI,     0, {}, VERDICT_UNCHANGED, "counts as off" },
        { "apm",    255, false, false, ATA,      0, KNOWN(VALUE_INT, 127), _VERDICT_INVALID, "" },
        { "idle_a", 0,   false, false, NVME,     0, {}, VERDICT_UNCHANGED, "this kind of drive has no idle_a" },
        { "idle_a", 0,   false, false, SCSI,     0, {}, VERDICT_UNSUPPORTED, "not a setting of this kind of drive" },
        { "idle_a", 100, false, false, NVME,     0, {}, VERDICT_UNSUPPORTED, "not a setting of this kind of drive" },
        { "epc",    0,   false, false, NVME,     0, {}, VERDICT_UNSUPPORTED, "not a setting of this kind of drive" },
        { "recovery", 0, false, false, NVME,     0, {}, VERDICT_UNSUPPORTED, "not a setting of this kind of drive" },

        /* A setting with SETTING_DEAD or SETTING_EXCLUDED has the same verdict for every kind of drive and with every
         * option of the block. */
        { "dma",      0, false, false, ATA,  0, {}, VERDICT_UNSUPPORTED, "no kernel of today" },
        { "dma",      0, true,  true,  NVME, DECIDE_PERMANENT, {}, VERDICT_UNSUPPORTED, "no kernel of today" },
        { "password", 0, true,  true,  ATA,  DECIDE_PERMANENT, {}, VERDICT_FORBIDDEN, "keeps no passwords" },

        /* A dangerous value is forbidden without allow_dangerous, even if the drive already has the value. "off" is not dangerous. */
        { "puis", 1, false, false, ATA, DECIDE_PERMANENT, KNOWN(VALUE_BOOL, 1), VERDICT_FORBIDDEN, "the drive may never come up" },
        { "puis", 1, true,  false, ATA, DECIDE_PERMANENT, KNOWN(VALUE_BOOL, 1), VERDICT_UNCHANGED, "" },
        { "puis", 0, false, false, ATA, DECIDE_PERMANENT, KNOWN(VALUE_BOOL, 1), _VERDICT_INVALID, "" },

        /* A nonvolatile setting whose value is not the wanted value is written only with DECIDE_PERMANENT. Without
         * DECIDE_PERMANENT, the verdict is `forbidden`. */
        { "puis", 1, true, false, ATA, 0,                KNOWN(VALUE_BOOL, 0), VERDICT_FORBIDDEN, "apply --permanent" },
        { "puis", 1, true, false, ATA, DECIDE_PERMANENT, KNOWN(VALUE_BOOL, 0), _VERDICT_INVALID, "" },
        { "puis", 1, true, false, ATA, DECIDE_STANDBY,    { .supported = true }, VERDICT_DEFERRED, "in standby" },

        /* A saveable setting is written if its current value is not the wanted value. If only its saved value is not
         * the wanted value, the setting is written only with permanent = true in the block and with
         * DECIDE_PERMANENT. */
        { "timer", 500, false, false, ATA, 0,                SAVED(500, 100), VERDICT_UNCHANGED, "" },
        { "timer", 500, false, true,  ATA, 0,                SAVED(500, 100), VERDICT_UNCHANGED, "has saved 100 ms" },
        { "timer", 500, false, true,  ATA, DECIDE_PERMANENT, SAVED(500, 100), _VERDICT_INVALID, "" },
        { "timer", 500, false, false, ATA, DECIDE_PERMANENT, SAVED(500, 100), VERDICT_UNCHANGED, "" },
        { "timer", 500, false, true,  ATA, DECIDE_PERMANENT, SAVED(500, 500), VERDICT_UNCHANGED, "" },
        { "timer", 500, false, true,  ATA, 0,                SAVED(200, 500), _VERDICT_INVALID, "" },
        { "timer", 500, false, true,  ATA, DECIDE_PERMANENT, KNOWN(VALUE_DURATION, 500), VERDICT_UNCHANGED, "cannot save the value" },
};

/* Decides what happens to the wanted value 127 after earlier visits, whose results are in `memory`. The expected
 * verdict _VERDICT_INVALID means that the value is written. */
static const struct {
        SettingFlags row;
        DecideFlags flags;
        Memory memory;
        Reading before;
        Verdict verdict;
        const char *reason;
} memories[] = {
        { 0, 0, { .sent = { true, 127 }, .settled = { true, 96 } },
          KNOWN(VALUE_INT, 96), VERDICT_ADJUSTED, "127 was accepted earlier, but the drive chose 96" },
        { 0, 0, { .sent = { true, 127 }, .settled = { true, 96 } },
          { .supported = true, .known = true, .value = { VALUE_INT, 96, "" }, .limited = true, .min = 1, .max = 96 },
          VERDICT_ADJUSTED, "127 was accepted earlier, but the drive chose 96; the drive's range is 1 to 96" },
        { 0, 0, { .sent = { true, 127 }, .settled = { true, 96 } },
          KNOWN(VALUE_INT, 95), _VERDICT_INVALID, "" },
        { 0, 0, { .sent = { true, 126 }, .settled = { true, 96 } },
          KNOWN(VALUE_INT, 96), _VERDICT_INVALID, "" }, /* an earlier visit sent 126, so 127 is written */
        { 0, 0, { .sent = { true, 127 } }, KNOWN(VALUE_INT, 96), _VERDICT_INVALID, "" },
        { 0, 0, { .sent = { false, 127 }, .settled = { true, 96 } },
          KNOWN(VALUE_INT, 96), _VERDICT_INVALID, "" },
        { 0, 0, {}, KNOWN(VALUE_INT, 96), _VERDICT_INVALID, "" },

        { 0, 0, { .sent = { true, 127 } }, { .supported = true }, VERDICT_UNVERIFIABLE, "already sent" },
        { 0, 0, { .sent = { true, 126 } }, { .supported = true }, _VERDICT_INVALID, "" },
        { 0, 0, {}, { .supported = true }, _VERDICT_INVALID, "" },
        /* In standby, a setting that cannot be read gets the verdict `deferred`, even if the drive adjusted its value
         * earlier. */
        { 0, DECIDE_STANDBY, { .sent = { true, 127 }, .settled = { true, 96 } },
          { .supported = true }, VERDICT_DEFERRED, "when the drive is next active" },
        { SETTING_NONVOLATILE, DECIDE_STANDBY | DECIDE_PERMANENT, {}, { .supported = true }, VERDICT_DEFERRED, "--permanent' again" },
        { SETTING_UNREADABLE, 0, { .sent = { true, 127 } }, {}, VERDICT_UNVERIFIABLE, "already sent" },
        { SETTING_UNREADABLE, 0, { .sent = { true, 126 } }, { .supported = true }, _VERDICT_INVALID, "" },

        /* An action (SETTING_AT_ATTACH) whose value was sent is not sent again while the drive stays attached. */
        { SETTING_AT_ATTACH, 0, { .sent = { true, 127 } }, KNOWN(VALUE_INT, 127), VERDICT_UNCHANGED, "" },
        { SETTING_AT_ATTACH, 0, { .sent = { true, 127 } }, KNOWN(VALUE_INT, 96), VERDICT_APPLIED, "attached; the drive became active later" },
        { SETTING_AT_ATTACH, 0, { .sent = { true, 127 } }, { .supported = true }, VERDICT_UNVERIFIABLE, "sent when the drive was attached" },
        { SETTING_AT_ATTACH, DECIDE_STANDBY, { .sent = { true, 127 } }, { .supported = true }, VERDICT_UNVERIFIABLE, "the current state is not known" },
        { SETTING_AT_ATTACH, DECIDE_READ_ONLY, { .sent = { true, 127 } }, KNOWN(VALUE_INT, 96), VERDICT_APPLIED, "the value is not sent again" },
        { SETTING_AT_ATTACH, 0, { .sent = { true, 126 } }, KNOWN(VALUE_INT, 96), _VERDICT_INVALID, "" },
        { SETTING_AT_ATTACH, 0, {}, KNOWN(VALUE_INT, 96), _VERDICT_INVALID, "" },
        { SETTING_UNREADABLE, 0, {}, { .supported = true }, _VERDICT_INVALID, "" },
        { SETTING_AT_ATTACH | SETTING_UNREADABLE, 0, { .sent = { true, 127 } }, {},
          VERDICT_UNVERIFIABLE, "already sent" },

        { 0, 0, { .overruled = "sdb has another value" }, {}, VERDICT_FORBIDDEN, "sdb has another value" },
        { 0, 0, { .quarantined = "it hung" }, KNOWN(VALUE_INT, 96), VERDICT_QUARANTINED, "it hung" },
        { 0, 0, { .quarantined = "it hung" }, KNOWN(VALUE_INT, 127), VERDICT_UNCHANGED, "" },

        /* With DECIDE_READ_ONLY, a value that is not the wanted value is reported and not written. */
        { 0, DECIDE_READ_ONLY, {}, KNOWN(VALUE_INT, 96), VERDICT_DRIFTED, "changed to 96" },
        { 0, DECIDE_READ_ONLY, {}, { .supported = true }, VERDICT_UNVERIFIABLE, "cannot be read now" },
        { 0, DECIDE_STANDBY | DECIDE_UNCLEAR, {}, { .supported = true }, VERDICT_DEFERRED, "the power mode of the drive is not known" },
        { 0, DECIDE_STANDBY | DECIDE_SUSPENDED, {}, { .supported = true }, VERDICT_DEFERRED, "the kernel has runtime-suspended the drive" },
        { 0, 0, {}, {}, VERDICT_UNSUPPORTED, "has no apm" },
        { 0, 0, {}, { .known = true, .value = { VALUE_INT, 255, "" } }, VERDICT_UNSUPPORTED, "has no apm" },
        { 0, 0, {}, { .known = true, .value = { VALUE_INT, 127, "" } }, VERDICT_UNCHANGED, "has no apm, which counts as 127" },
};

/* Verdicts of the setting "recovery". `spared` is true if the verdict makes the setting "fallback" unnecessary. */
static const struct {
        Verdict verdict; /* verdict of "recovery"; _VERDICT_INVALID: no verdict yet, as in a dry run */
        bool write;
        int64_t wanted;
        bool spared;
        int64_t now; /* for VERDICT_ADJUSTED: the value that the drive chose */
} spares[] = {
        { VERDICT_APPLIED,      true,  7000, true  },
        { VERDICT_UNCHANGED,    false, 7000, true  },
        { VERDICT_ADJUSTED,     true,  7000, true, 6500 },
        { VERDICT_ADJUSTED,     true,  7000, false, 0   }, /* the drive chose "off", which is no limit */
        { VERDICT_ADJUSTED,     false, 7000, false, 0   },
        { VERDICT_UNVERIFIABLE, true,  7000, false },
        { VERDICT_IGNORED,      true,  7000, false },
        { VERDICT_UNSUPPORTED,  false, 7000, false },
        { VERDICT_REFUSED,      true,  7000, false },
        { VERDICT_DEFERRED,     false, 7000, false },
        { _VERDICT_INVALID,     true,  7000, true  },
        { VERDICT_APPLIED,      true,  0,    false }, /* the wanted value is "off", so no limit is in force */
};

/* The wanted settings of one drive, in the order of the files. Some of these settings exclude each other. Each setting
 * has its reading and its expected verdict. */
#define HAS .reading = { .supported = true }
#define HAS_NOT .end = 0
#define UNREADABLE(e) .end = (e)
#define WRITTEN _VERDICT_INVALID
static const struct {
        struct {
                const char *name;
                int64_t wanted;
                Verdict verdict;
                Reading reading;
                Verdict end; /* verdict of a read that fails */
                SpindownBy by;
                Verdict known; /* verdict without a reading; 0: the setting is read */
                bool withheld, allow_dangerous, optional;
        } wishes[3];
        DecideFlags flags;
} exclusions[] = {
        /* If the drive supports both settings, the later setting is written, no matter which of the two settings names
         * the other setting in `excludes`. If the drive supports only one of the settings, that setting is written. */
        { { { "apm", 127, VERDICT_FORBIDDEN, HAS }, { "epc", 1, WRITTEN, HAS } } },
        { { { "epc", 1, VERDICT_FORBIDDEN, HAS }, { "timer", 5, WRITTEN, HAS }, { "apm", 127, WRITTEN, HAS } } },
        { { { "apm", 127, WRITTEN, HAS }, { "epc", 1, VERDICT_UNSUPPORTED, HAS_NOT } } },
        { { { "apm", 127, VERDICT_UNSUPPORTED, HAS_NOT }, { "epc", 1, WRITTEN, HAS } } },
        { { { "apm", 127, VERDICT_UNSUPPORTED, HAS_NOT }, { "epc", 1, VERDICT_UNSUPPORTED, HAS_NOT } } },
        /* An optional setting that a later setting excludes gets the verdict `unsupported` instead of `forbidden`. */
        { { { "apm", 127, VERDICT_UNSUPPORTED, HAS, .optional = true }, { "epc", 1, WRITTEN, HAS } } },
        { { { "apm", 127, VERDICT_FORBIDDEN, HAS }, { "epc", 1, WRITTEN, HAS, .optional = true } } },
        /* A later setting excludes the earlier setting even if the drive already has the later value. A later setting
         * that is off or withheld excludes nothing. */
        { { { "apm", 127, VERDICT_FORBIDDEN, HAS }, { "epc", 1, VERDICT_UNCHANGED, KNOWN(VALUE_BOOL, 1) } } },
        { { { "apm", 127, WRITTEN, HAS }, { "epc", 0, WRITTEN, HAS } } },
        { { { "apm", 255, WRITTEN, HAS }, { "epc", 1, WRITTEN, HAS } } }, /* enabling EPC turns APM off */
        { { { "apm", 127, WRITTEN, HAS }, { "epc", 1, VERDICT_FORBIDDEN, .withheld = true } } },
        { { { "apm", 127, VERDICT_FORBIDDEN, .withheld = true }, { "epc", 1, WRITTEN, HAS } } },
        { { { "apm", 127, WRITTEN, HAS } } },

        /* If reading the later setting fails, the earlier setting is written only if the verdict of this read is
         * `unsupported`, `refused` or `forbidden`. */
        { { { "apm", 127, VERDICT_DEFERRED, HAS }, { "epc", 1, VERDICT_DEFERRED, HAS } }, .flags = DECIDE_STANDBY },
        { { { "apm", 127, VERDICT_DEFERRED, UNREADABLE(VERDICT_DEFERRED) }, { "epc", 1, VERDICT_DEFERRED, UNREADABLE(VERDICT_DEFERRED) } } },
        { { { "apm", 127, WRITTEN, HAS }, { "epc", 1, VERDICT_UNSUPPORTED, UNREADABLE(VERDICT_UNSUPPORTED) } } },
        { { { "apm", 127, WRITTEN, HAS }, { "epc", 1, VERDICT_REFUSED, UNREADABLE(VERDICT_REFUSED) } } },
        { { { "apm", 127, VERDICT_FORBIDDEN, HAS }, { "epc", 1, VERDICT_FAILED, UNREADABLE(VERDICT_FAILED) } } },
        { { { "apm", 127, VERDICT_FORBIDDEN, UNREADABLE(VERDICT_FAILED) }, { "epc", 1, WRITTEN, HAS } } },
        { { { "apm", 127, WRITTEN, HAS }, { "epc", 1, VERDICT_FORBIDDEN, UNREADABLE(VERDICT_FORBIDDEN) } } },
        { { { "apm", 127, VERDICT_VANISHED, UNREADABLE(VERDICT_VANISHED) }, { "epc", 1, VERDICT_VANISHED, UNREADABLE(VERDICT_VANISHED) } } },
        /* A dangerous setting without allow_dangerous excludes no other setting. A nonvolatile setting excludes other
         * settings even in a visit that may not write the nonvolatile setting. */
        { { { "sleep", 1, VERDICT_FORBIDDEN }, { "standby", 1, WRITTEN, HAS } } },
        { { { "standby", 1, WRITTEN, HAS }, { "sleep", 1, VERDICT_FORBIDDEN } } },
        { { { "standby", 1, VERDICT_FORBIDDEN, HAS }, { "sleep", 1, WRITTEN, HAS, .allow_dangerous = true } } },
        { { { "lost", 1, WRITTEN, HAS }, { "kept", 1, VERDICT_UNSUPPORTED, HAS_NOT } } },
        { { { "lost", 1, VERDICT_FORBIDDEN, HAS }, { "kept", 1, VERDICT_FORBIDDEN, HAS } } },

        /* A setting that is itself excluded excludes no other setting: apc excludes epc, so apm is written. */
        { { { "apm", 127, WRITTEN, HAS }, { "epc", 1, VERDICT_FORBIDDEN, HAS }, { "apc", 1, WRITTEN, HAS } } },
        /* A fallback excludes another setting only if the fallback is needed. */
        { { { "patience", 30, WRITTEN, HAS }, { "fallback", 180, VERDICT_UNCHANGED, .known = VERDICT_UNCHANGED } } },
        { { { "patience", 30, VERDICT_FORBIDDEN, HAS }, { "fallback", 180, WRITTEN, HAS } } },
        { { { "fallback", 180, VERDICT_FORBIDDEN, HAS }, { "patience", 30, WRITTEN, HAS } } },

        /* A setting that was sent earlier and cannot be read excludes other settings, and is excluded, like a readable
         * setting. */
        { { { "spindown", 5000, VERDICT_FORBIDDEN, .known = VERDICT_UNVERIFIABLE }, { "standby_z", 1, WRITTEN, HAS } } },
        { { { "spindown", 5000, VERDICT_UNVERIFIABLE, .known = VERDICT_UNVERIFIABLE }, { "standby_z", 1, VERDICT_UNSUPPORTED, HAS_NOT } } },
        { { { "standby_z", 1, VERDICT_FORBIDDEN, HAS }, { "spindown", 5000, VERDICT_UNVERIFIABLE, .known = VERDICT_UNVERIFIABLE } } },

        /* With spindown_by = "service", a timer of the service excludes other timers, and is excluded, like a timer
         * of the drive. With "auto", the service spins the drive down only if the drive supports none of the two
         * timers. */
        { { { "standby_z", 1, VERDICT_FORBIDDEN, HAS }, { "spindown", 5000, VERDICT_UNCHANGED, .by = SPINDOWN_BY_SERVICE } } },
        { { { "spindown", 5000, VERDICT_FORBIDDEN, .by = SPINDOWN_BY_SERVICE }, { "standby_z", 1, WRITTEN, HAS } } },
        { { { "spindown", 5000, VERDICT_UNCHANGED, .by = SPINDOWN_BY_SERVICE }, { "standby_z", 1, VERDICT_UNSUPPORTED, HAS_NOT } } },
        { { { "spindown", 5000, VERDICT_UNSUPPORTED, HAS_NOT, .by = SPINDOWN_BY_AUTO }, { "standby_z", 1, WRITTEN, HAS, .by = SPINDOWN_BY_AUTO } } },
        { { { "spindown", 5000, WRITTEN, HAS, .by = SPINDOWN_BY_AUTO }, { "standby_z", 1, VERDICT_UNSUPPORTED, HAS_NOT, .by = SPINDOWN_BY_AUTO } } },
        { { { "spindown", 5000, WRITTEN, HAS }, { "standby_z", 1, VERDICT_UNSUPPORTED, UNREADABLE(VERDICT_UNSUPPORTED), .by = SPINDOWN_BY_AUTO } } },
        { { { "spindown", 5000, VERDICT_UNSUPPORTED, HAS_NOT, .by = SPINDOWN_BY_AUTO },
            { "standby_z", 1, VERDICT_UNCHANGED, UNREADABLE(VERDICT_UNSUPPORTED), .by = SPINDOWN_BY_AUTO } } },
};
/* clang-format on */

static Wish wish_of(const char *name, int64_t wanted) {
        const Setting *s = setting_find(&table, name);

        return (Wish){ .name = s->name, .value = { .type = s->range.type, .number = wanted }, .file = "f", .line = 7 };
}

START_TEST(test_decide) {
        Wish wish = wish_of(decisions[_i].name, decisions[_i].wanted);
        Wishes w = { &wish, 1 };
        Plan p;
        Step *s;

        wish.allow_dangerous = decisions[_i].allow_dangerous;
        wish.permanent = decisions[_i].permanent;
        ck_assert_int_eq(plan_new(&w, &table, decisions[_i].backends, &p), 0);

        s = p.steps;
        if (!step_settle(s, NULL)) {
                s->before = decisions[_i].before;
                step_decide(s, NULL, decisions[_i].flags);
        }

        ck_assert_msg(s->verdict == decisions[_i].verdict, "%s: %s", strna(verdict_to_string(s->verdict)), s->reason);
        ck_assert_int_eq(s->write, decisions[_i].verdict == _VERDICT_INVALID);
        if (decisions[_i].reason[0])
                ck_assert_msg(strstr(s->reason, decisions[_i].reason) != NULL, "%s", s->reason);
        else
                ck_assert_str_eq(s->reason, "");
        plan_done(&p);
}
END_TEST

static int permit_all(Device *d _unused_, const Setting *s _unused_, const Value *v _unused_) {
        return 0;
}

/* Decides about the wanted value 127 of a wish with `rewrite`. The value is written only if the drive has it already. */
static const struct {
        Setting row;
        DecideFlags flags;
        Memory memory;
        Reading before;
        Verdict verdict;
        const char *reason;
} rewrites[] = {
        { { .flags = 0 }, 0, {}, KNOWN(VALUE_INT, 127), _VERDICT_INVALID, "" },
        { { .flags = 0 }, DECIDE_READ_ONLY, {}, KNOWN(VALUE_INT, 127), VERDICT_UNCHANGED, "" },
        { { .flags = SETTING_SAVEABLE | SETTING_CONTROLLER }, 0, {}, KNOWN(VALUE_INT, 127), _VERDICT_INVALID, "" },
        { { .flags = 0 }, 0, {}, KNOWN(VALUE_INT, 128), VERDICT_DRIFTED, "the drive now has 128, so" },
        { { .flags = 0 },
          0,
          { .sent = { true, 127 } },
          { .supported = true },
          VERDICT_UNVERIFIABLE,
          "cannot be read now" },
        { { .flags = 0 }, 0, {}, {}, VERDICT_UNSUPPORTED, "has no apm" },
        { { .flags = 0 }, DECIDE_STANDBY, {}, KNOWN(VALUE_INT, 127), VERDICT_DEFERRED, "not known to be active" },
        { { .flags = 0 }, DECIDE_STANDBY, {}, { .supported = true }, VERDICT_DEFERRED, "not known to be active" },
        { { .flags = 0 },
          0,
          { .quarantined = "the machine went down" },
          KNOWN(VALUE_INT, 127),
          VERDICT_QUARANTINED,
          "went down" },
        /* settings whose writes may have side effects, even if their values are equal or "off" */
        { { .danger = "it may never come up", .range = { .has_off = true, .off = 127 } },
          0,
          {},
          KNOWN(VALUE_INT, 127),
          VERDICT_FORBIDDEN,
          "could have side effects" },
        { { .spins_down = true }, 0, {}, KNOWN(VALUE_INT, 127), VERDICT_FORBIDDEN, "could have side effects" },
        { { .keeps_active = true }, 0, {}, KNOWN(VALUE_INT, 127), VERDICT_FORBIDDEN, "could have side effects" },
        { { .permit = permit_all }, 0, {}, KNOWN(VALUE_INT, 127), VERDICT_FORBIDDEN, "could have side effects" },
        { { .flags = SETTING_KERNEL }, 0, {}, KNOWN(VALUE_INT, 127), VERDICT_FORBIDDEN, "could have side effects" },
        { { .flags = SETTING_NONVOLATILE },
          DECIDE_PERMANENT,
          {},
          KNOWN(VALUE_INT, 127),
          VERDICT_FORBIDDEN,
          "could have side effects" },
        { { .flags = SETTING_AT_ATTACH },
          0,
          { .sent = { true, 127 } },
          KNOWN(VALUE_INT, 127),
          VERDICT_FORBIDDEN,
          "could have side effects" },
        { { .flags = SETTING_UNREADABLE }, 0, {}, { .supported = true }, VERDICT_FORBIDDEN, "could have side effects" },
};

START_TEST(test_rewrite) {
        Setting row = rewrites[_i].row;
        const Wish wish = { .name = "apm",
                            .value = { .type = VALUE_INT, .number = 127 },
                            .rewrite = true,
                            .file = "drivekeep report" };
        Step s = { .wish = &wish,
                   .setting = &row,
                   .wanted = wish.value,
                   .before = rewrites[_i].before,
                   .verdict = _VERDICT_INVALID };

        row.name = "apm";
        row.range.type = VALUE_INT;
        step_decide(&s, &rewrites[_i].memory, rewrites[_i].flags);
        ck_assert_msg(s.verdict == rewrites[_i].verdict, "%s: %s", strna(verdict_to_string(s.verdict)), s.reason);
        ck_assert_int_eq(s.write, rewrites[_i].verdict == _VERDICT_INVALID);
        ck_assert_msg(strstr(s.reason, rewrites[_i].reason), "%s", s.reason);
}
END_TEST

/* Two settings that exclude each other are both written again, since the drive has both values. A failed read, and a drive that then
 * chooses another value, have the usual verdicts. */
START_TEST(test_rewrite_several) {
        Wish items[] = { wish_of("apm", 127), wish_of("epc", 1) };
        Plan p;

        ck_assert_int_eq(plan_new(&(Wishes){ items, 2 }, &table, ATA, &p), 0);
        ck_assert(steps_exclude(p.steps, p.steps + 1));
        items[0].rewrite = items[1].rewrite = true;
        ck_assert(!steps_exclude(p.steps, p.steps + 1));
        p.steps[0].end = VERDICT_REFUSED;
        step_decide(p.steps, NULL, 0);
        ck_assert_int_eq(p.steps[0].verdict, VERDICT_REFUSED);

        p.steps[1].before = (Reading) KNOWN(VALUE_INT, 127);
        p.steps[1].after = (Reading) KNOWN(VALUE_INT, 126);
        p.steps[1].written = true;
        step_judge(p.steps + 1);
        ck_assert_int_eq(p.steps[1].verdict, VERDICT_ADJUSTED);
        plan_done(&p);
}
END_TEST

START_TEST(test_memory) {
        Setting row = rows[0];
        const Wish wish = { .name = "apm", .value = { VALUE_INT, 127, "" }, .file = "f", .line = 7 };
        Step s = { .wish = &wish, .setting = &row, .wanted = wish.value, .verdict = _VERDICT_INVALID };

        row.flags = memories[_i].row;
        if (!step_settle(&s, &memories[_i].memory)) {
                s.before = memories[_i].before;
                step_decide(&s, &memories[_i].memory, memories[_i].flags);
        }
        ck_assert_msg(s.verdict == memories[_i].verdict, "%s: %s", strna(verdict_to_string(s.verdict)), s.reason);
        ck_assert(s.accepted == !!strstr(s.reason, "already sent"));
        ck_assert_int_eq(s.write, s.verdict == _VERDICT_INVALID);
        ck_assert_msg(strstr(s.reason, memories[_i].reason) != NULL, "%s", s.reason);
}
END_TEST

/* Verdicts of standby timers for each value of spindown_by. `settled` is the verdict before a reading, and `judged` is
 * the verdict after a write. */
static const struct {
        const char *name;
        SpindownBy by;
        int64_t wanted;
        unsigned backends;
        Verdict settled; /* verdict before a reading; _VERDICT_INVALID: none, so the setting is read */
        Verdict end;     /* verdict of a failed write; VERDICT_APPLIED: the write succeeded */
        Verdict judged;
        const char *reason;
} spindowns[] = {
        { "spindown", SPINDOWN_BY_DRIVE, 5000, ATA, _VERDICT_INVALID, VERDICT_REFUSED, VERDICT_REFUSED, "no" },
        { "spindown", SPINDOWN_BY_SERVICE, 5000, ATA, VERDICT_UNCHANGED, 0, 0, STEP_BY_SERVICE },
        { "spindown", SPINDOWN_BY_SERVICE, 0, ATA, _VERDICT_INVALID, VERDICT_REFUSED, VERDICT_REFUSED, "no" },
        { "spindown", SPINDOWN_BY_SERVICE, 5000, NVME, VERDICT_UNSUPPORTED, 0, 0,
          "not a setting of this kind of drive" },
        { "spindown", SPINDOWN_BY_AUTO, 5000, NVME, VERDICT_UNSUPPORTED, 0, 0, "not a setting of this kind of drive" },
        { "spindown", SPINDOWN_BY_AUTO, 5000, ATA, _VERDICT_INVALID, VERDICT_REFUSED, VERDICT_UNCHANGED,
          "the service spins down the drive, whose timer does not work: no" },
        { "spindown", SPINDOWN_BY_AUTO, 5000, ATA, _VERDICT_INVALID, VERDICT_UNSUPPORTED, VERDICT_UNCHANGED,
          "whose timer does not work: no" },
        { "spindown", SPINDOWN_BY_AUTO, 5000, ATA, _VERDICT_INVALID, 0, VERDICT_UNVERIFIABLE, STEP_ACCEPTED },
        { "spindown", SPINDOWN_BY_AUTO, 5000, ATA, _VERDICT_INVALID, VERDICT_FAILED, VERDICT_FAILED, "no" },
        { "spindown", SPINDOWN_BY_AUTO, 5000, ATA, _VERDICT_INVALID, VERDICT_DEFERRED, VERDICT_DEFERRED, "no" },
        { "spindown", SPINDOWN_BY_AUTO, 0, ATA, _VERDICT_INVALID, VERDICT_REFUSED, VERDICT_REFUSED, "no" },
        /* spindown_by affects only settings that spin the drive down. */
        { "timer", SPINDOWN_BY_SERVICE, 5000, ATA, _VERDICT_INVALID, VERDICT_REFUSED, VERDICT_REFUSED, "no" },
        { "timer", SPINDOWN_BY_AUTO, 5000, ATA, _VERDICT_INVALID, VERDICT_REFUSED, VERDICT_REFUSED, "no" },
};

START_TEST(test_spindown_by) {
        Wish wish = wish_of(spindowns[_i].name, spindowns[_i].wanted);
        Wishes w = { .items = &wish, .n_items = 1 };
        Step *s;
        Plan p;

        wish.spindown_by = spindowns[_i].by;
        ck_assert_int_eq(plan_new(&w, &table, spindowns[_i].backends, &p), 0);
        s = p.steps;
        ck_assert_int_eq(step_settle(s, NULL), spindowns[_i].settled != _VERDICT_INVALID);
        ck_assert_int_eq(s->verdict, spindowns[_i].settled);
        if (spindowns[_i].settled == _VERDICT_INVALID) {
                s->written = !spindowns[_i].end;
                s->end = spindowns[_i].end;
                (void) strcpy(s->reason, s->end ? "no" : "");
                step_judge(s);
                ck_assert_int_eq(s->verdict, spindowns[_i].judged);
        }
        ck_assert(s->by_service == (s->verdict == VERDICT_UNCHANGED));
        ck_assert(s->accepted == (s->verdict == VERDICT_UNVERIFIABLE));
        ck_assert_str_eq(strstr(s->reason, spindowns[_i].reason) ?: s->reason, spindowns[_i].reason);
        plan_done(&p);
}
END_TEST

/* Settings that the drive does not support. `remediable` is true if the test expects a report that a change of the
 * rules can help. */
static const struct {
        const char *name, *other; /* other: a second setting that a rule sets */
        bool other_withheld;
        SpindownBy by;
        unsigned backends;
        bool remediable;
        const char *reason;
} remedies[] = {
        { "apm", NULL, false, 0, SCSI, true, "apm is not a setting of this kind of drive: idle_a does it" },
        { "apm", "idle_a", false, 0, SCSI, false, "apm is not a setting of this kind of drive: idle_a does it" },
        { "apm", "idle_a", true, 0, SCSI, true, "apm is not a setting of this kind of drive: idle_a does it" },
        { "apm", "recovery", false, 0, SCSI, true, "apm is not a setting of this kind of drive: idle_a does it" },
        { "apm", NULL, false, 0, NVME, false, "apm is not a setting of this kind of drive" },
        /* The report for an ATA drive does not propose a setting that only SCSI drives have. */
        { "apm", NULL, false, 0, ATA, false, "the drive reports that it has no apm" },
        { "recovery", NULL, false, 0, ATA, true, "the drive reports that it has no recovery: fallback does it" },
        { "recovery", "fallback", false, 0, ATA, false, "the drive reports that it has no recovery: fallback does it" },
        { "recovery", NULL, false, 0, NVME, false, "recovery is not a setting of this kind of drive" },
        { "idle_a", NULL, false, 0, ATA, false, "the drive reports that it has no idle_a" },
        { "spindown", NULL, false, SPINDOWN_BY_DRIVE, ATA, true,
          "the drive reports that it has no spindown: the service can" },
        { "spindown", NULL, false, SPINDOWN_BY_AUTO, ATA, false,
          "the service spins down the drive, whose timer does not work: the drive reports that it has no spindown" },
        { "dma", NULL, false, 0, ATA, true, "no kernel of today takes it" },
        { "password", NULL, false, 0, ATA, false, "drivekeep keeps no passwords" },
};

START_TEST(test_remedy) {
        const char *other = remedies[_i].other;
        Wish wishes[2] = { wish_of(remedies[_i].name, 5000), wish_of(other ?: "timer", 5000) };
        Wishes w = { .items = wishes, .n_items = other ? 2 : 1 };
        Step *s;
        Plan p;

        wishes[0].spindown_by = remedies[_i].by;
        wishes[1].withheld = remedies[_i].other_withheld;
        ck_assert_int_eq(plan_new(&w, &table, remedies[_i].backends, &p), 0);
        s = p.steps;
        while (s->wish != wishes)
                s++;
        if (!step_settle(s, NULL))
                step_decide(s, NULL, 0);
        ck_assert_str_eq(s->reason, remedies[_i].reason);
        ck_assert(s->remediable == remedies[_i].remediable);
        plan_done(&p);
}
END_TEST

/* A withheld setting gets the verdict `forbidden`. A setting that this kind of drive does not have is never in
 * force. */
START_TEST(test_withheld) {
        const Wish wish = { .name = "apm", .withheld = true, .file = "f", .line = 7 };
        Step s = { .wish = &wish, .setting = rows, .verdict = _VERDICT_INVALID };

        ck_assert(step_settle(&s, NULL));
        ck_assert(step_settle(&s, NULL)); /* a second call has the same result */
        ck_assert_int_eq(s.verdict, VERDICT_FORBIDDEN);
        ck_assert_msg(strstr(s.reason, "f:7 has an error") != NULL, "%s", s.reason);
        s = (Step){ .wish = &wish, .verdict = VERDICT_APPLIED };
        ck_assert(!step_is_in_force(&s));
}
END_TEST

/* If a read or write fails, the step gets the verdict of the function that failed. A reason from this function is kept.
 * Without such a reason, the reason says whether the read or the write failed. */
static const struct {
        Verdict verdict;
        int error;
} ends[] = {
        { VERDICT_REFUSED, 0 },   { VERDICT_UNSUPPORTED, 0 }, { VERDICT_DEFERRED, 0 },     { VERDICT_VANISHED, 0 },
        { VERDICT_FORBIDDEN, 0 }, { VERDICT_FAILED, -EIO },   { VERDICT_FAILED, -ENODEV },
};

START_TEST(test_errors) {
        const Wish wish = wish_of("apm", 127);
        const Step fresh = { .wish = &wish,
                             .setting = rows,
                             .end = ends[_i].verdict,
                             .error = ends[_i].error,
                             .verdict = _VERDICT_INVALID };
        Step s = fresh;

        step_decide(&s, NULL, 0);
        ck_assert_int_eq(s.verdict, ends[_i].verdict);
        ck_assert_msg(strstr(s.reason, "reading the setting failed") == s.reason, "%s", s.reason);
        ck_assert(!s.write);

        s = fresh;
        step_judge(&s);
        ck_assert_int_eq(s.verdict, ends[_i].verdict);
        ck_assert_msg(strstr(s.reason, "writing the setting failed") == s.reason, "%s", s.reason);

        s = fresh;
        s.written = true;
        (void) strcpy(s.reason, "the row says why");
        step_judge(&s);
        ck_assert_int_eq(s.verdict, ends[_i].verdict);
        ck_assert_str_eq(s.reason, "the row says why");
}
END_TEST

START_TEST(test_reasons) {
        for (VisitReason r = 0; r < _VISIT_REASON_MAX; r++) {
                ck_assert_ptr_nonnull(visit_reason_to_string(r));
                ck_assert(!!(visit_reason_work(r) & WORK_LOST) ==
                          (r == VISIT_RESUME || r == VISIT_RESET || r == VISIT_CONTROLLER));
        }
        ck_assert_ptr_null(visit_reason_to_string(_VISIT_REASON_MAX));
}
END_TEST

START_TEST(test_spare) {
        Wish wishes[] = { wish_of("recovery", spares[_i].wanted), wish_of("fallback", 180000) };
        Step other = { .wish = wishes, .setting = setting_find(&table, "recovery"), .write = spares[_i].write },
             s = { .wish = wishes + 1, .setting = setting_find(&table, "fallback"), .verdict = _VERDICT_INVALID };

        other.verdict = spares[_i].verdict;
        other.written = spares[_i].write;
        *(spares[_i].write ? &other.after : &other.before) = (Reading) KNOWN(VALUE_DURATION, spares[_i].now);
        ck_assert_int_eq(step_settle_unneeded(&s, &other), spares[_i].spared);
        ck_assert_int_eq(s.verdict, spares[_i].spared ? VERDICT_UNCHANGED : _VERDICT_INVALID);
        ck_assert_int_eq(s.reason[0] != 0, spares[_i].spared);
}
END_TEST

START_TEST(test_spare_alone) {
        Wish wish = wish_of("fallback", 180000);
        Step s = { .wish = &wish, .setting = setting_find(&table, "fallback"), .verdict = _VERDICT_INVALID };

        ck_assert(!step_settle_unneeded(&s, NULL));
}
END_TEST

START_TEST(test_exclude) {
        Wish wishes[3];
        Wishes w = { .items = wishes };
        Plan p;

        for (; w.n_items < 3 && exclusions[_i].wishes[w.n_items].name; w.n_items++) {
                Wish *wish = wishes + w.n_items;

                *wish = wish_of(exclusions[_i].wishes[w.n_items].name, exclusions[_i].wishes[w.n_items].wanted);
                wish->line = 10 + w.n_items;
                wish->withheld = exclusions[_i].wishes[w.n_items].withheld;
                wish->optional = exclusions[_i].wishes[w.n_items].optional;
                wish->allow_dangerous = exclusions[_i].wishes[w.n_items].allow_dangerous;
                wish->spindown_by = exclusions[_i].wishes[w.n_items].by;
        }

        ck_assert_int_eq(plan_new(&w, &table, ATA, &p), 0);
        for (size_t i = 0; i < p.n_steps; i++) {
                Step *s = p.steps + i;
                size_t k = s->wish - wishes;

                ck_assert_int_eq(s->verdict, _VERDICT_INVALID);
                s->before = exclusions[_i].wishes[k].reading;
                s->end = exclusions[_i].wishes[k].end;
                if (exclusions[_i].wishes[k].known)
                        s->verdict = exclusions[_i].wishes[k].known;
                else
                        (void) step_settle(s, NULL);
        }
        for (size_t k = w.n_items; k-- > 0;)
                for (size_t i = 0; i < p.n_steps; i++) {
                        Step *s = p.steps + i;

                        if (s->wish == wishes + k && !plan_exclude(&p, s) && s->verdict == _VERDICT_INVALID)
                                step_decide(s, NULL, exclusions[_i].flags);
                }

        for (size_t i = 0; i < p.n_steps; i++) {
                const Step *s = p.steps + i;
                Verdict expected = exclusions[_i].wishes[s->wish - wishes].verdict;
                const char *verb = strstr(s->reason, " overrides ") ? "overrides" : "excludes";
                char both[256] = "";

                ck_assert_msg(s->verdict == expected, "%s: %s, %s", s->wish->name, strna(verdict_to_string(s->verdict)),
                              s->reason);
                ck_assert_int_eq(s->write, expected == WRITTEN);
                if (s->winner && strstr(s->reason, verb))
                        (void) snprintf(both, sizeof both, "%s (f:%u) comes later and %s %s (f:%u)",
                                        s->winner->wish->name, s->winner->wish->line, verb, s->wish->name,
                                        s->wish->line);
                ck_assert_msg(strstr(s->reason, both) != NULL, "%s", s->reason);
        }
        plan_done(&p);
}
END_TEST

/* Of two settings that exclude each other, one comes from no file: the reason in the verdict names no line. */
START_TEST(test_exclude_without_file) {
        Wish wishes[] = { wish_of("apm", 127), wish_of("epc", 1) };
        Wishes w = { .items = wishes, .n_items = 2 };
        Plan p;

        wishes[1].file = "drivekeep tune";
        wishes[1].line = 0;
        ck_assert_int_eq(plan_new(&w, &table, ATA, &p), 0);
        for (size_t i = 0; i < p.n_steps; i++)
                p.steps[i].before.supported = true;
        for (size_t i = 0; i < p.n_steps; i++)
                if (plan_exclude(&p, p.steps + i))
                        ck_assert_str_eq(p.steps[i].reason,
                                         "epc (drivekeep tune) comes later, so apm (f:7) is not written");
        ck_assert_int_eq(p.steps[0].verdict, _VERDICT_INVALID);
        ck_assert_int_eq(p.steps[1].verdict, VERDICT_FORBIDDEN);
        plan_done(&p);
}
END_TEST

/* Verdicts after a write of 500 ms. Before the write, the value was 100 ms. `saving` is true if the drive was also told
 * to save the value. */
static const struct {
        bool saving;
        Reading after;
        Verdict verdict;
        bool accepted;
} judgements[] = {
        { false, KNOWN(VALUE_DURATION, 500), VERDICT_APPLIED },
        { false, SAVED(500, 100), VERDICT_APPLIED },
        { true, SAVED(500, 500), VERDICT_APPLIED },
        { true, SAVED(500, 100), VERDICT_IGNORED }, /* the value was not saved, so the next power-on would undo it */
        { true, KNOWN(VALUE_DURATION, 500), VERDICT_APPLIED },
        { true, SAVED(100, 500), VERDICT_IGNORED },
        { false, KNOWN(VALUE_DURATION, 400), VERDICT_ADJUSTED },
        { false, KNOWN(VALUE_DURATION, 100), VERDICT_IGNORED },
        { false, { .supported = true }, VERDICT_UNVERIFIABLE, .accepted = true },
        { false, { .supported = true, .repeated = true }, VERDICT_UNVERIFIABLE },
        /* A bridge may answer from its cache. The old value then does not show whether the write worked. A new value
         * must come from the drive. */
        { false,
          { .supported = true, .known = true, .repeated = true, .value = { VALUE_DURATION, 100, "" } },
          VERDICT_UNVERIFIABLE },
        { false,
          { .supported = true, .known = true, .repeated = true, .value = { VALUE_DURATION, 400, "" } },
          VERDICT_ADJUSTED },
};

START_TEST(test_judge) {
        Wish wish = wish_of("timer", 500);
        Step s = { .wish = &wish,
                   .setting = setting_find(&table, "timer"),
                   .wanted = wish.value,
                   .before = KNOWN(VALUE_DURATION, 100),
                   .after = judgements[_i].after,
                   .saving = judgements[_i].saving,
                   .written = true,
                   .verdict = _VERDICT_INVALID };

        step_judge(&s);
        ck_assert_msg(s.verdict == judgements[_i].verdict, "%s: %s", verdict_to_string(s.verdict), s.reason);
        ck_assert(s.accepted == judgements[_i].accepted);
}
END_TEST

/* If the value before the write is not known, and the value afterwards is not the written value, the verdict is
 * `ignored`, not `adjusted`. Each reason begins with the step's `note`. */
START_TEST(test_judge_notes) {
        const Wish wish = wish_of("timer", 500);
        Step s = { .wish = &wish,
                   .setting = setting_find(&table, "timer"),
                   .wanted = wish.value,
                   .written = true,
                   .saving = true,
                   .note = "so it is",
                   .after = KNOWN(VALUE_DURATION, 500),
                   .verdict = _VERDICT_INVALID };

        step_judge(&s);
        ck_assert_int_eq(s.verdict, VERDICT_APPLIED);
        ck_assert_msg(strstr(s.reason, "so it is; the drive cannot save the value") == s.reason, "%s", s.reason);

        s.saving = false;
        s.reason[0] = '\0';
        s.after.value.number = 400;
        step_judge(&s);
        ck_assert_int_eq(s.verdict, VERDICT_IGNORED);
        ck_assert_str_eq(s.reason, "so it is");

        s.after = (Reading){ .supported = true };
        s.reason[0] = '\0';
        step_judge(&s);
        ck_assert_int_eq(s.verdict, VERDICT_UNVERIFIABLE);
        ck_assert_str_eq(s.reason, "so it is");
        ck_assert(!s.accepted);

        s.after = (Reading) KNOWN(VALUE_DURATION, 500);
        s.reason[0] = '\0';
        step_judge(&s);
        ck_assert_int_eq(s.verdict, VERDICT_APPLIED);
        ck_assert_str_eq(s.reason, "so it is");
}
END_TEST

/* The reading is compared with step.wanted, the value converted for this drive, and not with the value in the file. */
/* If the wanted time is outside the range that the drive reports, the reason contains the range. */
START_TEST(test_judge_range) {
        static const struct {
                int64_t wanted, after;
                const char *reason;
        } times[] = {
                { 100, 5000, "100 ms was accepted, but the drive chose 5 s; the drive's range is 5 s to 9 s" },
                { 10000, 9000, "10 s was accepted, but the drive chose 9 s; the drive's range is 5 s to 9 s" },
                { 10000, 6000, "10 s was accepted, but the value is still 6 s; the drive's range is 5 s to 9 s" },
                { 5000, 9000, "5 s was accepted, but the drive chose 9 s" },
                { 9000, 6000, "9 s was accepted, but the value is still 6 s" },
                { 0, 6000, "off was accepted, but the value is still 6 s" },
        };

        for (size_t i = 0; i < ELEMENTSOF(times); i++) {
                const Wish wish = { .name = "idle_a" };
                Step s = { .wish = &wish,
                           .setting = &rows[1],
                           .wanted = { VALUE_DURATION, times[i].wanted, "" },
                           .before = KNOWN(VALUE_DURATION, 6000),
                           .after = KNOWN(VALUE_DURATION, times[i].after),
                           .written = true,
                           .verdict = _VERDICT_INVALID };

                s.before.limited = true;
                s.before.min = 5000;
                s.before.max = 9000;
                step_judge(&s);
                ck_assert_str_eq(s.reason, times[i].reason);
        }
}
END_TEST

START_TEST(test_localized) {
        Wish wish = wish_of("timer", 2);
        Step s = { .wish = &wish,
                   .setting = setting_find(&table, "timer"),
                   .wanted = { VALUE_DURATION, 2000, "" },
                   .before = KNOWN(VALUE_DURATION, 2000),
                   .verdict = _VERDICT_INVALID };

        step_decide(&s, NULL, 0);
        ck_assert_int_eq(s.verdict, VERDICT_UNCHANGED);
}
END_TEST

/* A reading that differs from the last reading of an earlier visit shows that the drive may have lost its volatile
 * settings. */
START_TEST(test_loss) {
        static const Setting volatile_row = { .name = "apm",
                                              .backend = BACKEND_ATA,
                                              .range = { .type = VALUE_INT, .min = 1, .max = 255 } };
        static const Setting kernel_row = { .name = "x", .flags = SETTING_KERNEL, .range = { .type = VALUE_INT } };
        static const Setting kept_row = { .name = "x", .flags = SETTING_NONVOLATILE, .range = { .type = VALUE_INT } };
        static const Setting action_row = { .name = "x", .flags = SETTING_AT_ATTACH, .range = { .type = VALUE_INT } };
        static const Setting *const no_loss[] = { &kernel_row, &kept_row, &action_row };
        const Memory memory = { .read = { true, 127 } };
        Wish wish = wish_of("apm", 127);
        Step s = { .wish = &wish,
                   .setting = &volatile_row,
                   .before = KNOWN(VALUE_INT, 128),
                   .verdict = _VERDICT_INVALID };

        ck_assert(step_shows_loss(&s, &memory));
        ck_assert(!step_shows_loss(&s, NULL));
        ck_assert(!step_shows_loss(&s, &(const Memory){ .read = { false, 127 } }));
        ck_assert(!step_shows_loss(&s, &(const Memory){ .read = { true, 128 } }));
        for (size_t i = 0; i < ELEMENTSOF(no_loss); i++) {
                s.setting = no_loss[i];
                ck_assert(!step_shows_loss(&s, &memory));
                step_handle_loss(&s);
                ck_assert(!s.lost);
        }

        s.setting = &volatile_row;
        s.before.value.type = VALUE_NAME;
        ck_assert(!step_shows_loss(&s, &memory));
        s.before = (Reading){ .supported = true };
        ck_assert(!step_shows_loss(&s, &memory));

        /* If the drive lost settings, a verdict that relies only on earlier visits is withdrawn. A verdict from a
         * reading stays. */
        s.verdict = VERDICT_UNVERIFIABLE;
        s.remembered = true;
        step_handle_loss(&s);
        ck_assert_int_eq(s.verdict, _VERDICT_INVALID);
        ck_assert(s.lost && !s.remembered);
        s.lost = false;
        s.verdict = VERDICT_UNCHANGED;
        step_handle_loss(&s);
        ck_assert_int_eq(s.verdict, VERDICT_UNCHANGED);
        ck_assert(!s.lost);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("plan");
        TCase *tc = tcase_create("plan");

        tcase_add_loop_test(tc, test_decide, 0, ELEMENTSOF(decisions));
        tcase_add_loop_test(tc, test_rewrite, 0, ELEMENTSOF(rewrites));
        tcase_add_test(tc, test_rewrite_several);
        tcase_add_loop_test(tc, test_spare, 0, ELEMENTSOF(spares));
        tcase_add_test(tc, test_spare_alone);
        tcase_add_loop_test(tc, test_exclude, 0, ELEMENTSOF(exclusions));
        tcase_add_test(tc, test_exclude_without_file);
        tcase_add_loop_test(tc, test_memory, 0, ELEMENTSOF(memories));
        tcase_add_loop_test(tc, test_remedy, 0, ELEMENTSOF(remedies));
        tcase_add_loop_test(tc, test_spindown_by, 0, ELEMENTSOF(spindowns));
        tcase_add_test(tc, test_withheld);
        tcase_add_loop_test(tc, test_errors, 0, ELEMENTSOF(ends));
        tcase_add_test(tc, test_reasons);
        tcase_add_test(tc, test_judge_notes);
        tcase_add_test(tc, test_judge_range);
        tcase_add_test(tc, test_localized);
        tcase_add_test(tc, test_loss);
        tcase_add_loop_test(tc, test_judge, 0, ELEMENTSOF(judgements));
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
