/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <signal.h>
#include <stdio.h>
#include <syslog.h>
#include <systemd/sd-daemon.h>

#include "bus.h"
#include "clock.h"
#include "daemon.h"
#include "machine.h"
#include "memory.h"
#include "monitor.h"
#include "link-watch.h"
#include "recheck.h"
#include "sandbox.h"
#include "sleep.h"
#include "state-file.h"
#include "timer.h"

/* Delay before an event of a power supply is handled. A plug with a bad contact causes several events, which are then
 * handled together. */
#define POWER_DEBOUNCE_USEC (2ULL * 1000 * 1000)
/* systemd kills the service after five seconds (TimeoutStopSec= in the unit). For STOP_USEC after the signal to stop, the service waits for
 * visits. It then writes the crash guard's notes of the finished visits, until STOP_NOTES_USEC after the signal. */
#define STOP_USEC (3ULL * 1000 * 1000)
#define STOP_NOTES_USEC (4ULL * 1000 * 1000)
#define STOP_ACCURACY_USEC (10ULL * 1000)
/* Delay after a visit before memory is released. This delay is longer than the ten seconds after which the crash guard
 * removes the notes of the visit. */
#define TIDY_USEC (15ULL * 1000 * 1000)

struct Daemon {
        sd_event *event; /* borrowed */
        Files *files;
        Manager *manager;
        Monitor *monitor;
        Recheck *recheck;
        LinkWatch *links;
        Sleep *sleep;
        Bus *bus;
        uint64_t stopping_since; /* when the service began to stop; CLOCK_MONOTONIC, µs; 0: the service is not stopping */
        sd_event_source *power_timer, *stop_timer, *tidy;
};

/* ---- memory ---- */

static int on_tidy(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Daemon *d = userdata;

        for (const Target *t = manager_first(d->manager); t; t = t->next)
                if (t->visit.job)
                        return 0;
        memory_trim();
        return 0;
}

/* Releases unused memory some time after a visit or reload, since the next visit or reload may be weeks away. */
static void daemon_tidy_later(Daemon *d) {
        (void) timer_start(d->event, &d->tidy, TIDY_USEC, 0, on_tidy, d);
}

/* ---- the files ---- */

static bool daemon_is_on_battery(Daemon *d) {
        return config_uses_battery(d->files->config) && power_on_battery(POWER_SUPPLY_CLASSDIR) > 0;
}

/* Reloads the files. If the new files have errors, the previous configuration stays in force. */
static int on_reload(void *userdata, char **ret_sentence) {
        Daemon *d = userdata;
        _cleanup_(files_unrefp) Files *files = NULL;
        int r;

        r = files_load(&files);
        if (r < 0)
                return r;
        /* Notifies the unit that updates the metrics, which include the number of errors in the files. */
        state_notify(STATE_DIR, STATE_NEWS);

        if (files->config->complaints.n_errors > 0) {
                journal_log(LOG_ERR, "The configuration files have errors; the previous configuration stays in force.");
                *ret_sentence = files_first_error(files);
                return -EINVAL;
        }

        (void) files_unref(d->files);
        d->files = files_ref(files);
        files_write_in_force(files, STATE_DIR);
        manager_reconfigure(d->manager, files, daemon_is_on_battery(d), VISIT_RELOAD);
        recheck_every(d->recheck, files->config->recheck_ms * 1000);
        daemon_tidy_later(d);
        journal_log(LOG_INFO, "The configuration files have been reloaded.");
        return 0;
}

/* Reloads on SIGHUP. Errors in the files go to the journal alone, since a signal has no reply. */
static int on_hangup(sd_event_source *source _unused_, const struct signalfd_siginfo *si _unused_, void *userdata) {
        _cleanup_free_ char *sentence = NULL;
        Daemon *d = userdata;
        int r;

        if (d->stopping_since > 0)
                return 0;

        r = on_reload(d, &sentence);
        if (r < 0 && r != -EINVAL)
                journal_log(LOG_ERR,
                            "Failed to reload the configuration files; the previous configuration stays in force: %s",
                            strerror(-r));
        return 0;
}

/* ---- udev ---- */

static int on_power_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Daemon *d = userdata;
        manager_reconfigure(d->manager, NULL, daemon_is_on_battery(d), VISIT_POWER);
        return 0;
}

static void on_power(void *userdata) {
        Daemon *d = userdata;

        /* Further events do not restart the timer, since a power supply may send events continuously. */
        if (!timer_runs(d->power_timer) && config_uses_battery(d->files->config))
                (void) timer_start(d->event, &d->power_timer, POWER_DEBOUNCE_USEC, 0, on_power_timer, d);
}

static void on_lost(void *userdata) {
        Daemon *d = userdata;
        int r;

        journal_log(LOG_NOTICE, "Events from udev were lost; all drives are enumerated and visited again.");
        r = manager_enumerate(d->manager, VISIT_ATTACH);
        if (r < 0)
                journal_log(LOG_ERR, "Failed to enumerate the drives: %s", strerror(-r));
        /* One of the lost events may have been a reset. After a reset, settings that cannot be read back must be written again. */
        manager_visit_all(d->manager, VISIT_RESET);
        on_power(d);
}

static const MonitorEvents monitor_events = {
        .power = on_power,
        .lost = on_lost,
};

/* ---- sleep ---- */

static void on_preparing(void *userdata) {
        Daemon *d = userdata;

        manager_pause(d->manager, true);
}

static void on_sleep_ended(void *userdata, bool suspended) {
        Daemon *d = userdata;

        if (d->stopping_since == 0)
                manager_pause(d->manager, false);
        if (!suspended)
                return;

        manager_visit_all(d->manager, VISIT_RESUME);
        /* Reads the power source again: some power supplies send no event for a change during system sleep. */
        on_power(d);
}

static const SleepEvents sleep_events = {
        .preparing = on_preparing,
        .awake = on_sleep_ended,
};

/* ---- the end ---- */

static int on_stop_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Daemon *d = userdata;

        manager_finish(d->manager, d->stopping_since + STOP_NOTES_USEC);
        return sd_event_exit(d->event, 0);
}

static int on_signal(sd_event_source *source _unused_, const struct signalfd_siginfo *si _unused_, void *userdata) {
        Daemon *d = userdata;

        if (d->stopping_since > 0)
                return 0;

        d->stopping_since = monotonic_usec();
        (void) sd_notify(false, "STOPPING=1");
        if (timer_start(d->event, &d->stop_timer, STOP_USEC, STOP_ACCURACY_USEC, on_stop_timer, d) < 0)
                return sd_event_exit(d->event, 0);
        manager_pause(d->manager, true);
        return 0;
}

static void on_quiet(void *userdata) {
        Daemon *d = userdata;

        if (d->stopping_since > 0)
                (void) on_stop_timer(NULL, 0, d);
        else
                sleep_ready(d->sleep);
}

static void on_visit_finished(void *userdata, const Target *t) {
        Daemon *d = userdata;

        bus_visit_finished(d->bus);
        recheck_visit_finished(d->recheck, t);
        daemon_tidy_later(d);
}

static void on_writing(void *userdata) {
        Daemon *d = userdata;

        sleep_writing(d->sleep);
}

static const ManagerEvents manager_events = {
        .writing = on_writing,
        .visit_finished = on_visit_finished,
        .quiet = on_quiet,
};

int daemon_new(sd_event *event, Broker *broker, Daemon **ret) {
        _cleanup_(daemon_freep) Daemon *d = NULL;
        size_t n_drives = 0;
        int r;

        d = calloc(1, sizeof *d);
        if (!d)
                return -ENOMEM;
        d->event = event;

        /* No pointers to these event sources are kept, so the event loop owns them. */
        r = sd_event_add_signal(event, NULL, SIGTERM, on_signal, d);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGINT, on_signal, d);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGHUP, on_hangup, d);
        if (r >= 0)
                r = files_load(&d->files);
        if (r >= 0)
                r = manager_new(event, broker, d->files, &manager_events, d, &d->manager);
        if (r >= 0)
                r = link_watch_new(event, d->manager, STDIN_FILENO, &d->links);
        if (r >= 0)
                r = recheck_new(event, d->manager, link_watch_is_reading(d->links), &d->recheck);
        if (r >= 0)
                r = sleep_new(event, broker, &sleep_world, &sleep_events, d, &d->sleep);
        /* The monitor is opened before the drives are enumerated, so that its socket keeps the events that arrive in
         * between. */
        if (r >= 0)
                r = monitor_new(event, NULL, d->manager, &monitor_events, d, &d->monitor);
        if (r >= 0)
                r = bus_new(event, BUS_PRIVATE_SOCKET, d->manager, d->monitor, on_reload, d, &d->bus);
        if (r < 0)
                return r;

        files_write_in_force(d->files, STATE_DIR);

        /* This message is logged once here, since each worker would repeat it. */
        if (sandbox_lacks_landlock())
                journal_log(LOG_WARNING,
                            "The kernel has no Landlock, or Landlock is disabled, so only drivekeep-broker.service limits "
                            "which drives and files a worker can open.");

        manager_reconfigure(d->manager, NULL, daemon_is_on_battery(d), VISIT_BOOT);
        recheck_every(d->recheck, d->files->config->recheck_ms * 1000);

        bus_connect(d->bus, BUS_ADDRESS, d->sleep);

        r = manager_enumerate(d->manager, VISIT_BOOT);
        if (r < 0)
                return r;

        for (const Target *t = manager_first(d->manager); t; t = t->next)
                n_drives++;
        journal_started(n_drives, d->files->config->n_blocks);

        *ret = TAKE_PTR(d);
        return 0;
}

Daemon *daemon_free(Daemon *d) {
        if (!d)
                return NULL;

        (void) bus_free(d->bus); /* freed before the manager, since clients' read permissions point to drives */
        (void) monitor_free(d->monitor);
        (void) sleep_free(d->sleep);
        (void) link_watch_free(d->links);
        (void) recheck_free(d->recheck);
        (void) manager_free(d->manager);
        (void) files_unref(d->files);
        sd_event_source_disable_unref(d->power_timer);
        sd_event_source_disable_unref(d->stop_timer);
        sd_event_source_disable_unref(d->tidy);
        free(d);
        return NULL;
}
