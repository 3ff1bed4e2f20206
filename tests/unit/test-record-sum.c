/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The line that sums up the results of several drives. */

#include "record-sum.h"
#include "suite.h"

#define SETTING(i, fields) "SETTING_" i "_NAME=s" i "\n" fields
#define VERDICT(i, v) SETTING(i, "SETTING_" i "_VERDICT=" v "\n")
#define DRIVE(fields) "VERSION=1\nNAME=sda\n" fields
#define STANDBY(wanted, actual, verdict)                                                                               \
        "SETTING_0_NAME=standby\nSETTING_0_WANTED=" wanted "\nSETTING_0_ACTUAL=" actual "\nSETTING_0_VERDICT=" verdict \
        "\n"
#define STATE(s) DRIVE("STATE=" s "\n")

/* clang-format off */
static const struct {
        const char *records[4];
        size_t n_missed, n_absent;
        const char *line, *settings;
} rows[] = {
        { {}, 0, 0, "0 drives, 0 settings kept", "none" },
        { { DRIVE("") }, 0, 0, "1 drive, 0 settings kept", "none" },
        { { DRIVE("SETTINGS=1\n" VERDICT("0", "applied")) }, 0, 0, "1 drive, 1 setting kept", "1 kept" },
        { { DRIVE("SETTINGS=3\n" VERDICT("0", "applied") VERDICT("1", "unchanged") VERDICT("2", "unverifiable")) }, 0, 0,
          "1 drive, 3 settings kept", "3 kept" },
        { { DRIVE("SETTINGS=2\n" VERDICT("0", "refused") VERDICT("1", "ignored")), DRIVE("SETTINGS=1\n" VERDICT("0", "refused")) }, 3, 0,
          "2 drives, 0 settings kept, 1 ignored, 2 refused", "1 ignored, 2 refused" },
        /* A setting without a verdict counts as pending. */
        { { DRIVE("SETTINGS=2\n" VERDICT("0", "applied") SETTING("1", "")) }, 1, 0, "1 drive, 1 setting kept, 1 pending",
          "1 kept, 1 pending" },
        /* An unsupported setting is not counted if it is optional, i.e. if its rule is for a class of drives. */
        { { DRIVE("SETTINGS=1\n" VERDICT("0", "unsupported") "SETTING_0_OPTIONAL=1\n") }, 0, 1, "1 drive, 0 settings kept", "none" },
        { { DRIVE("SETTINGS=1\n" VERDICT("0", "unsupported")) }, 1, 0, "1 drive, 0 settings kept, 1 unsupported", "1 unsupported" },
        /* An active drive is not kept in standby, whatever the verdict on the command. */
        { { DRIVE("SETTINGS=1\n" STANDBY("resume", "on", "applied")) }, 0, 0, "1 drive, 1 setting kept", "1 kept" },
        { { DRIVE("SETTINGS=1\n" STANDBY("resume", "off", "applied")) }, 0, 0, "1 drive, 0 settings kept", "none" },
        { { DRIVE("POWER=active/idle\nSETTINGS=1\n" STANDBY("on", "on", "unchanged")) }, 0, 0, "1 drive, 0 settings kept", "none" },
        { { DRIVE("POWER=standby\nSETTINGS=1\n" STANDBY("on", "on", "unchanged")) }, 0, 0, "1 drive, 1 setting kept", "1 kept" },
        { { DRIVE("POWER=active/idle\nSETTINGS=1\n" STANDBY("off", "off", "unchanged")) }, 0, 0, "1 drive, 1 setting kept", "1 kept" },
        { { DRIVE("POWER=active/idle\nSETTINGS=1\n" STANDBY("on", "off", "refused")) }, 1, 0, "1 drive, 0 settings kept, 1 refused", "1 refused" },
        { { STATE("queued"), STATE("visiting"), STATE("idle") }, 0, 0, "3 drives, 0 settings kept; 2 being visited", "none" },
        { { STATE("waiting") }, 0, 0, "1 drive, 0 settings kept; 1 waiting", "none" },
        { { STATE("waiting"), STATE("queued"), DRIVE("SETTINGS=1\n" VERDICT("0", "failed")) }, 1, 0,
          "3 drives, 0 settings kept, 1 failed; 1 being visited; 1 waiting", "1 failed" },
};
/* clang-format on */

START_TEST(test_sum) {
        char line[RECORD_SUM_MAX], settings[RECORD_SUM_MAX];
        RecordSum sum = {};

        for (const char *const *text = rows[_i].records; *text; text++) {
                _cleanup_(drive_record_freep) DriveRecord *r = NULL;

                ck_assert_int_eq(drive_record_parse(*text, strlen(*text), &r), 0);
                record_sum_add(&sum, r);
        }
        ck_assert_str_eq(record_sum_format(&sum, line), rows[_i].line);
        ck_assert_str_eq(record_sum_format_settings(&sum, settings), rows[_i].settings);
        ck_assert_uint_eq(record_sum_missed(&sum), rows[_i].n_missed);
        ck_assert_uint_eq(sum.n_absent, rows[_i].n_absent);
}
END_TEST

/* The buffer is large enough for the largest counts. */
START_TEST(test_largest) {
        char line[RECORD_SUM_MAX], settings[RECORD_SUM_MAX];
        RecordSum sum;

        memset(&sum, 0xff, sizeof sum);
        ck_assert(ends_with(record_sum_format(&sum, line), "; 18446744073709551615 waiting"));
        ck_assert(ends_with(record_sum_format_settings(&sum, settings), ", 18446744073709551615 pending"));
}
END_TEST

int main(void) {
        Suite *s = suite_create("record-sum");
        TCase *t = tcase_create("record-sum");

        tcase_add_loop_test(t, test_sum, 0, ELEMENTSOF(rows));
        tcase_add_test(t, test_largest);
        suite_add_tcase(s, t);
        return suite_run(s);
}
