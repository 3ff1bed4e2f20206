/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Replacement of serial numbers and WWNs in the answers of drives. */

#include <systemd/sd-id128.h>

#include "ata-identify.h"
#include "identify-image.h"
#include "redact.h"
#include "suite.h"

#define SERIAL "WD-WCAZA0707593"

static int machine_id_error;

int sd_id128_get_machine_app_specific(sd_id128_t app, sd_id128_t *ret) {
        for (size_t i = 0; i < sizeof app.bytes; i++)
                ret->bytes[i] = app.bytes[i] * 167 + 41;
        return machine_id_error;
}

static void put_swapped(uint16_t *words, const char *text) {
        for (size_t i = 0; text[i]; i++)
                words[i / 2] = htole16(le16toh(words[i / 2]) | (uint16_t) (text[i] << (i % 2 ? 0 : 8)));
}

static Exchange ata_exchange(uint8_t command, void *data) {
        return (Exchange){ .sg = { .cdb = { 0x85, [14] = command }, .cdb_len = 16 }, .data = data, .data_len = 512 };
}

/* The serial number begins at an odd byte, as on drives of WD. */
static Image identify_make(const char *serial) {
        Image i = image_make(true, true, 128, -1);

        put_swapped(i.words + 10, serial);
        put_swapped(i.words + 129, serial);
        i.words[87] |= htole16(1 << 8);
        for (size_t k = 0; k < 4; k++)
                i.words[108 + k] = htole16(((const uint16_t[]){ 0x5001, 0x4EE2, 0x05A7, 0x1C3D })[k]);
        i.words[200] = 0x1234;
        image_seal(&i);
        return i;
}

START_TEST(test_identify) {
        static const char *const serials[] = { "     " SERIAL, "AB", SERIAL " ", "\x01unprintable" };
        _cleanup_(redact_done) Redaction r = {};
        Image i = identify_make(serials[_i]);
        Exchange x = ata_exchange(0xEC, &i);
        char shown[32] = "";
        DriveIdentity before, after;

        identify_drive(i.words, &before);
        ck_assert_int_eq(redact_learn(&r, &x), 0);
        redact_exchange(&r, &x);
        identify_drive(i.words, &after);

        ck_assert(identify_checksum_ok(i.words));
        ck_assert_uint_eq(strlen(after.serial), strlen(before.serial));
        ck_assert(!before.serial[0] || !streq(after.serial, before.serial));
        ck_assert_int_eq(strncmp(after.wwn, "0x5", 3), 0);
        ck_assert_str_ne(after.wwn, before.wwn);
        ck_assert_uint_eq(i.words[129], 0);
        ck_assert_uint_eq(i.words[200], 0);

        /* udev's texts get the same hashes, so that ata_identify() finds the drive that it expects. */
        (void) strcpy(shown, before.serial);
        redact_text(&r, shown);
        ck_assert_str_eq(shown, after.serial);
        (void) strcpy(shown, before.wwn);
        redact_text(&r, shown);
        ck_assert_str_eq(shown, after.wwn);
}
END_TEST

/* A wrong checksum is a fact about the drive. */
START_TEST(test_wrong_checksum) {
        _cleanup_(redact_done) Redaction r = {};
        Image i = identify_make(SERIAL);
        Exchange x = ata_exchange(0xEC, &i);

        i.words[60] ^= 0x0100;
        ck_assert_int_eq(redact_learn(&r, &x), 0);
        redact_exchange(&r, &x);
        ck_assert(!identify_checksum_ok(i.words));
}
END_TEST

/* udev replaces blanks in a serial number by '_'. */
START_TEST(test_udev_spelling) {
        _cleanup_(redact_done) Redaction r = {};
        char a[] = "S1 AB 2345", b[] = "S1_AB_2345";

        ck_assert_int_eq(redact_add_serial(&r, a), 0);
        redact_text(&r, a);
        redact_text(&r, b);
        ck_assert_str_eq(a, b);
        ck_assert_ptr_null(strstr(a, "AB_2345"));
}
END_TEST

START_TEST(test_nvme) {
        _cleanup_(redact_done) Redaction r = {};
        uint8_t data[4096] = {};
        Exchange x = { .is_nvme = true, .nvme = { .opcode = 6, .cdw10 = 1 }, .data = data, .data_len = sizeof data };
        char wwn[] = "eui.0025385b71b01234", *subsystem = (char *) data + 768;

        memcpy(data + 4, "S4EWNX0M123456      MODEL", 25);
        (void) strcpy(subsystem, "nqn.1994-11.com.samsung:nvme:970:S4EWNX0M123456");
        data[3072] = data[127] = data[263] = 4;
        ck_assert_int_eq(redact_add_wwn(&r, wwn), 0);
        ck_assert_int_eq(redact_learn(&r, &x), 0);
        redact_exchange(&r, &x);
        ck_assert_int_ne(memcmp(data + 4, "S4EWNX0M123456", 14), 0);
        ck_assert_int_eq(memcmp(data + 18, "      MODEL", 11), 0);
        ck_assert(subsystem[0] == 0 && data[3072] == 0 && data[127] == 0 && data[263] == 4);
        redact_text(&r, wwn);
        ck_assert(starts_with(wwn, "eui.0") && !strstr(wwn, "025385b71b0123"));

        /* The kernel's WWN of a drive without EUI64 contains the serial number in hexadecimal digits. */
        char made[] = "nvme.144d-533445574e58304d313233343536-4d4f44454c-00000001";
        ck_assert_int_eq(redact_add_wwn(&r, made), 0);
        redact_text(&r, made);
        ck_assert_ptr_null(strstr(made, "533445"));
}
END_TEST

/* The WWN of each port of a SAS drive differs from the WWN of the drive in its last digit. */
START_TEST(test_ports) {
        _cleanup_(redact_done) Redaction r = {};
        char wwn[] = "0x5000c500a1b2c3d4", serial[] = "5000c500a1b2c3d4";
        uint8_t page[] = { 0x19, 0x50, 0x00, 0xC5, 0x00, 0xA1, 0xB2, 0xC3, 0xD6, 0x77 }, before[sizeof page];
        Exchange x = { .sg = { .cdb = { 0x5A }, .cdb_len = 10 }, .data = page, .data_len = sizeof page };

        memcpy(before, page, sizeof page);
        ck_assert_int_eq(redact_add_wwn(&r, "0x5000c500a1b2c3d4"), 0);
        redact_exchange(&r, &x);
        ck_assert(page[0] == 0x19 && page[1] >> 4 == 5 && (page[8] & 0xF) == 6 && page[9] == 0x77);
        ck_assert_int_ne(memcmp(page + 2, before + 2, 6), 0);

        /* udev's serial number of a SCSI drive consists of the digits of the WWN, and gets the same hash. */
        ck_assert_int_eq(redact_add_serial(&r, serial), 0);
        redact_text(&r, serial);
        redact_text(&r, wwn);
        ck_assert_str_eq(serial, wwn + 2);
        ck_assert_uint_eq(strtoull(serial, NULL, 16) >> 52, (uint64_t) page[1] << 4 | page[2] >> 4);
}
END_TEST

/* clang-format off */
static const struct {
        Exchange command;
        unsigned first_zero, end_zero; /* these bytes become zeros, and no others */
} fields[] = {
        { { .sg = { .cdb = { 0x12, 0, 0, 0, 96 }, .cdb_len = 6 } }, 36, 58 },
        { { .sg = { .cdb = { 0x12, 1, 0xB1, 0, 64 }, .cdb_len = 6 } }, 0, 0 },
        { { .sg = { .cdb = { 0x12, 1, 0x80, 0, 64 }, .cdb_len = 6 } }, 0, 96 },
        { { .sg = { .cdb = { 0x12, 1, 0x83, 0, 64 }, .cdb_len = 6 } }, 0, 96 },
        { { .sg = { .cdb = { 0x28 }, .cdb_len = 10 } }, 0, 96 }, /* READ(10) */
        { { .sg = { .cdb = { 0x4D }, .cdb_len = 10 } }, 0, 0 },
        { { .sg = { .cdb = { 0x85, [14] = 0x24 }, .cdb_len = 16 } }, 0, 96 }, /* READ SECTOR(S) EXT */
        { { .sg = { .cdb = { 0x85, [14] = 0xB1 }, .cdb_len = 16 } }, 0, 0 },  /* DEVICE CONFIGURATION IDENTIFY */
        { { .sg = { .cdb = { 0xA1, [9] = 0xB0 }, .cdb_len = 12 } }, 0, 0 },
        { { .is_nvme = true, .nvme = { .opcode = 2 } }, 0, 0 },
        { { .is_nvme = true, .nvme = { .opcode = 6, .cdw10 = 3 } }, 0, 96 }, /* Namespace Identification Descriptors */
        { { .is_nvme = true, .nvme = { .opcode = 6, .cdw10 = 1 } }, 0, 96 }, /* an incomplete answer */
        { { .is_nvme = true, .nvme = { .opcode = 0xC0 } }, 0, 96 },
};
/* clang-format on */

START_TEST(test_fields) {
        Redaction r = {};
        uint8_t data[96];
        Exchange x = fields[_i].command;

        memset(data, 0x11, sizeof data);
        x.data = data;
        x.data_len = sizeof data;
        redact_exchange(&r, &x);
        for (unsigned i = 0; i < sizeof data; i++)
                ck_assert_msg((data[i] == 0) == (i >= fields[_i].first_zero && i < fields[_i].end_zero), "byte %u", i);
}
END_TEST

/* A serial number ends at its first NUL. The report must not have the bytes after the NUL. */
START_TEST(test_nul_in_serial) {
        static const uint8_t zeros[16] = {};
        uint8_t words[512] = {}, controller[4096] = {};
        Exchange ata = ata_exchange(0xEC, words);
        Exchange nvme = { .is_nvme = true,
                          .nvme = { .opcode = 6, .cdw10 = 1 },
                          .data = controller,
                          .data_len = sizeof controller };
        Exchange *each[] = { &ata, &nvme };

        memcpy(words + 20, "BADC\0\0FEHG2143\0\0\0\0\0\0", 20);
        memcpy(controller + 4, "ABCD\0EFGH1234", 13);
        for (size_t i = 0; i < ELEMENTSOF(each); i++) {
                _cleanup_(redact_done) Redaction r = {};
                uint8_t *serial = each[i]->data + (each[i]->is_nvme ? 4 : 20);

                ck_assert_int_eq(redact_learn(&r, each[i]), 0);
                redact_exchange(&r, each[i]);
                ck_assert_int_eq(memcmp(serial + 4, zeros, sizeof zeros), 0);
        }
}
END_TEST

START_TEST(test_no_machine_id) {
        _cleanup_(redact_done) Redaction r = {};
        Image i = identify_make(SERIAL);
        Exchange x = ata_exchange(0xEC, &i);

        machine_id_error = -ENOENT;
        ck_assert_int_eq(redact_add_serial(&r, SERIAL), -ENOENT);
        ck_assert_int_eq(redact_add_wwn(&r, "0x5000c500a1b2c3d4"), -ENOENT);
        ck_assert_int_eq(redact_learn(&r, &x), -ENOENT);
        machine_id_error = 0;
        ck_assert_int_eq(redact_add_serial(&r, NULL), 0);
        ck_assert_int_eq(redact_add_wwn(&r, NULL), 0);
        ck_assert_uint_eq(r.n_secrets, 0);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("redact");
        TCase *t = tcase_create("redact");

        tcase_add_loop_test(t, test_identify, 0, 4);
        tcase_add_test(t, test_wrong_checksum);
        tcase_add_test(t, test_udev_spelling);
        tcase_add_test(t, test_nvme);
        tcase_add_test(t, test_ports);
        tcase_add_loop_test(t, test_fields, 0, ELEMENTSOF(fields));
        tcase_add_test(t, test_nul_in_serial);
        tcase_add_test(t, test_no_machine_id);
        suite_add_tcase(suite, t);
        return suite_run(suite);
}
