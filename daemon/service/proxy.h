/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that asks what only root may ask, a child of the broker's, for the manager, which has a user of its own: PID 1 over its
 * private socket, where there is no bus; and logind to wait before sleep, which it does for root alone where there is no polkit. It
 * has no capabilities and can open no file (Landlock). It speaks D-Bus with the manager, passes on the calls below and nothing
 * else, and ends with the connection. */

#include <systemd/sd-bus.h>

#include "broker.h"

/* A connection at this end of a socket, not started yet. Takes over *fd, and leaves < 0 there, unless there is an error. As a server it
 * has an ID of its own. */
int bus_new_at(int *fd, bool server, sd_bus **ret);

/* ---- the manager's half ---- */

/* A new proxy, and a connection to it. Calls over it are those that PID 1 and logind have: ListUnitsByPatterns(),
 * ListUnitsByNames() and Get() of a unit's property, and PID 1's signals JobNew and JobRemoved; Inhibit() with "sleep" and "delay". */
int proxy_open(Broker *broker, sd_bus **ret);

/* ---- the proxy itself ---- */

/* How it reaches those whom it asks. */
typedef struct ProxyTargets {
        int (*open_systemd)(sd_bus **ret);
        int (*open_bus)(sd_bus **ret);
} ProxyTargets;

/* Serves the manager at the other end of this socket, until it closes that or PID 1 or logind has gone: 0, or a negative errno.
 * Takes over the fd. */
int proxy_serve(int fd, const ProxyTargets *targets);

/* The same as a process of the broker's. */
_Noreturn void proxy_main(int fd);
