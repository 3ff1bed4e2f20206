/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What may have changed the settings of a drive, or lets them be checked: an event of udev or the kernel, an error of the link, a user's
 * question, another program, a recheck. Decides whether that leads to a visit, and for which work. */

#include "target.h"

/* Something may have taken the drive's state: visits it, but not too often. `seqnum`: the number of the event that reports it
 * (activity_last_event()); 0: none does. */
void target_disturbed(Target *t, VisitReason reason, uint64_t seqnum);

/* One more event, or visit, of those of which there may be too many (DISTURBANCES). */
void target_count_disturbance(Target *t);

/* The kernel may have noted an error of the drive's link: then the drive is visited. The errors that a visit itself led to are left to
 * its end, which calls this with `visited`: the kernel resets the link of a drive that answers no command. Returns true while the
 * kernel is still at the link: call again soon. */
bool target_poll_link(Target *t, bool visited);

/* Checks that settings which were in order still are. `in_use`: there is I/O, so that a command more does not keep the drive active. */
void target_recheck(Target *t, bool in_use);

/* A user asks for the settings in force: reads them, of the drive too unless it is in standby. Writes nothing. */
void target_read(Target *t);

/* Another program may have written to the drive just now: reads its settings, unless it is in standby; with on_drift = "restore" sets
 * them back, now or when the drive is active. */
void target_changed_by_other(Target *t);
