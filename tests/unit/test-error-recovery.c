/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Error recovery, and the longer kernel timeout for drives without error recovery. A script replaces the drive. A test
 * directory replaces sysfs, which contains the kernel's timeout. */

#include "identify-image.h"
#include "script.h"
#include "settings.h"
#include "suite.h"
#include "sysfs-tree.h"
#include "visit.h"

static Image with, without;
static const uint8_t sct_idle[512] = { [0] = 3 };

/* clang-format off */
#define GOOD "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 ff 00 00 00 00 00 00 40 50"
#define ABORTED "72 0b 00 00 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 40 51"
#define ACTIVE { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", .sense = GOOD }
#define ID(image) { .cdb = "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00", .data = &(image), .data_len = 512 }
#define STATUS { .cdb = "85 08 0e 00 d5 00 01 00 e0 00 4f 00 c2 40 b0 00", .data = sct_idle, .data_len = 512 }
#define SCT "85 0a 26 00 d6 00 01 00 e0 00 4f 00 c2 40 b0 00"
#define SET(which, answer) { .cdb = SCT, .out = "03 00 01 00 " which " 00 46 00", .sense = answer }
#define GET(which, tenths) { .cdb = SCT, .out = "03 00 02 00 " which " 00 00 00", \
                             .sense = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 " tenths " 00 00 00 4f 00 c2 40 50" }
#define READING "01"
#define WRITING "02"
#define ROWS(...) (const Row[]){ __VA_ARGS__, {} }

static const struct {
        const char *name;
        struct {
                const char *key;
                int64_t ms;
                Verdict verdict;
        } wishes[3]; /* wanted settings in addition to error_recovery_fallback_timeout = 180 s */
        const char *before, *after; /* the kernel's timeout before and after the visit, in seconds */
        Verdict verdict; /* expected verdict of error_recovery_fallback_timeout */
        const Row *rows;
        bool last; /* error_recovery_fallback_timeout is the last wanted setting, not the first */
} cases[] = {
        { "drive with error recovery", { { "error_recovery", 7000, VERDICT_APPLIED } }, "30", "30", VERDICT_UNCHANGED,
          ROWS(ACTIVE, ID(with), STATUS, GET(READING, "00"), GET(WRITING, "00"), SET(READING, GOOD), SET(WRITING, GOOD), ID(with),
               GET(READING, "46"), GET(WRITING, "46")) },
        { "drive without error recovery", { { "error_recovery", 7000, VERDICT_UNSUPPORTED } }, "30", "180", VERDICT_APPLIED,
          ROWS(ACTIVE, ID(without)) },
        { "error recovery off on a drive without it", { { "error_recovery", 0, VERDICT_UNCHANGED } }, "30", "180", VERDICT_APPLIED,
          ROWS(ACTIVE, ID(without)) },
        { "drive that rejects the limit", { { "error_recovery", 7000, VERDICT_REFUSED } }, "30", "180", VERDICT_APPLIED,
          ROWS(ACTIVE, ID(with), STATUS, GET(READING, "00"), GET(WRITING, "00"), SET(READING, ABORTED), ID(with),
               GET(READING, "00"), GET(WRITING, "00")) },
        { "error recovery off on a drive with it", { { "error_recovery", 0, VERDICT_UNCHANGED } }, "30", "180", VERDICT_APPLIED,
          ROWS(ACTIVE, ID(with), STATUS, GET(READING, "00"), GET(WRITING, "00")) },
        { "longer timeout is kept", { { "error_recovery", 7000, VERDICT_UNSUPPORTED } }, "300", "300", VERDICT_UNCHANGED,
          ROWS(ACTIVE, ID(without)) },
        { "fallback without a wish for error recovery", {}, "30", "180", VERDICT_APPLIED, NULL },
        /* timeout, io_timeout and error_recovery_fallback_timeout set the same timeout of the kernel, so the last of
         * these settings wins. A fallback that is not needed is ignored. */
        { "timeout", { { "timeout", 60000, VERDICT_FORBIDDEN } }, "30", "180", VERDICT_APPLIED, NULL, .last = true },
        { "later timeout excludes the fallback", { { "timeout", 60000, VERDICT_APPLIED } }, "30", "60", VERDICT_FORBIDDEN, NULL },
        { "later fallback that is not needed", { { "error_recovery", 7000, VERDICT_UNCHANGED }, { "timeout", 60000, VERDICT_APPLIED } },
          "30", "60", VERDICT_UNCHANGED, ROWS(ACTIVE, ID(with), STATUS, GET(READING, "46"), GET(WRITING, "46")), .last = true },
        { "io_timeout", { { "io_timeout", 60000, VERDICT_FORBIDDEN } }, "30", "180", VERDICT_APPLIED, NULL, .last = true },
        { "later fallback excludes timeout and io_timeout", { { "io_timeout", 60000, VERDICT_FORBIDDEN }, { "timeout", 60000, VERDICT_FORBIDDEN } }, "30", "180", VERDICT_APPLIED, NULL, .last = true },

        /* error_recovery excludes error_recovery_read and error_recovery_write. The fallback is unnecessary only if
         * error_recovery_read and error_recovery_write are both in force. */
        { "both halves are in force", { { "error_recovery_read", 7000, VERDICT_UNCHANGED }, { "error_recovery_write", 7000, VERDICT_UNCHANGED } },
          "30", "30", VERDICT_UNCHANGED,
          ROWS(ACTIVE, ID(with), STATUS, GET(READING, "46"), GET(WRITING, "46")) },
        { "one half is rejected", { { "error_recovery_read", 7000, VERDICT_UNCHANGED }, { "error_recovery_write", 7000, VERDICT_REFUSED } },
          "30", "180", VERDICT_APPLIED,
          ROWS(ACTIVE, ID(with), STATUS, GET(READING, "46"), GET(WRITING, "00"), SET(WRITING, ABORTED), ID(with), GET(WRITING, "00")) },
        { "later half that is off excludes error_recovery", { { "error_recovery", 7000, VERDICT_FORBIDDEN }, { "error_recovery_read", 0, VERDICT_UNCHANGED } },
          "30", "180", VERDICT_APPLIED,
          ROWS(ACTIVE, ID(with), STATUS, GET(READING, "00"), GET(WRITING, "00"), GET(READING, "00")) },
        { "later error_recovery excludes a half", { { "error_recovery_read", 0, VERDICT_FORBIDDEN }, { "error_recovery", 7000, VERDICT_UNCHANGED } },
          "30", "30", VERDICT_UNCHANGED,
          ROWS(ACTIVE, ID(with), STATUS, GET(READING, "46"), GET(WRITING, "46"), GET(READING, "46")) },
};
/* clang-format on */

START_TEST(test_fallback) {
        Drive d = { .name = (char *) "sda",
                    .node = (char *) "/dev/sda",
                    .transport = TRANSPORT_SATA,
                    .rotational = true,
                    .ata = true };
        Script script = { .rows = cases[_i].rows };
        DeviceIO io = script_io(&script);
        const Wish fallback = { .name = "error_recovery_fallback_timeout",
                                .value = { .type = VALUE_DURATION, .number = 180000 },
                                .file = "f",
                                .line = 1 };
        Wish wishes[4] = {};
        Wishes w = { .items = wishes };
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY };
        Plan p;

        for (const Row *row = cases[_i].rows; row && row->cdb; row++)
                script.n_rows++;
        if (!cases[_i].last)
                wishes[w.n_items++] = fallback;
        for (size_t i = 0; i < 3 && cases[_i].wishes[i].key; i++)
                wishes[w.n_items++] = (Wish){ .name = cases[_i].wishes[i].key,
                                              .value = { .type = VALUE_DURATION, .number = cases[_i].wishes[i].ms },
                                              .file = "f",
                                              .line = 1 };
        if (cases[_i].last)
                wishes[w.n_items++] = fallback;

        make_tree(&d);
        put("device/timeout", cases[_i].before);
        put("queue/io_timeout", "30000");
        ck_assert_int_eq(visit_run(&v, &p), 0);
        for (size_t i = 0; i < p.n_steps; i++) {
                size_t k = (size_t) (p.steps[i].wish - wishes) - !cases[_i].last;
                Verdict expected = streq(p.steps[i].wish->name, fallback.name) ? cases[_i].verdict
                                                                               : cases[_i].wishes[k].verdict;

                ck_assert_msg(p.steps[i].verdict == expected, "%s: %s: expected %s, got %s (%s)", cases[_i].name,
                              p.steps[i].wish->name, verdict_to_string(expected), verdict_to_string(p.steps[i].verdict),
                              p.steps[i].reason);
        }
        check_text("device/timeout", cases[_i].after);
        script_done(&script);
        plan_done(&p);
        drop_tree(&d);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("error-recovery");
        TCase *t = tcase_create("error-recovery");

        with = image_make(true, true, -1, -1);
        with.words[206] |= htole16(1 << 0 | 1 << 3);
        image_seal(&with);
        without = with;
        without.words[206] = 0;
        image_seal(&without);

        tcase_add_loop_test(t, test_fallback, 0, ELEMENTSOF(cases));
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
