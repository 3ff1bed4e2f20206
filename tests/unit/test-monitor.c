/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks how and when the monitor dispatches udev's events. The test replaces udev and controls the clock. */

#include <libudev.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "inject.h"
#include "monitor.h"
#include "own-clock.h"
#include "suite.h"

/* ---- udev ---- */

static sd_event *event;
static Monitor *monitor;
static struct udev *udev;
static int fd;
static struct udev_device *queue[16];
static size_t n_queued, n_received;
static bool overrun; /* the next receive() reports that events were lost */

static struct udev_device *receive(_unused_ void *userdata) {
        uint64_t n;

        (void) !read(fd, &n, sizeof n);
        if (overrun) {
                overrun = false;
                errno = ENOBUFS;
                return NULL;
        }
        errno = EAGAIN;
        return n_received < n_queued ? queue[n_received++] : NULL;
}

static void wake(void) {
        const uint64_t one = 1;

        ck_assert_int_eq(write(fd, &one, sizeof one), sizeof one);
}

/* Queues an event of udev, e.g. "add", "block", "disk", "sda". key: an additional property; NULL: none. */
static void add_event(const char *action, const char *subsystem, const char *type, const char *name, const char *key,
                      const char *value) {
        char path[64];

        ck_assert_int_eq(clearenv(), 0);
        (void) snprintf(path, sizeof path, "/devices/x/%s/%s", subsystem, name);
        ck_assert(setenv("DEVPATH", path, 1) == 0 && setenv("ACTION", action, 1) == 0 &&
                  setenv("SUBSYSTEM", subsystem, 1) == 0 && setenv("SEQNUM", "77", 1) == 0 &&
                  setenv("DEVTYPE", type, 1) == 0 && (!key || setenv(key, value, 1) == 0));
        queue[n_queued] = udev_device_new_from_environment(udev);
        ck_assert_ptr_nonnull(queue[n_queued]);
        n_queued++;
        wake();
}

/* ---- dispatched events ---- */

static char dispatched[512];

static _printf_(1, 2) void note(const char *format, ...) {
        size_t n = strlen(dispatched);
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(dispatched + n, sizeof dispatched - n, format, ap);
        va_end(ap);
}

void manager_plugged(_unused_ Manager *m, struct udev_device *device) {
        note("drive %s; ", udev_device_get_sysname(device));
}
void manager_unplugged(_unused_ Manager *m, const char *name) {
        note("removed %s; ", name);
}
void manager_stack_changed(_unused_ Manager *m, const char *name, bool removed) {
        note("stacked %s%s; ", name, removed ? "-" : "");
}
void manager_disturbed(_unused_ Manager *m, const char *syspath, VisitReason reason, uint64_t seqnum) {
        note("disturbed %s %s %lu; ", syspath, visit_reason_to_string(reason), (unsigned long) seqnum);
}
void debian_rule_attached(_unused_ DebianRule *d, const char *name) {
        note("attached %s; ", name);
}
void debian_rule_done(_unused_ DebianRule *d) {
}
static void on_power(_unused_ void *userdata) {
        note("power; ");
}
static void on_lost(_unused_ void *userdata) {
        note("lost; ");
}

static const MonitorEvents monitor_events = { .power = on_power, .lost = on_lost };

#define MS 1000ULL

static void setup(void) {
        const MonitorSource source = { .fd = fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), .receive = receive };

        dispatched[0] = '\0';
        n_queued = n_received = 0;
        overrun = false;
        /* Advances the clock by one hour, so that the first minute after boot is over. */
        passed_usec = 3600 * 1000 * MS;
        udev = udev_new();
        ck_assert_ptr_nonnull(udev);
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(monitor_new(event, &source, NULL, &monitor_events, NULL, &monitor), 0);
}

static void teardown(void) {
        monitor = monitor_free(monitor);
        event = sd_event_unref(event);
        while (n_received < n_queued)
                (void) udev_device_unref(queue[n_received++]);
        (void) memset(queue, 0, sizeof queue); /* the sanitizer reports events that were not freed */
        udev = udev_unref(udev);
        (void) close(fd);
}

/* ---- the tests ---- */

static const struct {
        const char *action, *subsystem, *type, *name, *key, *value, *dispatched;
} events[] = {
        { "add", "block", "disk", "sda", NULL, NULL, "drive sda; attached sda; " },
        { "change", "block", "disk", "sda", NULL, NULL, "drive sda; " },
        { "remove", "block", "disk", "sda", NULL, NULL, "removed sda; " },
        { "change", "block", "disk", "nvme0n1", NULL, NULL, "drive nvme0n1; " },
        { "add", "block", "partition", "sda1", NULL, NULL, "stacked sda1; " },
        { "remove", "block", "partition", "sda1", NULL, NULL, "stacked sda1-; " },
        { "change", "block", "partition", "sda1", "UDEV_WORKER_FAILED", "1", "" },
        { "remove", "block", "partition", "sda1", "UDEV_WORKER_FAILED", "1", "stacked sda1-; " },
        { "remove", "block", "disk", "sda", "UDEV_WORKER_FAILED", "1", "removed sda; " },
        { "change", "power_supply", "x", "AC", NULL, NULL, "power; " },
        { "change", "scsi", "scsi_device", "0:0:0:0", "SDEV_UA", "POWER_ON_RESET_OCCURRED",
          "disturbed /sys/devices/x/scsi/0:0:0:0 reset 77; " },
        { "change", "scsi", "scsi_device", "0:0:0:0", "SDEV_UA", "MODE_PARAMETERS_CHANGED",
          "disturbed /sys/devices/x/scsi/0:0:0:0 parameters 77; " },
        { "change", "scsi", "scsi_device", "0:0:0:0", "SDEV_UA", "LUN_CHANGED", "" },
        { "change", "scsi", "scsi_device", "0:0:0:0", NULL, NULL, "" },
        { "add", "scsi", "scsi_device", "0:0:0:0", "SDEV_UA", "POWER_ON_RESET_OCCURRED", "" },
        { "change", "nvme", "x", "nvme0", "NVME_EVENT", "connected",
          "disturbed /sys/devices/x/nvme/nvme0 controller 77; " },
        { "change", "nvme", "x", "nvme0", "NVME_EVENT", "rediscover", "" },
};

START_TEST(test_event) {
        add_event(events[_i].action, events[_i].subsystem, events[_i].type, events[_i].name, events[_i].key,
                  events[_i].value);
        pass(event, 200 * MS);
        ck_assert_str_eq(dispatched, events[_i].dispatched);
}
END_TEST

/* An event of an md or dm device is dispatched as an event of a stacked device. If the service manages such devices
 * itself, the event is also dispatched as an event of a drive. */
START_TEST(test_stacked) {
        static const char *const names[] = { "md0", "dm-1" };
        char both[64], stacked[64];

        (void) snprintf(both, sizeof both, "drive %s; stacked %s; ", names[_i], names[_i]);
        (void) snprintf(stacked, sizeof stacked, "stacked %s; ", names[_i]);
        add_event("change", "block", "disk", names[_i], NULL, NULL);
        pass(event, 200 * MS);
        ck_assert(streq(dispatched, both) || streq(dispatched, stacked));
}
END_TEST

/* Events that arrive together are dispatched together, 100 ms after the last event. */
START_TEST(test_collect) {
        add_event("add", "block", "disk", "sda", NULL, NULL);
        pass(event, 80 * MS);
        add_event("add", "block", "disk", "sdb", NULL, NULL);
        pass(event, 80 * MS);
        ck_assert_str_eq(dispatched, "");
        pass(event, 40 * MS);
        ck_assert_str_eq(dispatched, "drive sda; attached sda; drive sdb; attached sdb; ");

        /* After events were dispatched, the next event again waits 100 ms. */
        dispatched[0] = '\0';
        pass(event, 5000 * MS);
        add_event("change", "block", "disk", "sda", NULL, NULL);
        pass(event, 80 * MS);
        ck_assert_str_eq(dispatched, "");
        pass(event, 40 * MS);
        ck_assert_str_eq(dispatched, "drive sda; ");
}
END_TEST

/* Even if events keep arriving, no event waits longer than one second. */
START_TEST(test_time_limit) {
        for (int i = 0; i < 13; i++) {
                add_event("change", "block", "disk", "sda", NULL, NULL);
                pass(event, 80 * MS);
                ck_assert_int_eq(dispatched[0] != '\0', i == 12);
        }
}
END_TEST

/* A removal is dispatched at once, together with earlier events. */
START_TEST(test_at_once) {
        add_event("change", "block", "disk", "sda", NULL, NULL);
        run(event);
        ck_assert_str_eq(dispatched, "");
        add_event("remove", "block", "disk", "sdb", NULL, NULL);
        run(event);
        ck_assert_str_eq(dispatched, "drive sda; removed sdb; ");
        pass(event, 5000 * MS);
        ck_assert_str_eq(dispatched, "drive sda; removed sdb; ");
}
END_TEST

/* monitor_settle() dispatches all received events, whether or not the event loop has read them. */
START_TEST(test_settle) {
        add_event("add", "block", "disk", "sda", NULL, NULL);
        if (_i)
                run(event);
        monitor_settle(monitor);
        ck_assert_str_eq(dispatched, "drive sda; attached sda; ");
        pass(event, 5000 * MS);
        ck_assert_str_eq(dispatched, "drive sda; attached sda; ");
}
END_TEST

/* A loss of events is reported after the events that arrived. */
START_TEST(test_lost) {
        overrun = true;
        add_event("add", "block", "disk", "sda", NULL, NULL);
        pass(event, 200 * MS);
        ck_assert_str_eq(dispatched, "drive sda; attached sda; lost; ");

        dispatched[0] = '\0';
        add_event("change", "block", "disk", "sda", NULL, NULL);
        pass(event, 200 * MS);
        ck_assert_str_eq(dispatched, "drive sda; ");
}
END_TEST

/* In the first minute after boot, many events arrive, so an event waits longer than 100 ms. _i == 0: 30 s after boot;
 * 1: 61 s after boot. */
START_TEST(test_first_minute) {
        struct timespec ts;

        passed_usec = 0;
        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        passed_usec = ((_i ? 61 : 30) - ts.tv_sec) * 1000000;
        add_event("add", "block", "disk", "sda", NULL, NULL);
        pass(event, 150 * MS);
        ck_assert_str_eq(dispatched, _i ? "drive sda; attached sda; " : "");
        pass(event, 400 * MS);
        ck_assert_str_eq(dispatched, "drive sda; attached sda; ");
        passed_usec = 0; /* the test library reads this clock, too */
}
END_TEST

/* Waiting events are not dispatched after the monitor is freed. */
START_TEST(test_free) {
        add_event("add", "block", "disk", "sda", NULL, NULL);
        run(event);
        monitor = monitor_free(monitor);
        pass(event, 5000 * MS);
        ck_assert_str_eq(dispatched, "");
}
END_TEST

/* Listens to the machine's udev. If events arrive, they must do no harm. */
START_TEST(test_listen) {
        Monitor *real;

        ck_assert_int_eq(monitor_new(event, NULL, NULL, &monitor_events, NULL, &real), 0);
        monitor_settle(real);
        (void) monitor_free(real);
}
END_TEST

/* Without a source of events monitor_new() fails. */
START_TEST(test_no_source) {
        const MonitorSource source = { .fd = -1, .receive = receive };
        Monitor *none;

        ck_assert_int_lt(monitor_new(event, &source, NULL, &monitor_events, NULL, &none), 0);
}
END_TEST

/* After the event loop has exited, monitor_new() fails. */
START_TEST(test_no_loop) {
        const MonitorSource source = { .fd = fd, .receive = receive };
        Monitor *none = NULL;

        ck_assert(sd_event_exit(event, 0) >= 0 && sd_event_loop(event) == 0);
        ck_assert_int_eq(monitor_new(event, &source, NULL, &monitor_events, NULL, &none), -ESTALE);
        ck_assert_ptr_null(none);
}
END_TEST

/* Without memory, monitor_new() fails. If memory runs out for an event, the event is dropped and a loss is reported. */
START_TEST(test_no_memory) {
        const MonitorSource source = { .fd = fd, .receive = receive };
        Monitor *none = NULL;

        inject_arm(INJECT_MEMORY, 1);
        ck_assert_int_eq(monitor_new(event, &source, NULL, &monitor_events, NULL, &none), -ENOMEM);
        ck_assert(inject_disarm());
        ck_assert_ptr_null(monitor_free(none));

        add_event("add", "block", "disk", "sda", NULL, NULL);
        add_event("add", "block", "disk", "sdb", NULL, NULL);
        inject_arm(INJECT_MEMORY, 1);
        monitor_settle(monitor);
        ck_assert(inject_disarm());
        ck_assert_str_eq(dispatched, "drive sdb; attached sdb; lost; ");
}
END_TEST

int main(void) {
        Suite *s = suite_create("monitor");
        TCase *t = tcase_create("monitor");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_event, 0, ELEMENTSOF(events));
        tcase_add_loop_test(t, test_stacked, 0, 2);
        tcase_add_test(t, test_collect);
        tcase_add_test(t, test_time_limit);
        tcase_add_test(t, test_at_once);
        tcase_add_loop_test(t, test_settle, 0, 2);
        tcase_add_test(t, test_lost);
        tcase_add_loop_test(t, test_first_minute, 0, 2);
        tcase_add_test(t, test_free);
        tcase_add_test(t, test_listen);
        tcase_add_test(t, test_no_source);
        tcase_add_test(t, test_no_loop);
        tcase_add_test(t, test_no_memory);
        suite_add_tcase(s, t);

        return suite_run(s);
}
