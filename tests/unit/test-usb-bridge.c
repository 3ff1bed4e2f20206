/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* USB bridges: the commands that they accept, the facts stored about them, and the identity of the drive. */

#include "identify-image.h"
#include "drive-record.h"
#include "scratch.h"
#include "script.h"
#include "settings.h"
#include "suite.h"
#include "visit.h"

#define E5 "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00"
#define E5_12 "a1 06 20 00 00 00 00 00 40 e5 00 00"
#define EC "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00"
#define EC_12 "a1 08 0e 00 01 00 00 00 40 ec 00 00"
#define APM127 "85 06 20 00 05 00 7f 00 00 00 00 00 00 40 ef 00"
#define APM127_12 "a1 06 20 05 7f 00 00 00 40 ef 00 00"
#define ACTIVE "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 ff 00 00 00 00 00 00 40 50"
#define IN_STANDBY "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 00 00 00 00 00 00 40 50"
#define GOOD "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 00 00 00 00 00 00 40 50"
#define BAD_OPCODE "70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 00 00 00"
#define BAD_FIELD "70 00 05 00 00 00 00 0a 00 00 00 00 24 00 00 00 00 00"

static Image apm128, apm127;
static char dir[] = "/tmp/drivekeep-test-XXXXXX";
static bool remediable; /* the field `remediable` of the last step that the last visit reported */

static Drive *dock(void) {
        Drive *d = calloc(1, sizeof *d);

        ck_assert_ptr_nonnull(d);
        d->name = strdup("sdb");
        d->node = strdup("/dev/sdb");
        d->syspath = strdup(dir);
        d->model = strdup("SATA_Bridge");
        d->serial = strdup("DOCK0001");
        d->firmware = strdup("0100");
        d->transport = TRANSPORT_USB;
        ck_assert(drive_is_behind_bridge(d));
        return d;
}

static void image_text(Image *i, unsigned word, unsigned n, const char *text) {
        for (unsigned k = 0; k < n; k++) {
                char a = *text ? *text++ : ' ', b = *text ? *text++ : ' ';

                i->words[word + k] = htole16((uint16_t) (a << 8 | b));
        }
}

static void setup(void) {
        strcpy(strrchr(dir, '-'), "-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(dir));

        apm128 = image_make(true, false, 128, -1);
        image_text(&apm128, 10, 10, "  SN-BEHIND");
        image_text(&apm128, 23, 4, "FW01");
        image_text(&apm128, 27, 20, "DRIVEKEEP TESTDISK");
        apm128.words[84] = htole16(0x4100);
        apm128.words[108] = htole16(0x5000);
        apm128.words[109] = htole16(0xc500);
        apm128.words[110] = htole16(0xa1b2);
        apm128.words[111] = htole16(0xc3d4);
        image_seal(&apm128);
        apm127 = apm128;
        apm127.words[91] = htole16(127);
        image_seal(&apm127);
}

static void teardown(void) {
        char command[512];

        snprintf(command, sizeof command, "rm -r %s", dir);
        ck_assert_int_eq(system(command), 0);
}

typedef struct Report {
        unsigned n;
        Bridge bridge;
        DriveIdentity identity;
        bool identified;
} Report;

static void on_bridge_learned(void *userdata, const Bridge *bridge, const DriveIdentity *identity) {
        Report *report = userdata;

        report->n++;
        report->bridge = *bridge;
        report->identified = identity;
        if (identity)
                report->identity = *identity;
}

/* Runs a visit that wants apm = 127. *ret gets the verdict; _VERDICT_INVALID: the visit reported no step. */
static Report visit(const Drive *drive, const Row *rows, size_t n_rows, const Bridge *bridge, Verdict *ret,
                    const char *reason) {
        Script script = { .rows = rows, .n_rows = n_rows };
        DeviceIO io = script_io(&script);
        Wish wish = { .name = "apm", .value = { VALUE_INT, 127, "" }, .file = "f", .line = 1 };
        Wishes w = { .items = &wish, .n_items = 1 };
        Report report = {};
        Visit v = { .drive = drive,
                    .wishes = &w,
                    .work = WORK_APPLY,
                    .settings = &all_settings,
                    .io = &io,
                    .bridge = bridge,
                    .bridge_learned = on_bridge_learned,
                    .userdata = &report };
        Plan p;

        ck_assert_int_eq(visit_run(&v, &p), 0);
        script_done(&script);
        *ret = p.steps[0].verdict;
        remediable = p.steps[0].remediable;
        if (reason)
                ck_assert_msg(!!strstr(p.steps[0].reason, reason), "reason '%s'", p.steps[0].reason);
        plan_done(&p);
        return report;
}

/* clang-format off */
#define VISIT(drive, bridge, verdict, reason, ...)                                                                             \
        visit(drive, (const Row[]){ __VA_ARGS__ }, sizeof((const Row[]){ __VA_ARGS__ }) / sizeof(Row), bridge, verdict, reason)
/* clang-format on */

static const Bridge asked = { .queried = true };

START_TEST(test_identify_comes_first) {
        _cleanup_(drive_freep) Drive *d = dock();
        const Bridge nothing = {};
        Verdict v;
        Report t;

        /* The first visit only identifies the drive. It writes nothing, since other rules may match the drive's identity. */
        t = VISIT(d, &nothing, &v, NULL, { .cdb = E5, .sense = ACTIVE },
                  { .cdb = EC, .data = &apm128, .data_len = 512 });
        ck_assert_int_eq(v, _VERDICT_INVALID);
        ck_assert(t.n == 1 && t.identified && t.bridge.queried && t.bridge.identified && t.bridge.cdb == 16);
        ck_assert_str_eq(t.identity.model, "DRIVEKEEP TESTDISK");
        ck_assert_str_eq(t.identity.serial, "SN-BEHIND");
        ck_assert_str_eq(t.identity.firmware, "FW01");
        ck_assert_str_eq(t.identity.wwn, "0x5000c500a1b2c3d4");

        ck_assert_int_eq(drive_reveal(d, &t.identity), 0);
        ck_assert_str_eq(d->serial, "SN-BEHIND");
        ck_assert_str_eq(d->dock_serial, "DOCK0001");
        ck_assert_str_eq(d->dock_model, "SATA_Bridge");
        ck_assert(!drive_is_behind_bridge(d));

        /* The second visit does not identify the drive again. */
        t = VISIT(d, &t.bridge, &v, NULL, { .cdb = E5, .sense = ACTIVE },
                  { .cdb = EC, .data = &apm128, .data_len = 512 }, { .cdb = APM127, .sense = GOOD },
                  { .cdb = EC, .data = &apm127, .data_len = 512 });
        ck_assert_int_eq(v, VERDICT_APPLIED);
        ck_assert_uint_eq(t.n, 0);
}
END_TEST

START_TEST(test_standby_defers_identity) {
        _cleanup_(drive_freep) Drive *d = dock();
        const Bridge nothing = {};
        Verdict v;
        Report t;

        t = VISIT(d, &nothing, &v, "can be identified", { .cdb = E5, .sense = IN_STANDBY });
        ck_assert_int_eq(v, VERDICT_DEFERRED);
        ck_assert_uint_eq(t.n, 0);
}
END_TEST

/* In standby the drive is not identified yet, so a setting that only NVMe drives have is deferred like all others. */
START_TEST(test_standby_other_kind_of_setting) {
        _cleanup_(drive_freep) Drive *d = dock();
        const Row rows[] = { { .cdb = E5, .sense = IN_STANDBY } };
        Script script = SCRIPT(rows);
        DeviceIO io = script_io(&script);
        Wish wishes[] = {
                { .name = "apm", .value = { VALUE_INT, 127, "" }, .file = "f", .line = 1 },
                { .name = "power_state", .value = { VALUE_INT, 1, "" }, .file = "f", .line = 2 },
        };
        Wishes w = { .items = wishes, .n_items = ELEMENTSOF(wishes) };
        const Bridge nothing = {};
        Visit v = { .drive = d,
                    .wishes = &w,
                    .settings = &all_settings,
                    .io = &io,
                    .work = WORK_APPLY,
                    .bridge = &nothing };
        Plan p;

        ck_assert_int_eq(visit_run(&v, &p), 0);
        script_done(&script);
        for (size_t i = 0; i < p.n_steps; i++)
                ck_assert_int_eq(p.steps[i].verdict, VERDICT_DEFERRED);
        plan_done(&p);
}
END_TEST

START_TEST(test_pass_through_12) {
        _cleanup_(drive_freep) Drive *d = dock();
        const Bridge nothing = {};
        Verdict v;
        Report t;

        t = VISIT(d, &nothing, &v, NULL, { .cdb = E5, .sense = BAD_OPCODE }, { .cdb = E5_12, .sense = ACTIVE },
                  { .cdb = EC_12, .data = &apm128, .data_len = 512 });
        ck_assert(t.identified && t.bridge.cdb == 12);

        /* Later visits do not try ATA PASS-THROUGH(16) (85h) again until the next attach. */
        ck_assert_int_eq(drive_reveal(d, &t.identity), 0);
        t = VISIT(d, &t.bridge, &v, NULL, { .cdb = E5_12, .sense = ACTIVE },
                  { .cdb = EC_12, .data = &apm128, .data_len = 512 }, { .cdb = APM127_12, .sense = GOOD },
                  { .cdb = EC_12, .data = &apm127, .data_len = 512 });
        ck_assert_int_eq(v, VERDICT_APPLIED);
}
END_TEST

START_TEST(test_no_pass_through) {
        static const char *const names[] = { "sr0", "sdb", "sdb" };
        static const Row optical[] = { { .cdb = E5, .sense = BAD_OPCODE } },
                         neither[] = { { .cdb = E5, .sense = BAD_OPCODE }, { .cdb = E5_12, .sense = BAD_OPCODE } },
                         filtered[] = { { .cdb = E5, .sense = BAD_FIELD } };
        static const struct {
                const Row *rows;
                size_t n;
        } scripts[] = { { optical, 1 }, { neither, 2 }, { filtered, 1 } };
        _cleanup_(drive_freep) Drive *d = dock();
        const Bridge nothing = {};
        Verdict v;
        Report t;

        /* In the first case the drive is optical (sr0), and A1h is not sent, since it would be BLANK. In the second case
         * A1h, ATA PASS-THROUGH(12), is sent. In the third case A1h is not sent, since the kernel's filter rejects 85h with
         * "invalid field" and also blocks A1h. */
        strcpy(d->name, names[_i]);
        t = visit(d, scripts[_i].rows, scripts[_i].n, &nothing, &v, "ATA commands");
        ck_assert_int_eq(v, VERDICT_UNSUPPORTED);
        ck_assert(t.n == 1 && !t.identified && t.bridge.queried && t.bridge.without_sat);

        t = visit(d, NULL, 0, &t.bridge, &v, "does not pass ATA commands");
        ck_assert_int_eq(v, VERDICT_UNSUPPORTED);
        ck_assert_uint_eq(t.n, 0);
}
END_TEST

#define BLOCKED "the kernel's uas driver blocks ATA commands: usb-storage.quirks=0bc2:ab24:u on"
#define BAD_FIELD_DESCRIPTOR "72 05 24 00 00 00 00 00"

/* If the kernel's uas driver rejects the first command, the reason of the verdict names a remedy. If the bridge rejects
 * the first command, there is no remedy. */
static const struct {
        const char *driver, *sense, *reason;
        bool without_ids;
} refusals[] = {
        { "uas", BAD_FIELD, BLOCKED },
        { "uas", BAD_FIELD, "usb-storage.quirks=VID:PID:u on", .without_ids = true },
        { "uas", BAD_OPCODE, "the bridge does not pass ATA commands" },
        { "uas", BAD_FIELD_DESCRIPTOR, "the bridge does not pass ATA commands" },
        { "usb-storage", BAD_FIELD, "the bridge does not pass ATA commands" },
        { NULL, BAD_FIELD, "the bridge does not pass ATA commands" },
};

/* Creates a USB device in sysfs, and the disk below the USB device. `driver`: the driver of the USB interface; NULL: none. */
static void put_usb(Drive *d, const char *driver, bool without_ids) {
        char path[PATH_MAX], link[PATH_MAX];

        (void) snprintf(path, sizeof path, "%s/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb", dir);
        free(d->syspath);
        d->syspath = strdup(path);
        make_parents(path);
        (void) snprintf(path, sizeof path, "%s/usb2/2-1/2-1:1.0/driver", dir);
        (void) snprintf(link, sizeof link, "../../../bus/usb/drivers/%s", driver ?: "");
        if (driver)
                ck_assert_int_eq(symlink(link, path), 0);
        for (size_t i = 0; i < 2 && !without_ids; i++) {
                FILE *f;

                (void) snprintf(path, sizeof path, "%s/usb2/2-1/%s", dir, i ? "idProduct" : "idVendor");
                f = fopen(path, "we");
                ck_assert_ptr_nonnull(f);
                fputs(i ? "ab24\n" : "0bc2\n", f);
                ck_assert_int_eq(fclose(f), 0);
        }
}

START_TEST(test_refused_by) {
        const Row rows[] = { { .cdb = E5, .sense = refusals[_i].sense },
                             { .cdb = E5_12, .sense = refusals[_i].sense } };
        bool blocked = starts_with(refusals[_i].reason, "the kernel") || refusals[_i].without_ids;
        _cleanup_(drive_freep) Drive *d = dock();
        const Bridge nothing = {};
        Verdict v;
        Report t;

        put_usb(d, refusals[_i].driver, refusals[_i].without_ids);
        t = visit(d, rows, streq(refusals[_i].sense, BAD_OPCODE) ? 2 : 1, &nothing, &v, refusals[_i].reason);
        ck_assert_int_eq(v, VERDICT_UNSUPPORTED);
        ck_assert(t.bridge.without_sat && t.bridge.uas_blocks == blocked);
        ck_assert(remediable == blocked);

        /* The next visit sends no command, since the record of the bridge says that the bridge passes no ATA commands. */
        (void) visit(d, NULL, 0, &t.bridge, &v, refusals[_i].reason);
        ck_assert_int_eq(v, VERDICT_UNSUPPORTED);
        ck_assert(remediable == blocked);
}
END_TEST

START_TEST(test_fragile) {
        const Bridge fragile = { .queried = true, .fragile = true };
        _cleanup_(drive_freep) Drive *d = dock();
        Verdict v;

        (void) visit(d, NULL, 0, &fragile, &v, "failed during its first ATA command");
        ck_assert_int_eq(v, VERDICT_FORBIDDEN);
}
END_TEST

START_TEST(test_no_registers) {
        _cleanup_(drive_freep) Drive *d = dock();
        Verdict v;
        Report t;

        /* IDENTIFY shows the effect of SET FEATURES. CHECK POWER MODE is not sent again, because the bridge does not
         * return the power mode. */
        t = VISIT(d, &asked, &v, NULL, { .cdb = E5 }, { .cdb = EC, .data = &apm128, .data_len = 512 },
                  { .cdb = APM127 }, { .cdb = EC, .data = &apm127, .data_len = 512 });
        ck_assert_int_eq(v, VERDICT_APPLIED);
        ck_assert(t.n == 1 && t.bridge.without_registers);

        t = VISIT(d, &t.bridge, &v, NULL, { .cdb = EC, .data = &apm127, .data_len = 512 });
        ck_assert_int_eq(v, VERDICT_UNCHANGED);
        ck_assert_uint_eq(t.n, 0);
}
END_TEST

START_TEST(test_repeated_identify) {
        _cleanup_(drive_freep) Drive *d = dock();
        Image other = apm128;
        Verdict v;
        Report t;

        t = VISIT(d, &asked, &v, "the bridge cached them, or the drive ignored", { .cdb = E5, .sense = ACTIVE },
                  { .cdb = EC, .data = &apm128, .data_len = 512 }, { .cdb = APM127, .sense = GOOD },
                  { .cdb = EC, .data = &apm128, .data_len = 512 });
        ck_assert_int_eq(v, VERDICT_UNVERIFIABLE);
        ck_assert(t.n == 1 && t.bridge.repeats_identify);

        /* Later visits know that the bridge answers IDENTIFY from its cache. */
        t = VISIT(d, &t.bridge, &v, "from its cache", { .cdb = E5, .sense = ACTIVE },
                  { .cdb = EC, .data = &apm128, .data_len = 512 }, { .cdb = APM127, .sense = GOOD },
                  { .cdb = EC, .data = &apm128, .data_len = 512 });
        ck_assert_int_eq(v, VERDICT_UNVERIFIABLE);

        /* Word 200 of IDENTIFY has changed, so the bridge does not answer from its cache. APM has not changed: the verdict is
         * `ignored`. */
        other.words[200] = htole16(1);
        image_seal(&other);
        t = VISIT(d, &asked, &v, "value is still 128", { .cdb = E5, .sense = ACTIVE },
                  { .cdb = EC, .data = &apm128, .data_len = 512 }, { .cdb = APM127, .sense = GOOD },
                  { .cdb = EC, .data = &other, .data_len = 512 });
        ck_assert_int_eq(v, VERDICT_IGNORED);
}
END_TEST

START_TEST(test_another_drive) {
        _cleanup_(drive_freep) Drive *d = dock();
        DriveIdentity other = { .model = "DRIVEKEEP TESTDISK", .serial = "SN-OTHER-BAY" };
        const Bridge known = { .queried = true, .identified = true, .cdb = 16 };
        Verdict v;

        ck_assert_int_eq(drive_reveal(d, &other), 0);
        (void) VISIT(d, &known, &v, "another drive answered", { .cdb = E5, .sense = ACTIVE },
                     { .cdb = EC, .data = &apm128, .data_len = 512 });
        ck_assert_int_eq(v, VERDICT_VANISHED);
}
END_TEST

START_TEST(test_record) {
        _cleanup_(drive_freep) Drive *d = dock(), *again = dock(), *other = dock();
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);
        DriveIdentity identity = { .model = "M", .serial = "S", .firmware = "F" };

        ck_assert_ptr_nonnull(r);
        r->bridge = (Bridge){ .queried = true, .identified = true };
        ck_assert_int_eq(drive_reveal(d, &identity), 0);
        ck_assert_int_eq(drive_record_set_identity(r, d, "boot"), 0);

        /* After a restart, udev still reports the bridge's identity. The record has the drive's identity. */
        ck_assert(drive_record_continues(r, again, "boot"));
        ck_assert_int_eq(drive_record_reveal(r, again), 0);
        ck_assert_str_eq(again->serial, "S");
        ck_assert_str_eq(again->dock_serial, "DOCK0001");
        ck_assert(drive_record_continues(r, again, "boot"));

        free(other->serial);
        other->serial = strdup("DOCK0002");
        ck_assert(!drive_record_continues(r, other, "boot"));
}
END_TEST

int main(void) {
        Suite *suite = suite_create("usb-bridge");
        TCase *t = tcase_create("usb-bridge");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_test(t, test_identify_comes_first);
        tcase_add_test(t, test_standby_defers_identity);
        tcase_add_test(t, test_standby_other_kind_of_setting);
        tcase_add_test(t, test_pass_through_12);
        tcase_add_loop_test(t, test_no_pass_through, 0, 3);
        tcase_add_loop_test(t, test_refused_by, 0, ELEMENTSOF(refusals));
        tcase_add_test(t, test_fragile);
        tcase_add_test(t, test_no_registers);
        tcase_add_test(t, test_repeated_identify);
        tcase_add_test(t, test_another_drive);
        tcase_add_test(t, test_record);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
