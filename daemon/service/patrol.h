/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What no event tells: that a drive with deferred settings is awake again, that its link was gone for a moment, and that a
 * setting has drifted. Looks at the kernel's counters and notes only; there is no timer while nothing is deferred and no recheck
 * was asked for. */

#include <systemd/sd-event.h>

#include "manager.h"

typedef struct Patrol Patrol;

int patrol_new(sd_event *event, Manager *m, Patrol **ret);
Patrol *patrol_free(Patrol *p);
DEFINE_CLEANUP(Patrol *, patrol_free);

/* A drive rests: look out for its waking, if it has something deferred. */
void patrol_rested(Patrol *p, const Watched *w);

/* A disk was attached, and udev has run what its rules run for that: where one of them writes to others, look at those soon. */
void patrol_attached(Patrol *p, const char *name);

/* Is the rule of Debian's hdparm there, which has a script write to all drives when one is attached? `root`: "" for this machine's
 * file system. */
bool patrol_meets_debian(const char *root);

/* How often to recheck, from now on; 0: never. */
void patrol_recheck_every(Patrol *p, uint64_t usec);
