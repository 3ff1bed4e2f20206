/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* udev's events about block devices, their parents, and power supplies. Those about drives go to the manager, the others to the daemon. Only
 * this file and inventory.c use libudev. */

#include "debian-rule.h"

typedef struct Monitor Monitor;

typedef struct MonitorEvents {
        void (*power)(void *userdata); /* a power supply changed */
        void (*lost)(void *userdata);  /* events were lost: enumerate all drives again */
} MonitorEvents;

/* Where events come from: `receive` returns the next one, or NULL with errno as udev_monitor_receive_device() has it. */
typedef struct MonitorSource {
        int fd;
        struct udev_device *(*receive)(void *userdata);
        void *userdata;
} MonitorSource;

/* Listens from now on; `source`: NULL for udev. The loop dispatches events together, after a tenth of a second without one (half a second in
 * the first minute after boot), a second after the first, or at once if a device was removed. */
int monitor_new(sd_event *event, const MonitorSource *source, Manager *m, const MonitorEvents *events, void *userdata,
                Monitor **ret);
Monitor *monitor_free(Monitor *m);
DEFINE_CLEANUP(Monitor *, monitor_free);

/* Dispatches the events up to now. */
void monitor_settle(Monitor *m);
