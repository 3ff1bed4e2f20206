/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A D-Bus server at a socket of our own: whoever connects has a connection to this process, without a bus between. */

#include <systemd/sd-bus.h>

#include "macro.h"

typedef struct BusServer BusServer;

/* One connection. */
typedef struct BusPeer BusPeer;
struct BusPeer {
        sd_bus *bus;
        BusServer *server;
        BusPeer *next;
};

typedef struct BusServerEvents {
        int (*connected)(void *userdata, sd_bus *bus);   /* before it starts: what it is offered; < 0 closes it */
        void (*gone)(void *userdata, const sd_bus *bus); /* the other end is closed; this one is closed behind it */
} BusServerEvents;

struct BusServer {
        sd_event *event; /* borrowed */
        const BusServerEvents *events;
        void *userdata;
        sd_event_source *listen;
        BusPeer *peers;
};

/* A connection at this end of a socket, not started yet. Takes over *fd, and leaves < 0 there, unless there is an error. As a server it
 * has an ID of its own. */
int bus_new_at(int *fd, bool server, sd_bus **ret);

/* `fd`: a socket that listens; stays the caller's. bus_server_stop() comes in any case. */
int bus_server_start(BusServer *s, int fd);

/* Closes all connections, without a word to `events`. */
void bus_server_stop(BusServer *s);
