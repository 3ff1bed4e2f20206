/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Spin-down by SCSI commands, byte by byte, and conditions that prevent a spin-down. test-ata-rows.c tests the spin-down
 * by ATA commands. */

#include "script.h"
#include "settings.h"
#include "suite.h"
#include "sysfs-tree.h"
#include "visit.h"

typedef struct Case {
        const char *name;
        const char *value;         /* wanted value of the setting "standby"; NULL: "on" */
        const char *allow_restart; /* content of the kernel's allow_restart; NULL: no such file */
        Verdict verdict;
        const char *reason_part; /* expected part of the reason; NULL: no reason */
        const Row *rows;
        bool active;
} Case;

/* clang-format off */
#define REQUEST_SENSE(key, asc, ascq) \
        { .cdb = "03 00 00 00 fc 00", .data = (const uint8_t[]) { 0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, asc, ascq, 0, 0, 0, 0 }, .data_len = 18 }
/* REQUEST SENSE that returns descriptor format. */
#define REQUEST_SENSE_72(key, asc, ascq) \
        { .cdb = "03 00 00 00 fc 00", .data = (const uint8_t[]) { 0x72, key, asc, ascq, 0, 0, 0, 0 }, .data_len = 8 }
#define ACTIVE REQUEST_SENSE(0, 0, 0)
#define STANDBY_Z REQUEST_SENSE(0, 0x5E, 0x04)
#define STOPPED REQUEST_SENSE(2, 0x04, 0x02)
#define TO_STANDBY(...) { .cdb = "1b 00 00 00 30 00", __VA_ARGS__ }
#define STOP(...) { .cdb = "1b 00 00 00 00 00", __VA_ARGS__ }
#define NO_FIELD "70 00 05 00 00 00 00 0a 00 00 00 00 24 00 00 00 00 00"
#define NO_OPCODE "70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 00 00 00"
#define ATTENTION "70 00 06 00 00 00 00 0a 00 00 00 00 29 00 00 00 00 00"
#define NOT_RESTARTED "the kernel would not start the stopped drive again; set allow_restart = true"
#define ROWS(...) (const Row[]){ __VA_ARGS__, {} }

static const Case cases[] = {
        { "standby by a power condition", NULL, "0", VERDICT_APPLIED, NULL, ROWS(ACTIVE, TO_STANDBY(), STANDBY_Z) },
        { "a unit attention before the answer", NULL, "0", VERDICT_APPLIED, NULL,
          ROWS(ACTIVE, TO_STANDBY(.sense = ATTENTION), TO_STANDBY(), STANDBY_Z) },
        { "drive already in standby", NULL, "0", VERDICT_UNCHANGED, NULL, ROWS(STANDBY_Z) },
        { "drive already stopped", NULL, "0", VERDICT_UNCHANGED, NULL, ROWS(STOPPED) },
        { "drive remains active", NULL, "0", VERDICT_IGNORED, "on was accepted, but the value is still off", ROWS(ACTIVE, TO_STANDBY(), ACTIVE) },
        { "drive that reports no power mode afterwards", NULL, "0", VERDICT_UNVERIFIABLE, "accepted; the value cannot be read back",
          ROWS(ACTIVE, TO_STANDBY(), { .cdb = "03 00 00 00 fc 00", .sense = NO_OPCODE }), .active = true },
        { "power mode not known, without recent I/O", NULL, "0", VERDICT_DEFERRED, "the power mode of the drive is not known",
          ROWS(REQUEST_SENSE(4, 0, 0)) },
        { "power mode not known, with recent I/O", NULL, "0", VERDICT_APPLIED, NULL, ROWS(REQUEST_SENSE(4, 0, 0), TO_STANDBY(), STANDBY_Z), .active = true },
        { "off", "off", "0", VERDICT_UNCHANGED, NULL, ROWS(ACTIVE) },
        { "off of a drive in standby", "off", "0", VERDICT_UNSUPPORTED, "off does nothing: no setting spins a drive up", ROWS(STANDBY_Z) },
        { "refused", NULL, "1", VERDICT_REFUSED, "the drive rejected START STOP UNIT (hardware error, sense 4h 3Eh/01h)",
          ROWS(ACTIVE, TO_STANDBY(.sense = "72 04 3e 01 00 00 00 00"), ACTIVE) },
        { "START STOP UNIT is not supported", NULL, "1", VERDICT_REFUSED, "invalid command operation code, sense 5h 20h/00h)", ROWS(ACTIVE, TO_STANDBY(.sense = NO_OPCODE), ACTIVE) },
        { "gone", NULL, "1", VERDICT_VANISHED, "the drive is gone (START STOP UNIT)", ROWS(ACTIVE, TO_STANDBY(.host_status = 1)) },

        /* A drive without power conditions is stopped only if the kernel will start the drive again (allow_restart). */
        { "stopped without power conditions", NULL, "1", VERDICT_APPLIED, NULL,
          ROWS(ACTIVE, TO_STANDBY(.sense = NO_FIELD), STOP(), STOPPED) },
        { "not stopped if the kernel would not start the drive", NULL, "0", VERDICT_REFUSED, NOT_RESTARTED,
          ROWS(ACTIVE, TO_STANDBY(.sense = NO_FIELD), ACTIVE) },
        { "not stopped if allow_restart is not known", NULL, NULL, VERDICT_UNSUPPORTED, "the kernel has no device/scsi_disk/*/allow_restart for this drive",
          ROWS(ACTIVE, TO_STANDBY(.sense = NO_FIELD), ACTIVE) },
        { "neither a power condition nor a stop is supported", NULL, "1", VERDICT_REFUSED, "sense 5h 24h/00h)",
          ROWS(ACTIVE, TO_STANDBY(.sense = NO_FIELD), STOP(.sense = NO_FIELD), ACTIVE) },

        /* A drive with an operation in progress gets no command to spin down. */
        { "a self-test", NULL, "1", VERDICT_DEFERRED, "a self-test is running, and a spin-down would abort it", ROWS(REQUEST_SENSE(0, 0x04, 0x09)) },
        { "a self-test, descriptor format", NULL, "1", VERDICT_DEFERRED, "a self-test is running", ROWS(REQUEST_SENSE_72(0, 0x04, 0x09)) },
        { "a self-test in the foreground", NULL, "1", VERDICT_DEFERRED, "a self-test is running", ROWS(REQUEST_SENSE(2, 0x04, 0x09)), .active = true },
        { "a format", NULL, "1", VERDICT_DEFERRED, "the drive is being formatted", ROWS(REQUEST_SENSE(2, 0x04, 0x04)), .active = true },
        { "an operation", NULL, "1", VERDICT_DEFERRED, "the drive reports an operation in progress", ROWS(REQUEST_SENSE(0, 0x04, 0x07)) },
        { "a long write", NULL, "1", VERDICT_DEFERRED, "the drive reports a long write in progress", ROWS(REQUEST_SENSE(0, 0x04, 0x08)) },
        { "a sanitize", NULL, "1", VERDICT_DEFERRED, "the drive is being sanitized", ROWS(REQUEST_SENSE(0, 0x04, 0x1B)) },
        { "becoming ready, with recent I/O", NULL, "1", VERDICT_APPLIED, NULL, ROWS(REQUEST_SENSE(2, 0x04, 0x01), TO_STANDBY(), STANDBY_Z), .active = true },
        { "a predicted failure does not prevent standby", NULL, "1", VERDICT_APPLIED, NULL, ROWS(REQUEST_SENSE(0, 0x5D, 0x09), TO_STANDBY(), STANDBY_Z) },
};
/* clang-format on */

/* ---- a USB bridge without ATA commands ---- */

/* clang-format off */
#define CHECK_POWER(...) { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", __VA_ARGS__ }
#define CHECK_POWER_12(...) { .cdb = "a1 06 20 00 00 00 00 00 40 e5 00 00", __VA_ARGS__ }
#define NOT_VERIFIED "accepted; the bridge gets no ATA commands, so the standby state cannot be verified"

static const struct {
        Case visit;
        Bridge bridge;
} bridges[] = {
        { { "stopped", NULL, "1", VERDICT_UNVERIFIABLE, NOT_VERIFIED, ROWS(STOP()), .active = true }, { .queried = true, .without_sat = true } },
        { { "bridge without ATA commands, found in this visit", NULL, "1", VERDICT_UNVERIFIABLE, NOT_VERIFIED,
            ROWS(CHECK_POWER(.sense = NO_OPCODE), CHECK_POWER_12(.sense = NO_OPCODE), STOP()), .active = true }, {} },
        { { "filtered by the kernel", NULL, "1", VERDICT_UNVERIFIABLE, NOT_VERIFIED, ROWS(CHECK_POWER(.sense = NO_FIELD), STOP()), .active = true },
          { .queried = true } },
        { { "without recent I/O", NULL, "1", VERDICT_DEFERRED, "the power mode of the drive is not known; drivekeep sets the value when the drive is next active" },
          { .queried = true, .without_sat = true } },
        { { "not stopped if the kernel would not start the drive again", NULL, "0", VERDICT_REFUSED, NOT_RESTARTED, .active = true }, { .queried = true, .without_sat = true } },
        { { "refused", NULL, "1", VERDICT_REFUSED, "START STOP UNIT (illegal request: invalid command operation code, sense 5h 20h/00h)", ROWS(STOP(.sense = NO_OPCODE)), .active = true },
          { .queried = true, .without_sat = true } },
        { { "gone", NULL, "1", VERDICT_VANISHED, "gone", ROWS(STOP(.host_status = 1)), .active = true }, { .queried = true, .without_sat = true } },
        { { "off", "off", "1", VERDICT_UNSUPPORTED, "off does nothing", .active = true }, { .queried = true, .without_sat = true } },
        /* A bridge that disconnected from the bus at an ATA command gets only START STOP UNIT in later visits. */
        { { "bridge that fell off the bus at an ATA command before", NULL, "1", VERDICT_UNVERIFIABLE, NOT_VERIFIED, ROWS(STOP()), .active = true },
          { .queried = true, .fragile = true } },
        { { "bridge that falls off the bus in this visit", NULL, "1", VERDICT_FORBIDDEN, "failed during its first ATA command", ROWS(CHECK_POWER(.host_status = 5)), .active = true }, {} },
};
/* clang-format on */

static Drive drive;

static void setup(void) {
        make_disk(&drive, TRANSPORT_SAS);
}

static void teardown(void) {
        drop_tree(&drive);
}

static void check_visit(const Case *c, const Bridge *bridge) {
        Wish wish = { .name = "standby", .value = VALUE_BOOLEAN(true), .file = "f", .line = 1 };
        Wishes w = { &wish, 1 };
        Script script = { .rows = c->rows };
        DeviceIO io = script_io(&script);
        Visit v = { .drive = &drive,
                    .wishes = &w,
                    .work = WORK_SPIN_DOWN,
                    .settings = &all_settings,
                    .io = &io,
                    .active = c->active,
                    .bridge = bridge };
        Plan p;

        if (c->allow_restart)
                put(SYSFS_DISK "allow_restart", c->allow_restart);
        if (c->value)
                wish.value.number = 0;
        for (const Row *row = c->rows; row && row->cdb; row++)
                script.n_rows++;

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_msg(p.steps[0].verdict == c->verdict, "%s: expected %s, got %s (%s)", c->name,
                      verdict_to_string(c->verdict), verdict_to_string(p.steps[0].verdict), p.steps[0].reason);
        ck_assert_msg(c->reason_part ? !!strstr(p.steps[0].reason, c->reason_part) : p.steps[0].reason[0] == '\0',
                      "%s: reason '%s'", c->name, p.steps[0].reason);
        script_done(&script);
        plan_done(&p);
}

START_TEST(test_scsi) {
        check_visit(cases + _i, NULL);
}
END_TEST

START_TEST(test_bridge) {
        drive.transport = TRANSPORT_USB;
        check_visit(&bridges[_i].visit, &bridges[_i].bridge);
}
END_TEST

/* In a visit that spins the drive down, the other settings get their usual verdicts. */
START_TEST(test_bridge_others) {
        static const Row rows[] = { STOP() };
        static const SpindownBy by[] = { SPINDOWN_BY_DRIVE, SPINDOWN_BY_AUTO };
        const Bridge bridge = { .queried = true, .without_sat = true };
        Wish wishes[] = { { .name = "apm", .value = { VALUE_INT, 127, "" }, .file = "f", .line = 1 },
                          { .name = "spindown_time",
                            .value = { VALUE_STANDBY_TIMER, 120, "" },
                            .file = "f",
                            .line = 3,
                            .spindown_by = by[_i] },
                          { .name = "standby", .value = VALUE_BOOLEAN(true), .file = "f", .line = 2 } };
        Wishes w = { wishes, ELEMENTSOF(wishes) };
        Script script = SCRIPT(rows);
        DeviceIO io = script_io(&script);
        Visit v = { .drive = &drive,
                    .wishes = &w,
                    .work = WORK_APPLY,
                    .settings = &all_settings,
                    .io = &io,
                    .active = true,
                    .bridge = &bridge };
        Plan p;

        drive.transport = TRANSPORT_USB;
        put(SYSFS_DISK "allow_restart", "1");
        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_int_eq(p.steps[0].verdict, VERDICT_UNSUPPORTED);
        ck_assert_str_eq(p.steps[0].reason, "the bridge does not pass ATA commands to its drive");
        ck_assert(!p.steps[0].remediable);
        if (by[_i] == SPINDOWN_BY_DRIVE) {
                ck_assert_int_eq(p.steps[1].verdict, VERDICT_UNSUPPORTED);
                ck_assert_str_eq(
                                p.steps[1].reason,
                                "the bridge does not pass ATA commands to its drive: spindown_by = \"service\" makes the service spin the drive down");
                ck_assert(p.steps[1].remediable);
        } else {
                ck_assert_int_eq(p.steps[1].verdict, VERDICT_UNCHANGED);
                ck_assert_str_eq(
                                p.steps[1].reason,
                                "the service spins down the drive, whose timer does not work: the bridge does not pass ATA commands to its drive");
        }
        ck_assert_int_eq(p.steps[2].verdict, VERDICT_UNVERIFIABLE);
        script_done(&script);
        plan_done(&p);
}
END_TEST

/* ---- spin-up ---- */

/* clang-format off */
#define CHECK_MODE(count) { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", .sense = "72 00 00 00 00 00 00 0e 09 0c 00 00 00 " count " 00 00 00 00 00 00 00 50" }
#define VERIFY(...) { .cdb = "85 06 20 00 00 00 01 00 00 00 00 00 00 40 40 00", __VA_ARGS__ }
#define START_UNIT(...) { .cdb = "1b 00 00 00 01 00", __VA_ARGS__ }

static const struct {
        Transport transport;
        const Row *rows;
        PowerMode reported; /* expected report; POWER_UNKNOWN: none */
} starts[] = {
        { TRANSPORT_SATA, ROWS(CHECK_MODE("00"), VERIFY(), CHECK_MODE("ff")), POWER_ACTIVE },
        /* The drive is active or still spinning up: VERIFY is sent anyway, and ends when the drive has spun up. */
        { TRANSPORT_SATA, ROWS(CHECK_MODE("ff"), VERIFY(), CHECK_MODE("ff")), POWER_ACTIVE },
        { TRANSPORT_SATA, ROWS(CHECK_MODE("00"), VERIFY(), CHECK_MODE("00")), POWER_STANDBY },
        { TRANSPORT_SATA, ROWS(CHECK_MODE("00"), VERIFY(.sense = NO_OPCODE)), POWER_UNKNOWN },
        { TRANSPORT_SATA, ROWS(CHECK_POWER(.sense = NO_OPCODE)), POWER_UNKNOWN },
        { TRANSPORT_SAS, ROWS(STANDBY_Z, START_UNIT(), ACTIVE), POWER_ACTIVE },
        { TRANSPORT_SAS, ROWS(STOPPED, START_UNIT(), ACTIVE), POWER_ACTIVE },
        { TRANSPORT_SAS, ROWS({ .cdb = "03 00 00 00 fc 00", .sense = NO_OPCODE }), POWER_UNKNOWN },
};
/* clang-format on */

static PowerMode power_reported;
static void on_power(_unused_ void *userdata, PowerMode power) {
        power_reported = power;
}

START_TEST(test_starts) {
        Script script = { .rows = starts[_i].rows };
        DeviceIO io = script_io(&script);
        Wishes none = {};
        Visit v = { .drive = &drive,
                    .wishes = &none,
                    .settings = &all_settings,
                    .io = &io,
                    .work = WORK_SPIN_UP,
                    .power = on_power };
        Plan p;

        drive.transport = starts[_i].transport;
        drive.ata = drive.transport == TRANSPORT_SATA;
        while (script.rows[script.n_rows].cdb)
                script.n_rows++;
        power_reported = POWER_UNKNOWN;
        ck_assert_int_eq(visit_run(&v, &p), 0);
        script_done(&script);
        ck_assert_int_eq(power_reported, starts[_i].reported);
        plan_done(&p);
}
END_TEST

/* ---- reads that keep the drive active ---- */

/* clang-format off */
#define VERIFY_10(...) { .cdb = "2f 00 00 00 00 00 00 00 01 00", __VA_ARGS__ }
#define BAD_SECTOR "72 03 11 00 00 00 00 00"

static const struct {
        Transport transport;
        const char *size; /* bytes of a sector, of which the drive has one; NULL: no such file */
        int64_t interval;
        Verdict verdict;
        const char *reason_part;
        const Row *rows;
} reads[] = {
        { TRANSPORT_SATA, "512", 45000, VERDICT_APPLIED, NULL, ROWS(CHECK_MODE("ff"), VERIFY()) },
        { TRANSPORT_SAS, "512", 45000, VERDICT_APPLIED, NULL, ROWS(ACTIVE, VERIFY_10()) },
        /* A drive in standby is not spun up. */
        { TRANSPORT_SATA, "512", 45000, VERDICT_DEFERRED, "the drive is in standby", ROWS(CHECK_MODE("00")) },
        { TRANSPORT_SAS, "512", 45000, VERDICT_DEFERRED, "the drive is in standby", ROWS(STANDBY_Z) },
        { TRANSPORT_SATA, "512", 45000, VERDICT_FAILED, "medium error", ROWS(CHECK_MODE("ff"), VERIFY(.sense = BAD_SECTOR)) },
        { TRANSPORT_SAS, "512", 45000, VERDICT_FAILED, "medium error", ROWS(ACTIVE, VERIFY_10(.sense = BAD_SECTOR)) },
        { TRANSPORT_SAS, "512", 45000, VERDICT_REFUSED, "VERIFY", ROWS(ACTIVE, VERIFY_10(.sense = NO_OPCODE)) },
        { TRANSPORT_SATA, "512", 45000, VERDICT_UNSUPPORTED, "not passed to the drive", ROWS(CHECK_MODE("ff"), VERIFY(.sense = NO_OPCODE)) },
        { TRANSPORT_SATA, "1024", 45000, VERDICT_UNSUPPORTED, "no medium", ROWS(CHECK_MODE("ff")) },
        { TRANSPORT_SATA, "512", 0, VERDICT_UNCHANGED, NULL, ROWS(CHECK_MODE("ff")) },
};
/* clang-format on */

START_TEST(test_reads) {
        Wish wish = { .name = "keep_active",
                      .value = { VALUE_DURATION, reads[_i].interval, "" },
                      .file = "f",
                      .line = 1 };
        Wishes w = { &wish, 1 };
        Script script = { .rows = reads[_i].rows };
        DeviceIO io = script_io(&script);
        Visit v = { .drive = &drive, .wishes = &w, .work = WORK_KEEP_ACTIVE, .settings = &all_settings, .io = &io };
        Plan p;

        drive.transport = reads[_i].transport;
        drive.ata = drive.transport == TRANSPORT_SATA;
        drive.size = 512;
        put("queue/logical_block_size", reads[_i].size);
        while (script.rows[script.n_rows].cdb)
                script.n_rows++;
        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_msg(p.steps[0].verdict == reads[_i].verdict, "%s (%s)", verdict_to_string(p.steps[0].verdict),
                      p.steps[0].reason);
        ck_assert_msg(reads[_i].reason_part ? !!strstr(p.steps[0].reason, reads[_i].reason_part)
                                            : !p.steps[0].reason[0],
                      "%s", p.steps[0].reason);
        script_done(&script);
        plan_done(&p);
}
END_TEST

int main(void) {
        Suite *s = suite_create("standby");
        TCase *t = tcase_create("standby");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_scsi, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_bridge, 0, ELEMENTSOF(bridges));
        tcase_add_loop_test(t, test_bridge_others, 0, 2);
        tcase_add_loop_test(t, test_starts, 0, ELEMENTSOF(starts));
        tcase_add_loop_test(t, test_reads, 0, ELEMENTSOF(reads));
        suite_add_tcase(s, t);

        return suite_run(s);
}
