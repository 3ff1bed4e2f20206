/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that starts workers and proxies. Only the unit drivekeep-broker.service has the right to send commands to drives; the manager
 * (drivekeepd), which receives events and parses files, has no such right. The broker accepts one kind of message, a byte with a socket,
 * and knows nothing of drives, files or settings. */

#include "macro.h"

#define BROKER_SOCKET "/run/drivekeep-broker"

/* The broker exits after this time without a request and without a worker. systemd starts a new broker for the next
 * request. */
#define BROKER_IDLE_MS (30 * 1000)

/* ---- used by the manager ---- */

typedef struct Broker Broker;

/* Creates a Broker without a connection. The first broker_fork() connects, and systemd then starts the broker. `path` must outlive the
 * Broker. */
int broker_new(const char *path, Broker **ret);
Broker *broker_free(Broker *b);
DEFINE_CLEANUP(Broker *, broker_free);

typedef enum BrokerChild {
        BROKER_WORKER, /* see worker-message.h */
        BROKER_PROXY,  /* see proxy.h */
        _BROKER_CHILD_MAX,
} BrokerChild;

/* Requests a child process that serves `fd`, one end of a socket pair. Does not wait for the child. The caller keeps `fd`. If the broker
 * cannot start a child, the broker closes its copy of `fd`. The broker kills the child five seconds after the manager closes the other end
 * of the pair, or shuts that end down for writing. Returns -ESHUTDOWN if the broker has been unreachable for half a minute. The manager
 * should then exit, so that systemd restarts the manager and opens the broker's socket again. */
int broker_fork(Broker *b, BrokerChild child, int fd);

/* ---- used by the broker process ---- */

/* The main function of a child; never returns. */
typedef void (*BrokerChildFn)(BrokerChild child, int fd);

/* Serves one manager on this connection. Returns 0 after the manager disconnected. Returns 1 after idle_ms without a request and without a
 * worker; the manager's next request then fails with EPIPE. */
int broker_serve(int fd, int idle_ms, BrokerChildFn run);

/* Serves managers on a listening socket, one after another. Returns when the manager is idle or has disconnected, and no worker is left. If
 * the program's file was replaced, also returns before it accepts the next manager: that manager then gets a broker of its own build. Kills
 * a worker ten minutes after the worker's manager has ended. */
int broker_run(int listener, BrokerChildFn run);
