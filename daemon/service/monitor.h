/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Receives udev's events about block devices, their parents, and power supplies. The manager gets the events of
 * devices, and the daemon gets the events of power supplies. Only this file and inventory.c use libudev. */

#include "debian-rule.h"

typedef struct Monitor Monitor;

typedef struct MonitorEvents {
        void (*power)(void *userdata); /* called when a power supply changed */
        void (*lost)(void *userdata);  /* called when events were lost: enumerate all drives again */
} MonitorEvents;

/* A source of events. `receive` returns the next event, or NULL and sets errno as udev_monitor_receive_device() does. */
typedef struct MonitorSource {
        int fd;
        struct udev_device *(*receive)(void *userdata);
        void *userdata;
} MonitorSource;

/* Starts to receive events from `source`, or from udev if `source` is NULL. The event loop dispatches collected events
 * together, after 100 ms without a new event (500 ms in the first minute after boot), but at the latest one second
 * after the first event. If a device was removed, the event loop dispatches all events at once. */
int monitor_new(sd_event *event, const MonitorSource *source, Manager *m, const MonitorEvents *events, void *userdata,
                Monitor **ret);
Monitor *monitor_free(Monitor *m);
DEFINE_CLEANUP(Monitor *, monitor_free);

/* Dispatches all events received so far. */
void monitor_settle(Monitor *m);
