/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Keeps the list of all drives, and limits the number of concurrent workers. The triggers in monitor.c, daemon.c and recheck.c call
 * functions of this file or of target.h. Each trigger leads to a call of target_decide() (target-decide.c). */

#include <systemd/sd-event.h>

#include "target.h"

struct udev_device;

typedef struct Manager Manager;

typedef struct ManagerEvents {
        void (*visit_finished)(
                        void *userdata,
                        const Target *t); /* called when a visit finished or was deferred (see TargetEnv), or the drive was unplugged */
        void (*writing)(void *userdata); /* called before a worker is started */
        void (*quiet)(void *userdata); /* called during a pause, once each worker has ended or is stuck in the kernel */
} ManagerEvents;

int manager_new(sd_event *event, Broker *broker, Files *files, const ManagerEvents *events, void *userdata,
                Manager **ret);
Manager *manager_free(Manager *m);
DEFINE_CLEANUP(Manager *, manager_free);

void manager_visit_all(Manager *m, VisitReason reason);

Target *manager_first(Manager *m); /* the first drive of the list; Target.next is the next drive */
Target *manager_find(Manager *m, const char *name);

/* Enumerates the drives that udev knows. Visits new drives for `reason`, and removes drives that are gone. */
int manager_enumerate(Manager *m, VisitReason reason);

void manager_plugged(Manager *m, struct udev_device *device); /* the drive appeared or changed */
void manager_unplugged(Manager *m, const char *name);
void manager_stack_changed(Manager *m, const char *name, bool removed); /* `name`: a partition, md or dm device */

/* Visits the drives below this device in sysfs, since they may have lost their state. */
void manager_disturbed(Manager *m, const char *syspath, VisitReason reason, uint64_t seqnum);

/* Applies the new `files` (NULL if the files did not change) and the power source. Visits the drives whose settings change. */
void manager_reconfigure(Manager *m, Files *files, bool on_battery, VisitReason reason);

/* If `pause` is true, starts no visits, and stops each visit under way after its current command. The event loop calls
 * ManagerEvents.quiet once no worker is left. If `pause` is false, resumes visits. */
void manager_pause(Manager *m, bool pause);

/* Called when the service ends. Logs which drives still have a worker, and stores the statistics of use. Removes the
 * crash guard's notes of drives without a worker, since writes to these drives did no harm. Waits until the files are on
 * stable storage, or until the time `until` (CLOCK_MONOTONIC, µs). */
void manager_finish(Manager *m, uint64_t until);
