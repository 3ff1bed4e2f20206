/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "record.h"
#include "suite.h"

static const char good[] = "VERSION=1\n"
                           "NAME=sda\n"
                           "NODE=/dev/sda\n"
                           "MODEL=ST2000DL003-9VT166\n"
                           "SERIAL=5YD\\x1b[31m\\x5c\\xff\n"
                           "WWN=0x5000c5002f8ebf71\n"
                           "FIRMWARE=CC32\n"
                           "TRANSPORT=sata\n"
                           "IDENTITY=wwn\n"
                           "SIZE=2000398934016\n"
                           "DISKSEQ=18446744073709551615\n"
                           "BOOT_ID=2f1e9f3ab0d64b3f8f1a2e3d4c5b6a79\n"
                           "STATE=waiting\n"
                           "WAITING_FOR=systemd-fsck@dev-disk-by\\x5cx2dlabel-data.service\n"
                           "VISIT_REASON=boot\n"
                           "SETTINGS=2\n"
                           "SETTING_0_NAME=apm\n"
                           "SETTING_0_WANTED=128\n"
                           "SETTING_0_BEFORE=off\n"
                           "SETTING_0_ACTUAL=128\n"
                           "SETTING_0_VERDICT=applied\n"
                           "SETTING_0_RULE=/etc/drivekeep/drivekeep.conf:12\n"
                           "SETTING_0_WHEN=1763692751123456\n"
                           "SETTING_1_NAME=spindown_time\n"
                           "SETTING_1_WANTED=20 min\n"
                           "SETTING_1_VERDICT=unverifiable\n"
                           "SETTING_1_REASON=accepted; it cannot be read back\n"
                           "SETTING_1_SENT=1\n"
                           "SETTING_1_SENT_VALUE=-9223372036854775808\n"
                           "SETTING_1_SETTLED=1\n"
                           "SETTING_1_SETTLED_VALUE=9223372036854775807\n";

START_TEST(test_parse) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;

        ck_assert_int_eq(drive_record_parse(good, strlen(good), &r), 0);
        ck_assert_str_eq(r->name, "sda");
        ck_assert_str_eq(r->serial, "5YD\x1b[31m\\\xff");
        ck_assert_str_eq(r->waiting_for, "systemd-fsck@dev-disk-by\\x2dlabel-data.service");
        ck_assert_int_eq(r->state, DRIVE_WAITING);
        ck_assert_uint_eq(r->size, UINT64_C(2000398934016));
        ck_assert_uint_eq(r->diskseq, UINT64_MAX);
        ck_assert_uint_eq(r->n_settings, 2);
        ck_assert_str_eq(r->settings[0].before, "off");
        ck_assert_int_eq(r->settings[0].verdict, VERDICT_APPLIED);
        ck_assert_uint_eq(r->settings[0].when, UINT64_C(1763692751123456));
        ck_assert_ptr_null(r->settings[0].reason);
        ck_assert(!r->settings[0].sent);
        ck_assert(r->settings[1].sent);
        ck_assert_int_eq(r->settings[1].sent_value, INT64_MIN);
        ck_assert_ptr_null(r->settings[1].actual);
}
END_TEST

START_TEST(test_serialize) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(drive_record_parse(good, strlen(good), &r), 0);
        ck_assert_int_eq(drive_record_serialize(r, &text), 0);
        ck_assert_str_eq(text, good);
}
END_TEST

/* Absent and empty are two things, and both survive. */
START_TEST(test_round_trip_sparse) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL, *again = NULL;
        _cleanup_free_ char *text = NULL;
        SettingRecord *s;

        r = calloc(1, sizeof *r);
        r->name = strdup("line\nNAME=sdb\n");
        r->model = strdup("");
        ck_assert_int_eq(drive_record_add(r, "apm", &s), 0);
        s->reason = strdup("=\r\n\\");

        ck_assert_int_eq(drive_record_serialize(r, &text), 0);
        ck_assert_int_eq(drive_record_parse(text, strlen(text), &again), 0);
        ck_assert_str_eq(again->name, r->name);
        ck_assert_str_eq(again->model, "");
        ck_assert_ptr_null(again->serial);
        ck_assert_int_eq(again->state, DRIVE_IDLE);
        ck_assert_uint_eq(again->n_settings, 1);
        ck_assert_str_eq(again->settings[0].reason, s->reason);
        ck_assert_int_eq(again->settings[0].verdict, _VERDICT_INVALID);
}
END_TEST

START_TEST(test_add_and_find) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;
        SettingRecord *s, *again;

        r = calloc(1, sizeof *r);
        r->name = strdup("sda");
        ck_assert_ptr_null(drive_record_find(r, "apm"));

        for (unsigned i = 0; i < RECORD_MAX_SETTINGS; i++) {
                char name[16];

                (void) snprintf(name, sizeof name, "s%u", i);
                ck_assert_int_eq(drive_record_add(r, name, &s), 0);
        }

        ck_assert_int_eq(drive_record_add(r, "s255", &again), 0);
        ck_assert_ptr_eq(again, s);
        ck_assert_ptr_eq(drive_record_find(r, "s255"), s);
        ck_assert_int_eq(drive_record_add(r, "one_too_many", &s), -E2BIG);
}
END_TEST

START_TEST(test_serialize_too_big) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;
        char *text;

        r = calloc(1, sizeof *r);
        r->name = malloc(RECORD_MAX_BYTES);
        memset(r->name, 'x', RECORD_MAX_BYTES - 1);
        r->name[RECORD_MAX_BYTES - 1] = '\0';
        ck_assert_int_eq(drive_record_serialize(r, &text), -E2BIG);
}
END_TEST

#define HEAD "VERSION=1\nNAME=sda\n"

static const char *const bad[] = {
        "",
        "VERSION=1\n", /* no name */
        "NAME=sda\n",  /* no version */
        "VERSION=2\nNAME=sda\n",
        "VERSION=01\nNAME=sda\n",
        "VERSION=1\nNAME=sda", /* cut short */
        HEAD "\n",
        HEAD "words\n",
        HEAD "MODEL=a\\b\n",
        HEAD "SIZE=\n",
        HEAD "SIZE=+1\n",
        HEAD "SIZE=-1\n",
        HEAD "SIZE= 1\n",
        HEAD "SIZE=1 \n",
        HEAD "SIZE=0x10\n",
        HEAD "SIZE=18446744073709551616\n",
        HEAD "STATE=asleep\n",
        HEAD "SETTINGS=257\n",
        HEAD "SETTINGS=-1\n",
        HEAD "SETTINGS=1\nSETTINGS=1\nSETTING_0_NAME=apm\n",
        HEAD "SETTINGS=1\n",         /* the setting is missing */
        HEAD "SETTING_0_NAME=apm\n", /* before their number */
        HEAD "SETTINGS=1\nSETTING_1_NAME=apm\n",
        HEAD "SETTINGS=1\nSETTING__NAME=apm\n",
        HEAD "SETTINGS=1\nSETTING_0=apm\n",
        HEAD "SETTINGS=1\nSETTING_-0_NAME=apm\n",
        HEAD "SETTINGS=1\nSETTING_99999999999999999999_NAME=apm\n",
        HEAD "SETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_VERDICT=fine\n",
        HEAD "SETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_SENT=yes\n",
        HEAD "SETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_SENT_VALUE=9223372036854775808\n",
        HEAD "SETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_SENT_VALUE=--1\n",
        HEAD "SETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_WHEN=253402300800000000\n", /* the year 10000 */
};

START_TEST(test_bad) {
        DriveRecord *r;

        ck_assert_int_eq(drive_record_parse(bad[_i], strlen(bad[_i]), &r), -EBADMSG);
}
END_TEST

START_TEST(test_bad_bytes) {
        _cleanup_free_ char *big = NULL;
        DriveRecord *r;

        ck_assert_int_eq(drive_record_parse(HEAD "MODEL=\0\n", sizeof HEAD "MODEL=\0\n" - 1, &r), -EBADMSG);

        big = malloc(RECORD_MAX_BYTES + 1);
        memset(big, '\n', RECORD_MAX_BYTES + 1);
        memcpy(big, HEAD, strlen(HEAD));
        ck_assert_int_eq(drive_record_parse(big, RECORD_MAX_BYTES + 1, &r), -EBADMSG);
}
END_TEST

START_TEST(test_unknown_keys_are_skipped) {
        static const char later[] = HEAD "COLOUR=red\nSETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_MOOD=good\n"
                                         "SETTING_0_NAME=acoustic_management\n";
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;

        ck_assert_int_eq(drive_record_parse(later, strlen(later), &r), 0);
        ck_assert_str_eq(r->settings[0].name, "acoustic_management");
}
END_TEST

/* Parses from a copy of just that size, so that ASan sees a read behind the end; what is accepted must survive. */
static void parse_hostile(const char *text, size_t size) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL, *again = NULL;
        _cleanup_free_ char *copy = NULL, *written = NULL;

        copy = malloc(MAX(size, 1U));
        memcpy(copy, text, size);

        if (drive_record_parse(copy, size, &r) < 0) {
                ck_assert_ptr_null(r);
                return;
        }

        ck_assert_int_eq(drive_record_serialize(r, &written), 0);
        ck_assert_int_eq(drive_record_parse(written, strlen(written), &again), 0);
        ck_assert_uint_eq(again->n_settings, r->n_settings);
}

START_TEST(test_truncated) {
        for (size_t n = 0; n < sizeof good; n++)
                parse_hostile(good, n);
}
END_TEST

/* The seed is the loop's number, so that a failure can be repeated. */
START_TEST(test_mutated) {
        static const char interesting[] = "\0\n=_\\x0129-\xff\x80 SNV";
        uint32_t random = (uint32_t) _i * 2654435761U + 1;

        for (unsigned round = 0; round < 500; round++) {
                char text[sizeof good];
                unsigned n;

                memcpy(text, good, sizeof good);
                random = random * 1664525U + 1013904223U;
                n = 1 + (random >> 24) % 8;

                for (unsigned i = 0; i < n; i++) {
                        size_t at;

                        random = random * 1664525U + 1013904223U;
                        at = (random >> 8) % (sizeof good - 1);
                        random = random * 1664525U + 1013904223U;
                        text[at] = random & 0x80000000U ? interesting[(random >> 8) % (sizeof interesting - 1)]
                                                        : (char) (random >> 8);
                }

                parse_hostile(text, sizeof good - 1);
        }
}
END_TEST

START_TEST(test_states) {
        for (DriveState s = 0; s < _DRIVE_STATE_MAX; s++)
                ck_assert_int_eq(drive_state_from_string(drive_state_to_string(s)), s);

        ck_assert_int_eq(drive_state_from_string("asleep"), _DRIVE_STATE_INVALID);
        ck_assert_ptr_null(drive_state_to_string(_DRIVE_STATE_MAX));
        ck_assert_ptr_null(drive_state_to_string(_DRIVE_STATE_INVALID));
}
END_TEST

int main(void) {
        Suite *s = suite_create("record");
        TCase *t = tcase_create("record");

        tcase_add_test(t, test_parse);
        tcase_add_test(t, test_serialize);
        tcase_add_test(t, test_round_trip_sparse);
        tcase_add_test(t, test_add_and_find);
        tcase_add_test(t, test_serialize_too_big);
        tcase_add_loop_test(t, test_bad, 0, ELEMENTSOF(bad));
        tcase_add_test(t, test_bad_bytes);
        tcase_add_test(t, test_unknown_keys_are_skipped);
        tcase_add_test(t, test_truncated);
        tcase_add_loop_test(t, test_mutated, 0, 20);
        tcase_add_test(t, test_states);
        suite_add_tcase(s, t);

        return suite_run(s);
}
