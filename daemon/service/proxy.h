/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that forwards D-Bus calls that only root may make, since the manager runs as an unprivileged user. Without a bus, the proxy
 * calls PID 1 over PID 1's private socket. The proxy also takes logind's lock that delays sleep, which without polkit only root may take.
 * The proxy is a child of the broker, has no capabilities, opens no file (Landlock), forwards only the calls listed below, and exits with
 * the connection. */

#include <systemd/sd-bus.h>

#include "broker.h"

/* Creates a connection for this end of a socket, without starting the connection. After success the connection owns *fd, which becomes
 * negative. A server gets a random ID. */
int bus_new_at(int *fd, bool server, sd_bus **ret);

/* ---- the manager's half ---- */

/* Starts a proxy, and connects to the proxy. The proxy forwards to PID 1 the calls ListUnitsByPatterns(), ListUnitsByNames() and Get() of a
 * unit's property, to logind the call Inhibit() with "sleep" and "delay", and from PID 1 the signals JobNew and JobRemoved. */
int proxy_open(Broker *broker, sd_bus **ret);

/* ---- the proxy itself ---- */

/* Functions that open the proxy's connections to PID 1 and to the bus. */
typedef struct ProxyTargets {
        int (*open_systemd)(sd_bus **ret);
        int (*open_bus)(sd_bus **ret);
} ProxyTargets;

/* Serves the manager at the other end of this socket until the manager, PID 1 or logind disconnects. Takes ownership of `fd`. */
int proxy_serve(int fd, const ProxyTargets *targets);

/* Calls proxy_serve() in a sandbox. The main function of the broker's child. */
_Noreturn void proxy_main(int fd);
