/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that starts workers and proxies. Its unit (drivekeep-broker.service) alone has the right to send commands to drives; the
 * manager, which listens and parses, does not. The broker takes one kind of message, a byte with a socket, and knows nothing of drives,
 * files or settings. */

#include "macro.h"

#define BROKER_SOCKET "/run/drivekeep-broker"

/* The broker ends after so long without a request. systemd starts another for the next request. */
#define BROKER_IDLE_MS (30 * 1000)

/* ---- the manager's half ---- */

typedef struct Broker Broker;

/* Connects for the first child, which has systemd start the broker. `path` must outlive the Broker. */
int broker_new(const char *path, Broker **ret);
Broker *broker_free(Broker *b);
DEFINE_CLEANUP(Broker *, broker_free);

typedef enum BrokerChild {
        BROKER_WORKER, /* worker-message.h */
        BROKER_PROXY,  /* proxy.h */
        _BROKER_CHILD_MAX,
} BrokerChild;

/* Requests a child at this end of a socket, and does not wait for it. The fd stays the caller's. The broker closes its copy if it cannot
 * start a child. A child whose other end is closed, or shut down for writing, is killed after five seconds. -ESHUTDOWN: the broker has not
 * been reachable for so long that the caller should restart. */
int broker_fork(Broker *b, BrokerChild child, int fd);

/* ---- the broker itself ---- */

/* The main function of such a child; never returns. */
typedef void (*BrokerChildFn)(BrokerChild child, int fd);

/* Serves one manager at this connection until the manager disconnects: 0. 1: there was no request for idle_ms, and no worker is left; the
 * manager's next request fails with EPIPE. */
int broker_serve(int fd, int idle_ms, BrokerChildFn run);

/* Serves one manager after the other at a listening socket. Ends with the last manager or when idle, after all workers: they have ten
 * minutes. Ends also when the program's file was replaced, so that the next manager gets a broker of its own build. */
int broker_run(int listener, BrokerChildFn run);
