/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that makes workers and proxies, in a unit of its own (drivekeep-broker.service), which alone has the right to send commands
 * to drives. It takes one kind of message, a byte with a socket, and knows nothing of drives, files or settings;
 * the manager, which listens and parses, has no such right. */

#include "macro.h"

#define BROKER_SOCKET "/run/drivekeep-broker"

/* When nothing was asked for so long it ends: most of the time no drive needs anything, and systemd makes another. */
#define BROKER_IDLE_MS (30 * 1000)

/* ---- the manager's half ---- */

typedef struct Broker Broker;

/* Connects when the first worker is asked for, which has systemd start the broker: where no drive needs anything, there is
 * none. The path is to outlive it. */
int broker_new(const char *path, Broker **ret);
Broker *broker_free(Broker *b);
DEFINE_CLEANUP(Broker *, broker_free);

typedef enum BrokerChild {
        BROKER_WORKER, /* worker.h */
        BROKER_PROXY,  /* proxy.h */
        _BROKER_CHILD_MAX,
} BrokerChild;

/* Asks for a child at this end of a socket, and does not wait for it: where none can be made, the end is closed. The fd stays
 * the caller's. A child whose other end is closed, or shut down for writing, is let go of: it is
 * killed five seconds later unless it ends by itself. -ESHUTDOWN: it has been refused for so long that the caller had better
 * begin anew. */
int broker_fork(Broker *b, BrokerChild child, int fd);

/* ---- the broker itself ---- */

/* The main function of such a child; never returns. */
typedef void (*BrokerChildFn)(BrokerChild child, int fd);

/* Serves one manager at this connection until that goes: 0, or a negative errno. 1: nothing more was asked for idle_ms, no
 * worker was left, and the manager was told so, by EPIPE at its next request. */
int broker_serve(int fd, int idle_ms, BrokerChildFn run);

/* The same for one manager after the other, at a socket that listens. It ends with its last manager or for want of work, but
 * when all workers have ended, not before, for which they have ten minutes; only when its own program has been replaced, the
 * next manager gets another broker. */
int broker_run(int listener, BrokerChildFn run);
