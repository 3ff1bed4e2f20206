/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* udev's events about block devices, what they hang on, and power supplies. With inventory.c the only user of libudev. */

#include <systemd/sd-event.h>

#include "plan.h"

struct udev_device;

typedef struct Monitor Monitor;

typedef enum MonitorNews {
        MONITOR_DRIVE,     /* a drive is there, or something about it changed */
        MONITOR_REMOVED,   /* a drive is gone */
        MONITOR_STACKED,   /* a partition, md or dm device came, changed or went */
        MONITOR_DISTURBED, /* what hangs on this device may have lost its state, for `reason` */
        MONITOR_POWER,     /* something about a power supply changed */
        MONITOR_LOST,      /* events were lost: look at everything anew. Of no device */
} MonitorNews;

/* One of udev's events; all is borrowed. */
typedef struct MonitorEvent {
        MonitorNews news;
        struct udev_device *device;
        const char *name;    /* the kernel's */
        const char *syspath; /* below /sys/devices */
        bool added; /* attached just now, and udev has run what its rules run for that, which it does before it tells of it */
        bool removed;
        VisitReason reason;
        uint64_t seqnum; /* activity_last_event() */
} MonitorEvent;

typedef void (*MonitorFn)(void *userdata, const MonitorEvent *e);

/* Where events come from: `receive` returns the next one, or NULL with errno as udev_monitor_receive_device() has it. */
typedef struct MonitorSource {
        int fd;
        struct udev_device *(*receive)(void *userdata);
        void *userdata;
} MonitorSource;

/* Listens from now on; `source`: NULL for udev. Events come in the loop, together, when none has come for a tenth of a second (in the
 * first minute after the machine was started: half a second), or some have waited for a second; with the news that something has gone
 * they come at once. */
int monitor_new(sd_event *event, const MonitorSource *source, MonitorFn fn, void *userdata, Monitor **ret);
Monitor *monitor_free(Monitor *m);
DEFINE_CLEANUP(Monitor *, monitor_free);

/* Those that have come so far, now. */
void monitor_catch_up(Monitor *m);
