/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What no event tells: that a drive with deferred settings is awake again, or was resumed by the kernel, that its link was gone for a moment, and that a
 * setting has drifted. Looks at the kernel's counters and notes only; there is no timer while nothing is deferred and no recheck
 * was asked for.
 *
 * The kernel's log is the one sign of what libata does to a drive that it keeps. What the messages say is not parsed: any of
 * libata's is a reason to look at what it noted in sysfs (device/kernel-view.h). Between two messages of the kernel there is no
 * wake-up, and messages in quick succession are read together, once a second; the links are looked at when libata has been quiet for two
 * seconds. */

#include <systemd/sd-event.h>

#include "manager.h"

typedef struct Recheck Recheck;

/* `kmsg`: /dev/kmsg, which the service manager opened, as the daemon may not; stays the caller's. It is read from this moment on.
 * That it is something else is told to the journal. */
int recheck_new(sd_event *event, Manager *m, int kmsg, Recheck **ret);
Recheck *recheck_free(Recheck *p);
DEFINE_CLEANUP(Recheck *, recheck_free);

/* A drive rests: look out for its waking, if it has something deferred. */
void recheck_rested(Recheck *p, const Target *t);

/* A disk was attached, and udev has run what its rules run for that: where one of them writes to others, look at those soon. */
void recheck_attached(Recheck *p, const char *name);

/* Is the rule of Debian's hdparm there, which has a script write to all drives when one is attached? `root`: "" for this machine's
 * file system. */
bool recheck_meets_debian(const char *root);

/* Looks at all links. True: the kernel is still at one, look again soon. Exported for tests, as is … */
bool recheck_links(Recheck *p);

/* … this: is a record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg) one of the kernel's own and libata's: "ata3.00: …"? Programs
 * can write records, too, but not in the kernel's name. */
bool recheck_is_libata(const char *record);

/* How often to recheck, from now on; 0: never. */
void recheck_recheck_every(Recheck *p, uint64_t usec);
