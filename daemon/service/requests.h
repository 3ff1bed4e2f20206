/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Calls that are answered when the visits that they ask for are over. */

#include <systemd/sd-bus.h>

#include "manager.h"

#define ERROR_NO_SUCH_DRIVE "org.drivekeep1.Error.NoSuchDrive"

typedef struct Request Request;

typedef struct Requests {
        Manager *manager;
        Request *items;
} Requests;

/* Apply(as names) → as visited, or the same for another reason: VISIT_RECHECK is Read(), and VISIT_SPIN_DOWN SpinDown(), which
 * takes no empty list. Returns as a method's handler does. */
int requests_visit(Requests *r, sd_bus_message *m, VisitReason reason, sd_bus_error *error);

/* Answers as Apply() does, after all visits that are under way now, or the one to this drive (NULL: all). */
int requests_wait(Requests *r, sd_bus_message *m, const Target *only);

/* A visit is over or deferred, or a drive is gone: answers those who wait for no other. */
void requests_visit_finished(Requests *r);

void requests_done(Requests *r);
