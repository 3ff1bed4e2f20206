/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The service as a whole: forwards events of udev, sleep, power supplies, reload, the bus and signals to the manager. */

#include <systemd/sd-event.h>

#include "manager.h"

typedef struct Daemon Daemon;

/* Reads the configuration files, starts to listen for events, and enumerates the drives. Visits start when the event loop runs. */
int daemon_new(sd_event *event, Broker *broker, Daemon **ret);
Daemon *daemon_free(Daemon *d);
DEFINE_CLEANUP(Daemon *, daemon_free);
