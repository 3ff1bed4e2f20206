/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "records.h"
#include "test-cli.h"

#define HEAD "VERSION=1\nNAME="

static Drive *found[2];
static int inventory_error;

int inventory_read(Inventory *ret) {
        *ret = (Inventory){ .drives = found, .n_drives = ELEMENTSOF(found) };
        return inventory_error;
}

START_TEST(test_order) {
        static const char *const order[] = { "nvme0n1", "nvme0n2", "nvme10n1", "sda", "sdb", "sdz", "sdaa" };
        static const char *const expected[] = { "nvme0n1", "nvme0n2", "nvme10n1", "sda", "sdb", "sdz", "sdaa" };
        _cleanup_(records_done) Records r = {};

        for (size_t i = 0; i < ELEMENTSOF(order); i++) {
                char text[64];

                (void) snprintf(text, sizeof text, HEAD "%s\n", order[i]);
                file_write(order[i], text);
        }

        ck_assert_int_eq(records_read(".", &r), 0);
        ck_assert_uint_eq(r.n_items, ELEMENTSOF(expected));
        ck_assert_uint_eq(r.n_damaged, 0);
        for (size_t i = 0; i < ELEMENTSOF(expected); i++)
                ck_assert_ptr_eq(records_find(&r, expected[i]), r.items[i]);
        ck_assert_ptr_null(records_find(&r, "sdc"));
}
END_TEST

START_TEST(test_none) {
        _cleanup_(records_done) Records r = {};

        ck_assert_int_eq(records_read(".", &r), 0);
        ck_assert_uint_eq(r.n_items, 0);
        ck_assert_int_eq(records_read("missing", &r), -ENOENT);
}
END_TEST

/* One bad file is said and costs no other. A pipe would block us, a link would show what it leads to. */
START_TEST(test_damaged) {
        _cleanup_(records_done) Records r = {};
        _cleanup_free_ char *said = NULL, *big = NULL;
        FILE *f;

        file_write("sda", HEAD "sda\n");
        file_write("sdb", "no record\n");
        file_write("sdc", HEAD "sda\n"); /* of another drive */
        file_write("sdd.new~", "unfinished");
        ck_assert_int_eq(mkfifo("sde", 0600), 0);
        ck_assert_int_eq(symlink("sda", "sdf"), 0);
        ck_assert_int_eq(mkdir("sdg", 0700), 0);

        big = malloc(RECORD_MAX_BYTES + 2);
        memset(big, 'x', RECORD_MAX_BYTES + 1);
        big[RECORD_MAX_BYTES + 1] = '\0';
        file_write("sdh", big);

        f = catch_begin(stderr);
        ck_assert_int_eq(records_read(".", &r), 0);
        said = catch_end(stderr, f);

        ck_assert_uint_eq(r.n_items, 1);
        ck_assert_str_eq(r.items[0]->name, "sda");
        ck_assert_uint_eq(r.n_damaged, 6);
        ck_assert_ptr_nonnull(strstr(said, "./sdb cannot be read"));
        ck_assert_ptr_nonnull(strstr(said, "./sde cannot be read"));
        ck_assert_ptr_null(strstr(said, "sdd.new~"));
}
END_TEST

static Drive *drive_make(const char *name, Transport transport) {
        Drive *d = calloc(1, sizeof *d);

        ck_assert_ptr_nonnull(d);
        *d = (Drive){ .name = strdup(name), .model = strdup("Dock"), .serial = strdup("D1"), .transport = transport };
        return d;
}

/* Behind a USB bridge is whom the service has found there. */
START_TEST(test_drives) {
        _cleanup_(records_done) Records r = {}, none = {}, damaged = {};
        _cleanup_free_ char *said = NULL;
        Inventory inventory;
        FILE *f;

        found[0] = drive_make("sda", TRANSPORT_USB);
        found[1] = drive_make("sdb", TRANSPORT_SATA);
        file_write("sda",
                   HEAD "sda\nMODEL=ST2000\nSERIAL=5YD1\nFIRMWARE=CC32\nWWN=0x5000\nDOCK_MODEL=Dock\nDOCK_SERIAL=D1\n"
                        "BRIDGE_ASKED=1\nBRIDGE_IDENTIFIED=1\n");
        ck_assert_int_eq(records_read_drives("missing", &inventory, &none), 0);
        ck_assert_str_eq(found[0]->serial, "D1");
        inventory_error = -ENOMEM;
        ck_assert_int_eq(records_read_drives(".", &inventory, &none), -ENOMEM);
        inventory_error = 0;
        f = catch_begin(stderr);
        ck_assert_int_eq(records_read_drives("sda", &inventory, &damaged), 0);
        said = catch_end(stderr, f);
        ck_assert_ptr_nonnull(strstr(said, "sda cannot be read (Not a directory), and so not what the service knows"));
        ck_assert_str_eq(found[0]->serial, "D1");

        ck_assert_int_eq(records_read_drives(".", &inventory, &r), 0);
        ck_assert_uint_eq(inventory.n_drives, 2);
        ck_assert_uint_eq(r.n_items, 1);
        ck_assert_str_eq(found[0]->serial, "5YD1");
        ck_assert_str_eq(found[0]->model, "ST2000");
        ck_assert_str_eq(found[0]->dock_serial, "D1");
        ck_assert_str_eq(found[1]->serial, "D1");
        for (size_t i = 0; i < ELEMENTSOF(found); i++)
                found[i] = drive_free(found[i]);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("records");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_test(t, test_order);
        tcase_add_test(t, test_none);
        tcase_add_test(t, test_damaged);
        tcase_add_test(t, test_drives);
        return test_main("cli-records", t);
}
