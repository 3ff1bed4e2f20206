/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The power mode of one drive: feeds the state machine of core/power-watch.h with the kernel's counters, and passes its news to the
 * parts. Here is also which of the counted commands are the service's own, and whether a drive with deferred settings is active. */

#include "target.h"

extern const TargetPart power_part;

/* To ask; inputs go through the functions below. */
const PowerWatch *target_power(const Target *t);

/* The kernel's counters now. I/O is what the drive's users have it do: reads and writes, and where the files say so
 * (commands_are_use) commands of programs. What the service sends is left out. */
PowerCounters target_counters(const Target *t);
/* When the drive's time without I/O is over; now or earlier: it is over. */
uint64_t target_idle_at(const Target *t);

/* A visit has found out the power mode (VisitJobEvents.power). */
void target_power_probed(void *target, PowerMode mode);
/* The service spun the drive down; `unverifiable`: which the drive does not confirm. */
void target_power_stopped(Target *t, bool unverifiable);
/* The service cannot spin it down before `until`; just now; before there is I/O. */
void target_power_delay(Target *t, uint64_t until);
void target_power_retry(Target *t);
void target_power_give_up(Target *t);

/* The tracer has the drive; sees all its commands; reports one; has ended. */
void target_power_traced(Target *t);
void target_power_confirmed(Target *t);
void target_power_command(Target *t, const Wake *by);
void target_power_lost(Target *t);
/* Should the next probe find it active, this was the waker. */
void target_power_suspect(Target *t, const Wake *by);

/* ---- is it active just now? ---- */

/* Has the visit that begins reason to take the drive for active? */
bool target_is_active(const Target *t);
/* Is it in ATA's Sleep mode, so that no command may be sent? */
bool target_is_in_ata_sleep(const Target *t);

/* Reads the counters for settings that are deferred until the drive is active. Returns true when there was I/O since the last time, or
 * when the kernel has resumed the drive since. */
bool target_poll_active(Target *t);
/* At the end of a visit: the visit's own commands are no I/O of the drive's user. */
void target_note_counters(Target *t);
/* At the last poll the kernel had suspended the drive. */
bool target_was_suspended(const Target *t);
