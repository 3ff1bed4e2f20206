/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* udev's events about block devices, what they hang on, and power supplies: those about drives go to the manager, the others to
 * the daemon. With inventory.c the only user of libudev. */

#include "debian-rule.h"

typedef struct Monitor Monitor;

typedef struct MonitorEvents {
        void (*power)(void *userdata); /* something about a power supply changed */
        void (*lost)(void *userdata);  /* events were lost: look at everything anew */
} MonitorEvents;

/* Where events come from: `receive` returns the next one, or NULL with errno as udev_monitor_receive_device() has it. */
typedef struct MonitorSource {
        int fd;
        struct udev_device *(*receive)(void *userdata);
        void *userdata;
} MonitorSource;

/* Listens from now on; `source`: NULL for udev. Events come in the loop, together, when none has come for a tenth of a second (in the
 * first minute after the machine was started: half a second), or some have waited for a second; with the news that something has gone
 * they come at once. */
int monitor_new(sd_event *event, const MonitorSource *source, Manager *m, const MonitorEvents *events, void *userdata,
                Monitor **ret);
Monitor *monitor_free(Monitor *m);
DEFINE_CLEANUP(Monitor *, monitor_free);

/* Those that have come so far, now. */
void monitor_catch_up(Monitor *m);
