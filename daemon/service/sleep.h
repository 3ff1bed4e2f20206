/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Detects suspend and hibernation. logind signals when they begin and end, and delays them while the service holds an inhibitor. Suspend
 * without logind is detected at the next event of any kind, by the difference of two clocks and by the kernel's count of suspends. */

#include <systemd/sd-bus.h>

#include "broker.h"

typedef struct Sleep Sleep;

typedef struct SleepEvents {
        void (*preparing)(void *userdata); /* a suspend is imminent: stop sending commands, then call sleep_ready() */
        /* The machine is running again. `slept`: the machine or some of its devices were suspended. */
        void (*awake)(void *userdata, bool slept);
} SleepEvents;

/* Access to the machine, replaced in tests. */
typedef struct SleepWorld {
        int (*open_proxy)(Broker *broker, sd_bus **ret); /* opens a connection to logind */
        uint64_t (*suspended_usec)(void);                /* time in suspend since boot; µs */
        const char *stats;                               /* directory with the kernel's counts of suspends */
} SleepWorld;
extern const SleepWorld sleep_world;

int sleep_new(sd_event *event, Broker *broker, const SleepWorld *world, const SleepEvents *events, void *userdata,
              Sleep **ret);
Sleep *sleep_free(Sleep *s);
DEFINE_CLEANUP(Sleep *, sleep_free);

/* Called when the system bus is connected. The Sleep must outlive the connection. */
void sleep_bus_connected(Sleep *s, sd_bus *bus);
void sleep_bus_lost(Sleep *s);

/* Called before the service writes settings. From then on, the service holds a delay inhibitor. Before the first write,
 * no inhibitor is needed, and no proxy is started. */
void sleep_writing(Sleep *s);

/* Releases the inhibitor. Called when no command is under way. */
void sleep_ready(Sleep *s);
