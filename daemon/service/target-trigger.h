/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Events that may have changed the settings of a drive, or that request a check: events of udev and the kernel, link errors, user requests,
 * other programs, rechecks. Each function decides whether the event leads to a visit, and for which work. */

#include "target.h"

/* Called when an event may have reset the settings. Visits the drive, but not more often than DISTURBANCES permits.
 * `seqnum`: the number of the kernel event (activity_last_event()); 0: not known. */
void target_disturbed(Target *t, VisitReason reason, uint64_t seqnum);

/* Counts an event or a visit towards the limit DISTURBANCES. */
void target_count_disturbance(Target *t);

/* Visits the drive if the kernel noted a reset or a loss of its link. Returns true while the kernel is recovering the
 * link: call again soon. Does nothing while the drive has a worker. `visited`: a visit has just ended. A reset during
 * that visit leads to no second visit, since the kernel resets the link whenever a drive does not answer a command. */
bool target_poll_link(Target *t, bool visited);

/* Checks settings that were in order. `in_use`: the drive has I/O, so the visit may send commands, which then barely
 * postpone the drive's standby. */
void target_recheck(Target *t, bool in_use);

/* Called when a user requests the current settings. Reads the settings that the kernel holds. Also reads the settings
 * that the drive holds, unless the drive is in standby. Writes nothing. */
void target_read(Target *t);

/* Called when another program may have written to the drive. Reads the drive's settings unless the drive is in standby. With on_drift =
 * "restore", restores changed settings now, or when the drive is active. */
void target_changed_by_other(Target *t);
