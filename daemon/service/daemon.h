/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Everything that can happen to the daemon, and the way of each to the manager: udev, sleep, power source, reload, bus,
 * signals. */

#include <systemd/sd-event.h>

#include "manager.h"

typedef struct Daemon Daemon;

/* Reads the files, listens, and enumerates; visits start when the loop runs. */
int daemon_new(sd_event *event, Broker *broker, Daemon **ret);
Daemon *daemon_free(Daemon *d);
DEFINE_CLEANUP(Daemon *, daemon_free);
