/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <limits.h>

#include "choice.h"
#include "inventory.h"
#include "test-cli.h"
#include "verb.h"

static Candidate candidates[] = {
        { "sda", "5YD1XYZ0", "0x5000c5002f8ebf71" },
        { "sdb", "000000000000", NULL },
        { "sdc", "000000000000", NULL },
        { "nvme0n1", "S4EW\x1bNX", "eui.0025385191b3c0a2" },
        { "cciss!c0d0", NULL, NULL },
        { "dm-0", NULL, NULL },
};

int inventory_readiness(_unused_ const char *name, _unused_ Readiness *ret) {
        return -ENODEV;
}

static void directory_make(const char *path) {
        char partial[PATH_MAX];

        for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
                (void) snprintf(partial, sizeof partial, "%.*s", (int) (slash - path), path);
                (void) mkdir(partial, 0755);
        }
        ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
}

static void link_make(const char *target, const char *path) {
        ck_assert_int_eq(symlink(target, path), 0);
}

/* Creates the relevant parts of /dev and /sys in the scratch directory, with plain files for device nodes. */
static void root_make(void) {
        scratch_make();

        directory_make("dev/disk/by-id");
        directory_make("dev/cciss");
        directory_make("dev/mapper");
        directory_make("sys/class/block");
        directory_make("sys/devices/a/block/sda/sda1");
        directory_make("sys/devices/b/block/nvme0n1/nvme0n1p2");
        directory_make("sys/devices/c/block/cciss!c0d0");
        directory_make("sys/devices/virtual/block/dm-0");
        directory_make("sys/devices/d/block/sdz");

        file_write("dev/sda", "");
        file_write("dev/sda1", "");
        file_write("dev/sdz", "");
        file_write("dev/dm-0", "");
        file_write("dev/cciss/c0d0", "");
        file_write("dev/nvme0n1p2", "");
        file_write("dev/null", "");
        file_write("sys/devices/a/block/sda/sda1/partition", "1\n");
        file_write("sys/devices/b/block/nvme0n1/nvme0n1p2/partition", "2\n");

        link_make("../../sda", "dev/disk/by-id/ata-ST2000DL003");
        link_make("../../sda1", "dev/disk/by-id/ata-ST2000DL003-part1");
        link_make("../dm-0", "dev/mapper/vault");
        link_make("dev/disk/by-id/ata-ST2000DL003-part1", "mine");
        link_make("nowhere", "dev/disk/by-id/dangling");
        link_make("../../devices/a/block/sda", "sys/class/block/sda");
        link_make("../../devices/a/block/sda/sda1", "sys/class/block/sda1");
        link_make("../../devices/b/block/nvme0n1", "sys/class/block/nvme0n1");
        link_make("../../devices/b/block/nvme0n1/nvme0n1p2", "sys/class/block/nvme0n1p2");
        link_make("../../devices/c/block/cciss!c0d0", "sys/class/block/cciss!c0d0");
        link_make("../../devices/virtual/block/dm-0", "sys/class/block/dm-0");
        link_make("../../devices/d/block/sdz", "sys/class/block/sdz");
}

/* clang-format off */
static const struct {
        const char *argument;
        int result;
        const char *name;
} cases[] = {
        { "sda",                                   0, "sda"        },
        { "/dev/sda",                              0, "sda"        },
        { "sda1",                                  0, "sda"        },
        { "/dev/sda1",                             0, "sda"        },
        { "/dev/../dev/sda",                       0, "sda"        },
        { "/dev/disk/by-id/ata-ST2000DL003",       0, "sda"        },
        { "/dev/disk/by-id/ata-ST2000DL003-part1", 0, "sda"        },
        { "./dev/sda1",                            0, "sda"        }, /* relative to the working directory */
        { "./mine",                                0, "sda"        },
        { "/dev/nvme0n1p2",                        0, "nvme0n1"    },
        { "/dev/mapper/vault",                     0, "dm-0"       },
        { "/dev/cciss/c0d0",                       0, "cciss!c0d0" },
        { "5YD1XYZ0",                              0, "sda"        },
        { "0x5000c5002f8ebf71",                    0, "sda"        },
        { "5000C5002F8EBF71",                      0, "sda"        },
        { "naa.5000c5002f8ebf71",                  0, "sda"        },
        { "wwn-0x5000c5002f8ebf71",                0, "sda"        },
        { "eui.0025385191b3c0a2",                  0, "nvme0n1"    },
        { "nvme-eui.0025385191B3C0A2",             0, "nvme0n1"    },
        { "S4EW\\x1bNX",                           0, "nvme0n1"    }, /* escaped as in the output of drivekeep */
        { "000000000000",                          -ENOTUNIQ, NULL },
        { "5yd1xyz0",                              -ENODEV, NULL   },
        { "sdz",                                   -ENODEV, NULL   }, /* exists, but is not a supported drive */
        { "/dev/sdz",                              -ENODEV, NULL   },
        { "/dev/null",                             -ENODEV, NULL   },
        { "/dev/disk/by-id/dangling",              -ENODEV, NULL   },
        { "/dev",                                  -ENODEV, NULL   },
        { "/",                                     -ENODEV, NULL   },
        { "..",                                    -ENODEV, NULL   },
        { "",                                      -ENODEV, NULL   },
        { "0x",                                    -ENODEV, NULL   },
        { "../../../etc/passwd",                   -ENODEV, NULL   },
};
/* clang-format on */

START_TEST(test_find) {
        int r = candidate_find(candidates, ELEMENTSOF(candidates), cases[_i].argument, scratch);

        ck_assert_int_eq(MIN(r, 0), cases[_i].result);
        if (r >= 0)
                ck_assert_str_eq(candidates[r].name, cases[_i].name);
}
END_TEST

START_TEST(test_choose) {
        char *const two[] = { (char *) "nvme0n1", (char *) "5YD1XYZ0", (char *) "sda", NULL };
        size_t n;

        ck_assert_int_eq(candidates_choose(candidates, ELEMENTSOF(candidates), two, "/nonexistent", &n), 0);
        ck_assert_uint_eq(n, 2);
        ck_assert_str_eq(candidates[0].name, "sda");
        ck_assert_str_eq(candidates[1].name, "nvme0n1");
}
END_TEST

START_TEST(test_choose_all) {
        size_t n;

        ck_assert_int_eq(candidates_choose(candidates, ELEMENTSOF(candidates), NULL, "", &n), 0);
        ck_assert_uint_eq(n, ELEMENTSOF(candidates));
        ck_assert_str_eq(candidates[0].name, "sda");
}
END_TEST

/* Each invalid argument is reported, not only the first. */
START_TEST(test_choose_wrong) {
        char *const wrong[] = { (char *) "sdq", (char *) "sda", (char *) "000000000000", NULL };
        _cleanup_free_ char *messages = NULL;
        FILE *f = catch_begin(stderr);
        size_t n;

        ck_assert_int_eq(candidates_choose(candidates, ELEMENTSOF(candidates), wrong, "/nonexistent", &n),
                         EXIT_BAD_INPUT);
        messages = catch_end(stderr, f);
        ck_assert_ptr_nonnull(strstr(messages, "there is no drive 'sdq'; 'drivekeep list' shows all drives"));
        ck_assert_ptr_nonnull(strstr(messages, "several drives have the serial number or WWN '000000000000'"));
}
END_TEST

static const struct {
        const char *argument, *suggestion;
} misspelled[] = {
        { "SDA", "sda" },
        { "nvme0", "nvme0n1" },
        { "/dev/nvme01", "nvme0n1" },
        { "5YD1XYZO", "5YD1XYZ0" },
        { "0x5000c5002f8ebf72", "0x5000c5002f8ebf71" },
        { "/dev/disk/by-id/nvme0", NULL },
        { "sdq", NULL },
        { "", NULL },
};

START_TEST(test_choose_misspelled) {
        char *const wrong[] = { (char *) misspelled[_i].argument, NULL };
        _cleanup_free_ char *messages = NULL, *suggestion = NULL;
        FILE *f = catch_begin(stderr);
        size_t n;

        ck_assert_int_eq(candidates_choose(candidates, ELEMENTSOF(candidates), wrong, "/nonexistent", &n),
                         EXIT_BAD_INPUT);
        messages = catch_end(stderr, f);
        ck_assert_int_gt(asprintf(&suggestion, "; did you mean '%s'?", misspelled[_i].suggestion), 0);
        ck_assert_int_eq(strstr(messages, misspelled[_i].suggestion ? suggestion : "did you mean") != NULL,
                         misspelled[_i].suggestion != NULL);
}
END_TEST

/* The text that describes a drive, as in --as, may contain every property. Properties that are not in the text are unknown. */
START_TEST(test_describe) {
        _cleanup_(drive_freep) Drive *d = NULL, *little = NULL;

        ck_assert_int_eq(drive_describe("node=/dev/sdx, model=A B,serial=S,wwn=0x5,firmware=F,vendor=V,transport=sata,"
                                        "rotational=false,removable=true,raid=true,node=/dev/disk/by-id/x,ID_BUS=ata",
                                        &d),
                         EXIT_WANTED);
        ck_assert_str_eq(d->node, "/dev/sdx");
        ck_assert_str_eq(d->model, "A B");
        ck_assert_str_eq(d->serial, "S");
        ck_assert_str_eq(d->wwn, "0x5");
        ck_assert_str_eq(d->firmware, "F");
        ck_assert_str_eq(d->vendor, "V");
        ck_assert_int_eq(d->transport, TRANSPORT_SATA);
        ck_assert(!d->rotational && !d->rotational_unknown && d->removable && !d->removable_unknown && d->raid);
        ck_assert_uint_eq(d->n_links, 1);
        ck_assert_str_eq(d->links[0].path, "/dev/disk/by-id/x");
        ck_assert_int_eq(d->links[0].via, LINK_OWN);
        ck_assert_str_eq(drive_property(d, "ID_BUS"), "ata");

        ck_assert_int_eq(drive_describe("raid=false", &little), EXIT_WANTED);
        ck_assert_str_eq(little->node, "a drive");
        ck_assert(little->rotational_unknown && little->removable_unknown && !little->raid);
        ck_assert(!little->model && !little->serial && little->transport == TRANSPORT_UNKNOWN);
}
END_TEST

static const struct {
        const char *description, *messages;
} invalid[] = {
        { "model=x,serial", "'serial' is not a valid KEY=VALUE" },
        { "rotational=yes", "'rotational=yes' is not a valid" },
        { "removable=1", "'removable=1' is not a valid" },
        { "raid=no", "'raid=no' is not a valid" },
        { "transport=cat", "'transport=cat' is not a valid" },
        { "sort=x", "'sort=x' is not a valid" },
        { "serial=a,serial=b", "serial is given twice" },
        { "transport=usb,transport=usb", "transport is given twice" },
        { "rotational=false,rotational=false", "rotational is given twice" },
        { "removable=true,removable=false", "removable is given twice" },
};

START_TEST(test_describe_invalid) {
        _cleanup_free_ char *messages = NULL;
        FILE *f = catch_begin(stderr);
        Drive *d = NULL;

        ck_assert_int_eq(drive_describe(invalid[_i].description, &d), EXIT_BAD_INPUT);
        messages = catch_end(stderr, f);
        ck_assert_ptr_null(d);
        ck_assert_msg(strstr(messages, invalid[_i].messages), "%s", messages);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("choice");

        tcase_add_checked_fixture(t, root_make, scratch_remove);
        tcase_add_loop_test(t, test_find, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_choose);
        tcase_add_test(t, test_choose_all);
        tcase_add_test(t, test_choose_wrong);
        tcase_add_loop_test(t, test_choose_misspelled, 0, ELEMENTSOF(misspelled));
        tcase_add_test(t, test_describe);
        tcase_add_loop_test(t, test_describe_invalid, 0, ELEMENTSOF(invalid));
        return test_main("cli-choice", t);
}
