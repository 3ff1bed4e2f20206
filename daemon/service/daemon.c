/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <signal.h>
#include <stdio.h>
#include <syslog.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "bus.h"
#include "daemon.h"
#include "monitor.h"
#include "power-supply.h"
#include "sleep.h"
#include "system-bus.h"

/* Slow drives need ten seconds to spin up. */
#define RULES_CHECK_USEC (30ULL * 1000 * 1000)
/* A plug that makes bad contact, and supplies that tell of one change in several events. */
#define POWER_DEBOUNCE_USEC (2ULL * 1000 * 1000)
/* systemd and its user wait for us. */
#define STOP_USEC (3ULL * 1000 * 1000)

struct Daemon {
        sd_event *event;
        Files *files;
        Manager *manager;
        Monitor *monitor;
        Sleep *sleep;
        SystemBus *system_bus;
        Bus *bus;
        bool on_battery;
        bool stopping;
        sd_event_source *term, *interrupt, *rules_check, *power_timer, *stop_timer;
};

/* ---- the files ---- */

/* Rules for drives that have not come by then are told of once; while a machine boots drives come late. */
static int on_rules_check(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Daemon *d = userdata;
        const Config *c = d->files->config;

        for (size_t b = 0; b < c->n_blocks; b++) {
                const Block *block = c->blocks + b;
                bool fits = false;

                for (const Watched *w = manager_first(d->manager); w && !fits; w = w->next)
                        fits = match_drive(&block->match, w->drive, NULL);
                if (!fits)
                        journal_log(LOG_NOTICE, "%s:%u:%u: notice: no drive that is present fits this rule",
                                    block->file, block->line, block->column);
        }

        return 0;
}

static int timer_start(Daemon *d, sd_event_source **source, uint64_t usec, sd_event_time_handler_t handler) {
        int r;

        if (!*source)
                return sd_event_add_time_relative(d->event, source, CLOCK_MONOTONIC, usec, 0, handler, d);

        r = sd_event_source_set_time_relative(*source, usec);
        return r < 0 ? r : sd_event_source_set_enabled(*source, SD_EVENT_ONESHOT);
}

static bool daemon_look_at_power(Daemon *d) {
        return config_uses_battery(d->files->config) && power_on_battery(POWER_SUPPLY_CLASSDIR) > 0;
}

/* With errors in the new files the old ones stay in force. */
static int on_reload(void *userdata, char **ret_sentence) {
        Daemon *d = userdata;
        _cleanup_(files_unrefp) Files *files = NULL;
        int r;

        r = files_load(&files);
        if (r < 0)
                return r;

        if (files->config->complaints.n_errors > 0) {
                journal_log(LOG_ERR, "The files have errors; what was in force before stays in force.");
                *ret_sentence = files_first_error(files);
                return -EINVAL;
        }

        (void) files_unref(d->files);
        d->files = files_ref(files);
        d->on_battery = daemon_look_at_power(d);
        manager_reconfigure(d->manager, files, d->on_battery, VISIT_RELOAD);
        (void) timer_start(d, &d->rules_check, RULES_CHECK_USEC, on_rules_check);
        return 0;
}

/* ---- udev ---- */

static void on_drive(void *userdata, Drive *drive) {
        Daemon *d = userdata;

        manager_plugged(d->manager, drive);
}

static void on_removed(void *userdata, const char *name) {
        Daemon *d = userdata;

        manager_unplugged(d->manager, name);
}

static void on_other(void *userdata, const char *name, bool removed) {
        Daemon *d = userdata;

        manager_stack_changed(d->manager, name, removed);
}

static int on_power_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Daemon *d = userdata;
        bool on_battery = daemon_look_at_power(d);

        if (on_battery == d->on_battery)
                return 0;

        d->on_battery = on_battery;
        manager_reconfigure(d->manager, NULL, on_battery, VISIT_POWER);
        return 0;
}

static void on_power(void *userdata) {
        Daemon *d = userdata;

        /* Not pushed back by more of them: a supply may tell of itself all the time. */
        if (d->power_timer && sd_event_source_get_enabled(d->power_timer, NULL) > 0)
                return;
        if (config_uses_battery(d->files->config))
                (void) timer_start(d, &d->power_timer, POWER_DEBOUNCE_USEC, on_power_timer);
}

static void on_lost(void *userdata) {
        Daemon *d = userdata;
        int r;

        journal_log(LOG_NOTICE, "Some events of udev's were lost; looking at all drives anew.");
        r = manager_enumerate(d->manager, VISIT_ATTACH);
        if (r < 0)
                journal_log(LOG_ERR, "The drives cannot be enumerated: %s", strerror(-r));
        on_power(d);
}

static const MonitorEvents monitor_events = {
        .drive = on_drive,
        .removed = on_removed,
        .other = on_other,
        .power = on_power,
        .lost = on_lost,
};

/* ---- sleep ---- */

static void on_preparing(void *userdata) {
        Daemon *d = userdata;

        manager_hold(d->manager, true);
}

static void on_awake(void *userdata, bool slept) {
        Daemon *d = userdata;

        if (!d->stopping)
                manager_hold(d->manager, false);
        if (!slept)
                return;

        manager_visit_all(d->manager, VISIT_RESUME);
        /* Some supplies say nothing of what happened meanwhile. */
        on_power(d);
}

static const SleepEvents sleep_events = {
        .preparing = on_preparing,
        .awake = on_awake,
};

/* ---- the buses ---- */

static void on_bus_connected(void *userdata, sd_bus *bus) {
        Daemon *d = userdata;

        bus_connected(d->bus, bus);
        sleep_bus_connected(d->sleep, bus);
}

static void on_bus_lost(void *userdata) {
        Daemon *d = userdata;

        bus_lost(d->bus);
        sleep_bus_lost(d->sleep);
}

static const SystemBusEvents system_bus_events = {
        .connected = on_bus_connected,
        .lost = on_bus_lost,
};

/* ---- the end ---- */

static int on_stop_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Daemon *d = userdata;

        manager_tell_stuck(d->manager);
        return sd_event_exit(d->event, 0);
}

static int on_signal(sd_event_source *source _unused_, const struct signalfd_siginfo *si _unused_, void *userdata) {
        Daemon *d = userdata;

        if (d->stopping)
                return 0;

        d->stopping = true;
        (void) sd_notify(false, "STOPPING=1");
        if (timer_start(d, &d->stop_timer, STOP_USEC, on_stop_timer) < 0)
                return sd_event_exit(d->event, 0);
        manager_hold(d->manager, true);
        return 0;
}

static void on_quiet(void *userdata) {
        Daemon *d = userdata;

        if (d->stopping) {
                manager_tell_stuck(d->manager);
                (void) sd_event_exit(d->event, 0);
        } else
                sleep_ready(d->sleep);
}

static void on_rested(void *userdata, const Watched *w) {
        Daemon *d = userdata;

        bus_drive_rested(d->bus, w);
}

static const ManagerEvents manager_events = {
        .rested = on_rested,
        .quiet = on_quiet,
};

int daemon_new(sd_event *event, Daemon **ret) {
        _cleanup_(daemon_freep) Daemon *d = NULL;
        size_t n = 0;
        int r;

        d = calloc(1, sizeof *d);
        if (!d)
                return -ENOMEM;
        d->event = sd_event_ref(event);

        r = sd_event_add_signal(event, &d->term, SIGTERM, on_signal, d);
        if (r >= 0)
                r = sd_event_add_signal(event, &d->interrupt, SIGINT, on_signal, d);
        if (r >= 0)
                r = files_load(&d->files);
        if (r >= 0)
                r = manager_new(event, d->files, &manager_events, d, &d->manager);
        if (r >= 0)
                r = bus_new(event, d->manager, on_reload, d, &d->bus);
        if (r >= 0)
                r = sleep_new(event, &sleep_events, d, &d->sleep);
        /* What udev says from now on waits in its socket until everything that is there already is known. */
        if (r >= 0)
                r = monitor_new(event, &monitor_events, d, &d->monitor);
        if (r >= 0)
                r = timer_start(d, &d->rules_check, RULES_CHECK_USEC, on_rules_check);
        if (r < 0)
                return r;

        d->on_battery = daemon_look_at_power(d);
        manager_reconfigure(d->manager, NULL, d->on_battery, VISIT_BOOT);

        /* Without a bus nobody but root can ask, and sleep is noticed afterwards; all else works. */
        r = system_bus_new(event, &system_bus_events, d, &d->system_bus);
        if (r < 0)
                journal_log(LOG_NOTICE, "No system bus, ignoring: %s", strerror(-r));

        r = manager_enumerate(d->manager, VISIT_BOOT);
        if (r < 0)
                return r;

        for (const Watched *w = manager_first(d->manager); w; w = w->next)
                n++;
        journal_started(n, d->files->config->n_blocks);

        *ret = TAKE_PTR(d);
        return 0;
}

Daemon *daemon_free(Daemon *d) {
        if (!d)
                return NULL;

        (void) system_bus_free(d->system_bus);
        (void) monitor_free(d->monitor);
        (void) sleep_free(d->sleep);
        (void) manager_free(d->manager);
        (void) bus_free(d->bus);
        (void) files_unref(d->files);
        sd_event_source_disable_unref(d->term);
        sd_event_source_disable_unref(d->interrupt);
        sd_event_source_disable_unref(d->rules_check);
        sd_event_source_disable_unref(d->power_timer);
        sd_event_source_disable_unref(d->stop_timer);
        sd_event_unref(d->event);
        free(d);
        return NULL;
}
