/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What no event tells: a drive that is awake again, a link that was lost, a setting that has drifted, and another program, such as the
 * one that Debian's rule has write to all drives when one is attached. */

#include <fcntl.h>

#include "fake-visits.h"
#include "recheck.h"
#include "test-cli.h"

#define RULES "usr/lib/udev/rules.d/85-hdparm.rules"
#define UNMERGED "lib/udev/rules.d/85-hdparm.rules"
#define MASK "etc/udev/rules.d/85-hdparm.rules"

static void make(const char *path, const char *target) {
        char copy[64];

        (void) snprintf(copy, sizeof copy, "%s", path);
        for (char *p = strchr(copy, '/'); p; p = strchr(p + 1, '/')) {
                *p = '\0';
                (void) mkdir(copy, 0755);
                *p = '/';
        }
        if (target)
                ck_assert_int_eq(symlink(target, path), 0);
        else
                file_write(path, "");
}

static const struct {
        const char *rules, *mask, *target;
        bool meets;
} cases[] = {
        { NULL, NULL, NULL, false },         { NULL, MASK, "/dev/null", false },
        { RULES, NULL, NULL, true },         { UNMERGED, NULL, NULL, true }, /* as before the merge of /usr */
        { RULES, MASK, "/dev/null", false }, { RULES, MASK, NULL, false },
        { RULES, MASK, "/dev/nullx", true }, { RULES, MASK, "../../../usr/bin/env", true },
};

START_TEST(test_meets_debian) {
        if (cases[_i].rules)
                make(cases[_i].rules, NULL);
        if (cases[_i].rules && streq(cases[_i].rules, RULES))
                ck_assert_int_eq(symlink("usr/lib", "lib"), 0);
        if (cases[_i].mask)
                make(cases[_i].mask, cases[_i].target);
        ck_assert_int_eq(recheck_meets_debian("."), cases[_i].meets);
}
END_TEST

/* ---- a machine with drives ---- */

static Recheck *recheck;

static void setup(void) {
        manager_setup_with("{ match = {}; apm = 128; read_ahead_kb = 512; }");
        ck_assert_int_eq(recheck_new(event, manager, -1, &recheck), 0);
        present[0].name = "sda";
        present[1].name = "sdb";
        n_present = 2;
        ck_assert_int_eq(manager_enumerate(manager, VISIT_BOOT), 0);
        visit_whole(event, drive("sda"), VERDICT_APPLIED);
        visit_whole(event, drive("sdb"), VERDICT_APPLIED);
}

static void teardown(void) {
        recheck = recheck_free(recheck);
        manager_teardown();
}

/* Its settings are deferred, and that is told as the daemon does. */
static void defer(const char *name) {
        Target *t = drive(name);

        target_visit(t, VISIT_CHANGE);
        visit_whole(event, t, VERDICT_DEFERRED);
        recheck_rested(recheck, t);
        (void) all_done();
}

/* ---- drives that sleep ---- */

/* Looked at every half a minute, until somebody has used it; the others are left alone. */
START_TEST(test_wakes) {
        defer("sda");
        pass(event, 100 * SECOND);
        ck_assert_str_eq(all_done(), "");
        used++;
        pass(event, 46 * SECOND);
        ck_assert_str_eq(all_done(), "sda:wake ");
        visit_whole(event, drive("sda"), VERDICT_APPLIED);

        used++;
        pass(event, 1000 * SECOND);
        ck_assert_str_eq(all_done(), "");
}
END_TEST

/* One that still sleeps is looked out for, also when another has woken up. */
START_TEST(test_both_sleep) {
        defer("sda");
        defer("sdb");
        used++;
        pass(event, 46 * SECOND);
        ck_assert_str_eq(all_done(), "sda:wake sdb:wake ");
        visit_whole(event, drive("sda"), VERDICT_APPLIED);
        visit_whole(event, drive("sdb"), VERDICT_DEFERRED);
        recheck_rested(recheck, drive("sdb"));
        used++;
        pass(event, 46 * SECOND);
        ck_assert_str_eq(all_done(), "sdb:wake ");
}
END_TEST

/* ---- rechecks ---- */

START_TEST(test_recheck) {
        recheck_recheck_every(recheck, 3600 * SECOND);
        used++;
        pass(event, 3500 * SECOND);
        ck_assert_str_eq(all_done(), "");
        pass(event, 500 * SECOND);
        ck_assert_str_eq(all_done(), "");
        used += _i;
        pass(event, 12 * SECOND);
        ck_assert_str_eq(all_done(), "sda:recheck sdb:recheck ");
        /* Whether it is kept awake by its user shows in these ten seconds. */
        ck_assert_int_eq(drive("sda")->visit.pending.busy, _i);
        ck_assert_int_eq(drive("sda")->visit.pending.reads, _i);
        visit_whole(event, drive("sda"), VERDICT_UNCHANGED);

        /* What is under way sees it all. */
        pass(event, 4000 * SECOND);
        pass(event, 12 * SECOND);
        ck_assert_str_eq(all_done(), "sda:recheck ");
        visit_whole(event, drive("sda"), VERDICT_UNCHANGED);
        visit_whole(event, drive("sdb"), VERDICT_UNCHANGED);

        /* Another time, and never. */
        recheck_recheck_every(recheck, 60 * SECOND);
        pass(event, 70 * SECOND);
        pass(event, 12 * SECOND);
        ck_assert_str_eq(all_done(), "sda:recheck sdb:recheck ");
        visit_whole(event, drive("sda"), VERDICT_UNCHANGED);
        visit_whole(event, drive("sdb"), VERDICT_UNCHANGED);
        recheck_recheck_every(recheck, 0);
        pass(event, 10000 * SECOND);
        ck_assert_str_eq(all_done(), "");
}
END_TEST

/* The files are read anew, and say the same: it does not begin anew. */
START_TEST(test_recheck_same) {
        recheck_recheck_every(recheck, 100 * SECOND);
        pass(event, 95 * SECOND);
        recheck_recheck_every(recheck, 100 * SECOND);
        pass(event, 20 * SECOND);
        pass(event, 12 * SECOND);
        ck_assert_str_eq(all_done(), "sda:recheck sdb:recheck ");
}
END_TEST

/* Whose user is to be noticed by those who look out for that is not looked at. */
START_TEST(test_recheck_sleeps) {
        defer("sda");
        recheck_recheck_every(recheck, 20 * SECOND);
        used++;
        pass(event, 23 * SECOND);
        pass(event, 5 * SECOND);
        ck_assert_str_eq(all_done(), "");
        pass(event, 20 * SECOND);
        ck_assert(strstr(all_done(), "sda:wake"));
}
END_TEST

/* ---- links, and other programs ---- */

static const struct {
        LinkNews news;
        bool recovering, again;
        const char *done;
} links[] = {
        { LINK_SAME, false, false, "" },
        { LINK_SAME, true, false, "" },
        { LINK_RESET, true, true, "" },
        { LINK_RESET, false, false, "sda:reset " },
        { LINK_LOST, false, false, "sda:reset " },
};

START_TEST(test_link) {
        /* One whose directory is there. */
        free(drive("sda")->drive->syspath);
        drive("sda")->drive->syspath = strdup(".");
        noted = links[_i].news;
        recovering = links[_i].recovering;
        ck_assert_int_eq(recheck_links(recheck), links[_i].again);
        ck_assert_str_eq(all_done(), links[_i].done);
}
END_TEST

/* There is no log to read, but a terminal, a pipe, /dev/null: that is told, and all else works. */
START_TEST(test_no_log) {
        _cleanup_close_ int fd = _i ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
        Recheck *without;

        last_priority = 0;
        ck_assert_int_eq(recheck_new(event, manager, fd, &without), 0);
        ck_assert_int_eq(last_priority, 5);
        (void) recheck_free(without);
}
END_TEST

static const struct {
        const char *attached, *done;
} attached[] = { { "sda", "sda:recheck sdb:recheck " }, { "nvme0n1", "" }, { "sdaa", "" } };

/* Two seconds after the last one; where no rule is, nobody looks. */
START_TEST(test_attached) {
        recheck_attached(recheck, attached[_i].attached);
        pass(event, SECOND);
        recheck_attached(recheck, attached[_i].attached);
        pass(event, 3 * SECOND / 2);
        ck_assert_str_eq(all_done(), "");
        pass(event, SECOND);
        ck_assert_str_eq(all_done(), recheck_meets_debian("") ? attached[_i].done : "");
}
END_TEST

int main(void) {
        TCase *t = tcase_create("recheck"), *drives = tcase_create("drives");
        Suite *s = suite_create("recheck");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_meets_debian, 0, ELEMENTSOF(cases));
        suite_add_tcase(s, t);
        tcase_add_checked_fixture(drives, setup, teardown);
        tcase_add_test(drives, test_wakes);
        tcase_add_test(drives, test_both_sleep);
        tcase_add_loop_test(drives, test_recheck, 0, 2);
        tcase_add_test(drives, test_recheck_same);
        tcase_add_test(drives, test_recheck_sleeps);
        tcase_add_loop_test(drives, test_link, 0, ELEMENTSOF(links));
        tcase_add_loop_test(drives, test_no_log, 0, 2);
        tcase_add_loop_test(drives, test_attached, 0, ELEMENTSOF(attached));
        suite_add_tcase(s, drives);
        return suite_run(s);
}
