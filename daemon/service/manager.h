/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* All drives, and the bound on workers. Triggers come in here or at a drive itself (target.h), and all of them end in
 * target_decide() (target.c). What triggers there are, monitor.c, daemon.c and recheck.c know. */

#include <systemd/sd-event.h>

#include "target.h"

struct udev_device;

typedef struct Manager Manager;

typedef struct ManagerEvents {
        void (*rested)(void *userdata, const Target *t); /* see TargetEnv; also for one that was unplugged */
        void (*writing)(void *userdata);                 /* a worker is about to begin */
        void (*quiet)(void *userdata);                   /* no worker is at a drive, but those that are stuck */
} ManagerEvents;

int manager_new(sd_event *event, Broker *broker, Files *files, const ManagerEvents *events, void *userdata,
                Manager **ret);
Manager *manager_free(Manager *m);
DEFINE_CLEANUP(Manager *, manager_free);

void manager_visit_all(Manager *m, VisitReason reason);

Target *manager_first(Manager *m); /* the list of drives, by ->next */
Target *manager_find(Manager *m, const char *name);

/* Everything that udev knows; drives that are new are visited for `reason`, those that are gone are dropped. */
int manager_enumerate(Manager *m, VisitReason reason);

void manager_plugged(Manager *m, struct udev_device *device); /* the drive is there, or changed */
void manager_unplugged(Manager *m, const char *name);
void manager_stack_changed(Manager *m, const char *name, bool removed); /* a partition, md or dm device */

/* The drives that hang on this device may have lost their state. */
void manager_disturbed(Manager *m, const char *syspath, VisitReason reason, uint64_t seqnum);

/* What is wanted changes: other files (NULL: the same), another power source. Visits the drives concerned. */
void manager_reconfigure(Manager *m, Files *files, bool on_battery, VisitReason reason);

/* Begin no visits, and end those under way after the command they are at; `quiet` comes when that is done, maybe at once.
 * Or go on. */
void manager_pause(Manager *m, bool pause);

/* The daemon ends: the journal is told which drives still have a worker; what was written to the others and did no harm so far is not
 * held against it. Waits for that to be on stable storage, until then (CLOCK_MONOTONIC, µs) at most. */
void manager_finish(Manager *m, uint64_t until);
