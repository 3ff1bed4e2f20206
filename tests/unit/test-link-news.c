/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Detection of link errors from the kernel's list of errors in sysfs. tests/unit/scripts/recheck tests the kernel messages that trigger
 * the detection. */

#include <stdio.h>

#include "kernel-view.h"
#include "suite.h"
#include "sysfs-tree.h"

/* Lists of errors as in Linux 6.1, newest first. */
static const struct {
        const char *text;
        uint64_t since, newest; /* time of the last known error, and expected time of the newest error, µs */
        LinkEvent news;
} notes[] = {
        { "", 0, 0, LINK_UNCHANGED },
        { "", 7, 7, LINK_UNCHANGED },
        { "[4294937.436000000]BusError\n", 0, 4294937436000, LINK_LOST },
        { "[4294937.436000000]BusError\n", 4294937436000, 4294937436000, LINK_UNCHANGED },
        { "[   20.500000000]BusError\n[   10.000000000]BusError\n", 10000000, 20500000, LINK_LOST },
        { "[   20.000000000]Timeout\n", 0, 20000000, LINK_RESET },
        { "[   20.000000000]HostStateMachineError\n", 0, 20000000, LINK_RESET },
        /* If several errors are newer than `since`, the worst of these errors determines the result. */
        { "[   20.000000000]Timeout\n[   15.000000000]Timeout, BusError\n[   10.000000000]Timeout\n", 10000000,
          20000000, LINK_LOST },
        { "[   20.000000000]Timeout\n[   15.000000000]BusError\n", 15000000, 20000000, LINK_RESET },
        { "[   20.000000000]DeviceError\n[   15.000000000]BusError\n", 10000000, 20000000, LINK_LOST },
        /* The drive rejected a command or could not read. The kernel does not reset the link after such an error. */
        { "[   20.000000000]DeviceError\n[   15.000000000]DeviceError, MediaError\n", 0, 20000000, LINK_UNCHANGED },
        { "[   20.000000000]Unknown\n", 0, 20000000, LINK_UNCHANGED },
        /* A truncated line is ignored. Text that is no list of errors is ignored, too. */
        { "[   20.000000000]BusError\n[   15.0", 0, 20000000, LINK_LOST },
        { "nothing of the kind\n\n[x.y]BusError\n", 0, 0, LINK_UNCHANGED },
};

#define NOTE "[   20.000000000]BusError\n"

/* A drive, and the file of a list of errors. LINK_LOST: the list belongs to this drive, and is read. */
static const struct {
        const char *drive, *file;
        LinkEvent news;
} places[] = {
        { "ata3/host2/target2:0:0/2:0:0:0/block/sda", "ata3/link3/dev3.0/ata_device/dev3.0/ering", LINK_LOST },
        { "ata12/host2/target2:0:0/2:0:0:0/block/sda", "ata12/link12/dev12.0/ata_device/dev12.0/ering", LINK_LOST },
        /* The second drive of a PATA port has its own list. The first drive does not use this list. */
        { "ata3/host2/target2:0:1/2:0:1:0/block/sda", "ata3/link3/dev3.1/ata_device/dev3.1/ering", LINK_LOST },
        { "ata3/host2/target2:0:0/2:0:0:0/block/sda", "ata3/link3/dev3.1/ata_device/dev3.1/ering", LINK_UNCHANGED },
        /* A drive behind a port multiplier has its own list. A drive at the port itself does not use this list. */
        { "ata3/host2/target2:4:0/2:4:0:0/block/sda", "ata3/link3.4/dev3.4.0/ata_device/dev3.4.0/ering", LINK_LOST },
        { "ata3/host2/target2:0:0/2:0:0:0/block/sda", "ata3/link3.4/dev3.4.0/ata_device/dev3.4.0/ering",
          LINK_UNCHANGED },
        /* Drives that are not handled by libata have no list of errors. */
        { "usb1/1-1/1-1:1.0/host2/target2:0:0/2:0:0:0/block/sda", "usb1/1-1/1-1:1.0/link", LINK_UNCHANGED },
        { "nvme/nvme0/nvme0n1", "nvme/nvme0/state", LINK_UNCHANGED },
};

static const char *in_tree(const char *name) {
        static char path[PATH_MAX];

        (void) snprintf(path, sizeof path, "%s/%s", root, name);
        return path;
}

static void put_note(const char *name, const char *text) {
        const char *path = in_tree(name);
        FILE *f;

        make_parents(path);
        f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        fputs(text, f);
        fclose(f);
}

START_TEST(test_notes) {
        uint64_t since = notes[_i].since;
        Drive d = {};

        make_tree(&d);
        put_note(places[0].file, notes[_i].text);
        ck_assert_int_eq(link_last_event(in_tree(places[0].drive), &since), notes[_i].news);
        ck_assert_uint_eq(since, notes[_i].newest);
        drop_tree(&d);
}
END_TEST

START_TEST(test_places) {
        uint64_t since = 0;
        Drive d = {};

        make_tree(&d);
        put_note(places[_i].file, NOTE);
        ck_assert_int_eq(link_last_event(in_tree(places[_i].drive), &since), places[_i].news);
        ck_assert_int_eq(link_last_event(in_tree(places[_i].drive), &since), LINK_UNCHANGED);
        drop_tree(&d);
}
END_TEST

START_TEST(test_recovering) {
        Drive d = {};

        make_tree(&d);
        ck_assert(!link_is_recovering(d.syspath));
        put_note("ata1/host0/scsi_host/host0/state", "recovery\n");
        ck_assert(link_is_recovering(d.syspath));
        put_note("ata1/host0/scsi_host/host0/state", "running\n");
        ck_assert(!link_is_recovering(d.syspath));
        drop_tree(&d);
}
END_TEST

int main(void) {
        Suite *s = suite_create("link-news");
        TCase *t = tcase_create("link-news");

        tcase_add_loop_test(t, test_notes, 0, ELEMENTSOF(notes));
        tcase_add_loop_test(t, test_places, 0, ELEMENTSOF(places));
        tcase_add_test(t, test_recovering);
        suite_add_tcase(s, t);
        return suite_run(s);
}
