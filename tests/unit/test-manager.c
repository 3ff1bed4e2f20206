/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All drives together: how they come and go, how many are visited at once, and when none is. */

#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <systemd/sd-id128.h>

#include "clock.h"
#include "fake-visits.h"

static void setup(void) {
        manager_setup_with(APM);
}

/* The service starts with these. */
static void start(size_t n) {
        static const char *const names[] = { "sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg", "sdh", "sdi", "sdj",
                                             "sdk", "sdl", "sdm", "sdn", "sdo", "sdp", "sdq", "sdr", "sds", "sdt" };

        ck_assert_uint_le(n, ELEMENTSOF(names));
        for (n_present = 0; n_present < n; n_present++)
                present[n_present] = (typeof(present[0])){ .name = names[n_present], .diskseq = n_present + 1 };
        ck_assert_int_eq(manager_enumerate(manager, VISIT_BOOT), 0);
}

static void visit_all(void) {
        for (Target *t = manager_first(manager); t; t = t->next)
                visit_whole(event, t, VERDICT_UNCHANGED);
        run(event);
        (void) all_done();
}

/* ---- drives come and go ---- */

/* Nobody is visited before it is known who is to be left alone. */
START_TEST(test_start) {
        start(2);
        ck_assert_str_eq(all_done(), "judged sda:boot sdb:boot sdz:pruned ");
        ck_assert_ptr_eq(manager_first(manager), drive("sda"));
        ck_assert_uint_eq(strlen(drive("sda")->record->boot_id), SD_ID128_STRING_MAX - 1);
        ck_assert_ptr_null(manager_find(manager, "sdc"));
}
END_TEST

/* Events were lost: what is new is visited, what is gone is dropped, the others stay. */
START_TEST(test_enumerate_again) {
        start(3);
        visit_all();
        present[1].name = "sdx";
        present[0] = present[2];
        n_present = 2;
        ck_assert_int_eq(manager_enumerate(manager, VISIT_ATTACH), 0);
        ck_assert_str_eq(all_done(), "sda:removed sda:rested sdb:removed sdb:rested sdx:attach sda:pruned sdz:pruned ");
        ck_assert_ptr_null(drive("sdc")->visit.job);

        inventory_error = -EIO;
        ck_assert_int_eq(manager_enumerate(manager, VISIT_ATTACH), -EIO);
        inventory_error = 0;
        ck_assert_ptr_nonnull(drive("sdc"));
}
END_TEST

START_TEST(test_plugged) {
        start(1);
        visit_all();
        n_pokes = 0;
        plug("sdb");
        ck_assert_str_eq(all_done(), "sdb:attach ");
        ck_assert_uint_eq(n_pokes, 1);
        visit_whole(event, drive("sdb"), VERDICT_APPLIED);

        /* The same once more: nothing has changed. */
        manager_plugged(manager, (struct udev_device *) "sdb");
        run(event);
        ck_assert_str_eq(all_done(), "");

        /* Another drive, or medium, by the same name. */
        present[1].diskseq = 9;
        manager_plugged(manager, (struct udev_device *) "sdb");
        ck_assert_str_eq(all_done(), "sdb:removed sdb:rested sdb:attach ");

        manager_unplugged(manager, "sdb");
        ck_assert_str_eq(all_done(), "sdb:removed sdb:rested ");
        ck_assert_ptr_null(manager_find(manager, "sdb"));
        manager_unplugged(manager, "sdb");
        ck_assert_uint_eq(n_pokes, 5);
}
END_TEST

/* With a worker still at it: that is told, and nobody waits for it. */
START_TEST(test_unplugged_in_visit) {
        start(2);
        (void) all_done();
        ready(drive("sda"));
        run(event);
        ck_assert_str_eq(all_done(), "sda:works ");
        manager_unplugged(manager, "sda");
        ck_assert_str_eq(all_done(), "sda:vanishes sda:removed sda:rested ");
        manager_hold(manager, true);
        run(event);
        ck_assert_str_eq(all_done(), "sdb:stop quiet ");
}
END_TEST

/* What cannot be described is no drive, and one that cannot be looked after is left alone until it is told of again. */
START_TEST(test_plugged_in_vain) {
        n_pokes = 0;
        inventory_error = -ENODEV;
        plug("sda");
        inventory_error = 0;
        ck_assert_uint_eq(n_pokes, 0);
        ck_assert_ptr_null(manager_first(manager));

        attach_error = -ENOMEM;
        ck_assert_int_eq(manager_enumerate(manager, VISIT_BOOT), 0);
        attach_error = 0;
        ck_assert_ptr_null(manager_first(manager));
        ck_assert_int_eq(last_priority, LOG_ERR);
        (void) all_done();
        manager_plugged(manager, (struct udev_device *) "sda");
        ck_assert_str_eq(all_done(), "sda:attach ");
}
END_TEST

/* Something lies on sda, on a disk that is not looked after, and on one that is about to go: links to it are links to sda. */
static const struct {
        const char *below;
        bool removed;
        const char *done;
} stacks[] = {
        { "sda", false, "sda:change " },
        { "sdz", false, "" },
        { "sdb", false, "" },
        { "sda", true, "" },
};

START_TEST(test_stack) {
        char dir[] = "/tmp/test-manager-XXXXXX", name[64], command[128];

        manager_teardown();
        manager_setup_with("{ match = \"/dev/md0\"; apm = 128; }");
        start(2);
        n_present = 1;
        present[0].link = "/dev/md0";
        (void) all_done();

        /* It stands for the kernel's name of the device, and leads to a directory of ours. */
        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(name, sizeof name, "../../..%s", dir);
        (void) snprintf(command, sizeof command, "mkdir -p %s/slaves/%s", dir, stacks[_i].below);
        ck_assert_int_eq(system(command), 0);
        n_pokes = 0;
        manager_stack_changed(manager, name, stacks[_i].removed);
        (void) snprintf(command, sizeof command, "rm -r %s", dir);
        ck_assert_int_eq(system(command), 0);
        ck_assert_str_eq(all_done(), stacks[_i].done);
        ck_assert_uint_eq(n_pokes, 1);

        /* A disk is not below itself. */
        manager_stack_changed(manager, "sda", false);
        ck_assert_str_eq(all_done(), "");
}
END_TEST

/* ---- what is wanted ---- */

START_TEST(test_reconfigure) {
        Files *files = files_of("{ match = \"/dev/sda\"; apm = 127; }, { match = \"/dev/sd[b]\"; apm = 128; }");

        start(2);
        visit_all();
        manager_reconfigure(manager, files, false, VISIT_RELOAD);
        run(event);
        ck_assert_str_eq(all_done(), "sda:reload ");
        (void) files_unref(files);
        visit_whole(event, drive("sda"), VERDICT_APPLIED);

        /* The power source alone, which no rule is about. */
        manager_reconfigure(manager, NULL, true, VISIT_POWER);
        run(event);
        ck_assert_str_eq(all_done(), "");
}
END_TEST

START_TEST(test_power) {
        Files *files = files_of("{ match = {}; apm = 254; on_battery = { apm = 1; }; }");

        manager_reconfigure(manager, files, false, VISIT_RELOAD);
        (void) files_unref(files);
        start(1);
        visit_all();
        manager_reconfigure(manager, NULL, true, VISIT_POWER);
        ck_assert_str_eq(all_done(), "sda:power ");
        visit_whole(event, drive("sda"), VERDICT_APPLIED);
        manager_reconfigure(manager, NULL, true, VISIT_POWER);
        ck_assert_str_eq(all_done(), "");
}
END_TEST

/* A visit that has no worker yet begins anew; where nothing is wanted any more it is over for who waits for it. */
START_TEST(test_withdrawn) {
        Files *files = files_of("{ match = \"/dev/nonesuch\"; apm = 127; }");

        start(1);
        (void) all_done();
        manager_reconfigure(manager, files, false, VISIT_RELOAD);
        ck_assert_str_eq(all_done(), "sda:rested ");
        ck_assert_ptr_null(drive("sda")->visit.job);
        (void) files_unref(files);
}
END_TEST

START_TEST(test_disturbed) {
        start(2);
        visit_all();
        present[n_present].port = "u";
        plug("sdx");
        present[n_present - 1].port = "u";
        visit_whole(event, drive("sdx"), VERDICT_APPLIED);
        manager_disturbed(manager, "/sys/devices/p", VISIT_RESET, 101);
        ck_assert_str_eq(all_done(), "sda:reset sdb:reset sdx:reset ");
}
END_TEST

START_TEST(test_visit) {
        start(2);
        visit_all();
        target_visit(drive("sdb"), VISIT_REQUEST);
        ck_assert_str_eq(all_done(), "sdb:request ");
        manager_visit_all(manager, VISIT_RESUME);
        ck_assert_str_eq(all_done(), "sda:resume sdb:resume ");
}
END_TEST

/* ---- workers ---- */

static unsigned count_workers(void) {
        unsigned n = 0;

        for (Target *t = manager_first(manager); t; t = t->next)
                n += t->visit.job && t->visit.job->working;
        return n;
}

/* Sixteen at a time; the kernel's own are none of them. */
START_TEST(test_bound) {
        start(20);
        for (Target *t = manager_first(manager); t; t = t->next)
                ready(t);
        ck_assert_uint_eq(count_workers(), 0);
        n_writing = 0;
        run(event);
        ck_assert_uint_eq(count_workers(), 16);
        ck_assert_uint_eq(n_writing, 16);

        over(drive("sda"), VERDICT_APPLIED);
        ck_assert_uint_eq(count_workers(), 15);
        run(event);
        ck_assert_uint_eq(count_workers(), 16);
        drive("sdb")->visit.job->silent = true;
        drive("sdb")->visit.job->events->silent(drive("sdb"), 20);
        run(event);
        ck_assert_uint_eq(count_workers(), 17);
}
END_TEST

/* No process: once more in a second. */
START_TEST(test_no_process) {
        start(2);
        ready(drive("sda"));
        ready(drive("sdb"));
        work_error = -EAGAIN;
        run(event);
        work_error = 0;
        run(event);
        ck_assert_uint_eq(count_workers(), 0);
        pass(event, SECOND / 2);
        ck_assert_uint_eq(count_workers(), 0);
        pass(event, SECOND);
        ck_assert_uint_eq(count_workers(), 2);
}
END_TEST

/* What one drive lacks is not the others' fault. */
START_TEST(test_no_process_for_one) {
        start(3);
        ready(drive("sda"));
        ready(drive("sdb"));
        ready(drive("sdc"));
        (void) all_done();
        work_error = -EMSGSIZE;
        work_fails = "sda";
        for (unsigned i = 0; i < 3; i++) {
                run(event);
                ck_assert_str_eq(all_done(), i == 0 ? "sdb:works sdc:works " : "");
                pass(event, 2 * SECOND);
        }
        work_error = 0;
        pass(event, 2 * SECOND);
        ck_assert_str_eq(all_done(), "sda:works ");
}
END_TEST

/* The broker's socket is closed for good: systemd starts both anew. */
START_TEST(test_no_broker) {
        int r;

        start(1);
        ready(drive("sda"));
        work_error = -ESHUTDOWN;
        while ((r = sd_event_run(event, 0)) > 0)
                ;
        ck_assert_int_eq(r, -ESTALE);
        ck_assert_int_eq(sd_event_get_exit_code(event, &r), 0);
        ck_assert_int_eq(r, -ECONNREFUSED);
        work_error = 0;
}
END_TEST

/* Somebody else reads it. */
START_TEST(test_read_by_others) {
        start(2);
        drive("sda")->readers = (Reader *) &event;
        ready(drive("sda"));
        ready(drive("sdb"));
        (void) all_done();
        run(event);
        ck_assert_str_eq(all_done(), "sdb:works ");
        drive("sda")->readers = NULL;
        run(event);
        ck_assert_str_eq(all_done(), "");
        drive("sda")->env->changed(manager, drive("sda"));
        run(event);
        ck_assert_str_eq(all_done(), "sda:works ");
}
END_TEST

/* ---- nobody is visited ---- */

START_TEST(test_hold) {
        start(3);
        ready(drive("sda"));
        ready(drive("sdb"));
        run(event);
        ready(drive("sdc"));
        (void) all_done();
        manager_hold(manager, true);
        run(event);
        ck_assert_str_eq(all_done(), "sda:stop sdb:stop sdc:stop ");
        over(drive("sda"), VERDICT_APPLIED);
        run(event);
        ck_assert_str_eq(all_done(), "sda:rested ");
        over(drive("sdb"), VERDICT_APPLIED);
        run(event);
        ck_assert_str_eq(all_done(), "sdb:rested quiet ");

        manager_hold(manager, false);
        run(event);
        ck_assert_str_eq(all_done(), "sdc:works ");

        /* One that is stuck is the kernel's. */
        drive("sdc")->visit.job->silent = true;
        manager_hold(manager, true);
        run(event);
        ck_assert_str_eq(all_done(), "sdc:stop quiet ");
}
END_TEST

START_TEST(test_rest) {
        start(2);
        ready(drive("sdb"));
        run(event);
        (void) all_done();
        manager_rest(manager, 60 * SECOND);
        ck_assert_str_eq(all_done(), "sdb:worker sda:rests sdb:rests flushed ");
        ck_assert_uint_eq(flush_until, 60 * SECOND);
}
END_TEST

/* ---- times ---- */

/* Two drives that are disturbed too often: one timer, and each in its turn. */
START_TEST(test_timer) {
        start(2);
        visit_all();
        for (unsigned i = 0; i < 12; i++) {
                Target *t = drive(i % 2 ? "sdb" : "sda");

                if (i == 1)
                        pass(event, 60 * SECOND);
                target_disturbed(t, VISIT_RESET, 0);
                if (t->visit.job)
                        visit_whole(event, t, VERDICT_UNCHANGED);
        }
        ck_assert_str_eq(all_done(), "sda:storm sdb:storm ");
        pass(event, 538 * SECOND);
        ck_assert_str_eq(all_done(), "");
        pass(event, 4 * SECOND);
        ck_assert_str_eq(all_done(), "sda:reset ");
        pass(event, 54 * SECOND);
        ck_assert_str_eq(all_done(), "");
        pass(event, 8 * SECOND);
        ck_assert_str_eq(all_done(), "sdb:reset ");
        ck_assert_int_eq(last_priority, 0); /* nothing went wrong */
}
END_TEST

/* The earlier time comes first, whichever was set first. */
START_TEST(test_health) {
        start(2);
        visit_all();
        drive("sda")->guard.healthy_at = monotonic_usec() + 600 * SECOND;
        drive("sda")->env->changed(manager, drive("sda"));
        drive("sdb")->guard.healthy_at = monotonic_usec() + 10 * SECOND;
        drive("sdb")->env->changed(manager, drive("sdb"));
        guard_told[0] = '\0';
        pass(event, 9 * SECOND);
        ck_assert_str_eq(guard_told, "");
        pass(event, 2 * SECOND);
        ck_assert_str_eq(guard_told, "look ");
        pass(event, 580 * SECOND);
        ck_assert_str_eq(guard_told, "look ");
        pass(event, 10 * SECOND);
        ck_assert_str_eq(guard_told, "look look ");
        ck_assert_int_eq(last_priority, 0);
}
END_TEST

/* A drive does not wait any more, as it tells, or as files of a reload leave it: then nothing wakes the service. */
START_TEST(test_timer_stops) {
        Files *files = files_of(APM);

        start(1);
        visit_all();
        drive("sda")->guard.healthy_at = monotonic_usec() + 600 * SECOND;
        drive("sda")->env->changed(manager, drive("sda"));
        pass(event, SECOND);
        drive("sda")->guard.healthy_at = 0;
        if (_i)
                manager_reconfigure(manager, files, false, VISIT_RELOAD);
        else
                drive("sda")->env->changed(manager, drive("sda"));
        (void) files_unref(files);
        run(event);
        passed_usec += 700 * SECOND;
        ck_assert_int_eq(sd_event_run(event, 0), 0);

        /* The next one does. */
        guard_told[0] = '\0';
        drive("sda")->guard.healthy_at = monotonic_usec() + SECOND;
        drive("sda")->env->changed(manager, drive("sda"));
        pass(event, 2 * SECOND);
        ck_assert_str_eq(guard_told, "look ");
}
END_TEST

/* ---- what systemd is told ---- */

static void check_status(int fd, const char *wanted) {
        char text[512] = "";
        ssize_t n;

        run(event);
        while ((n = recv(fd, text, sizeof text - 1, MSG_DONTWAIT)) > 0)
                text[n] = '\0';
        ck_assert_str_eq(text, wanted);
}

START_TEST(test_status) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        /* A name that the kernel makes up. */
        ck_assert_int_eq(bind(fd, (const struct sockaddr *) &address, sizeof address.sun_family), 0);
        ck_assert_int_eq(getsockname(fd, (struct sockaddr *) &address, &(socklen_t){ sizeof address }), 0);
        address.sun_path[0] = '@';
        ck_assert_int_eq(setenv("NOTIFY_SOCKET", address.sun_path, true), 0);

        check_status(fd, "STATUS=0 drives, 0 settings kept");
        start(1);
        check_status(fd, "STATUS=1 drive, 0 settings kept; 1 being visited");
        visit_whole(event, drive("sda"), VERDICT_UNCHANGED);
        check_status(fd, "STATUS=1 drive, 1 setting kept");
        start(3);
        check_status(fd, "STATUS=3 drives, 1 setting kept; 2 being visited");
        visit_whole(event, drive("sdb"), VERDICT_REFUSED);
        check_status(fd, "STATUS=3 drives, 1 setting kept, 1 refused; 1 being visited");
        visit_whole(event, drive("sdc"), VERDICT_APPLIED);
        target_visit(drive("sda"), VISIT_CHANGE);
        visit_whole(event, drive("sda"), VERDICT_IGNORED);
        check_status(fd, "STATUS=3 drives, 1 setting kept, 1 ignored, 1 refused");
        manager_unplugged(manager, "sdb");
        check_status(fd, "STATUS=2 drives, 1 setting kept, 1 ignored");
        /* Not every drive has everything. */
        target_visit(drive("sda"), VISIT_CHANGE);
        visit_whole(event, drive("sda"), VERDICT_UNSUPPORTED);
        check_status(fd, "STATUS=2 drives, 1 setting kept");
        ck_assert_int_eq(unsetenv("NOTIFY_SOCKET"), 0);
        (void) close(fd);
}
END_TEST

/* Nothing may be written in this boot: that is said once, at the start. */
START_TEST(test_forbidden) {
        manager_teardown();
        forbidden = "drivekeep=0";
        manager_setup_with(APM);
        forbidden = NULL;
        ck_assert_int_eq(last_priority, LOG_WARNING);
        start(1);
        ck_assert_str_eq(drive("sda")->env->forbidden_by, "drivekeep=0");
}
END_TEST

/* ---- bridges ---- */

static const struct {
        bool working, asked, sata;
        const char *port; /* where it is back */
        unsigned seconds;
        bool spared;
} falls[] = {
        { .working = true, .port = "usb1/1-1/host7/7:0:0:0", .seconds = 3, .spared = 1 },
        { .working = true, .port = "usb1/1-1/host7/7:0:0:0", .seconds = 19, .spared = 1 },
        { .working = true, .port = "usb1/1-1/host7/7:0:0:0", .seconds = 21 },
        { .working = true, .port = "usb1/1-2/host7/7:0:0:0", .seconds = 3 },
        { .working = true, .port = "usb1/1-1.1/host7/7:0:0:0", .seconds = 3 },
        { .working = false, .port = "usb1/1-1/host7/7:0:0:0", .seconds = 3 },
        { .working = true, .asked = true, .port = "usb1/1-1/host7/7:0:0:0", .seconds = 3 },
        { .working = true, .sata = true, .port = "usb1/1-1/host7/7:0:0:0", .seconds = 3 },
};

/* A bridge that falls off the bus while it is sent its first ATA command is sent no more of them when it is back. */
START_TEST(test_fall) {
        present[0] = (typeof(present[0])){ .name = "sdx", .port = "usb1/1-1/host6/6:0:0:0" };
        n_present = 1;
        ck_assert_int_eq(manager_enumerate(manager, VISIT_BOOT), 0);
        drive("sdx")->record->bridge.asked = falls[_i].asked;
        if (falls[_i].sata)
                drive("sdx")->drive->transport = TRANSPORT_SATA;
        if (falls[_i].working) {
                ready(drive("sdx"));
                run(event);
        }
        manager_unplugged(manager, "sdx");
        pass(event, falls[_i].seconds * SECOND);
        present[0].port = falls[_i].port;
        manager_plugged(manager, (struct udev_device *) "sdx");
        ck_assert_int_eq(drive("sdx")->record->bridge.fragile, falls[_i].spared);
        ck_assert_int_eq(drive("sdx")->record->bridge.asked, falls[_i].spared);
}
END_TEST

/* Of two that fell, the last one is known. */
START_TEST(test_falls) {
        static const char *const ports[] = { "usb1/1-1/host6/6:0:0:0", "usb1/1-2/host7/7:0:0:0" };
        static const char *const names[] = { "sdx", "sdy" };

        for (size_t i = 0; i < 2; i++)
                present[i] = (typeof(present[0])){ .name = names[i], .port = ports[i] };
        n_present = 2;
        ck_assert_int_eq(manager_enumerate(manager, VISIT_BOOT), 0);
        for (size_t i = 0; i < 2; i++) {
                ready(drive(names[i]));
                run(event);
                manager_unplugged(manager, names[i]);
        }
        for (size_t i = 0; i < 2; i++) {
                manager_plugged(manager, (struct udev_device *) names[i]);
                ck_assert(drive(names[i])->record->bridge.fragile == (i == 1));
        }
}
END_TEST

int main(void) {
        Suite *s = suite_create("manager");
        TCase *t = tcase_create("manager");

        tcase_add_checked_fixture(t, setup, manager_teardown);
        tcase_add_test(t, test_start);
        tcase_add_test(t, test_enumerate_again);
        tcase_add_test(t, test_plugged);
        tcase_add_test(t, test_unplugged_in_visit);
        tcase_add_test(t, test_plugged_in_vain);
        tcase_add_loop_test(t, test_stack, 0, ELEMENTSOF(stacks));
        tcase_add_test(t, test_reconfigure);
        tcase_add_test(t, test_power);
        tcase_add_test(t, test_withdrawn);
        tcase_add_test(t, test_disturbed);
        tcase_add_test(t, test_visit);
        tcase_add_test(t, test_bound);
        tcase_add_test(t, test_no_process);
        tcase_add_test(t, test_no_process_for_one);
        tcase_add_test(t, test_no_broker);
        tcase_add_test(t, test_read_by_others);
        tcase_add_test(t, test_hold);
        tcase_add_test(t, test_rest);
        tcase_add_test(t, test_timer);
        tcase_add_test(t, test_health);
        tcase_add_loop_test(t, test_timer_stops, 0, 2);
        tcase_add_test(t, test_status);
        tcase_add_test(t, test_forbidden);
        tcase_add_loop_test(t, test_fall, 0, ELEMENTSOF(falls));
        tcase_add_test(t, test_falls);
        suite_add_tcase(s, t);

        return suite_run(s);
}
