/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Suspend and hibernation. logind says when they begin and end, and waits for us a little; sleep that logind knows nothing
 * of shows at the next wake-up of any kind, by clocks that drift apart and by the kernel's count. */

#include <systemd/sd-bus.h>

#include "broker.h"

typedef struct Sleep Sleep;

typedef struct SleepEvents {
        void (*preparing)(void *userdata); /* stop sending commands, then call sleep_ready() */
        /* The machine is awake; `slept`: and it, or some of its devices, was not before. */
        void (*awake)(void *userdata, bool slept);
} SleepEvents;

/* What it asks of the machine. */
typedef struct SleepWorld {
        int (*open_proxy)(Broker *broker, sd_bus **ret); /* passes on to logind */
        uint64_t (*slept_usec)(void);                    /* how long the machine has slept since it booted */
        const char *stats;                               /* the directory with the kernel's counts */
} SleepWorld;
extern const SleepWorld sleep_world;

int sleep_new(sd_event *event, Broker *broker, const SleepWorld *world, const SleepEvents *events, void *userdata,
              Sleep **ret);
Sleep *sleep_free(Sleep *s);
DEFINE_CLEANUP(Sleep *, sleep_free);

/* Sleep lives longer than a connection that it heard of. */
void sleep_bus_connected(Sleep *s, sd_bus *bus);
void sleep_bus_lost(Sleep *s);

/* Settings are about to be written to drives: from now on logind is asked to wait before sleep. Where nothing is ever written, it
 * is not asked, and no process is started for that. */
void sleep_writing(Sleep *s);

/* Everything is quiet: logind need not wait for us any longer. */
void sleep_ready(Sleep *s);
