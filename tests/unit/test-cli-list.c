/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep list` as a whole, with a stand-in for udev. */

#include "clock.h"
#include "inventory.h"
#include "must.h"
#include "output.h"
#include "test-cli.h"
#include "text-file.h"
#include "verb.h"

static Drive drives[] = {
        { .name = (char *) "sda",
          .node = (char *) "/dev/sda",
          .syspath = (char *) ".block-sda",
          .model = (char *) "ST2000DL003-9VT166",
          .serial = (char *) "5YD1\x1b[2J",
          .wwn = (char *) "0x5000c5002f8ebf71",
          .firmware = (char *) "CC32",
          .transport = TRANSPORT_SATA,
          .size = UINT64_C(2000398934016) },
        { .name = (char *) "sdb",
          .node = (char *) "/dev/sdb",
          .syspath = (char *) ".block-sdb",
          .transport = TRANSPORT_USB },
};
static Drive *found[] = { drives, drives + 1 };
static size_t n_found = ELEMENTSOF(found);

int inventory_read(Inventory *ret) {
        *ret = (Inventory){ .drives = found, .n_drives = n_found };
        return 0;
}

void inventory_done(_unused_ Inventory *i) {
}

static char *list(char *option, int *ret_status) {
        char *argv[] = { (char *) "drivekeep list", (char *) "--state-dir=.", option, NULL };
        FILE *f = catch_begin(stdout);

        *ret_status = verb_run(&verb_list, option ? 3 : 2, argv);
        return catch_end(stdout, f);
}

static void sda_record_write(void) {
        file_write("sda", "VERSION=1\nNAME=sda\nSETTINGS=3\n"
                          "SETTING_0_NAME=apm\nSETTING_0_VERDICT=applied\n"
                          "SETTING_1_NAME=lookahead\nSETTING_1_VERDICT=unchanged\n"
                          "SETTING_2_NAME=write_cache\nSETTING_2_VERDICT=ignored\n");
}

START_TEST(test_table) {
        _cleanup_free_ char *text = NULL;
        int status;

        sda_record_write();
        text = list(NULL, &status);
        ck_assert_int_eq(status, EXIT_WANTED);
        ck_assert_str_eq(
                        text,
                        "NAME MODEL              SERIAL      FIRMWARE TRANSPORT   SIZE POWER SPINDOWN WWN                SETTINGS\n"
                        "sda  ST2000DL003-9VT166 5YD1\\x1b[2J CC32     sata      2.0 TB -     -        0x5000c5002f8ebf71 "
                        "2 kept, 1 ignored\n"
                        "sdb  -                  -           -        usb            - -     -        -                  -\n");
}
END_TEST

/* Without a service: the drives, and nothing that is not known. */
START_TEST(test_json) {
        _cleanup_free_ char *text = NULL;
        int status;

        sda_record_write();
        text = list((char *) "--json", &status);
        ck_assert_int_eq(status, EXIT_WANTED);
        json_take_list(&text, "drives");
        ck_assert_str_eq(text, "[\n"
                               "  {\n"
                               "    \"name\": \"sda\",\n"
                               "    \"node\": \"/dev/sda\",\n"
                               "    \"model\": \"ST2000DL003-9VT166\",\n"
                               "    \"serial\": \"5YD1\\\\x1b[2J\",\n"
                               "    \"wwn\": \"0x5000c5002f8ebf71\",\n"
                               "    \"firmware\": \"CC32\",\n"
                               "    \"dock_model\": null,\n"
                               "    \"dock_serial\": null,\n"
                               "    \"transport\": \"sata\",\n"
                               "    \"identity\": \"wwn\",\n"
                               "    \"size\": 2000398934016,\n"
                               "    \"power\": null,\n"
                               "    \"power_since\": null,\n"
                               "    \"power_as_of\": null,\n"
                               "    \"spindown\": null,\n"
                               "    \"settings_kept\": 2,\n"
                               "    \"settings_not_kept\": 1\n"
                               "  },\n"
                               "  {\n"
                               "    \"name\": \"sdb\",\n"
                               "    \"node\": \"/dev/sdb\",\n"
                               "    \"model\": null,\n"
                               "    \"serial\": null,\n"
                               "    \"wwn\": null,\n"
                               "    \"firmware\": null,\n"
                               "    \"dock_model\": null,\n"
                               "    \"dock_serial\": null,\n"
                               "    \"transport\": \"usb\",\n"
                               "    \"identity\": \"path\",\n"
                               "    \"size\": 0,\n"
                               "    \"power\": null,\n"
                               "    \"power_since\": null,\n"
                               "    \"power_as_of\": null,\n"
                               "    \"spindown\": null,\n"
                               "    \"settings_kept\": null,\n"
                               "    \"settings_not_kept\": null\n"
                               "  }\n"
                               "]\n");
}
END_TEST

/* `since`: how many minutes ago; 0: not known. What it was when the service ended, nobody knows it to be still. */
/* clang-format off */
static const struct {
        const char *power;
        int since;
        const char *spindown;
        bool is_served;
        const char *row, *power_json, *spindown_json;
} powers[] = {
        { "standby",     125,      "20 min, by the service", true, " standby 2 h 5 min 20 min, by the service 0x5000", "\"standby\"", "\"20 min, by the service\"" },
        { "active/idle", 60,       "20 min", true,  " active/idle 1 h ago 20 min   0x5000", "\"active/idle\"", "\"20 min\"" },
        { "standby",     365 * 24 * 60, NULL, true, " standby 8760 h -        0x5000",  "\"standby\"",     "null"       },
        { "standby",     0,        NULL,     true,  " standby -        0x5000",         "\"standby\"",     "null"       },
        /* The clock was set back. */
        { "standby",     -100,     NULL,     true,  " standby -        0x5000",         "\"standby\"",     "null"       },
        { NULL,          125,      "20 min", true,  " -     20 min   0x5000",           "null",            "\"20 min\"" },
        { "standby",     125,      "20 min", false, " -     20 min   0x5000",           "null",            "\"20 min\"" },
        { "standby",     125,      "20 min, by the service\nSPINDOWN_SERVED=1", false, " -     -        0x5000", "null", "null" },
        { "standby",     125,      "20 min, by the service\nSPINDOWN_SERVED=1", true, " standby 2 h 5 min 20 min, by the service 0x5000",
          "\"standby\"",   "\"20 min, by the service\"" },
};
/* clang-format on */

#define UNUSED "0 0 0 0 0 0 0 0 0 0 0\n"

START_TEST(test_power) {
        _cleanup_close_ int lock = powers[_i].is_served ? record_directory_lock(".") : -EBADF;
        _cleanup_free_ char *text = NULL, *json = NULL, *power = NULL, *spindown = NULL;
        /* Less than a minute more, which is not seen in hours. */
        int64_t when = (int64_t) now_usec() - powers[_i].since * INT64_C(60000000) - 10000000;
        char record[256];
        int status;

        (void) snprintf(record, sizeof record, "VERSION=1\nNAME=sda\n%s%s\nPOWER_WHEN=%" PRId64 "\n%s%s\nSETTINGS=0\n",
                        powers[_i].power ? "POWER=" : "X=", powers[_i].power ?: "", powers[_i].since ? when : 0,
                        powers[_i].spindown ? "SPINDOWN=" : "X=", powers[_i].spindown ?: "");
        file_write("sda", record);
        file_make(".block-sda/stat", UNUSED);

        text = list(NULL, &status);
        ck_assert_int_eq(status, EXIT_WANTED);
        ck_assert_msg(strstr(text, powers[_i].row), "%s", text);

        power = must_format("\"power\": %s,\n", powers[_i].power_json);
        spindown = must_format("\"spindown\": %s,\n", powers[_i].spindown_json);
        json = list((char *) "--json", &status);
        ck_assert_msg(strstr(json, power) && strstr(json, spindown), "%s", json);
}
END_TEST

START_TEST(test_since) {
        _cleanup_close_ int lock = record_directory_lock(".");
        _cleanup_free_ char *json = NULL;
        int status;

        file_write("sda", "VERSION=1\nNAME=sda\nPOWER=standby\nPOWER_WHEN=1763692751123456\nSETTINGS=0\n");
        file_make(".block-sda/stat", UNUSED);
        json = list((char *) "--json", &status);
        json_take_list(&json, "drives");
        ck_assert_ptr_nonnull(strstr(json, "\"power\": \"standby\",\n    \"power_since\": \"2025-11-21T02:39:11Z\",\n"
                                           "    \"power_as_of\": \"2"));
        ck_assert_ptr_null(strstr(json, "\"power_as_of\": \"2025-11-21"));
}
END_TEST

/* An awake drive is shown with the age of the last poll: it may have spun down since without notice to the service. */
static const struct {
        int64_t seen; /* s ago; 0: not known */
        const char *row;
} ages[] = {
        { 5, " active/idle -  " },         { 59, " active/idle -  " },   { 185, " active/idle 3 min ago -  " },
        { 7215, " active/idle 2 h ago " }, { -100, " active/idle -  " }, /* the clock was set back */
        { 0, " active/idle 3 h ago " },
};

START_TEST(test_as_of) {
        _cleanup_close_ int lock = record_directory_lock(".");
        _cleanup_free_ char *text = NULL, *json = NULL, *record = NULL, *as_of = NULL;
        int64_t now = (int64_t) now_usec(), since = now - INT64_C(3) * 3600 * 1000000 - 10000000,
                seen = ages[_i].seen ? now - ages[_i].seen * 1000000 : 0;
        char when[HUMAN_MAX];
        int status;

        record = must_format("VERSION=1\nNAME=sda\nPOWER=active/idle\nPOWER_WHEN=%" PRId64 "\nPOWER_SEEN=%" PRId64
                             "\nSETTINGS=0\n",
                             since, seen);
        file_write("sda", record);
        file_make(".block-sda/stat", UNUSED);
        text = list(NULL, &status);
        ck_assert_msg(strstr(text, ages[_i].row), "%s", text);
        json = list((char *) "--json", &status);
        as_of = must_format("\"power_as_of\": \"%s\",\n", time_format_rfc3339((uint64_t) (seen ?: since), when));
        ck_assert_msg(strstr(json, as_of), "%s", json);
}
END_TEST

/* Nobody watches it, so that only the kernel's count tells that it was used. */
START_TEST(test_used_since) {
        static const struct {
                const char *stat, *power, *used, *shown;
        } states[] = {
                { "5 0 0 0 3 0 0 0 0 0 0\n", "standby", "8", "\"standby\"" },
                { "5 0 0 0 3 0 0 0 0 0 0\n", "standby", "7", "null" },
                { "5 0 0 0 3 0 0 0 0 0 0\n", "active/idle", "7", "\"active/idle\"" },
                /* Not known. */
                { "", "standby", "8", "null" },
                { "", "active/idle", "8", "\"active/idle\"" },
        };
        _cleanup_close_ int lock = record_directory_lock(".");
        _cleanup_free_ char *json = NULL, *record = NULL, *power = must_format("\"power\": %s,\n", states[_i].shown);
        int status;

        file_make(".block-sda/stat", states[_i].stat);
        record = must_format("VERSION=1\nNAME=sda\nUSED=%s\nPOWER=%s\nPOWER_WHEN=1763692751123456\nSETTINGS=0\n",
                             states[_i].used, states[_i].power);
        file_write("sda", record);
        json = list((char *) "--json", &status);
        /* The first drive's. */
        ck_assert_msg(starts_with(strstr(json, "\"power\": "), power), "%s", json);
}
END_TEST

/* The kernel says so itself, also without a service; a record of it that the kernel contradicts is old. */
START_TEST(test_suspended) {
        static const struct {
                const char *status, *power;
                bool is_served;
                const char *shown;
        } states[] = {
                { "suspended\n", "standby", true, "\"suspended\",\n      \"power_since\": null" },
                { "suspended\n", "suspended", true, "\"suspended\",\n      \"power_since\": \"2025-11-21T02:39:11Z\"" },
                { "suspending\n", "active/idle", true, "\"suspended\",\n      \"power_since\": null" },
                { "suspended\n", "standby", false, "\"suspended\",\n      \"power_since\": null" },
                { "active\n", "suspended", true, "null,\n      \"power_since\": null" },
                { "active\n", "standby", true, "\"standby\",\n      \"power_since\": \"2025-11-21T02:39:11Z\"" },
        };
        _cleanup_close_ int lock = states[_i].is_served ? record_directory_lock(".") : -EBADF;
        _cleanup_free_ char *json = NULL, *record = NULL, *power = must_format("\"power\": %s,\n", states[_i].shown);
        int status;

        file_make(".block-sda/stat", UNUSED);
        file_make(".block-sda/device/power/runtime_status", states[_i].status);
        record = must_format("VERSION=1\nNAME=sda\nUSED=0\nPOWER=%s\nPOWER_WHEN=1763692751123456\nSETTINGS=0\n",
                             states[_i].power);
        file_write("sda", record);
        json = list((char *) "--json", &status);
        ck_assert_msg(starts_with(strstr(json, "\"power\": "), power), "%s", json);
}
END_TEST

START_TEST(test_no_service) {
        char *argv[] = { (char *) "drivekeep list", (char *) "--state-dir=missing", NULL };
        FILE *f = catch_begin(stdout);
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(verb_run(&verb_list, 2, argv), EXIT_WANTED);
        text = catch_end(stdout, f);
        ck_assert_ptr_nonnull(strstr(text, "ST2000DL003-9VT166"));
}
END_TEST

START_TEST(test_no_rules) {
        _cleanup_free_ char *text = NULL, *said = NULL;
        FILE *f = catch_begin(stderr);
        int status;

        file_write("sda", "VERSION=1\nNAME=sda\nSETTINGS=0\n");
        text = list(NULL, &status);
        said = catch_end(stderr, f);
        ck_assert_int_eq(status, EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(said, "no rule of the configuration is for any of these drives"));
}
END_TEST

START_TEST(test_no_drives) {
        _cleanup_free_ char *text = NULL, *said = NULL;
        FILE *f = catch_begin(stderr);
        int status;

        n_found = 0;
        text = list(NULL, &status);
        said = catch_end(stderr, f);
        ck_assert_int_eq(status, EXIT_WANTED);
        ck_assert_str_eq(text, "");
        ck_assert_ptr_nonnull(strstr(said, "there is no drive"));
}
END_TEST

int main(void) {
        TCase *t = tcase_create("list");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_test(t, test_table);
        tcase_add_test(t, test_json);
        tcase_add_loop_test(t, test_power, 0, ELEMENTSOF(powers));
        tcase_add_loop_test(t, test_used_since, 0, 5);
        tcase_add_loop_test(t, test_suspended, 0, 6);
        tcase_add_test(t, test_since);
        tcase_add_loop_test(t, test_as_of, 0, ELEMENTSOF(ages));
        tcase_add_test(t, test_no_service);
        tcase_add_test(t, test_no_drives);
        tcase_add_test(t, test_no_rules);
        return test_main("cli-list", t);
}
