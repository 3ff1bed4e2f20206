/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"
#include "config-dump.h"
#include "suite.h"

/* clang-format off */
static const Remedy by_standby_z = { "use standby_z", { "standby_z", "standby_y" }, 1U << BACKEND_SCSI_MODE };
static const Remedy by_kernel = { "boot another kernel", {}, 0 };

static const Setting rows[] = {
        { .name = "spindown_time", .backend = BACKEND_ATA, .spins_down = true, .remedy = &by_standby_z,
          .range = { .type = VALUE_STANDBY_TIMER, .max = 255, .has_off = true } },
        { .name = "apm", .backend = BACKEND_ATA, .off_without = 1U << BACKEND_ATA, .remedy = &by_standby_z,
          .range = { .type = VALUE_INT, .min = 1, .max = 255, .has_off = true, .off = 255 } },
        { .name = "write_cache", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL } },
        { .name = "standby_z", .backend = BACKEND_SCSI_MODE,
          .range = { .type = VALUE_DURATION, .max = 60000, .has_off = true, .off = 0 } },
        { .name = "standby_y", .backend = BACKEND_SCSI_MODE,
          .range = { .type = VALUE_DURATION, .max = 60000, .has_off = true, .off = 0 } },
        { .name = "sleep", .backend = BACKEND_SCSI_MODE, .flags = SETTING_ABSENT, .remedy = &by_kernel,
          .range = { .type = VALUE_BOOL } },
        { .name = "sleep", .backend = BACKEND_ATA, .remedy = &by_kernel, .range = { .type = VALUE_BOOL } },
        {}
};
static const SettingTable table = { .tables = { rows } };

#define SAS "drives = ({ match = { transport = \"sas\" };\n"
#define KIND(name, how) name " is unsupported by drives of this transport: " how

/* From the rule alone. */
static const struct {
        const char *text;
        Expected complaints[EXPECTED_MAX];
} rules[] = {
        { SAS "spindown_time = \"1h\" });", { { 2, 1, 'w', KIND("spindown_time", "use standby_z") } } },
        { SAS "apm = 127 });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        { SAS "sleep = true });", { { 2, 1, 'w', KIND("sleep", "boot another kernel") } } },
        /* All transports in the match lack the setting, or some have it, or the name is no transport. */
        { "drives = ({ match = { transport = [\"sas\", \"scsi\"] };\napm = 127 });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        { "drives = ({ match = { transport = [\"sas\", \"sata\"] };\napm = 127 });", {} },
        { "drives = ({ match = { transport = [\"sas\", \"pata\"] };\napm = 127 });", {} },
        { "drives = ({ match = { transport = [\"sas\", \"s*\"] };\napm = 127 });", {} },
        { "drives = ({ match = { model = \"X\"; transport = \"sas\" };\napm = 127 });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        { "drives = ({ match = { model = \"X\" };\napm = 127 });", {} },
        { "drives = ({ match = { transport = \"sata\" };\nsleep = true });", {} },
        { "drives = ({ match = { transport = \"nvme\" };\nsleep = true; apm = 127 });", {} },
        /* Nothing can be done. */
        { SAS "write_cache = true });", {} },
        /* Nothing has to be done. */
        { SAS "apm = \"off\" });", {} },
        { SAS "apm = \"keep\" });", {} },
        { SAS "spindown_time = \"off\" });", { { 2, 1, 'w', KIND("spindown_time", "use standby_z") } } },
        { SAS "spindown_time = \"1h\"; spindown_by = \"service\" });", {} },
        { SAS "spindown_time = \"1h\"; spindown_by = \"auto\" });", {} },
        { SAS "apm = 128; spindown_time = \"1h\"; spindown_by = \"auto\" });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        /* The remedy is wanted: here, for more drives, for some of them, on battery. */
        { SAS "apm = 127; standby_z = \"1min\" });", {} },
        { SAS "apm = 127; standby_y = \"1min\" });", {} },
        { SAS "apm = 127 },\n{ match = {}; standby_z = \"1min\" });", {} },
        { SAS "apm = 127 },\n{ match = {}; only_in_raid = true; standby_z = \"1min\" });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        { SAS "only_in_raid = true; apm = 127 },\n{ match = {}; only_in_raid = true; standby_z = \"1min\" });", {} },
        { SAS "apm = 127 },\n{ match = \"/dev/sda\"; standby_z = \"1min\" });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        { SAS "apm = 127; on_battery = { standby_z = \"1min\" } });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        /* A setting in error wants nothing. */
        { SAS "apm = \"x\" });", { { 2, 7, 'e', "apm" } } },
        { SAS "apm = 127; standby_z = 1 1 });", { { 2, 26, 'e', "" } } },
};

#define FOR(name, how) name " is unsupported by /dev/sda: " how

/* For a present drive: all its rules count together. */
static const struct {
        const char *text;
        Transport transport;
        Expected complaints[EXPECTED_MAX];
} present[] = {
        { "drives = ({ match = {}; apm = 127 });", TRANSPORT_SAS, { { 1, 25, 'w', FOR("apm", "use standby_z") } } },
        { "drives = ({ match = {}; apm = 127 });", TRANSPORT_SATA, {} },
        { "drives = ({ match = {}; apm = 127 });", TRANSPORT_NVME, {} },
        { "drives = ({ match = {}; sleep = true });", TRANSPORT_SAS, { { 1, 25, 'w', FOR("sleep", "boot another kernel") } } },
        { "drives = ({ match = {}; write_cache = true });", TRANSPORT_SAS, {} },
        { "drives = ({ match = {}; apm = \"off\" });", TRANSPORT_SAS, {} },
        { "drives = ({ match = {}; apm = \"x\" });", TRANSPORT_SAS, { { 1, 31, 'e', "apm" } } },
        { "drives = ({ match = {}; spindown_time = \"1h\"; spindown_by = \"auto\" });", TRANSPORT_SAS, {} },
        { "drives = ({ match = {}; spindown_time = \"1h\" });", TRANSPORT_SAS, { { 1, 25, 'w', FOR("spindown_time", "use standby_z") } } },
        { "drives = ({ match = {}; apm = 127 },\n{ match = \"/dev/sda\"; standby_y = \"1min\" });", TRANSPORT_SAS, {} },
        { "drives = ({ match = {}; apm = 127 },\n{ match = \"/dev/sdb\"; standby_y = \"1min\" });", TRANSPORT_SAS, { { 1, 25, 'w', FOR("apm", "use standby_z") } } },
        { "drives = ({ match = {}; apm = 127 },\n{ match = \"/dev/sda\"; standby_y = \"x\" });", TRANSPORT_SAS,
          { { 1, 25, 'w', FOR("apm", "use standby_z") }, { 2, 35, 'e', "standby_y" } } },
        /* The rule alone has a warning already. */
        { SAS "apm = 127 });", TRANSPORT_SAS, { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
};
/* clang-format on */

static Config *check(const char *text) {
        Config *c;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &table, "f", text, strlen(text)), 0);
        ck_assert_int_eq(config_check(c, &table), 0);
        return c;
}

START_TEST(test_rules) {
        _cleanup_(config_freep) Config *c = check(rules[_i].text);

        assert_complaints(&c->complaints, rules[_i].complaints);
}
END_TEST

START_TEST(test_present) {
        const Drive d = { .name = (char *) "sda",
                          .node = (char *) "/dev/sda",
                          .syspath = (char *) "/sys/devices/sda",
                          .transport = present[_i].transport,
                          .ata = present[_i].transport == TRANSPORT_SATA };
        _cleanup_(config_freep) Config *c = check(present[_i].text);

        /* Another drive of the same rule: once is enough. */
        ck_assert_int_eq(config_check_drive(c, &table, &d), 0);
        ck_assert_int_eq(config_check_drive(c, &table, &d), 0);
        assert_complaints(&c->complaints, present[_i].complaints);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("config-kind");
        TCase *tc = tcase_create("config-kind");

        tcase_add_loop_test(tc, test_rules, 0, ELEMENTSOF(rules));
        tcase_add_loop_test(tc, test_present, 0, ELEMENTSOF(present));
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
