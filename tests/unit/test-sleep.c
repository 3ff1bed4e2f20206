/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Detection of suspend by logind's signals, by the clocks and by the kernel's counts. All three are replaced by the test. */

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include "bus-pair.h"
#include "inject.h"
#include "journal.h"
#include "sleep.h"
#include "suite.h"

#define LOGIND "org.freedesktop.login1"
#define LOGIND_PATH "/org/freedesktop/login1"

static sd_event *event;
static Sleep *machine;

/* ---- logind and the system bus ---- */

static sd_bus *bus, *bus_at_service; /* the two ends of the system bus */
static sd_bus *proxy;                /* logind's end of the connection through the proxy */
static const char *owner;            /* unique name of logind on the bus; "": logind does not run */
static unsigned n_inhibit_calls;
static enum { GRANTS, REFUSES, IGNORES, REPLIES_WRONGLY } logind;
static bool proxy_refuses, loop_ended; /* loop_ended: the event loop has ended */
static int lock = -EBADF;              /* logind's end of the last inhibitor */

static int on_inhibit(sd_bus_message *m, void *userdata _unused_, sd_bus_error *error) {
        const char *what, *who, *why, *mode;
        int fds[2], r;

        if (sd_bus_message_is_method_call(m, LOGIND ".Manager", "Inhibit") <= 0)
                return 0;
        ck_assert_str_eq(sd_bus_message_get_path(m), LOGIND_PATH);
        ck_assert_int_gt(sd_bus_message_read(m, "ssss", &what, &who, &why, &mode), 0);
        ck_assert_str_eq(what, "sleep");
        ck_assert_str_eq(who, "drivekeep");
        ck_assert_str_eq(mode, "delay");
        n_inhibit_calls++;
        if (logind == REFUSES)
                return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED, "no");
        if (logind == IGNORES)
                return 1;
        if (logind == REPLIES_WRONGLY)
                return sd_bus_reply_method_return(m, "s", "?");

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
        r = sd_bus_reply_method_return(m, "h", fds[1]);
        (void) close(fds[1]);
        closep(&lock);
        lock = fds[0];
        return r;
}

static int on_bus_call(sd_bus_message *m, void *userdata _unused_, sd_bus_error *error) {
        const char *name;

        if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus", "GetNameOwner") <= 0)
                return 0;
        ck_assert_int_gt(sd_bus_message_read(m, "s", &name), 0);
        ck_assert_str_eq(name, LOGIND);
        return *owner ? sd_bus_reply_method_return(m, "s", owner)
                      : sd_bus_error_set(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER, "no");
}

static int open_proxy(Broker *broker _unused_, sd_bus **ret) {
        if (proxy_refuses)
                return -ECONNREFUSED;
        proxy = sd_bus_close_unref(proxy);
        proxy = bus_pair(loop_ended ? NULL : event, ret);
        ck_assert_int_ge(sd_bus_set_close_on_exit(proxy, false), 0);
        return sd_bus_add_filter(proxy, NULL, on_inhibit, NULL);
}

/* Returns true if logind waits for the service, which has the other end of the inhibitor open. */
static bool is_inhibited(void) {
        char byte;

        return lock >= 0 && read(lock, &byte, 1) < 0 && errno == EAGAIN;
}

static void send_signal(const char *sender, const char *path, const char *interface, const char *member,
                        const char *types, ...) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        va_list ap;

        ck_assert_int_ge(sd_bus_message_new_signal(bus, &m, path, interface, member), 0);
        ck_assert_int_ge(sd_bus_message_set_sender(m, sender), 0);
        va_start(ap, types);
        ck_assert_int_ge(sd_bus_message_appendv(m, types, ap), 0);
        va_end(ap);
        ck_assert_int_ge(sd_bus_send(bus, m, NULL), 0);
        bus_settle(event);
}

static void prepare_by(const char *sender, bool preparing) {
        send_signal(sender, LOGIND_PATH, LOGIND ".Manager", "PrepareForSleep", "b", preparing);
}

static void prepare(bool preparing) {
        prepare_by(owner, preparing);
}

static void change_owner(const char *old_owner, const char *new_owner) {
        send_signal("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
                    LOGIND, old_owner, new_owner);
        owner = new_owner;
}

/* ---- the machine ---- */

static unsigned n_logged;

void journal_log(_unused_ int priority, _unused_ const char *format, ...) {
        n_logged++;
}

/* The timer on the wall clock never expires. The kernel cancels it when the clock jumps. */
static int wall_clock = -EBADF;
static bool no_clock;
static unsigned n_armed;

int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_create(int clock, _unused_ int flags) {
        ck_assert_int_eq(clock, CLOCK_REALTIME);
        errno = EMFILE;
        return no_clock ? -1 : (wall_clock = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *ret);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *ret) {
        ck_assert_int_eq(fd, wall_clock);
        ck_assert_int_eq(flags, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
        ck_assert_int_gt(value->it_value.tv_sec, (int64_t) 1 << 60);
        ck_assert_ptr_null(ret);
        n_armed++;
        return 0;
}

static uint64_t slept;
static char stats[32];

static uint64_t get_slept(void) {
        return slept;
}

static void count(const char *name, unsigned n) {
        char path[64];
        FILE *f;

        (void) snprintf(path, sizeof path, "%s/%s", stats, name);
        f = fopen(path, "we");
        ck_assert_ptr_nonnull(f);
        (void) fprintf(f, "%u\n", n);
        (void) fclose(f);
}

static int on_deferred(sd_event_source *source _unused_, void *userdata _unused_) {
        return 0;
}

/* Makes the event loop handle one event, at which the service also checks for a suspend. */
static void wake_up(void) {
        sd_event_source *source = NULL;

        ck_assert_int_ge(sd_event_add_defer(event, &source, on_deferred, NULL), 0);
        bus_settle(event);
        sd_event_source_disable_unref(source);
}

/* ---- events of the service ---- */

static char events_seen[64]; /* P: before a suspend; A: awake, but no suspend followed; S: awake after a suspend */
static bool is_quiet;        /* true if no command is under way */

static void on_preparing(void *userdata _unused_) {
        (void) strcat(events_seen, "P");
        if (is_quiet)
                sleep_ready(machine);
}

static void on_awake(void *userdata _unused_, bool any) {
        (void) strcat(events_seen, any ? "S" : "A");
}

static void expect(const char *what) {
        ck_assert_str_eq(events_seen, what);
        events_seen[0] = '\0';
}

static void make_bus(void) {
        bus = bus_pair(event, &bus_at_service);
        ck_assert_int_ge(sd_bus_attach_event(bus_at_service, event, 0), 0);
        ck_assert_int_ge(sd_bus_add_filter(bus, NULL, on_bus_call, NULL), 0);
}

static void disconnect_bus(void) {
        (void) sd_bus_close_unref(bus);
        (void) sd_bus_close_unref(bus_at_service);
}

static const SleepEvents events = { on_preparing, on_awake };
static const SleepWorld world = { open_proxy, get_slept, stats };

static void setup(void) {
        lock = -EBADF;
        owner = ":1.1";
        slept = 7000000;
        (void) strcpy(stats, "/tmp/test-sleep-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(stats));
        count("success", 4);
        ck_assert_int_ge(sd_event_new(&event), 0);
        make_bus();
        ck_assert_int_eq(sleep_new(event, NULL, &world, &events, NULL, &machine), 0);
}

static void teardown(void) {
        static const char *const names[] = { "success", "failed_suspend", "failed_suspend_late",
                                             "failed_suspend_noirq" };
        char path[64];

        machine = sleep_free(machine);
        ck_assert(!is_inhibited());
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                (void) snprintf(path, sizeof path, "%s/%s", stats, names[i]);
                (void) unlink(path);
        }
        (void) rmdir(stats);
        closep(&lock);
        (void) sd_bus_close_unref(proxy);
        disconnect_bus();
        event = sd_event_unref(event);
}

static void connect_bus(void) {
        sleep_writing(machine);
        sleep_bus_connected(machine, bus_at_service);
        bus_settle(event);
}

/* ---- the tests ---- */

/* logind delays a suspend until no command is under way. After the suspend the service takes a new inhibitor. */
START_TEST(test_logind) {
        connect_bus();
        ck_assert_uint_eq(n_inhibit_calls, 1);
        ck_assert(is_inhibited());

        for (unsigned i = 2; i <= 4; i++) {
                prepare(true);
                expect("P");
                ck_assert(is_inhibited());
                sleep_ready(machine);
                ck_assert(!is_inhibited());
                slept += 5000000;
                prepare(false);
                expect("S");
                ck_assert_uint_eq(n_inhibit_calls, i);
                ck_assert(is_inhibited());
        }

        /* A suspend is reported once. */
        wake_up();
        expect("");
}
END_TEST

/* A service that writes no settings takes no inhibitor. */
START_TEST(test_nothing_written) {
        sleep_bus_connected(machine, bus_at_service);
        bus_settle(event);
        prepare(true);
        expect("P");
        prepare(false);
        expect("A");
        change_owner(":1.1", "");
        change_owner("", ":1.2");
        ck_assert_uint_eq(n_inhibit_calls, 0);

        for (unsigned i = 0; i < 2; i++) {
                sleep_writing(machine);
                bus_settle(event);
                ck_assert_uint_eq(n_inhibit_calls, 1);
                ck_assert(is_inhibited());
        }

        /* A service without the bus holds no inhibitor, since logind could not announce a suspend. */
        sleep_bus_lost(machine);
        ck_assert(!is_inhibited());
}
END_TEST

START_TEST(test_no_command_under_way) {
        is_quiet = true;
        connect_bus();
        prepare(true);
        expect("P");
        ck_assert(!is_inhibited());
        prepare(false);
        expect("A");
        ck_assert(is_inhibited());
}
END_TEST

/* The kernel's counter that increases after logind has announced a suspend, and the expected event. */
static const struct {
        const char *counted;
        const char *events_seen;
} failures[] = {
        { "failed_freeze", "A" }, /* not a suspend: only processes were frozen */
        { "failed_suspend", "S" }, { "failed_suspend_late", "S" }, { "failed_suspend_noirq", "S" }, { "success", "S" },
};

START_TEST(test_failure) {
        char path[64];

        connect_bus();
        for (unsigned i = 1; i <= 2; i++) {
                prepare(true);
                expect("P");
                count(failures[_i].counted, 10 * i);
                prepare(false);
                expect(failures[_i].events_seen);
                wake_up();
                expect("");
        }
        (void) snprintf(path, sizeof path, "%s/%s", stats, failures[_i].counted);
        (void) unlink(path);
}
END_TEST

/* A suspend that logind does not announce is reported once, at the next event of the service. */
static const struct {
        uint64_t more_usec; /* time by which CLOCK_BOOTTIME advances more than CLOCK_MONOTONIC */
        unsigned count;     /* the kernel's count of suspends; 4: unchanged */
        unsigned later;     /* the count of suspends at the second event of the service */
        const char *events_seen;
} undetected[] = {
        { 0, 4, 4, "" },        { 50000, 4, 4, "" }, /* a clock difference of up to 50 ms is no suspend */
        { 50001, 4, 4, "S" },   { 3000000, 5, 5, "S" },
        { 3000000, 4, 5, "S" }, { 0, 5, 5, "S" }, /* the clocks show no suspend, but the count does */
        { 0, 7, 7, "S" },
};

START_TEST(test_without_logind) {
        if (_i % 2)
                connect_bus();
        wake_up();
        expect("");
        slept += undetected[_i].more_usec;
        count("success", undetected[_i].count);
        wake_up();
        expect(undetected[_i].events_seen);
        count("success", undetected[_i].later);
        wake_up();
        expect("");

        slept += 3000000;
        count("success", undetected[_i].later + 1);
        wake_up();
        expect("S");
}
END_TEST

/* A suspend that logind announced is reported only at logind's second signal. */
START_TEST(test_preparing) {
        connect_bus();
        prepare(true);
        expect("P");
        slept += 3000000;
        wake_up();
        expect("");
        prepare(false);
        expect("S");
}
END_TEST

/* If logind or the bus disappears before logind's second signal, the end of the suspend is reported at once. */
START_TEST(test_lost) {
        connect_bus();
        prepare(true);
        expect("P");
        change_owner(":1.1", "");
        expect("A");
        ck_assert_uint_eq(n_inhibit_calls, 1);
        change_owner("", ":1.2");
        expect("");
        ck_assert_uint_eq(n_inhibit_calls, 2);
        ck_assert(is_inhibited());

        prepare(true);
        expect("P");
        sleep_bus_lost(machine);
        expect("A");
        ck_assert(!is_inhibited());
        disconnect_bus();
        make_bus();
        connect_bus();
        ck_assert_uint_eq(n_inhibit_calls, 3);
        ck_assert(is_inhibited());
        prepare(true);
        expect("P");
}
END_TEST

/* Signals of senders other than logind are ignored, since any user could send signals that stop all visits. */
START_TEST(test_senders) {
        static const char *const others[] = { ":1.9", ":1.11", LOGIND, "org.freedesktop.DBus" };

        connect_bus();
        for (size_t i = 0; i < ELEMENTSOF(others); i++) {
                prepare_by(others[i], true);
                expect("");
        }
        send_signal(":1.9", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss", LOGIND, "",
                    ":1.9");
        prepare_by(":1.9", true);
        expect("");
        ck_assert_uint_eq(n_inhibit_calls, 1);

        prepare(true);
        expect("P");
        prepare_by(":1.9", false);
        expect("");
        prepare(false);
        expect("A");
}
END_TEST

/* Signals of a logind that starts after the service are accepted. */
START_TEST(test_logind_starts) {
        owner = "";
        connect_bus();
        prepare_by(":1.9", true);
        expect("");
        change_owner("", ":1.2");
        prepare(true);
        expect("P");
}
END_TEST

/* logind's announcements are reported even if the service gets no inhibitor, because there is no proxy, or because
 * logind refuses the inhibitor, does not reply, or sends a wrong reply. */
START_TEST(test_refused) {
        logind = _i;
        proxy_refuses = _i == GRANTS;
        connect_bus();
        ck_assert_uint_eq(n_inhibit_calls, _i != GRANTS);
        ck_assert(!is_inhibited());
        prepare(true);
        expect("P");
        sleep_ready(machine);
        logind = GRANTS;
        proxy_refuses = false;
        prepare(false);
        expect("A");
        ck_assert(is_inhibited());
}
END_TEST

/* After a jump of the wall clock, the service checks for a suspend and starts the clock's timer again. */
START_TEST(test_clock) {
        const uint64_t one = 1;

        ck_assert_uint_eq(n_armed, 1);
        for (unsigned i = 2; i <= 4; i++) {
                slept += i == 3 ? 0 : 3000000;
                ck_assert_int_eq(write(wall_clock, &one, sizeof one), sizeof one);
                bus_settle(event);
                expect(i == 3 ? "" : "S");
                ck_assert_uint_eq(n_armed, i);
        }
}
END_TEST

/* After the event loop has ended, errors are logged, and no reply is awaited. */
START_TEST(test_loop_ends) {
        struct pollfd p = { .events = POLLIN };

        logind = IGNORES;
        connect_bus();
        ck_assert_uint_eq(n_logged, 0);
        bus_loop_ends(event);
        p.fd = sd_bus_get_fd(proxy);
        ck_assert_int_ge(poll(&p, 1, 0), 0);
        ck_assert(!(p.revents & POLLHUP));
        loop_ended = true;
        sleep_bus_connected(machine, bus_at_service);
        ck_assert_uint_eq(n_logged, 2); /* the subscription to logind's signals failed, and so did the inhibitor */
}
END_TEST

/* sleep_new() fails without memory, without a timer, and after the event loop has ended. */
START_TEST(test_errors) {
        Sleep *s = NULL;

        inject_arm(INJECT_MEMORY, 1);
        ck_assert_int_eq(sleep_new(event, NULL, &world, &events, NULL, &s), -ENOMEM);
        ck_assert(inject_disarm());
        ck_assert_ptr_null(sleep_free(s));
        no_clock = true;
        ck_assert_int_eq(sleep_new(event, NULL, &world, &events, NULL, &s), -EMFILE);
        no_clock = false;
        bus_loop_ends(event);
        ck_assert_int_eq(sleep_new(event, NULL, &world, &events, NULL, &s), -ESTALE);
        ck_assert_ptr_null(s);
}
END_TEST

int main(void) {
        Suite *s = suite_create("sleep");
        TCase *t = tcase_create("sleep");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_test(t, test_logind);
        tcase_add_test(t, test_nothing_written);
        tcase_add_test(t, test_no_command_under_way);
        tcase_add_loop_test(t, test_failure, 0, ELEMENTSOF(failures));
        tcase_add_loop_test(t, test_without_logind, 0, ELEMENTSOF(undetected));
        tcase_add_test(t, test_preparing);
        tcase_add_test(t, test_lost);
        tcase_add_test(t, test_senders);
        tcase_add_test(t, test_logind_starts);
        tcase_add_loop_test(t, test_refused, 0, 4);
        tcase_add_test(t, test_clock);
        tcase_add_test(t, test_loop_ends);
        tcase_add_test(t, test_errors);
        suite_add_tcase(s, t);

        return suite_run(s);
}
