/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard (guard.h) for one drive: notes dangerous writes before they happen, and blocks quarantined values. */

#include "target.h"

extern const TargetPart guard_part;

/* If the drive was lost during a write and is attached again, delays its pending work until the connection is stable.
 * Visits that a user requests are not delayed. */
void target_guard_delay(Target *t);
/* Returns when the delay of target_guard_delay() ends; CLOCK_MONOTONIC, µs; 0 if there is no delay. */
uint64_t target_guard_steady_at(const Target *t);

/* Returns true if the two Targets are paths to the same drive. */
bool target_guard_is_same_drive(const Target *a, const Target *b);

/* Returns true if visits to the drive are forbidden, because the machine went down during a visit twice in a row, the
 * second time during a visit to this drive. */
bool target_guard_excludes(const Target *t);

/* Returns the verdict on all settings if the drive must not be visited: the kernel command line forbids writing in this boot, or
 * target_guard_excludes() returns true. Otherwise returns _VERDICT_INVALID. */
Verdict target_guard_verdict(const Target *t, char reason[static STEP_REASON_MAX]);

/* Returns true if the drive must not be visited, after it has recorded the verdict on all settings. */
bool target_guard_blocks(Target *t);

/* Called when the visit of the drive got its worker. */
void target_guard_begins(Target *t);

/* Implement VisitJobEvents.intends and VisitJobEvents.writing. */
void target_guard_intends(void *userdata, size_t wish);
void target_guard_writing(void *userdata, size_t wish);

/* The callback for guard_new(). `error` < 0: the guard could not store the note. */
void target_guard_stored(void *userdata, int error);

/* Called when the drive was unplugged or its medium changed, possibly during a write. Must run before other functions report the loss. */
void target_guard_lost(Target *t);

/* Ends the quarantine of `setting`, or of all settings if `setting` is NULL. Returns the result of guarded_release(),
 * and visits the drive if this result is not 0. */
unsigned target_release(Target *t, const char *setting);

/* Stores `text`, the record of the drive, across boots. Takes ownership of `text`, and does not wait for the storage. */
void target_guard_keep(Target *t, char *text);
/* Returns the text that target_guard_keep() stored, or NULL if there is none. The caller frees the text. */
char *target_guard_kept(const Target *t);

/* Called when the service stops: removes the drive's notes of intended writes. */
void target_guard_finish(Target *t);
