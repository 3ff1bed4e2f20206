/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Values in 60-tuned.conf were measured with a firmware and a set of schedulers. `drivekeep check` warns if the drive
 * now has another firmware, or if the kernel offers other schedulers. */

#include "attribute.h"
#include "settings.h"
#include "test-cli.h"
#include "tune-evidence.h"

static Drive drive = {
        .name = (char *) "sda", .model = (char *) "DISK", .serial = (char *) "S1", .transport = TRANSPORT_VIRTIO
};
static Drive *found[] = { &drive };

static const char *schedulers;

int __wrap_attribute_read(char *buf, size_t size, const char *format, ...);
int __wrap_attribute_read(char *buf, size_t size, _unused_ const char *format, ...) {
        (void) snprintf(buf, size, "%s", schedulers);
        return 0;
}

/* clang-format off */
static const char text[] =
        "// Written by drivekeep tune --write.\n\ndrives = (\n"
        "    { match = { model = \"DISK\"; serial = \"S1\"; };\n"
        "      // measured 2026-11-22, firmware F1, schedulers bfq mq-deadline none: random 4 KiB, bfq 200 /s; 24 samples\n"
        "      scheduler = \"bfq\";\n"
        "      // measured 2026-11-22, firmware F1: sequential, 128 KiB 3.00 MB/s; 12 samples\n"
        "      max_sectors_kb = \"128 KiB\";\n"
        "      nr_requests = 64;\n"
        "    },\n"
        "    { match = { model = \"OTHER\"; };\n"
        "      // measured 2026-11-22, firmware Z: sequential; 12 samples\n"
        "      read_ahead_kb = 128;\n"
        "    },\n"
        ");\n";
/* clang-format on */

static const struct {
        const char *schedulers, *firmware;
        unsigned n;
        const char *part;
} cases[] = {
        { "none [mq-deadline] bfq ", "F1", 0, "" },
        /* There is no warning if only the active scheduler or the order of the schedulers has changed. */
        { "[none] mq-deadline bfq ", "F1", 0, "" },
        { "[mq-deadline] bfq none", "F1", 0, "" },
        { "[mq-deadline] none", "F1", 1,
          "scheduler was measured with firmware F1, schedulers bfq mq-deadline none, but sda has firmware F1, schedulers "
          "mq-deadline none; 'drivekeep tune sda scheduler' measures it again" },
        { "none [mq-deadline] bfq ", "F2", 2, "but sda has firmware F2" },
        { "none [mq-deadline] bfq ", NULL, 2, "but sda has firmware not known" },
        /* No warning: the firmware's name is compared only up to the first comma or colon, here F1. */
        { "none [mq-deadline] bfq ", "F1,2:3", 0, "" },
};

START_TEST(test_evidence) {
        _cleanup_(config_freep) Config *c = NULL;
        unsigned n = 0;

        file_make("etc/drivekeep/drivekeep.conf.d/60-tuned.conf", text);
        /* No warning about this file: only 60-tuned.conf is checked. */
        file_make("etc/drivekeep/drivekeep.conf.d/70-x.conf",
                  "drives = (\n    { match = {};\n      // measured 2026-11-22, firmware A: x\n      queue_depth = 1; } );\n");
        schedulers = cases[_i].schedulers;
        drive.firmware = (char *) cases[_i].firmware;
        ck_assert_int_ge(config_new(&c), 0);
        ck_assert_int_ge(config_load(c, &all_settings, (const char *const[]){ "etc", NULL }), 0);
        evidence_check(c, &(Inventory){ .drives = found, .n_drives = ELEMENTSOF(found) });
        for (size_t i = 0; i < c->complaints.n_items; i++)
                n += strstr(c->complaints.items[i].sentence, cases[_i].part) != NULL;
        ck_assert_uint_eq(n, cases[_i].n);
        ck_assert_uint_eq(c->complaints.n_items, n);
}
END_TEST

int main(void) {
        TCase *c = tcase_create("cli-evidence");

        tcase_add_checked_fixture(c, scratch_make, scratch_remove);
        tcase_add_loop_test(c, test_evidence, 0, ELEMENTSOF(cases));
        return test_main("cli-evidence", c);
}
