/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "journal.h"
#include "system-bus.h"
#include "timer.h"

#define RECONNECT_USEC (500ULL * 1000)
#define RETRY_USEC (30ULL * 1000 * 1000)

struct SystemBus {
        sd_event *event; /* borrowed */
        const char *address;
        sd_bus *connection;
        sd_event_source *timer;
        Bus *bus;
        Sleep *sleep;
};

static int system_bus_connect(SystemBus *b);
static void system_bus_connect_later(SystemBus *b, uint64_t usec);

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        SystemBus *b = userdata;
        int r;

        r = system_bus_connect(b);
        if (r < 0) {
                journal_log(LOG_WARNING, "No connection to the system bus, trying again: %s", strerror(-r));
                system_bus_connect_later(b, RETRY_USEC);
        }
        return 0;
}

static void system_bus_connect_later(SystemBus *b, uint64_t usec) {
        int r = timer_start(b->event, &b->timer, usec, 0, on_timer, b);

        if (r < 0)
                journal_log(LOG_ERR, "There will be no connection to the system bus: %s", strerror(-r));
}

static int on_disconnected(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_) {
        SystemBus *b = userdata;

        sleep_bus_lost(b->sleep);
        b->connection = sd_bus_close_unref(b->connection);
        system_bus_connect_later(b, RECONNECT_USEC);
        return 0;
}

static int on_connected(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_) {
        SystemBus *b = userdata;

        bus_connected(b->bus, b->connection);
        sleep_bus_connected(b->sleep, b->connection);
        return 0;
}

static int system_bus_connect(SystemBus *b) {
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        int r;

        r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_address(bus, b->address);
        if (r >= 0)
                r = sd_bus_set_bus_client(bus, true);
        /* Where there is no socket yet, an inotify watch waits for it, without waking us up. */
        if (r >= 0)
                r = sd_bus_set_watch_bind(bus, true);
        if (r >= 0)
                r = sd_bus_set_connected_signal(bus, true);
        /* The loop's end would flush it, and wait for that. */
        if (r >= 0)
                r = sd_bus_set_close_on_exit(bus, false);
        if (r >= 0)
                r = sd_bus_match_signal_async(bus, NULL, "org.freedesktop.DBus.Local", NULL,
                                              "org.freedesktop.DBus.Local", "Connected", on_connected, NULL, b);
        if (r >= 0)
                r = sd_bus_match_signal_async(bus, NULL, "org.freedesktop.DBus.Local", NULL,
                                              "org.freedesktop.DBus.Local", "Disconnected", on_disconnected, NULL, b);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r >= 0)
                r = sd_bus_attach_event(bus, b->event, SYSTEM_BUS_PRIORITY);
        if (r < 0)
                return r;

        b->connection = TAKE_PTR(bus);
        return 0;
}

int system_bus_new(sd_event *event, const char *address, Bus *bus, Sleep *sleep, SystemBus **ret) {
        _cleanup_(system_bus_freep) SystemBus *b = NULL;
        int r;

        b = calloc(1, sizeof *b);
        if (!b)
                return -ENOMEM;

        *b = (SystemBus){ .event = event, .address = address, .bus = bus, .sleep = sleep };
        r = system_bus_connect(b);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(b);
        return 0;
}

SystemBus *system_bus_free(SystemBus *b) {
        if (!b)
                return NULL;

        sd_event_source_disable_unref(b->timer);
        /* Not flushed: a bus that does not answer would hold up the service's end. */
        (void) sd_bus_close_unref(b->connection);
        free(b);
        return NULL;
}
