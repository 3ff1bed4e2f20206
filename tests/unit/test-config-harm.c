/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"
#include "config-dump.h"
#include "suite.h"

/* clang-format off */
static const Setting harmful[] = {
        { .name = "timeout", .backend = BACKEND_SCSI, .range = { .type = VALUE_DURATION, .min = 1000, .max = 600000, .step = 1000 },
          .harm = &(const Harm) { 0, 19999, HARM_ROTATIONAL, "it spins up" } },
        { .name = "error_recovery", .backend = BACKEND_ATA,
          .range = { .type = VALUE_DURATION, .min = 100, .max = 6553400, .step = 100, .has_off = true, .off = 0 },
          .harm = &(const Harm) { 0, 0, HARM_MEMBER, "it is thrown out" } },
        { .name = "reallocate", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL },
          .harm = &(const Harm) { 0, 0, HARM_ANY, "writes fail" } },
        { .name = "read_only", .backend = BACKEND_BLOCK, .range = { .type = VALUE_BOOL },
          .harm = &(const Harm) { 1, 1, HARM_UNIVERSAL, "nothing can write" } },
        { .name = "iostats", .backend = BACKEND_BLOCK, .range = { .type = VALUE_BOOL } },
        { .name = "spindown_time", .backend = BACKEND_ATA, .range = { .type = VALUE_STANDBY_TIMER, .max = 255, .has_off = true }, .spins_down = true },
        {}
};
static const SettingTable table = { .tables = { harmful } };

static const struct {
        const char *text;
        unsigned member; /* 1: the complaints are expected only for a member of an array; 0: without any drive */
        Expected complaints[EXPECTED_MAX];
} cases[] = {
        { "drives = ({ match = \"/dev/sda\"; timeout = \"19s\" });", 0, { { 1, 33, 'w', "timeout can do harm here: it spins up" } } },
        { "drives = ({ match = \"/dev/sda\"; timeout = \"20s\" });", 0, {} },
        { "drives = ({ match = \"/dev/sda\"; timeout = \"keep\" });", 0, {} },
        { "drives = ({ match = { rotational = false }; timeout = \"5s\" });", 0, {} },
        { "drives = ({ match = { rotational = true }; timeout = \"5s\" });", 0, { { 1, 44, 'w', "it spins up" } } },
        { "drives = ({ match = { transport = \"nvme\" }; timeout = \"5s\" });", 0, {} },
        { "drives = ({ match = { transport = [\"nvme\", \"sata\"] }; timeout = \"5s\" });", 0, { { 1, 55, 'w', "it spins up" } } },

        { "drives = ({ match = \"/dev/sda\"; reallocate = false });", 0, { { 1, 33, 'w', "writes fail" } } },
        { "drives = ({ match = \"/dev/sda\"; reallocate = true });", 0, {} },

        { "drives = ({ match = {}; read_only = true });", 0, { { 1, 25, 'w', "nothing can write" } } },
        { "drives = ({ match = { model = \"*\" }; read_only = true });", 0, { { 1, 38, 'w', "nothing can write" } } },
        { "drives = ({ match = { model = \"??\" }; read_only = true });", 0, {} },
        { "drives = ({ match = \"/dev/*\"; read_only = true });", 0, { { 1, 31, 'w', "nothing can write" } } },
        { "drives = ({ match = { model = [\"A\", \"*\"] }; read_only = true });", 0, { { 1, 45, 'w', "nothing can write" } } },
        { "drives = ({ match = {}; only_in_raid = true; read_only = true });", 0, {} },
        { "drives = ({ match = { model = \"*\"; transport = \"sata\" }; read_only = true });", 0, {} },
        { "drives = ({ match = {}; read_only = false });", 0, {} },

        { "drives = ({ match = {}; only_in_raid = true; error_recovery = \"off\" });", 0, { { 1, 46, 'w', "can do harm here: it is thrown out" } } },
        { "drives = ({ match = {}; only_in_raid = true; error_recovery = \"7s\" });", 0, {} },
        { "drives = ({ match = {}; only_in_raid = true; error_recovery = \"off\"; timeout = \"180s\" });", 0, {} },
        { "drives = ({ match = {}; only_in_raid = true; error_recovery = \"off\"; on_battery = { timeout = \"180s\" } });", 0, { { 1, 46, 'w', "it is thrown out" } } },
        { "drives = ({ match = {}; only_in_raid = true; error_recovery = \"off\"; timeout = \"keep\" });", 0, { { 1, 46, 'w', "it is thrown out" } } },
        { "drives = ({ match = {}; error_recovery = \"off\" });", 1, { { 1, 25, 'w', "harm to /dev/sda, which is a member of an array: it is thrown out" } } },
        { "drives = ({ match = {}; error_recovery = \"off\"; timeout = \"119s\" });", 1, { { 1, 25, 'w', "harm to /dev/sda" } } },
        { "drives = ({ match = {}; error_recovery = \"off\"; timeout = \"120s\" });", 1, {} },
        { "drives = ({ match = \"/dev/sdb\"; error_recovery = \"off\" });", 1, {} },
        { "drives = ({ match = {}; error_recovery = \"7s\" });", 1, {} },
};
/* clang-format on */

/* Two different rules set iostats = false and spindown_time for the drive. If the service spins the drive down, there
 * is a warning. */
/* clang-format off */
#define UNSEEN(more) \
        "drives = ({ match = { transport = \"sata\" }; iostats = false },\n{ match = \"/dev/sda\"; spindown_time = \"1h\";" more " })"
static const struct {
        const char *text;
        Transport transport;
        Expected complaints[EXPECTED_MAX];
} hidden[] = {
        { UNSEEN(" spindown_by = \"service\""), TRANSPORT_SATA,
          { { 2, 23, 'w', "spin-down of /dev/sda by the service needs the kernel's I/O counters: remove this setting, or remove iostats = false at f:1" } } },
        { UNSEEN(" spindown_by = \"auto\""), TRANSPORT_SATA, { { 2, 23, 'w', "iostats = false at f:1" } } },
        { UNSEEN(" spindown_by = \"service\""), TRANSPORT_SAS, {} },
        { UNSEEN(" spindown_by = \"service\"; commands_are_use = true"), TRANSPORT_SATA, {} },
        { UNSEEN(""), TRANSPORT_SATA, {} },
        /* There is no warning if iostats or spindown_time has an error or a harmless value, or if the drive spins
         * itself down. */
        { "drives = ({ match = { transport = \"sata\" }; iostats = 7 },\n{ match = \"/dev/sda\"; spindown_time = \"1h\"; "
          "spindown_by = \"service\" })", TRANSPORT_SATA, { { 1, 55, 'e', "iostats" } } },
        { "drives = ({ match = { transport = \"sata\" }; iostats = false },\n{ match = \"/dev/sda\"; spindown_time = \"x\"; "
          "spindown_by = \"service\" })", TRANSPORT_SATA, { { 2, 39, 'e', "spindown_time" } } },
        { "drives = ({ match = { transport = \"sata\" }; iostats = true },\n{ match = \"/dev/sda\"; spindown_time = \"1h\"; "
          "spindown_by = \"service\" })", TRANSPORT_SATA, {} },
        { "drives = ({ match = { transport = \"sata\" }; iostats = false },\n{ match = \"/dev/sda\"; spindown_time = \"off\"; "
          "spindown_by = \"service\" })", TRANSPORT_SATA, {} },
        { "drives = ({ match = { transport = \"sata\" }; iostats = false; timeout = \"20s\" },\n{ match = \"/dev/sda\"; spindown_time = \"1h\"; "
          "spindown_by = \"drive\" })", TRANSPORT_SATA, {} },
        /* The warning needs no attached drive, because one rule sets both iostats and spindown_time. */
        { "drives = ({ match = {}; iostats = false; spindown_time = \"1h\"; spindown_by = \"service\" })", TRANSPORT_SATA,
          { { 1, 42, 'w', "spin-down by the service needs the kernel's I/O counters" } } },
};
/* clang-format on */

START_TEST(test_hidden) {
        const Drive d = { .name = (char *) "sda",
                          .node = (char *) "/dev/sda",
                          .syspath = (char *) "/sys/devices/sda",
                          .transport = hidden[_i].transport };
        Config *c;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &table, "f", hidden[_i].text, strlen(hidden[_i].text)), 0);
        ck_assert_int_eq(config_check(c, &table), 0);
        ck_assert_int_eq(config_check_drive(c, &table, &d), 0);
        ck_assert_int_eq(config_check_drive(c, &table, &d), 0);
        assert_complaints(&c->complaints, hidden[_i].complaints);
        (void) config_free(c);
}
END_TEST

START_TEST(test_harm) {
        Drive alone = { .name = (char *) "sda", .node = (char *) "/dev/sda", .syspath = (char *) "/sys/devices/sda" };
        Drive member = alone;
        Config *c;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &table, "f", cases[_i].text, strlen(cases[_i].text)), 0);
        ck_assert_int_eq(config_check(c, &table), 0);

        member.raid = true;
        ck_assert_int_eq(config_check_drive(c, &table, &alone), 0);
        if (cases[_i].member) {
                ck_assert_uint_eq(c->complaints.n_items, 0);
                ck_assert_int_eq(config_check_drive(c, &table, &member), 0);
                /* The second call stands for a second drive that the same rule matches. It adds no complaint. */
                ck_assert_int_eq(config_check_drive(c, &table, &member), 0);
        }
        assert_complaints(&c->complaints, cases[_i].complaints);
        (void) config_free(c);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("config-harm");
        TCase *tc = tcase_create("config-harm");

        tcase_add_loop_test(tc, test_harm, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(tc, test_hidden, 0, ELEMENTSOF(hidden));
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
