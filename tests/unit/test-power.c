/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests which power mode a probe returns for each answer of the drive, and for a missing answer. */

#include "ata.h"
#include "plan.h"
#include "power-mode.h"
#include "probe.h"
#include "script.h"
#include "settings.h"
#include "suite.h"
#include "sysfs-tree.h"

static Drive drive;

static void setup(void) {
        make_disk(&drive, TRANSPORT_SAS);
}

static void teardown(void) {
        drop_tree(&drive);
}

static PowerMode probe_mode(const Row *rows, size_t n_rows, Backend by, bool active, int *ret) {
        Script script = { .rows = rows, .n_rows = n_rows };
        DeviceIO io = script_io(&script);
        Device d;

        device_init(&d, &drive, &io);
        d.active = active;
        *ret = power_probe(&d, by);
        script_done(&script);
        /* A second probe in the same visit sends no command. */
        if (*ret >= 0)
                ck_assert_int_eq(power_probe(&d, by), 0);
        return d.power;
}

/* ---- SCSI ---- */

#define REQUEST_SENSE "03 00 00 00 fc 00"
#define SENSE_DATA(key, asc, ascq) \
        { 0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, asc, ascq, 0, 0, 0, 0 }

static const struct {
        uint8_t data[18];
        PowerMode power;
} senses[] = {
        { SENSE_DATA(0, 0, 0), POWER_ACTIVE },
        { SENSE_DATA(0, 0x5D, 0x00), POWER_ACTIVE }, /* 5Dh predicts a failure, and says nothing about the power mode */
        { SENSE_DATA(0, 0x5E, 0x00), POWER_STANDBY },
        { SENSE_DATA(0, 0x5E, 0x01), POWER_ACTIVE },
        { SENSE_DATA(0, 0x5E, 0x02), POWER_STANDBY },
        { SENSE_DATA(0, 0x5E, 0x03), POWER_ACTIVE },
        { SENSE_DATA(0, 0x5E, 0x04), POWER_STANDBY },
        { SENSE_DATA(0, 0x5E, 0x05), POWER_ACTIVE },
        { SENSE_DATA(0, 0x5E, 0x08), POWER_ACTIVE },
        { SENSE_DATA(0, 0x5E, 0x09), POWER_STANDBY },
        { SENSE_DATA(2, 0x04, 0x02), POWER_STANDBY },
        { SENSE_DATA(2, 0x04, 0x01), POWER_UNCLEAR },
        { SENSE_DATA(2, 0x3A, 0x02), POWER_UNCLEAR },
        { SENSE_DATA(4, 0x04, 0x02), POWER_UNCLEAR },
        { {}, POWER_UNCLEAR },
};

START_TEST(test_scsi) {
        const Row row = { .cdb = REQUEST_SENSE, .data = senses[_i].data, .data_len = sizeof senses[_i].data };
        PowerMode unclear = senses[_i].power == POWER_UNCLEAR ? POWER_ACTIVE : senses[_i].power;
        int r;

        ck_assert_int_eq(probe_mode(&row, 1, BACKEND_SCSI_MODE, false, &r), senses[_i].power);
        ck_assert_int_eq(r, 0);
        ck_assert_int_eq(probe_mode(&row, 1, BACKEND_SCSI_MODE, true, &r), unclear);
        drive.rotational = false;
        ck_assert_int_eq(probe_mode(&row, 1, BACKEND_SCSI_MODE, false, &r), unclear);
}
END_TEST

/* REQUEST SENSE returns pending unit attentions first and is repeated until they are gone. After four unit attentions,
 * the power mode is unclear. */
START_TEST(test_attentions) {
        static const uint8_t attention[18] = SENSE_DATA(6, 0x29, 0), standby[18] = SENSE_DATA(0, 0x5E, 4);
#define ANSWER(bytes) \
        { .cdb = REQUEST_SENSE, .data = (bytes), .data_len = sizeof(bytes) }
        static const Row some[] = { ANSWER(attention), ANSWER(attention), ANSWER(attention), ANSWER(standby) },
                         many[] = { ANSWER(attention), ANSWER(attention), ANSWER(attention), ANSWER(attention) };
        int r;

        ck_assert_int_eq(probe_mode(some, ELEMENTSOF(some), BACKEND_SCSI_MODE, false, &r), POWER_STANDBY);
        ck_assert_int_eq(probe_mode(many, ELEMENTSOF(many), BACKEND_SCSI_MODE, false, &r), POWER_UNCLEAR);
        ck_assert_int_eq(r, 0);
}
END_TEST

/* ---- ATA ---- */

#define CHECK_POWER "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00"
#define COUNT(count) "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 " count " 00 00 00 00 00 00 40 50"

static const struct {
        Row row;
        int r;
        PowerMode power;
} answers[] = {
        { { .cdb = CHECK_POWER, .sense = COUNT("00") }, 0, POWER_STANDBY },
        { { .cdb = CHECK_POWER, .sense = COUNT("01") }, 0, POWER_STANDBY },
        { { .cdb = CHECK_POWER, .sense = COUNT("02") }, 0, POWER_ACTIVE },
        { { .cdb = CHECK_POWER, .sense = COUNT("40") }, 0, POWER_STANDBY },
        { { .cdb = CHECK_POWER, .sense = COUNT("41") }, 0, POWER_ACTIVE },
        { { .cdb = CHECK_POWER, .sense = COUNT("80") }, 0, POWER_ACTIVE },
        { { .cdb = CHECK_POWER, .sense = COUNT("ff") }, 0, POWER_ACTIVE },
        /* The drive's answers, in this order: no registers, command rejected, empty sense data, timeout, drive gone. */
        { { .cdb = CHECK_POWER }, 0, POWER_UNCLEAR },
        { { .cdb = CHECK_POWER, .sense = "72 0b 00 00 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 40 51" },
          0,
          POWER_UNCLEAR },
        { { .cdb = CHECK_POWER, .sense = "" }, 0, POWER_UNCLEAR },
        { { .cdb = CHECK_POWER, .host_status = 3 }, -ETIMEDOUT, POWER_UNKNOWN },
        { { .cdb = CHECK_POWER, .host_status = 1 }, END_VANISHED, POWER_UNKNOWN },
};

START_TEST(test_ata) {
        int r;

        drive.transport = TRANSPORT_SATA;
        ck_assert_int_eq(probe_mode(&answers[_i].row, 1, BACKEND_ATA, false, &r), answers[_i].power);
        ck_assert_int_eq(r, answers[_i].r);
}
END_TEST

/* power_probe() sends no command for an optical drive, an IDENTIFY image, a bridge that returns no registers, or a
 * suspended drive. */
START_TEST(test_drives_without_probe) {
        const uint16_t image[256] = {};
        DeviceIO io = {};
        Device d;
        int r;

        ck_assert_int_eq(probe_mode(NULL, 0, BACKEND_OPTICAL, false, &r), POWER_ACTIVE);

        io.image = image;
        device_init(&d, &drive, &io);
        ck_assert_int_eq(power_probe(&d, BACKEND_ATA), 0);
        ck_assert_int_eq(d.power, POWER_ACTIVE);

        io.image = NULL;
        device_init(&d, &drive, &io);
        d.bridge.without_registers = true;
        ck_assert_int_eq(power_probe(&d, BACKEND_ATA), 0);
        ck_assert(d.power == POWER_UNCLEAR && !d.power_reported);
        device_init(&d, &drive, &io);
        d.bridge.without_registers = d.bridge.fragile = true;
        ck_assert_int_eq(power_probe(&d, BACKEND_ATA), END_FORBIDDEN);
        ck_assert_int_eq(d.power, POWER_UNKNOWN);

        put("device/power/runtime_status", "suspended");
        ck_assert_int_eq(probe_mode(NULL, 0, BACKEND_ATA, true, &r), POWER_SUSPENDED);
        ck_assert_int_eq(probe_mode(NULL, 0, BACKEND_OPTICAL, true, &r), POWER_SUSPENDED);
}
END_TEST

/* ---- output of `show` ---- */

#define SILENT "the drive did not answer REQUEST SENSE in "
static unsigned n_not_read, n_silent, n_kernel;

static void note(_unused_ void *userdata, const Probed *s) {
        bool kernel = s->setting->flags & SETTING_KERNEL;

        n_kernel += kernel && s->setting->backend == BACKEND_SCSI;
        n_not_read += s->reason &&
                      streq(s->reason, "not read: the drive is not active, and reading must not spin it up");
        n_silent += s->reason && starts_with(s->reason, SILENT);
        ck_assert(!kernel || !s->reason || !starts_with(s->reason, SILENT));
}

/* The kernel's settings are shown even for a SCSI drive that is in standby or does not answer. */
START_TEST(test_probe) {
        static const uint8_t standby[18] = SENSE_DATA(0, 0x5E, 4);
        const Row rows[] = {
                { .cdb = REQUEST_SENSE, .data = standby, .data_len = sizeof standby, .host_status = _i ? 3 : 0 }
        };
        Script script = SCRIPT(rows);
        DeviceIO io = script_io(&script);
        unsigned n_mode = 0, n_scsi = 0;
        Device d;

        SETTING_TABLE_FOREACH(s, &all_settings) {
                n_mode += s->backend == BACKEND_SCSI_MODE && !s->alias_of && !(s->flags & SETTING_AT_ATTACH);
                n_scsi += s->backend == BACKEND_SCSI && !s->alias_of && (s->flags & SETTING_KERNEL);
        }
        device_init(&d, &drive, &io);
        probe(&d, 1U << BACKEND_SCSI_MODE | 1U << BACKEND_SCSI, &all_settings, note, NULL);
        ck_assert_msg(streq_ptr(power_state(&d), _i ? NULL : "standby"), "%s", power_state(&d));
        device_done(&d);
        script_done(&script);
        ck_assert_uint_eq(_i ? n_silent : n_not_read,
                          _i ? n_mode : n_mode + 2); /* + 2: cache_type and cdl_enable send commands to the drive */
        ck_assert_uint_eq(_i ? n_not_read : n_silent, 0);
        ck_assert_uint_eq(n_kernel, n_scsi);
}
END_TEST

/* A power mode that the service assumes, and that the drive has not reported, is not shown as the drive's state. */
START_TEST(test_state) {
        static const struct {
                PowerMode power;
                bool reported;
                const char *state;
        } states[] = {
                { POWER_ACTIVE, true, "active/idle" }, { POWER_ACTIVE, false, NULL },
                { POWER_STANDBY, true, "standby" },    { POWER_SUSPENDED, false, "suspended" },
                { POWER_ATA_SLEEP, false, "sleep" },   { POWER_UNCLEAR, false, NULL },
                { POWER_UNKNOWN, false, NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(states); i++) {
                Device d = { .power = states[i].power, .power_reported = states[i].reported };

                ck_assert(streq_ptr(power_state(&d), states[i].state));
        }
}
END_TEST

int main(void) {
        Suite *s = suite_create("power");
        TCase *t = tcase_create("power");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_scsi, 0, ELEMENTSOF(senses));
        tcase_add_test(t, test_attentions);
        tcase_add_loop_test(t, test_ata, 0, ELEMENTSOF(answers));
        tcase_add_test(t, test_drives_without_probe);
        tcase_add_loop_test(t, test_probe, 0, 2);
        tcase_add_test(t, test_state);
        suite_add_tcase(s, t);

        return suite_run(s);
}
