/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What no event tells: that a drive with deferred settings is awake again, that its link was gone for a moment, and that a
 * setting has drifted. Looks at the kernel's counters and notes only; there is no timer while nothing is deferred and no recheck
 * was asked for. */

#include <systemd/sd-event.h>

#include "manager.h"

typedef struct Recheck Recheck;

int recheck_new(sd_event *event, Manager *m, Recheck **ret);
Recheck *recheck_free(Recheck *p);
DEFINE_CLEANUP(Recheck *, recheck_free);

/* A drive rests: look out for its waking, if it has something deferred. */
void recheck_rested(Recheck *p, const Target *t);

/* A disk was attached, and udev has run what its rules run for that: where one of them writes to others, look at those soon. */
void recheck_attached(Recheck *p, const char *name);

/* Is the rule of Debian's hdparm there, which has a script write to all drives when one is attached? `root`: "" for this machine's
 * file system. */
bool recheck_meets_debian(const char *root);

/* How often to recheck, from now on; 0: never. */
void recheck_recheck_every(Recheck *p, uint64_t usec);
