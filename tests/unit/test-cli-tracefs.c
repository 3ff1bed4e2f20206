/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests tracefs_obstacle(), which finds out why wakers cannot be traced, with the files of made-up machines. */

#include "test-cli.h"
#include "tracefs.h"

#define ROOT "28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
#define MOUNT "25 22 0:11 / /sys/kernel/tracing rw,nosuid,nodev,noexec,relatime shared:11 - tracefs tracefs rw\n"
#define OTHER "25 22 0:11 / /sys/kernel/debug/tracing rw,relatime shared:11 - tracefs tracefs rw\n"
#define EMPTY "25 22 0:11 / /sys/kernel/tracing ro,relatime - tmpfs tmpfs rw\n"
#define UNIT "etc/systemd/system/sys-kernel-tracing.mount"
#define RUNTIME "run/systemd/system/sys-kernel-tracing.mount"

static const struct {
        const char *mountinfo;
        bool no_systemd, no_tracefs;
        const char *link, *target;
        const char *obstacle; /* part of the message; NULL: no obstacle */
} machines[] = {
        { ROOT MOUNT, false, false, NULL, NULL, NULL },
        { ROOT MOUNT, false, false, UNIT, "/dev/null", NULL }, /* masked unit, but tracefs is mounted: no obstacle */
        { ROOT, false, false, NULL, NULL, "'systemctl start sys-kernel-tracing.mount'" },
        { ROOT OTHER, false, false, NULL, NULL, "'systemctl start sys-kernel-tracing.mount'" },
        { ROOT EMPTY, false, false, NULL, NULL, "'systemctl start sys-kernel-tracing.mount'" },
        { NULL, false, false, NULL, NULL, "is not mounted" },
        { ROOT, false, false, UNIT, "/dev/null", "'systemctl unmask sys-kernel-tracing.mount'" },
        { ROOT, false, false, RUNTIME, "/dev/null", "'systemctl unmask sys-kernel-tracing.mount'" },
        { ROOT, false, false, UNIT, "/dev/nullx", "is not mounted; 'systemctl start" },
        { ROOT, false, false, UNIT, "/dev/nul", "is not mounted; 'systemctl start" },
        { ROOT, false, true, NULL, NULL, "CONFIG_FTRACE" },
        { ROOT, true, true, NULL, NULL, NULL },
        { ROOT, true, false, UNIT, "/dev/null", NULL },
};

START_TEST(test_obstacle) {
        const char *obstacle;

        if (machines[_i].mountinfo)
                file_make("proc/self/mountinfo", machines[_i].mountinfo);
        if (!machines[_i].no_systemd)
                make_parents("run/systemd/system/x");
        if (!machines[_i].no_tracefs)
                make_parents("sys/kernel/tracing/x");
        if (machines[_i].link) {
                make_parents(machines[_i].link);
                ck_assert_int_eq(symlink(machines[_i].target, machines[_i].link), 0);
        }

        obstacle = tracefs_obstacle(".");
        ck_assert(!obstacle == !machines[_i].obstacle);
        ck_assert_msg(!obstacle || strstr(obstacle, machines[_i].obstacle), "%s", obstacle);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("tracefs");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_obstacle, 0, ELEMENTSOF(machines));
        return test_main("cli-tracefs", t);
}
