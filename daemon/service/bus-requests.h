/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* D-Bus calls that request visits. The reply is sent when the visits have ended. */

#include <systemd/sd-bus.h>

#include "manager.h"

typedef struct Request Request;

typedef struct Requests {
        Manager *manager;
        Request *items;
} Requests;

/* Handles Apply(as names) → as visited. With VISIT_RECHECK, handles Read(). With VISIT_SPIN_DOWN, handles SpinDown(), which rejects an
 * empty list. The return value is that of an sd-bus method handler. */
int requests_visit(Requests *r, sd_bus_message *m, VisitReason reason, sd_bus_error *error);

/* If `only` is NULL, replies when the current visits to all drives have ended. Otherwise replies when the current visit to this drive
 * has ended. The reply has the names of the visited drives. */
int requests_wait(Requests *r, sd_bus_message *m, const Target *only);

/* Replies with the results of target_rewrite() when the visit to this drive has ended. */
int requests_rewrite(Requests *r, sd_bus_message *m, const Target *t);

/* Called when a visit ended or was deferred, or when a drive was unplugged. Replies to each call that no longer waits for any visit. */
void requests_visit_finished(Requests *r);

void requests_done(Requests *r);
