/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that passes on D-Bus calls that only root may make, since the manager runs as a user of its own: to PID 1 over its private
 * socket, where there is no bus; and to logind, to delay sleep, which needs root where there is no polkit. It is a child of the broker, has
 * no capabilities, opens no file (Landlock), passes on the calls below alone, and ends with the connection. */

#include <systemd/sd-bus.h>

#include "broker.h"

/* Makes a connection at this end of a socket, which is not started yet. Takes over *fd, and sets it to < 0, unless there is an error. A
 * server has an ID of its own. */
int bus_new_at(int *fd, bool server, sd_bus **ret);

/* ---- the manager's half ---- */

/* Starts a proxy and connects to it. It passes on PID 1's calls ListUnitsByPatterns(), ListUnitsByNames() and Get() of a unit's property,
 * PID 1's signals JobNew and JobRemoved, and logind's Inhibit() with "sleep" and "delay". */
int proxy_open(Broker *broker, sd_bus **ret);

/* ---- the proxy itself ---- */

/* How the proxy connects to PID 1 and to the bus. */
typedef struct ProxyTargets {
        int (*open_systemd)(sd_bus **ret);
        int (*open_bus)(sd_bus **ret);
} ProxyTargets;

/* Serves the manager at the other end of this socket until the manager, PID 1 or logind disconnects. Takes over the fd. */
int proxy_serve(int fd, const ProxyTargets *targets);

/* proxy_serve() in a sandbox, as a child of the broker. */
_Noreturn void proxy_main(int fd);
