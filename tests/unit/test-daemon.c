/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The daemon forwards each event to the manager. The test replaces all other parts of the service and the clock, and calls the callbacks
 * that those parts would call. */

#include <signal.h>

#include "bus.h"
#include "daemon.h"
#include "done-log.h"
#include "machine.h"
#include "memory.h"
#include "monitor.h"
#include "notify-socket.h"
#include "own-clock.h"
#include "link-watch.h"
#include "recheck.h"
#include "sandbox.h"
#include "settings.h"
#include "state-file.h"
#include "sleep.h"
#include "suite.h"
#include "text.h"

#define SECOND 1000000ULL

/* ---- stand-ins for the parts of the daemon ---- */

static const ManagerEvents *manager_events;
static const MonitorEvents *monitor_events;
static BusReloadFn bus_reload;
static const SleepEvents *sleep_events;
static int monitor_error, enumerate_error, files_error;
static const char *file; /* content of the configuration file that files_load() reads next */
static bool on_battery;
static uint64_t rest_until;

static unsigned n_parts; /* number of the service's parts that were created and not yet freed */
static char part;

static int part_new(void **ret, int error) {
        if (error < 0)
                return error;
        n_parts++;
        *ret = &part;
        return 0;
}

int manager_new(_unused_ sd_event *event, _unused_ Broker *broker, _unused_ Files *files, const ManagerEvents *events,
                _unused_ void *userdata, Manager **ret) {
        manager_events = events;
        return part_new((void **) ret, 0);
}
Manager *manager_free(Manager *m) {
        n_parts -= m != NULL;
        return NULL;
}
void manager_visit_all(_unused_ Manager *m, VisitReason reason) {
        note("visit-all:%s", visit_reason_to_string(reason));
}
Target *manager_first(_unused_ Manager *m) {
        return NULL;
}
int manager_enumerate(_unused_ Manager *m, VisitReason reason) {
        note("enumerate:%s", visit_reason_to_string(reason));
        return enumerate_error;
}
void manager_reconfigure(_unused_ Manager *m, Files *files, bool battery, VisitReason reason) {
        note("reconfigure:%s%s%s", visit_reason_to_string(reason), files ? ":files" : "", battery ? ":battery" : "");
}
void manager_pause(_unused_ Manager *m, bool hold) {
        note(hold ? "hold" : "go-on");
}
void manager_finish(_unused_ Manager *m, uint64_t until) {
        rest_until = until;
        note("rest");
}

int monitor_new(_unused_ sd_event *event, const MonitorSource *source, _unused_ Manager *m, const MonitorEvents *events,
                _unused_ void *userdata, Monitor **ret) {
        ck_assert_ptr_null(source);
        monitor_events = events;
        return part_new((void **) ret, monitor_error);
}
Monitor *monitor_free(Monitor *m) {
        n_parts -= m != NULL;
        return NULL;
}
int link_watch_new(_unused_ sd_event *event, _unused_ Manager *m, int kmsg, LinkWatch **ret) {
        ck_assert_int_eq(kmsg, STDIN_FILENO);
        return part_new((void **) ret, 0);
}
LinkWatch *link_watch_free(LinkWatch *w) {
        n_parts -= w != NULL;
        return NULL;
}
bool link_watch_is_reading(_unused_ const LinkWatch *w) {
        return true;
}
int recheck_new(_unused_ sd_event *event, _unused_ Manager *m, bool kernel_logs, Recheck **ret) {
        ck_assert(kernel_logs);
        return part_new((void **) ret, 0);
}
Recheck *recheck_free(Recheck *p) {
        n_parts -= p != NULL;
        return NULL;
}
void recheck_visit_finished(_unused_ Recheck *p, _unused_ const Target *t) {
        note("recheck-rested");
}
void recheck_every(_unused_ Recheck *p, uint64_t usec) {
        note("recheck:%lu", (unsigned long) (usec / SECOND));
}

int bus_new(_unused_ sd_event *event, _unused_ const char *path, _unused_ Manager *m, _unused_ Monitor *monitor,
            BusReloadFn reload, _unused_ void *userdata, Bus **ret) {
        bus_reload = reload;
        return part_new((void **) ret, 0);
}
Bus *bus_free(Bus *b) {
        n_parts -= b != NULL;
        return NULL;
}
void bus_visit_finished(_unused_ Bus *b) {
        note("bus-rested");
}

const SleepWorld sleep_world = {};
int sleep_new(_unused_ sd_event *event, _unused_ Broker *broker, _unused_ const SleepWorld *world,
              const SleepEvents *events, _unused_ void *userdata, Sleep **ret) {
        sleep_events = events;
        return part_new((void **) ret, 0);
}
Sleep *sleep_free(Sleep *s) {
        n_parts -= s != NULL;
        return NULL;
}
void sleep_writing(_unused_ Sleep *s) {
        note("sleep-writing");
}
void sleep_ready(_unused_ Sleep *s) {
        note("sleep-ready");
}

void bus_connect(Bus *b, _unused_ const char *address, Sleep *s) {
        ck_assert(b && s);
        note("connect");
}

static uint64_t in_force; /* hash of the configuration file that files_write_in_force() wrote last */

int files_load(Files **ret) {
        Files *f;

        if (files_error < 0)
                return files_error;
        f = calloc(1, sizeof *f);
        ck_assert_ptr_nonnull(f);
        f->n_ref = 1;
        ck_assert_int_eq(config_new(&f->config), 0);
        ck_assert_int_eq(config_parse(f->config, &all_settings, "f", file, strlen(file)), 0);
        *ret = f;
        return 0;
}
Files *files_ref(Files *f) {
        f->n_ref++;
        return f;
}
Files *files_unref(Files *f) {
        if (!f || --f->n_ref > 0)
                return NULL;
        (void) config_free(f->config);
        free(f);
        return NULL;
}
void files_write_in_force(const Files *f, const char *dir) {
        ck_assert_str_eq(dir, STATE_DIR);
        in_force = f->config->hashes[0];
}
char *files_first_error(_unused_ const Files *f) {
        return strdup("an error");
}

int power_on_battery(_unused_ const char *classdir) {
        return on_battery;
}
bool sandbox_lacks_landlock(void) {
        return false;
}
void memory_trim(void) {
        note("tidy");
}
void journal_started(size_t n_drives, size_t n_rules) {
        note("started:%zu:%zu", n_drives, n_rules);
}
void journal_log(int priority, _unused_ const char *format, ...) {
        note("log:%d", priority);
}

/* ---- the daemon ---- */

static sd_event *event;
static Daemon *d;

#define PLAIN "recheck = \"30min\"; drives = ({ match = {}; apm = 128; });"
#define BATTERY "drives = ({ match = {}; apm = 128; on_battery = { apm = 1; }; });"

static int daemon_start(const char *text) {
        sigset_t mask;

        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGTERM);
        (void) sigaddset(&mask, SIGINT);
        (void) sigaddset(&mask, SIGHUP);
        ck_assert_int_eq(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
        file = text;
        ck_assert_int_eq(sd_event_new(&event), 0);
        return daemon_new(event, NULL, &d);
}

static void setup_with(const char *text) {
        ck_assert_int_eq(daemon_start(text), 0);
}

static void setup(void) {
        setup_with(PLAIN);
        (void) all_done();
}

static void setup_battery(void) {
        setup_with(BATTERY);
        (void) all_done();
}

static void teardown(void) {
        d = daemon_free(d);
        ck_assert_uint_eq(n_parts, 0);
        event = sd_event_unref(event);
}

/* ---- start ---- */

START_TEST(test_start) {
        on_battery = true;
        setup_with(_i ? BATTERY : PLAIN);
        ck_assert_str_eq(all_done(), _i ? "reconfigure:boot:battery recheck:0 connect enumerate:boot started:0:1 "
                                        : "reconfigure:boot recheck:1800 connect enumerate:boot started:0:1 ");
        teardown();
}
END_TEST

START_TEST(test_no_start) {
        int *const errors[] = { &files_error, &monitor_error, &enumerate_error };

        *errors[_i] = -EIO;
        ck_assert_int_eq(daemon_start(PLAIN), -EIO);
        ck_assert_uint_eq(n_parts, 0);
        event = sd_event_unref(event);
}
END_TEST

/* ---- udev ---- */

START_TEST(test_udev) {
        monitor_events->power(d);
        ck_assert_str_eq(all_done(), "");
        monitor_events->lost(d);
        ck_assert_str_eq(all_done(), "log:5 enumerate:attach visit-all:reset ");
}
END_TEST

/* If udev events are lost and the enumeration of drives fails, the failure is logged, and the known drives are visited. */
START_TEST(test_lost) {
        enumerate_error = -EIO;
        monitor_events->lost(d);
        ck_assert_str_eq(all_done(), "log:5 enumerate:attach log:3 visit-all:reset ");
}
END_TEST

/* ---- the power source ---- */

/* The power source is read two seconds after the first of several events. */
START_TEST(test_power) {
        on_battery = true;
        for (int i = 0; i < 4; i++) {
                monitor_events->power(d);
                pass(event, SECOND / 2);
        }
        pass(event, SECOND);
        ck_assert_str_eq(all_done(), "reconfigure:power:battery ");
        pass(event, 10 * SECOND);
        ck_assert_str_eq(all_done(), "");

        on_battery = false;
        monitor_events->power(d);
        pass(event, SECOND);
        ck_assert_str_eq(all_done(), "");
        pass(event, 2 * SECOND);
        ck_assert_str_eq(all_done(), "reconfigure:power ");
}
END_TEST

START_TEST(test_no_power) {
        monitor_events->power(d);
        pass(event, 10 * SECOND);
        ck_assert_str_eq(all_done(), "");
}
END_TEST

/* The power source is read again after sleep and after lost udev events, since the event that reports a change may be
 * lost. */
START_TEST(test_power_without_event) {
        if (_i == 0)
                sleep_events->awake(d, true);
        else
                monitor_events->lost(d);
        (void) all_done();
        pass(event, 3 * SECOND);
        ck_assert_str_eq(all_done(), "reconfigure:power ");
}
END_TEST

/* ---- the files ---- */

START_TEST(test_reload) {
        char *sentence = NULL;

        ck_assert(in_force == text_hash(file, strlen(file)));
        file = BATTERY;
        on_battery = true;
        ck_assert_int_eq(bus_reload(d, &sentence), 0);
        ck_assert_ptr_null(sentence);
        ck_assert_str_eq(all_done(), "reconfigure:reload:files:battery recheck:0 log:6 ");
        ck_assert(in_force == text_hash(BATTERY, strlen(BATTERY)));
        /* The reload used memory. This memory is released 15 seconds later, even if no drive is visited. */
        pass(event, 16 * SECOND);
        ck_assert_str_eq(all_done(), "tidy ");
        /* The new rules depend on the power source, so an event of a power supply takes effect. */
        monitor_events->power(d);
        pass(event, 3 * SECOND);
        ck_assert_str_eq(all_done(), "reconfigure:power:battery ");

        file = "drives = ({ match = {}; apmm = 128; });";
        ck_assert_int_eq(bus_reload(d, &sentence), -EINVAL);
        ck_assert_str_eq(sentence, "an error");
        free(sentence);
        ck_assert_str_eq(all_done(), "log:3 ");
        ck_assert(in_force == text_hash(BATTERY, strlen(BATTERY)));

        files_error = -EIO;
        ck_assert_int_eq(bus_reload(d, &sentence), -EIO);
        ck_assert_str_eq(all_done(), "");
}
END_TEST

static const struct {
        const char *text;
        int error;
        const char *done;
} hangups[] = {
        { PLAIN, 0, "reconfigure:reload:files recheck:1800 log:6 " },
        { "drives = ({ match = {}; apmm = 128; });", 0, "log:3 " },
        { PLAIN, -EIO, "log:3 " },
};

START_TEST(test_hangup) {
        file = hangups[_i].text;
        files_error = hangups[_i].error;
        ck_assert_int_eq(raise(SIGHUP), 0);
        run(event);
        ck_assert_str_eq(all_done(), hangups[_i].done);
}
END_TEST

/* ---- sleep and read permissions ---- */

START_TEST(test_sleep) {
        manager_events->writing(d);
        ck_assert_str_eq(all_done(), "sleep-writing ");
        sleep_events->preparing(d);
        ck_assert_str_eq(all_done(), "hold ");
        manager_events->quiet(d);
        ck_assert_str_eq(all_done(), "sleep-ready ");
        sleep_events->awake(d, true);
        ck_assert_str_eq(all_done(), "go-on visit-all:resume ");
        sleep_events->awake(d, false);
        ck_assert_str_eq(all_done(), "go-on ");
}
END_TEST

/* ---- after a visit ---- */

/* After each visit, waiting callers get their reply. Fifteen seconds after the last visit, unused memory is released. */
START_TEST(test_visit_finished) {
        manager_events->visit_finished(d, NULL);
        ck_assert_str_eq(all_done(), "bus-rested recheck-rested ");
        pass(event, 10 * SECOND);
        manager_events->visit_finished(d, NULL);
        (void) all_done();
        pass(event, 10 * SECOND);
        ck_assert_str_eq(all_done(), "");
        pass(event, 6 * SECOND);
        ck_assert_str_eq(all_done(), "tidy ");
}
END_TEST

/* ---- the end ---- */

static void stop(int signal) {
        ck_assert_int_eq(raise(signal), 0);
        run(event);
        ck_assert_str_eq(all_done(), "hold ");
}

static void has_ended(bool ended) {
        int code, r;

        r = sd_event_get_exit_code(event, &code);
        ck_assert_int_eq(r, ended ? 0 : -ENODATA);
        if (ended)
                ck_assert_int_eq(code, 0);
}

/* After a signal, the service exits when no visit is running. */
START_TEST(test_stop) {
        int fd = notify_listen();

        ck_assert_str_eq(notify_next(fd), "");
        stop(_i ? SIGINT : SIGTERM);
        ck_assert_str_eq(notify_next(fd), "STOPPING=1");
        (void) close(fd);
        has_ended(false);
        manager_events->quiet(d);
        ck_assert_str_eq(all_done(), "rest ");
        has_ended(true);
}
END_TEST

/* Three seconds after a signal, the service exits even if visits are running. Before the exit, it writes the crash
 * guard's notes for up to one second more. Events after the signal start nothing. */
START_TEST(test_stop_late) {
        struct timespec ts;

        stop(SIGTERM);
        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        ck_assert_int_eq(raise(SIGTERM), 0);
        ck_assert_int_eq(raise(SIGHUP), 0);
        run(event);
        ck_assert_str_eq(all_done(), "");
        sleep_events->awake(d, false);
        ck_assert_str_eq(all_done(), "");
        passed_usec += 29 * (int64_t) SECOND / 10;
        run(event);
        has_ended(false);
        passed_usec += (int64_t) SECOND / 5;
        while (sd_event_run(event, 0) > 0)
                ;
        ck_assert_str_eq(all_done(), "rest ");
        has_ended(true);
        ck_assert_uint_ge(rest_until, (uint64_t) ts.tv_sec * SECOND + 3 * SECOND);
        ck_assert_uint_le(rest_until, (uint64_t) ts.tv_sec * SECOND + 5 * SECOND);
}
END_TEST

int main(void) {
        TCase *begin = tcase_create("start"), *t = tcase_create("daemon"), *battery = tcase_create("battery");
        Suite *s = suite_create("daemon");

        tcase_add_loop_test(begin, test_start, 0, 2);
        tcase_add_loop_test(begin, test_no_start, 0, 3);
        suite_add_tcase(s, begin);

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_test(t, test_udev);
        tcase_add_test(t, test_lost);
        tcase_add_test(t, test_no_power);
        tcase_add_test(t, test_reload);
        tcase_add_loop_test(t, test_hangup, 0, ELEMENTSOF(hangups));
        tcase_add_test(t, test_sleep);
        tcase_add_test(t, test_visit_finished);
        tcase_add_loop_test(t, test_stop, 0, 2);
        tcase_add_test(t, test_stop_late);
        suite_add_tcase(s, t);

        tcase_add_checked_fixture(battery, setup_battery, teardown);
        tcase_add_test(battery, test_power);
        tcase_add_loop_test(battery, test_power_without_event, 0, 2);
        suite_add_tcase(s, battery);

        return suite_run(s);
}
