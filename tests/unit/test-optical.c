/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Settings of optical drives: the commands that each setting sends, and its verdict. */

#include "ata.h"
#include "power-mode.h"
#include "script.h"
#include "settings.h"
#include "suite.h"
#include "visit.h"

/* clang-format off */
#define STREAMING "b6 00 00 00 00 00 00 00 00 00 1c 00"
#define EIGHT "00 00 00 00 00 00 00 00 ff ff ff ff 00 00 05 88 00 00 03 e8 00 00 05 88 00 00 03 e8"
#define USUAL "04 00 00 00 00 00 00 00 ff ff ff ff 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
#define NO_SUCH_COMMAND "70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 00 00 00"
#define NO_DISC "70 00 02 00 00 00 00 0a 00 00 00 00 3a 00 00 00 00 00"
#define ATTENTION "70 00 06 00 00 00 00 0a 00 00 00 00 28 00 00 00 00 00"

typedef struct Case {
        const char *name, *key;
        int64_t value;
        Verdict verdict;
        const Row *rows;
        Memory memory;
} Case;

#define ROWS(...) (const Row[]){ __VA_ARGS__, {} }

static const Case cases[] = {
        { "both commands are sent", "cd_speed", 8, VERDICT_UNVERIFIABLE,
          ROWS({ .cdb = STREAMING, .out = EIGHT }, { .cdb = "bb 00 05 88 ff ff 00 00 00 00 00 00" }) },
        { "default speed", "cd_speed", 0, VERDICT_UNVERIFIABLE,
          ROWS({ .cdb = STREAMING, .out = USUAL }, { .cdb = "bb 00 ff ff ff ff 00 00 00 00 00 00" }) },
        { "drive that supports only SET CD SPEED", "cd_speed", 8, VERDICT_UNVERIFIABLE,
          ROWS({ .cdb = STREAMING, .out = EIGHT, .sense = NO_SUCH_COMMAND }, { .cdb = "bb 00 05 88 ff ff 00 00 00 00 00 00" }) },
        { "drive that supports only SET STREAMING, after a change of disc", "cd_speed", 8, VERDICT_UNVERIFIABLE,
          ROWS({ .cdb = STREAMING, .out = EIGHT, .sense = ATTENTION }, { .cdb = STREAMING, .out = EIGHT },
               { .cdb = "bb 00 05 88 ff ff 00 00 00 00 00 00", .sense = NO_SUCH_COMMAND }) },
        { "neither", "cd_speed", 8, VERDICT_REFUSED,
          ROWS({ .cdb = STREAMING, .out = EIGHT, .sense = NO_DISC }, { .cdb = "bb 00 05 88 ff ff 00 00 00 00 00 00", .sense = NO_SUCH_COMMAND }) },
        { "gone", "cd_speed", 8, VERDICT_VANISHED, ROWS({ .cdb = STREAMING, .out = EIGHT, .host_status = 1 }) },
        { "speed that was sent before", "cd_speed", 8, VERDICT_UNVERIFIABLE, .memory = { .sent = { true, 8 } } },
        { "settings of hard disks are unsupported", "apm", 127, VERDICT_UNSUPPORTED },
        { "the kernel's queue settings are unsupported", "read_ahead_kb", 65536, VERDICT_UNSUPPORTED },
        { "the kernel's timeout is unsupported", "timeout", 60000, VERDICT_UNSUPPORTED },
};
/* clang-format on */

/* Like most optical drives, this drive is at an AHCI controller, which would send ATA commands to the drive. */
static const Drive drive = { .name = (char *) "sr0",
                             .node = (char *) "/dev/sr0",
                             .syspath = (char *) "/nonexistent",
                             .transport = TRANSPORT_SATA,
                             .removable = true,
                             .ata = true,
                             .optical = true };

START_TEST(test_row) {
        const Case *c = cases + _i;
        Script script = { .rows = c->rows };
        DeviceIO io = script_io(&script);
        const Setting *s = setting_find(&all_settings, c->key);
        Wish wish = { .name = c->key, .value = { .type = s->range.type, .number = c->value }, .file = "f", .line = 1 };
        Wishes wishes = { .items = &wish, .n_items = 1 };
        Visit v = { .drive = &drive,
                    .wishes = &wishes,
                    .memories = &c->memory,
                    .settings = &all_settings,
                    .io = &io,
                    .work = WORK_APPLY };
        Plan p;

        for (const Row *row = c->rows; row && row->cdb; row++)
                script.n_rows++;

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_msg(p.steps[0].verdict == c->verdict, "%s: %s (%s)", c->name, verdict_to_string(p.steps[0].verdict),
                      p.steps[0].reason);
        script_done(&script);
        plan_done(&p);
}
END_TEST

/* No caller may send ATA commands to an optical drive. */
START_TEST(test_no_ata) {
        Script script = {};
        DeviceIO io = script_io(&script);
        Device d;

        device_init(&d, &drive, &io);
        ck_assert_int_eq(ata_identify(&d), END_FORBIDDEN);
        ck_assert_int_eq(ata_command(&d, &(Taskfile){ .command = ATA_CMD_STANDBY }, NULL), END_FORBIDDEN);
        ck_assert_int_eq(power_probe(&d, BACKEND_ATA), END_FORBIDDEN);
        device_done(&d);
        ck_assert_uint_eq(drive_backends(&drive), 1U << BACKEND_OPTICAL);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("optical");
        TCase *t = tcase_create("optical");

        tcase_add_loop_test(t, test_row, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_no_ata);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
