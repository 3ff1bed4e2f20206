/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep list` as a whole, with a stand-in for udev. */

#include "inventory.h"
#include "test-cli.h"
#include "verb.h"

static Drive drives[] = {
        { .name = (char *) "sda",
          .node = (char *) "/dev/sda",
          .model = (char *) "ST2000DL003-9VT166",
          .serial = (char *) "5YD1\x1b[2J",
          .wwn = (char *) "0x5000c5002f8ebf71",
          .firmware = (char *) "CC32",
          .transport = TRANSPORT_SATA,
          .size = UINT64_C(2000398934016) },
        { .name = (char *) "sdb", .node = (char *) "/dev/sdb", .transport = TRANSPORT_USB },
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
        ck_assert_str_eq(text,
                         "NAME MODEL              SERIAL      FIRMWARE TRANSPORT   SIZE WWN                SETTINGS\n"
                         "sda  ST2000DL003-9VT166 5YD1\\x1b[2J CC32     sata      2.0 TB 0x5000c5002f8ebf71 "
                         "2 kept, 1 ignored\n"
                         "sdb  -                  -           -        usb            - -                  -\n");
}
END_TEST

/* Without a service: the drives, and nothing that is not known. */
START_TEST(test_json) {
        _cleanup_free_ char *text = NULL;
        int status;

        sda_record_write();
        text = list((char *) "--json", &status);
        ck_assert_int_eq(status, EXIT_WANTED);
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
                               "    \"settings_kept\": null,\n"
                               "    \"settings_not_kept\": null\n"
                               "  }\n"
                               "]\n");
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
        tcase_add_test(t, test_no_service);
        tcase_add_test(t, test_no_drives);
        tcase_add_test(t, test_no_rules);
        return test_main("cli-list", t);
}
