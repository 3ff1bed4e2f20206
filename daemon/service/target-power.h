/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The power mode of one drive.
 *
 * The state machine of core/power-watch.h has no access to the drive. This part reads the kernel's counters of the
 * drive's I/O, passes each event to the state machine, and passes the resulting PowerNews on to the other parts. It
 * subtracts the service's own commands from the counters, so that a visit does not look like I/O by a program. It also
 * determines whether a drive with deferred settings is active. */

#include "target.h"

extern const TargetPart power_part;

/* Returns the state machine, which the caller may only read. Events go through the functions below. */
const PowerWatch *target_power(const Target *t);

/* Reads the kernel's counters. They count reads and writes and, with commands_are_use = true, other commands by
 * programs. They do not count the service's own commands. */
PowerCounters target_counters(const Target *t);
/* Returns when the drive will have had the required time without I/O, if no I/O follows (CLOCK_MONOTONIC, µs). A result
 * that is not in the future means that the required time has passed. */
uint64_t target_idle_at(const Target *t);

/* Called when a visit probed the power mode (VisitJobEvents.power). */
void target_power_probed(void *target, PowerMode mode);
/* Called when the service spun the drive down. `unverifiable`: the drive does not confirm that it is in standby. */
void target_power_stopped(Target *t, bool unverifiable);
/* Prevents spin-down by the service until the time `until` (CLOCK_MONOTONIC, µs). */
void target_power_delay(Target *t, uint64_t until);
/* Called when the service could not spin the drive down: tries again soon. */
void target_power_retry(Target *t);
/* Prevents spin-down by the service until there is I/O. */
void target_power_give_up(Target *t);

/* Called when the tracer has accepted the request to watch the drive. */
void target_power_traced(Target *t);
/* Called when the tracer has started to see all commands to the drive. */
void target_power_confirmed(Target *t);
/* Called when the tracer reports a command to the drive. */
void target_power_command(Target *t, const Wake *by);
/* Called when the tracer has ended. */
void target_power_lost(Target *t);
/* Notes a possible waker: if the next probe finds the drive active, `by` made it spin up. */
void target_power_suspect(Target *t, const Wake *by);

/* ---- whether the drive is active ---- */

/* Returns true if the visit that begins may assume that the drive is active. */
bool target_is_active(const Target *t);
/* Returns true if the drive is in ATA Sleep mode: no command may be sent. */
bool target_is_in_ata_sleep(const Target *t);

/* Polls a drive with deferred settings. Returns true if there was I/O since the previous poll, or if the kernel resumed the drive since
 * then. */
bool target_poll_active(Target *t);
/* Called after a message of the driver sd, which may be about a runtime suspend or resume. A suspended drive with wishes is
 * traced, and deferred settings are written after the resume. Returns true while the kernel is suspending the drive: call again soon. */
bool target_poll_runtime(Target *t);
/* Called at the end of a visit: notes the counters, so that the visit's own commands do not count as I/O by programs. */
void target_note_counters(Target *t);
/* Returns true if the drive was runtime-suspended at the last poll. */
bool target_was_suspended(const Target *t);
