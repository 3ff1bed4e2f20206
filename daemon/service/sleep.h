/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Suspend and hibernation. logind signals their begin and end, and delays the begin for us. Sleep without logind shows at the next event of
 * any kind, by the difference of two clocks and by the kernel's count. */

#include <systemd/sd-bus.h>

#include "broker.h"

typedef struct Sleep Sleep;

typedef struct SleepEvents {
        void (*preparing)(void *userdata); /* stop sending commands, then call sleep_ready() */
        /* The machine is awake; `slept`: the machine or some of its devices were suspended before. */
        void (*awake)(void *userdata, bool slept);
} SleepEvents;

/* The machine, which tests replace. */
typedef struct SleepWorld {
        int (*open_proxy)(Broker *broker, sd_bus **ret); /* to logind */
        uint64_t (*suspended_usec)(void);                /* the time asleep since boot */
        const char *stats;                               /* the directory with the kernel's counts */
} SleepWorld;
extern const SleepWorld sleep_world;

int sleep_new(sd_event *event, Broker *broker, const SleepWorld *world, const SleepEvents *events, void *userdata,
              Sleep **ret);
Sleep *sleep_free(Sleep *s);
DEFINE_CLEANUP(Sleep *, sleep_free);

/* The Sleep must outlive the connection. */
void sleep_bus_connected(Sleep *s, sd_bus *bus);
void sleep_bus_lost(Sleep *s);

/* Settings will be written to drives: takes a delay inhibitor from now on. Without writes there is none, and no proxy is started for it. */
void sleep_writing(Sleep *s);

/* No commands are under way: releases the inhibitor. */
void sleep_ready(Sleep *s);
