/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that asks what only root may ask, in a unit of its own (drivekeep-asker.service), for the manager, which has a user
 * of its own: PID 1 over its private socket, where there is no bus; and logind to wait before sleep, which it does for root
 * alone where there is no polkit. It speaks D-Bus with the manager, passes on the calls below and nothing else, and ends with
 * the last connection. */

#include <systemd/sd-bus.h>

#include "macro.h"

#define ASKER_SOCKET "/run/drivekeep-asker"

/* ---- the manager's half ---- */

/* Calls over it are those that PID 1 and logind have: ListUnitsByPatterns(), ListUnitsByNames() and Get() of a unit's
 * property, and PID 1's signals JobNew and JobRemoved; Inhibit() with "sleep" and "delay". */
int asker_open(sd_bus **ret);

/* ---- the asker itself ---- */

/* How it reaches those whom it asks. */
typedef struct AskerTargets {
        int (*open_systemd)(sd_bus **ret);
        int (*open_bus)(sd_bus **ret);
} AskerTargets;

/* Serves whom `accepts` lets in at this listening socket, until the last one has gone: 0, or a negative errno. */
int asker_serve(int listen_fd, const AskerTargets *targets, bool (*accepts)(int fd));

/* The same at the socket that systemd listens at, for its owner. */
int asker_run(void);
