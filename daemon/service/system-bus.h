/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The connection to the system bus: made when there is one, made again when it breaks, never waited for. */

#include <systemd/sd-bus.h>

#include "macro.h"

typedef struct SystemBus SystemBus;

/* Anybody can fill its queue with questions: workers, udev and root at our own socket come first. */
#define SYSTEM_BUS_PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

typedef struct SystemBusEvents {
        void (*connected)(void *userdata, sd_bus *bus); /* a new connection: ask, match, offer objects */
        void (*lost)(void *userdata);                   /* it is gone, with all its slots */
} SystemBusEvents;

#define SYSTEM_BUS_ADDRESS "unix:path=/run/dbus/system_bus_socket"

/* `address` stays the caller's. */
int system_bus_new(sd_event *event, const char *address, const SystemBusEvents *events, void *userdata,
                   SystemBus **ret);
SystemBus *system_bus_free(SystemBus *b);
DEFINE_CLEANUP(SystemBus *, system_bus_free);
