/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard (guard.h) for one drive: notes dangerous writes before they happen, and blocks values in quarantine. */

#include "target.h"

extern const TargetPart guard_part;

/* Delays the pending work of a drive that was lost during a write and is attached again, until its connection is stable. Visits that a
 * user requests are not delayed. */
void target_guard_delay(Target *t);
/* Returns the end of that delay; CLOCK_MONOTONIC, µs; 0: no delay. */
uint64_t target_guard_steady_at(const Target *t);

/* Returns true if both Targets are paths to the same drive. */
bool target_guard_is_same_drive(const Target *a, const Target *b);

/* Returns true if the drive is not visited because the machine or the drive did not survive earlier visits. */
bool target_guard_excludes(const Target *t);

/* Returns true if the drive must not be visited, because the kernel command line forbids writing in this boot, or because of
 * target_guard_excludes(). Records that in the verdicts of all settings. */
bool target_guard_blocks(Target *t);

/* The visit of the drive got its worker. */
void target_guard_begins(Target *t);

/* Events of the VisitJob. */
void target_guard_intends(void *userdata, size_t wish);
void target_guard_writing(void *userdata, size_t wish);

/* The guard stored a note, or failed with `error`. A callback for guard_new(). */
void target_guard_stored(void *userdata, int error);

/* The drive was unplugged or its medium changed, possibly during a write. Must be called before other functions report that. */
void target_guard_lost(Target *t);

/* Releases the values of a setting (NULL: of all settings) from quarantine, and visits the drive if there were any. Returns their
 * number. */
unsigned target_release(Target *t, const char *setting);

/* Stores a text, the record of the drive, over boots. Takes ownership of `text`, and does not wait for the storage. */
void target_guard_keep(Target *t, char *text);
/* Returns the stored text, which the caller frees; NULL: none is stored. */
char *target_guard_kept(const Target *t);

/* The service stops: removes the note of the drive. */
void target_guard_finish(Target *t);
