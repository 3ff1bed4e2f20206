/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <sys/stat.h>

#include "macro.h"
#include "machine.h"
#include "scratch.h"
#include "suite.h"

/* Writes an attribute with a newline, as sysfs does. `path` is relative to the class directory. */
static void write_attribute(const char *path, const char *value) {
        char name[256];
        FILE *f;

        (void) snprintf(name, sizeof name, "%s/%s", scratch, path);
        make_parents(name);
        f = fopen(name, "we");
        ck_assert_ptr_nonnull(f);
        fprintf(f, "%s\n", value);
        ck_assert_int_eq(fclose(f), 0);
}

/* Attributes as "SUPPLY/ATTRIBUTE=VALUE". */
#define MAINS(online) "AC/type=Mains", "AC/online=" online
#define BATTERY(status) "BAT0/type=Battery", "BAT0/present=1", "BAT0/status=" status

/* clang-format off */
static const struct {
        const char *what;
        const char *attributes[12];
        int on_battery;
} cases[] = {
        { "no supplies",                       {},                                                                           0 },
        { "a server",                          { MAINS("1") },                                                               0 },
        { "a server, mains off",               { MAINS("0") },                                                               0 },
        { "a laptop, plugged in",              { MAINS("1"), BATTERY("Charging") },                                          0 },
        { "battery full",                      { MAINS("1"), BATTERY("Full") },                                              0 },
        { "charger too weak",                  { MAINS("1"), BATTERY("Discharging") },                                       0 },
        { "a laptop, unplugged",               { MAINS("0"), BATTERY("Discharging") },                                       1 },
        { "no mains supply",                   { BATTERY("Discharging") },                                                   1 },
        { "neither charging nor discharging",  { MAINS("0"), BATTERY("Not charging") },                                      0 },
        { "charge limited by a threshold",     { BATTERY("Unknown") },                                                       0 },
        { "a battery without status",          { MAINS("0"), "BAT0/type=Battery" },                                          0 },
        { "one of two batteries discharges",   { BATTERY("Full"), "BAT1/type=Battery", "BAT1/status=Discharging" },          1 },
        { "battery removed",                   { "BAT0/type=Battery", "BAT0/present=0", "BAT0/status=Discharging" },         0 },
        { "battery without \"present\"",       { "BAT0/type=Battery", "BAT0/status=Discharging" },                           1 },
        { "scope System",                      { BATTERY("Discharging"), "BAT0/scope=System" },                              1 },

        /* Batteries of peripherals, such as a mouse, do not count. */
        { "a mouse",                           { "hid-1/type=Battery", "hid-1/scope=Device", "hid-1/status=Discharging" },   0 },
        { "the cradle of a mouse",             { BATTERY("Discharging"), "w/type=Mains", "w/scope=Device", "w/online=1" },   1 },
        { "USB of scope Device",               { BATTERY("Discharging"), "w/type=USB", "w/scope=Device", "w/online=1" },     1 },

        /* A supply of type USB replaces mains only if the supply is online and feeds the machine. */
        { "charged by USB",                    { MAINS("0"), BATTERY("Charging"), "u/type=USB", "u/online=1" },              0 },
        { "charged too slowly by USB",         { MAINS("0"), BATTERY("Discharging"), "u/type=USB", "u/online=1" },           0 },
        { "programmable USB supply",           { BATTERY("Discharging"), "u/type=USB", "u/online=2" },                       0 },
        { "USB without a supply",              { BATTERY("Discharging"), "u/type=USB", "u/online=0" },                       1 },
        { "USB feeds a telephone",             { BATTERY("Discharging"), "u/type=USB", "u/online=1",
                                                 "u/device/typec/port0/power_role=[source] sink" },                          1 },
        { "USB feeds the machine",             { BATTERY("Discharging"), "u/type=USB", "u/online=1",
                                                 "u/device/typec/port0/power_role=source [sink]" },                          0 },
        { "USB in both directions",            { BATTERY("Discharging"), "u/type=USB", "u/online=1",
                                                 "u/device/typec/port0/power_role=[source] sink",
                                                 "u/device/typec/port1/power_role=source [sink]" },                          0 },

        { "a UPS that feeds",                  { BATTERY("Discharging"), "ups/type=UPS", "ups/online=1" },                   0 },
        { "online without a type",             { BATTERY("Discharging"), "x/online=1" },                                     1 },
        { "mains without \"online\"",          { BATTERY("Discharging"), "AC/type=Mains", "AC/online=" },                    1 },
};
/* clang-format on */

START_TEST(test_supplies) {
        for (size_t i = 0; cases[_i].attributes[i]; i++) {
                char path[128];
                char *value;

                (void) snprintf(path, sizeof path, "%s", cases[_i].attributes[i]);
                value = strchr(path, '=');
                *value++ = '\0';
                write_attribute(path, value);
        }

        ck_assert_msg(power_on_battery(scratch) == cases[_i].on_battery, "%s", cases[_i].what);
}
END_TEST

/* Entries of the class directory may be symbolic links. A link without a target is skipped: its supply has just
 * disappeared. */
START_TEST(test_links) {
        char supply[128], link[128];

        write_attribute("devices/BAT0/type", "Battery");
        write_attribute("devices/BAT0/status", "Discharging");
        write_attribute("class/uevent", "");
        (void) snprintf(link, sizeof link, "%s/class/BAT0", scratch);
        ck_assert_int_eq(symlink("../devices/BAT0", link), 0);
        (void) snprintf(link, sizeof link, "%s/class/AC", scratch);
        ck_assert_int_eq(symlink("../devices/AC", link), 0);

        (void) snprintf(supply, sizeof supply, "%s/class", scratch);
        ck_assert_int_eq(power_on_battery(supply), 1);
}
END_TEST

START_TEST(test_no_directory) {
        char path[128];

        (void) snprintf(path, sizeof path, "%s/none", scratch);
        ck_assert_int_eq(power_on_battery(path), 0);
        write_attribute("file", "");
        (void) snprintf(path, sizeof path, "%s/file", scratch);
        ck_assert_int_eq(power_on_battery(path), 0); /* a file instead of the class directory */
}
END_TEST

int main(void) {
        Suite *suite = suite_create("power-supply");
        TCase *tc = tcase_create("power-supply");

        tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
        tcase_add_loop_test(tc, test_supplies, 0, ELEMENTSOF(cases));
        tcase_add_test(tc, test_links);
        tcase_add_test(tc, test_no_directory);
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
