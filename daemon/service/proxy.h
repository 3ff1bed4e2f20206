/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that forwards D-Bus calls that only root may make, since the manager runs as an unprivileged user. Without a bus, the proxy
 * calls PID 1 over PID 1's private socket. The proxy also takes logind's lock that delays sleep: without polkit, only root may take this
 * lock. The proxy is a child of the broker, has no capabilities, and opens no file (Landlock). It forwards only the calls listed below,
 * and exits when one of its connections ends. */

#include <systemd/sd-bus.h>

#include "broker.h"

/* Creates a connection for `*fd`, one end of a socket, without starting the connection. After success the connection owns the descriptor,
 * and `*fd` is negative. `server`: this end is the server, and gets a random server ID. */
int bus_new_at(int *fd, bool server, sd_bus **ret);

/* ---- used by the manager ---- */

/* Starts a proxy, and connects to the proxy. To PID 1, the proxy forwards the calls ListUnitsByPatterns() and ListUnitsByNames(), and the
 * call Get() for a property of a unit. To logind, the proxy forwards the call Inhibit() with "sleep" and "delay". The proxy also forwards
 * the signals JobNew and JobRemoved from PID 1. */
int proxy_open(Broker *broker, sd_bus **ret);

/* ---- used by the proxy process ---- */

/* Functions that open the proxy's connections to PID 1 and to the bus. */
typedef struct ProxyTargets {
        int (*open_systemd)(sd_bus **ret);
        int (*open_bus)(sd_bus **ret);
} ProxyTargets;

/* Serves the manager at the other end of the socket `fd`. Returns when the manager, PID 1 or logind disconnects. Takes ownership of
 * `fd`. */
int proxy_serve(int fd, const ProxyTargets *targets);

/* The main function of a child of the broker: calls proxy_serve() in a sandbox. */
_Noreturn void proxy_main(int fd);
