/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The connection to the system bus: made when there is one, made again when it breaks, never waited for. Those who use it are told
 * of a new connection, and when it is gone, with all its slots. */

#include "bus.h"
#include "sleep.h"

typedef struct SystemBus SystemBus;

/* Anybody can fill its queue with questions: workers, udev and root at our own socket come first. */
#define SYSTEM_BUS_PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

#define SYSTEM_BUS_ADDRESS "unix:path=/run/dbus/system_bus_socket"

/* `address` stays the caller's. */
int system_bus_new(sd_event *event, const char *address, Bus *bus, Sleep *sleep, SystemBus **ret);
SystemBus *system_bus_free(SystemBus *b);
DEFINE_CLEANUP(SystemBus *, system_bus_free);
