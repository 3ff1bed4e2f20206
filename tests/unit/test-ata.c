/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ata.h"
#include "identify-image.h"
#include "plan.h"
#include "power-mode.h"
#include "script.h"
#include "suite.h"

static const Drive drive = { .name = (char *) "sda",
                             .node = (char *) "/dev/sda",
                             .syspath = (char *) "/nonexistent",
                             .transport = TRANSPORT_SATA };

static int set_apm(Device *d, uint8_t level) {
        return ata_command(d, &(Taskfile){ .command = ATA_CMD_SET_FEATURES, .feature = 0x05, .count = level }, NULL);
}

#define GOOD_SENSE "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 00 00 00 00 00 00 40 50"

/* clang-format off */
/* Answers to one command, with the expected results. An answer has sense data in descriptor format, sense data in fixed
 * format, or no sense data. Some answers show known faults of bridges. */
static const struct {
        const char *name, *sense;
        uint16_t host_status;
        int ioctl_error, result;
} answers[] = {
        { "good, descriptor", GOOD_SENSE, 0, 0, 0 },
        { "good, no sense at all (bridge ignores CK_COND)", NULL, 0, 0, 0 },
        { "good, after another descriptor", "72 01 00 1d 00 00 00 12 02 02 00 00 09 0c 00 00 00 00 00 00 00 00 00 00 40 50", 0, 0, 0 },
        { "aborted, descriptor", "72 0b 00 00 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 40 51", 0, 0, END_REFUSED },
        { "error in the registers, with sense key recovered error", "72 01 00 1d 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 40 51", 0, 0, END_REFUSED },
        { "device fault", "72 04 44 00 00 00 00 0e 09 0c 00 00 00 00 00 00 00 00 00 00 40 70", 0, 0, END_REFUSED },
        { "aborted, fixed format of libata", "70 00 0b 00 00 00 00 0a 04 51 40 00 00 00 00 00 00 00", 0, 0, END_REFUSED },
        { "good, fixed format with registers", "70 00 01 00 50 40 00 0a 00 00 00 00 00 1d 00 00 00 00", 0, 0, 0 },
        { "aborted, fixed format with registers", "f0 00 0b 04 51 40 00 0a 00 00 00 00 00 1d 00 00 00 00", 0, 0, END_REFUSED },
        { "invalid opcode, fixed (no pass-through)", "70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 00 00 00", 0, 0, END_UNSUPPORTED },
        { "invalid field, fixed (filtered)", "70 00 05 00 00 00 00 0a 00 00 00 00 24 00 00 00 00 00", 0, 0, END_UNSUPPORTED },
        { "all-zero sense", "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", 0, 0, -EBADMSG },
        { "check condition with empty sense", "", 0, 0, -EBADMSG },
        { "no medium", "70 00 02 00 00 00 00 0a 00 00 00 00 3a 00 00 00 00 00", 0, 0, END_UNSUPPORTED },
        { "no connection", NULL, 1, 0, END_VANISHED },
        { "timed out", NULL, 3, 0, -ETIMEDOUT },
        { "transport error", NULL, 7, 0, -EIO },
        { "ioctl: no such device", NULL, 0, -ENODEV, END_VANISHED },
        { "ioctl: not a SCSI disk", NULL, 0, -ENOTTY, END_UNSUPPORTED },
        { "ioctl: no memory", NULL, 0, -ENOMEM, -ENOMEM },
};
/* clang-format on */

START_TEST(test_answer) {
        const Row rows[] = { {
                        .cdb = "85 06 20 00 05 00 80 00 00 00 00 00 00 40 ef 00",
                        .sense = answers[_i].sense,
                        .host_status = answers[_i].host_status,
                        .error = answers[_i].ioctl_error,
        } };
        Script s = SCRIPT(rows);
        DeviceIO io = script_io(&s);
        Device d;
        int r;

        device_init(&d, &drive, &io);
        r = set_apm(&d, 128);
        ck_assert_msg(r == answers[_i].result, "%s: expected %i, got %i (%s)", answers[_i].name, answers[_i].result, r,
                      d.failure.why);
        if (r < 0)
                ck_assert_uint_gt(strlen(d.failure.why), 10);
        script_done(&s);
        ck_assert_uint_eq(s.n_gates, 1);
}
END_TEST

START_TEST(test_unit_attention_is_retried) {
        static const char cdb[] = "85 06 20 00 05 00 7f 00 00 00 00 00 00 40 ef 00";
        static const char attention[] = "70 00 06 00 00 00 00 0a 00 00 00 00 29 00 00 00 00 00";
        const Row once[] = { { .cdb = cdb, .sense = attention }, { .cdb = cdb, .sense = GOOD_SENSE } };
        const Row endless[] = { { .cdb = cdb, .sense = attention },
                                { .cdb = cdb, .sense = attention },
                                { .cdb = cdb, .sense = attention },
                                { .cdb = cdb, .sense = attention } };
        Script s = SCRIPT(once), t = SCRIPT(endless);
        DeviceIO io = script_io(&s), io_endless = script_io(&t);
        Device d;

        device_init(&d, &drive, &io);
        ck_assert_int_eq(set_apm(&d, 127), 0);
        script_done(&s);

        device_init(&d, &drive, &io_endless);
        ck_assert_int_eq(set_apm(&d, 127), -EIO);
        script_done(&t);
}
END_TEST

/* clang-format off */
static const struct {
        const char *name, *sense;
        PowerMode mode;
} power_modes[] = {
        { "standby", "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 00 00 00 00 00 00 40 50", POWER_STANDBY },
        { "standby_y", "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 01 00 00 00 00 00 00 40 50", POWER_STANDBY },
        { "idle", "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 80 00 00 00 00 00 00 40 50", POWER_ACTIVE },
        { "idle_b", "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 82 00 00 00 00 00 00 40 50", POWER_ACTIVE },
        { "active", "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 ff 00 00 00 00 00 00 40 50", POWER_ACTIVE },
        { "standby, fixed format", "70 00 01 00 50 40 00 0a 00 00 00 00 00 1d 00 00 00 00", POWER_STANDBY },
        { "active, fixed format", "70 00 01 00 50 40 ff 0a 00 00 00 00 00 1d 00 00 00 00", POWER_ACTIVE },
        { "no registers: not standby", NULL, POWER_UNCLEAR },
        { "registers that the bridge did not fill in: not standby", "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 00 00 00 00 00 00 00 00", POWER_UNCLEAR },
        { "registers that the bridge did not fill in, fixed format: not standby", "70 00 01 00 00 00 00 0a 00 00 00 00 00 1d 00 00 00 00", POWER_UNCLEAR },
};
/* clang-format on */

START_TEST(test_power_mode) {
        const Row rows[] = { { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00",
                               .sense = power_modes[_i].sense } };
        Script s = SCRIPT(rows);
        DeviceIO io = script_io(&s);
        Drive disk = drive;
        Device d;

        disk.rotational = true;
        device_init(&d, &disk, &io);
        ck_assert_int_eq(power_probe(&d, BACKEND_ATA), 0);
        ck_assert_msg(d.power == power_modes[_i].mode, "%s", power_modes[_i].name);
        script_done(&s);
}
END_TEST

#define IDENTIFY_CDB "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00"

START_TEST(test_identify) {
        Image good = image_make(true, false, 128, -1), bad = good;
        bad.words[91] ^= htole16(1);
        const Row rows[] = {
                { .cdb = IDENTIFY_CDB, .data = &good, .data_len = sizeof good },
                { .cdb = IDENTIFY_CDB, .data = &bad, .data_len = sizeof bad },
                { .cdb = IDENTIFY_CDB, .data = (const uint8_t[512]){}, .data_len = 512 },
        };
        Script s = SCRIPT(rows);
        DeviceIO io = script_io(&s);
        Device d;

        device_init(&d, &drive, &io);
        ck_assert_int_eq(ata_identify(&d), 0);
        ck_assert_int_eq(ata_identify(&d), 0); /* IDENTIFY is sent only once per device_refresh() */
        ck_assert_uint_eq(d.identify[91] & 0xFF, 128);

        device_refresh(&d);
        ck_assert_int_eq(ata_identify(&d), -EBADMSG);
        ck_assert_int_eq(ata_identify(&d), -EBADMSG); /* a failed IDENTIFY is not repeated before device_refresh() */

        device_refresh(&d);
        ck_assert_int_eq(ata_identify(&d), -EBADMSG);
        script_done(&s);
}
END_TEST

/* IDENTIFY data that is marked as incomplete may lack the serial number, so the visit is deferred: the
 * drive is not treated as replaced (END_VANISHED). */
START_TEST(test_incomplete_identify_is_deferred) {
        static const struct {
                uint16_t general, specific;
                int result;
        } words[] = {
                { 0x0044, 0x37C8, END_DEFERRED },
                { 0x0044, 0x8C73, END_DEFERRED },
                { 0x0040, 0x37C8, 0 },
                { 0x0040, 0xC837, 0 },
                { 0x0044, 0x0000, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(words); i++) {
                Image image = image_make(true, false, 128, -1);
                const Row rows[] = { { .cdb = IDENTIFY_CDB, .data = &image, .data_len = sizeof image } };
                Script s = SCRIPT(rows);
                DeviceIO io = script_io(&s);
                Drive known = drive;
                Device d;

                image.words[0] = htole16(words[i].general);
                image.words[2] = htole16(words[i].specific);
                image_seal(&image);
                known.serial = (char *) (words[i].result == 0 ? "" : "S1");
                known.identified = true;
                device_init(&d, &known, &io);
                ck_assert_int_eq(ata_identify(&d), words[i].result);
                script_done(&s);
        }
}
END_TEST

START_TEST(test_another_serial_is_vanished) {
        Image image = image_make(true, false, 128, -1);
        const Row rows[] = { { .cdb = IDENTIFY_CDB, .data = &image, .data_len = sizeof image },
                             { .cdb = IDENTIFY_CDB, .data = &image, .data_len = sizeof image } };
        Script s = SCRIPT(rows);
        DeviceIO io = script_io(&s);
        Drive other = drive;
        Device d;

        for (size_t i = 10; i < 20; i++)
                image.words[i] = htole16('A' << 8 | 'A');
        image_seal(&image);

        other.serial = (char *) "AAAAAAAAAAAAAAAAAAAB";
        other.identified = true;
        device_init(&d, &other, &io);
        ck_assert_int_eq(ata_identify(&d), END_VANISHED);

        /* If `identified` is false, the drive's serial number does not come from IDENTIFY data. ata_identify() does not
         * compare it with the serial number in the IDENTIFY data. */
        other.identified = false;
        device_init(&d, &other, &io);
        ck_assert_int_eq(ata_identify(&d), 0);
        script_done(&s);
}
END_TEST

#define SCT_STATUS_CDB "85 08 0e 00 d5 00 01 00 e0 00 4f 00 c2 40 b0 00"
#define SCT_COMMAND_CDB "85 0a 26 00 d6 00 01 00 e0 00 4f 00 c2 40 b0 00"

START_TEST(test_sct_erc) {
        static const uint8_t idle[512] = { [0] = 3 }, running[512] = { [0] = 3, [14] = 0xFF, [15] = 0xFF },
                             odd[512] = { [0] = 9 };
        const Row rows[] = {
                { .cdb = SCT_STATUS_CDB, .data = idle, .data_len = 512 },
                { .cdb = SCT_COMMAND_CDB,
                  .out = "03 00 02 00 01 00 00 00",
                  .sense = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 46 00 00 00 4f 00 c2 40 50" },
                { .cdb = SCT_COMMAND_CDB,
                  .out = "03 00 02 00 02 00 00 00",
                  .sense = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 2c 00 01 00 4f 00 c2 40 50" },
                { .cdb = SCT_COMMAND_CDB, .out = "03 00 01 00 01 00 46 00", .sense = GOOD_SENSE },
                /* Two answers without a value. The first answer has the unchanged registers of the command, as from
                 * some bridges. The second answer has no registers. */
                { .cdb = SCT_COMMAND_CDB,
                  .out = "03 00 02 00 01 00 00 00",
                  .sense = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 01 00 e0 00 4f 00 c2 40 50" },
                { .cdb = SCT_COMMAND_CDB, .out = "03 00 02 00 01 00 00 00" },
        };
        const Row busy[] = { { .cdb = SCT_STATUS_CDB, .data = running, .data_len = 512 },
                             { .cdb = SCT_STATUS_CDB, .data = odd, .data_len = 512 } };
        Script s = SCRIPT(rows), t = SCRIPT(busy);
        DeviceIO io = script_io(&s), io_busy = script_io(&t);
        uint16_t limit;
        Device d;

        device_init(&d, &drive, &io);
        ck_assert_int_eq(sct_get(&d, SCT_GET_ERC, 1, &limit), 0);
        ck_assert_uint_eq(limit, 70);
        ck_assert_int_eq(sct_get(&d, SCT_GET_ERC, 2, &limit), 0);
        ck_assert_uint_eq(limit, 300);
        ck_assert_int_eq(sct_command(&d, SCT_SET_ERC, 1, 70, 0, NULL), 0);
        ck_assert_int_eq(sct_get(&d, SCT_GET_ERC, 1, &limit), -ENODATA);
        ck_assert_int_eq(sct_get(&d, SCT_GET_ERC, 1, &limit), -ENODATA);
        script_done(&s);

        device_init(&d, &drive, &io_busy);
        ck_assert_int_eq(sct_get(&d, SCT_GET_ERC, 1, &limit), -EBUSY);
        ck_assert_int_eq(sct_command(&d, SCT_SET_ERC, 1, 70, 0, NULL), -EBADMSG);
        script_done(&t);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("ata");
        TCase *t = tcase_create("ata");

        tcase_add_loop_test(t, test_answer, 0, ELEMENTSOF(answers));
        tcase_add_test(t, test_unit_attention_is_retried);
        tcase_add_loop_test(t, test_power_mode, 0, ELEMENTSOF(power_modes));
        tcase_add_test(t, test_identify);
        tcase_add_test(t, test_incomplete_identify_is_deferred);
        tcase_add_test(t, test_another_serial_is_vanished);
        tcase_add_test(t, test_sct_erc);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
