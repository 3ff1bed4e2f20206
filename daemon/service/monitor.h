/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* udev's events about block devices, what they hang on, and power supplies. With inventory.c the only user of libudev. */

#include <systemd/sd-event.h>

#include "plan.h"

struct udev_device;

typedef struct Monitor Monitor;

typedef struct MonitorEvents {
        /* It is there, or something about it changed. `attached`: its name if it was attached just now, and udev has run what its
         * rules run for that, which it does before it tells of it; else NULL. */
        void (*drive)(void *userdata, struct udev_device *device, const char *attached);
        void (*removed)(void *userdata, const char *name);
        void (*other)(void *userdata, const char *name,
                      bool removed); /* a partition, md or dm device came, changed, went */
        /* What hangs on this device (a path below /sys/devices) may have lost its state, for that reason; `seqnum`: the event's
         * number (activity_last_event()). */
        void (*disturbed)(void *userdata, const char *syspath, VisitReason reason, uint64_t seqnum);
        void (*power)(void *userdata); /* something about a power supply changed */
        void (*lost)(void *userdata);  /* events were lost: look at everything anew */
} MonitorEvents;

/* Listens from now on. Events come in the loop, together, when none has come for a tenth of a second (in the first minute after the machine was
 * started: half a second),
 * or some have waited for a second; with the news that something has gone they come at once. */
int monitor_new(sd_event *event, const MonitorEvents *events, void *userdata, Monitor **ret);
Monitor *monitor_free(Monitor *m);
DEFINE_CLEANUP(Monitor *, monitor_free);

/* Those that have come so far, now. */
void monitor_catch_up(Monitor *m);
