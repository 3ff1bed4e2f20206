/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "kernel-view.h"
#include "suite.h"

/* The `stat` file in the formats of Linux 4.17, 4.19 (adds discards) and 5.5 (adds flushes). used: completed reads and writes. */
static const struct {
        const char *text;
        int r;
        uint64_t used;
} cases[] = {
        { "     446       10   18472      212       30        9      400       77        0      276      289\n", 0,
          476 },
        { "     446       10   18472      212       30        9      400       77        0      276      289   5 0 8 1\n",
          0, 476 },
        { "       0        0       0        0        0        0        0        0        0        0        0   5 0 8 1  9 3\n",
          0, 0 },
        { "18446744073709551610 0 0 0 10 0 0 0 0 0 0\n", 0, 4 }, /* reads plus writes may overflow */
        { "", -EBADMSG, 0 },
        { "446 10 18472 212\n", -EBADMSG, 0 },
        { "a lot\n", -EBADMSG, 0 },
};

static void put(const char *dir, const char *name, const char *text) {
        char path[256];
        FILE *f;

        (void) snprintf(path, sizeof path, "%s/%s", dir, name);
        f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        fputs(text, f);
        fclose(f);
}

START_TEST(test_parse) {
        char dir[] = "/tmp/drivekeep-test-XXXXXX", path[64];
        uint64_t used = 0;

        ck_assert_ptr_nonnull(mkdtemp(dir));
        put(dir, "stat", cases[_i].text);
        ck_assert_int_eq(activity_read(dir, &used), cases[_i].r);
        ck_assert_uint_eq(used, cases[_i].used);
        (void) snprintf(path, sizeof path, "%s/stat", dir);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

/* text: content of `inflight`, the numbers of reads and writes in progress; NULL: the file is missing. any: expected result. */
static const struct {
        const char *text;
        bool any;
} in_flight[] = {
        { "       0        0\n", false },
        { "       1        0\n", true },
        { "       0       20\n", true },
        { "", false },
        { NULL, false },
};

START_TEST(test_in_flight) {
        char dir[] = "/tmp/drivekeep-test-XXXXXX", path[64];

        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(path, sizeof path, "%s/inflight", dir);
        if (in_flight[_i].text)
                put(dir, "inflight", in_flight[_i].text);
        ck_assert(activity_in_flight(dir) == in_flight[_i].any);
        (void) unlink(path);
        ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

/* With iostats = 0, the kernel does not count I/O, so activity_read() fails with -ENODATA. iostats: content of
 * queue/iostats; NULL: the file is missing. */
static const struct {
        const char *iostats;
        int r;
} countings[] = { { "1\n", 0 }, { "0\n", -ENODATA }, { NULL, 0 } };

START_TEST(test_counted) {
        char dir[] = "/tmp/drivekeep-test-XXXXXX", command[256];
        uint64_t used;

        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(command, sizeof command, "mkdir %s/queue", dir);
        ck_assert_int_eq(system(command), 0);
        put(dir, "stat", cases[0].text);
        if (countings[_i].iostats)
                put(dir, "queue/iostats", countings[_i].iostats);
        ck_assert_int_eq(activity_read(dir, &used), countings[_i].r);
        (void) snprintf(command, sizeof command, "rm -r %s", dir);
        ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(test_files) {
        char dir[] = "/tmp/drivekeep-test-XXXXXX", command[256];
        uint64_t used;

        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(command, sizeof command, "mkdir -p %s/device/power", dir);
        ck_assert_int_eq(system(command), 0);

        ck_assert_int_eq(activity_read(dir, &used), -ENOENT);
        ck_assert(!activity_is_suspended(dir));

        put(dir, "stat", cases[0].text);
        ck_assert_int_eq(activity_read(dir, &used), 0);
        ck_assert_uint_eq(used, 476);

        ck_assert_int_eq(activity_commands(dir, &used), -ENOENT);
        put(dir, "device/iorequest_cnt", "0x1a3\n");
        ck_assert_int_eq(activity_commands(dir, &used), 0);
        ck_assert_uint_eq(used, 0x1a3);

        put(dir, "device/power/runtime_status", "active\n");
        ck_assert(!activity_is_suspended(dir));
        put(dir, "device/power/runtime_status", "suspending\n");
        ck_assert(activity_is_suspended(dir));
        put(dir, "device/power/runtime_status", "suspended\n");
        ck_assert(activity_is_suspended(dir));
        ck_assert_uint_eq(activity_autosuspend_usec(dir), 0);
        put(dir, "device/power/autosuspend_delay_ms", "5000\n");
        ck_assert_uint_eq(activity_autosuspend_usec(dir), 5000000);
        put(dir, "device/power/autosuspend_delay_ms", "-1\n");
        ck_assert_uint_eq(activity_autosuspend_usec(dir), 0);
        put(dir, "device/power/runtime_status", "unsupported\n");
        ck_assert(!activity_is_suspended(dir));

        put(dir, "device/power/control", "auto\n");
        ck_assert(!activity_may_be_suspended(dir));
        put(dir, "device/power/autosuspend_delay_ms", "15000\n");
        ck_assert(activity_may_be_suspended(dir));
        ck_assert_uint_eq(activity_spin_down_usec(dir), UINT64_MAX);
        (void) snprintf(command, sizeof command, "mkdir -p %s/device/scsi_disk/0:0:0:0", dir);
        ck_assert_int_eq(system(command), 0);
        put(dir, "device/scsi_disk/0:0:0:0/manage_start_stop", "1\n");
        ck_assert(activity_is_stopped_by_suspend(dir));
        ck_assert_uint_eq(activity_spin_down_usec(dir), 15000000);
        /* Linux 6.6 has both files, and the newer file is the switch. */
        put(dir, "device/scsi_disk/0:0:0:0/manage_runtime_start_stop", "0\n");
        ck_assert(!activity_is_stopped_by_suspend(dir));
        put(dir, "device/scsi_disk/0:0:0:0/manage_runtime_start_stop", "1\n");
        put(dir, "device/power/control", "on\n");
        ck_assert_uint_eq(activity_spin_down_usec(dir), UINT64_MAX);

        (void) snprintf(command, sizeof command, "rm -r %s", dir);
        ck_assert_int_eq(system(command), 0);
}
END_TEST

static const struct {
        const char *state; /* content of device/state; NULL: the file is missing */
        int r;
} states[] = {
        { "running\n", 1 },
        { "live\n", 1 },
        { "quiesce\n", 1 },
        { "blocked\n", 0 },
        { "created\n", 0 },
        { "offline\n", -ENODEV },
        { "dead\n", -ENODEV },
        { "cancel\n", -ENODEV },
        { "deleting\n", -ENODEV },
        { "deleted\n", -ENODEV },
        { "resetting\n", 0 },
        { "transport-offline\n", -ENODEV },
        { "deleting (no IO)\n", -ENODEV },
        { NULL, 1 },
};

START_TEST(test_health) {
        char dir[] = "/tmp/drivekeep-test-XXXXXX", command[256];

        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(command, sizeof command, "mkdir %s/device", dir);
        ck_assert_int_eq(system(command), 0);
        if (states[_i].state)
                put(dir, "device/state", states[_i].state);
        ck_assert_int_eq(health_read(dir), states[_i].r);

        (void) snprintf(command, sizeof command, "rm -r %s", dir);
        ck_assert_int_eq(system(command), 0);
        ck_assert_int_eq(health_read(dir), -ENODEV);
}
END_TEST

/* Uevents may occur during the test, so the number that the kernel reports lies between two results of activity_last_event(). */
START_TEST(test_last_event) {
        uint64_t first = activity_last_event(), number = 0, last;
        FILE *f = fopen("/sys/kernel/uevent_seqnum", "re");

        if (f) {
                ck_assert_int_eq(fscanf(f, "%" SCNu64, &number), 1);
                (void) fclose(f);
        }
        last = activity_last_event();
        ck_assert(first <= number && number <= last);
}
END_TEST

int main(void) {
        Suite *s = suite_create("activity");
        TCase *t = tcase_create("activity");

        tcase_add_loop_test(t, test_parse, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_in_flight, 0, ELEMENTSOF(in_flight));
        tcase_add_loop_test(t, test_counted, 0, ELEMENTSOF(countings));
        tcase_add_test(t, test_files);
        tcase_add_loop_test(t, test_health, 0, ELEMENTSOF(states));
        tcase_add_test(t, test_last_event);
        suite_add_tcase(s, t);
        return suite_run(s);
}
