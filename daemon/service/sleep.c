/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <syslog.h>

#include "attribute.h"
#include "clock.h"
#include "journal.h"
#include "name-owner.h"
#include "proxy.h"
#include "sleep.h"

#define LOGIN_DESTINATION "org.freedesktop.login1"
#define LOGIN_PATH "/org/freedesktop/login1"
#define LOGIN_INTERFACE "org.freedesktop.login1.Manager"

struct Sleep {
        sd_event *event; /* borrowed */
        Broker *broker;  /* borrowed */
        sd_event_source *post, *clock;
        const SleepWorld *world;
        const SleepEvents *events;
        void *userdata;

        sd_bus *proxy;  /* open while a call of Inhibit() is under way; else NULL */
        bool connected; /* the system bus is connected */
        NameOwner logind;
        bool writing;             /* the service has begun to write settings, so it needs an inhibitor */
        int inhibitor;            /* logind delays suspend while this descriptor is open; < 0: none */
        bool preparing;           /* logind announced a suspend that has not ended yet */
        unsigned long n_failures; /* the result of count_failures() when logind announced the suspend */

        int clock_fd;
        struct {
                uint64_t usec;   /* the result of suspended_usec(); µs */
                unsigned long n; /* the kernel's count of suspends */
        } slept;                 /* the counts at the last poll, to detect a suspend */
};

const SleepWorld sleep_world = { proxy_open, suspended_usec, "/sys/power/suspend_stats" };

/* Reads one of the kernel's counts of suspends (Documentation/ABI/testing/sysfs-power). A kernel without suspend has no
 * such files. */
static unsigned long read_count(const Sleep *s, const char *name) {
        char text[32];

        return attribute_read(text, sizeof text, "%s/%s", s->world->stats, name) < 0 ? 0 : strtoul(text, NULL, 10);
}

/* Returns true if the machine was suspended since the last call. Setting the wall clock does not affect the result. */
static bool sleep_detect(Sleep *s) {
        unsigned long n = read_count(s, "success");
        uint64_t now = s->world->suspended_usec();
        bool clocks = now > s->slept.usec + SUSPENDED_JITTER_USEC, slept = clocks || (long) (n - s->slept.n) > 0;

        if (slept) {
                s->slept.usec = now;
                /* The kernel increments its count shortly after it resumes this process, so the next increment belongs
                 * to the suspend that the clock has shown. */
                s->slept.n = clocks && n == s->slept.n ? n + 1 : n;
        }
        return slept;
}

/* Returns how many suspends failed after devices had been suspended. A failure to freeze processes does not count: it affects no device. */
static unsigned long count_failures(const Sleep *s) {
        return read_count(s, "failed_suspend") + read_count(s, "failed_suspend_late") +
               read_count(s, "failed_suspend_noirq");
}

/* Called when the suspend that logind announced has ended or failed. */
static void sleep_end(Sleep *s) {
        bool slept = sleep_detect(s) || count_failures(s) != s->n_failures;

        s->preparing = false;
        s->events->awake(s->userdata, slept);
}

/* Runs after every event of the loop. */
static int on_post(sd_event_source *source _unused_, void *userdata) {
        Sleep *s = userdata;

        /* If logind announced the suspend, logind's second signal reports the end. */
        if (!s->preparing && sleep_detect(s))
                s->events->awake(s->userdata, true);
        return 0;
}

/* Starts a wall-clock timer that never expires. When the clock jumps, as after a suspend, the kernel cancels the timer.
 * This wakes the event loop, which then runs on_post(). */
static void clock_arm(Sleep *s) {
        const struct itimerspec never = { .it_value.tv_sec = (time_t) INT64_MAX };

        (void) timerfd_settime(s->clock_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

static int on_clock(sd_event_source *source _unused_, int fd, uint32_t revents _unused_, void *userdata) {
        uint64_t n;

        (void) !read(fd, &n, sizeof n);
        clock_arm(userdata);
        return 0;
}

int sleep_new(sd_event *event, Broker *broker, const SleepWorld *world, const SleepEvents *events, void *userdata,
              Sleep **ret) {
        _cleanup_(sleep_freep) Sleep *s = NULL;
        int r;

        s = calloc(1, sizeof *s);
        if (!s)
                return -ENOMEM;

        *s = (Sleep){
                .event = event,
                .broker = broker,
                .world = world,
                .events = events,
                .userdata = userdata,
                .inhibitor = -EBADF,
        };
        s->clock_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        if (s->clock_fd < 0)
                return -errno;

        s->slept.usec = world->suspended_usec();
        s->slept.n = read_count(s, "success");
        s->n_failures = count_failures(s);
        clock_arm(s);

        r = sd_event_add_post(event, &s->post, on_post, s);
        if (r >= 0)
                r = sd_event_add_io(event, &s->clock, s->clock_fd, EPOLLIN, on_clock, s);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(s);
        return 0;
}

Sleep *sleep_free(Sleep *s) {
        if (!s)
                return NULL;

        sleep_bus_lost(s);
        sd_event_source_disable_unref(s->post);
        sd_event_source_disable_unref(s->clock);
        closep(&s->clock_fd);
        free(s);
        return NULL;
}

/* ---- logind ---- */

void sleep_ready(Sleep *s) {
        closep(&s->inhibitor);
        s->inhibitor = -EBADF;
}

static int on_inhibited(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        Sleep *s = userdata;
        int fd;

        /* Without an inhibitor from logind, the service detects a suspend only after the resume. */
        if (!sd_bus_message_is_method_error(m, NULL) && sd_bus_message_read(m, "h", &fd) >= 0) {
                sleep_ready(s);
                s->inhibitor = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        }

        /* The close is safe, since sd-bus keeps a reference until this dispatch ends. The handler must return 1: with
         * another result, sd-bus would use the closed connection after a timeout, and abort. */
        s->proxy = sd_bus_close_unref(s->proxy);
        return 1;
}

static void sleep_inhibit(Sleep *s) {
        int r;

        if (!s->connected || !s->writing)
                return;

        s->proxy = sd_bus_close_unref(s->proxy);
        r = s->world->open_proxy(s->broker, &s->proxy);
        if (r >= 0)
                r = sd_bus_set_close_on_exit(s->proxy, false);
        if (r >= 0)
                r = sd_bus_attach_event(s->proxy, s->event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = sd_bus_call_method_async(s->proxy, NULL, LOGIN_DESTINATION, LOGIN_PATH, LOGIN_INTERFACE, "Inhibit",
                                             on_inhibited, s, "ssss", "sleep", "drivekeep",
                                             "Drive settings are being written", "delay");
        if (r < 0)
                journal_log(LOG_NOTICE, "Failed to take a delay inhibitor from logind, ignoring: %s", strerror(-r));
}

void sleep_writing(Sleep *s) {
        if (s->writing)
                return;

        s->writing = true;
        sleep_inhibit(s);
}

static int on_prepare_for_sleep(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        Sleep *s = userdata;
        int preparing;

        if (!name_owner_sent(&s->logind, m) || sd_bus_message_read(m, "b", &preparing) < 0)
                return 0;

        if (preparing) {
                s->preparing = true;
                s->n_failures = count_failures(s);
                s->events->preparing(s->userdata);
                return 0;
        }

        sleep_inhibit(s);
        sleep_end(s);
        return 0;
}

/* Called when logind ended or started. If logind ended after it announced a suspend, no signal reports the end of the
 * suspend. A new logind does not know the old inhibitor, so the service takes another inhibitor. */
static void on_logind_changed(void *userdata) {
        Sleep *s = userdata;

        if (s->preparing)
                sleep_end(s);
        if (s->logind.unique)
                sleep_inhibit(s);
}

void sleep_bus_connected(Sleep *s, sd_bus *bus) {
        int r;

        r = sd_bus_match_signal_async(bus, NULL, LOGIN_DESTINATION, LOGIN_PATH, LOGIN_INTERFACE, "PrepareForSleep",
                                      on_prepare_for_sleep, NULL, s);
        if (r >= 0)
                r = name_owner_follow(&s->logind, bus, LOGIN_DESTINATION, on_logind_changed, s);
        if (r < 0)
                journal_log(LOG_NOTICE, "Failed to subscribe to logind's sleep signals, ignoring: %s", strerror(-r));

        s->connected = true;
        sleep_inhibit(s);
}

void sleep_bus_lost(Sleep *s) {
        s->connected = false;
        name_owner_forget(&s->logind);
        s->proxy = sd_bus_close_unref(s->proxy);
        sleep_ready(s);

        /* Ends the suspend here: without the bus, logind's signal for the end of the suspend cannot arrive. */
        if (s->preparing)
                sleep_end(s);
}
