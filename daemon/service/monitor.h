/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* udev's events about block devices and power supplies. With inventory.c the only user of libudev. */

#include <systemd/sd-event.h>

#include "drive.h"

typedef struct Monitor Monitor;

typedef struct MonitorEvents {
        void (*drive)(void *userdata, Drive *drive); /* it is there, or something about it changed; takes ownership */
        void (*removed)(void *userdata, const char *name);
        void (*other)(void *userdata, const char *name,
                      bool removed);   /* a partition, md or dm device came, changed, went */
        void (*power)(void *userdata); /* something about a power supply changed */
        void (*lost)(void *userdata);  /* events were lost: look at everything anew */
} MonitorEvents;

/* Listens from now on; events come in the loop. */
int monitor_new(sd_event *event, const MonitorEvents *events, void *userdata, Monitor **ret);
Monitor *monitor_free(Monitor *m);
DEFINE_CLEANUP(Monitor *, monitor_free);
