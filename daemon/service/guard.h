/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard prevents that a visit which crashes the machine or the drive is repeated at every boot: before a visit writes to a drive,
 * a note is stored on stable storage (for the rules see guard-rules.h). A dangerous value is noted in the drive's own file. For harmless
 * values one common file notes that visits are under way; after a crash with that note, each drive's file notes its visits, too. A separate
 * process writes the files, since storage may be slow without limit; visits wait for that process for a few seconds. */

#include <systemd/sd-event.h>

#include "drive.h"
#include "guard-rules.h"

#define GUARD_DIR "/var/lib/drivekeep"

typedef struct Guard Guard;
typedef struct GuardedDrive GuardedDrive;

/* Reports the result of guarded_intend(). `error` < 0: the note is not on stable storage, and no dangerous value may be written.
 * `userdata`: the argument of guard_attach(). */
typedef void (*GuardFn)(void *userdata, int error);

/* Opens the crash guard's directory. A directory that cannot be used is logged and is not an error. */
int guard_new(sd_event *event, const char *dir, const char *boot_id, const SettingTable *settings, GuardFn stored,
              Guard **ret);
Guard *guard_free(Guard *g);
DEFINE_CLEANUP(Guard *, guard_free);

/* Registers a drive that appeared, and reads its file if needed. Drives with the same identity share one file. Twins, which are different
 * drives with one identity, get separate entries by their ports; several paths to one drive share entries. Each guard_attach() needs a
 * guarded_detach(). */
int guard_attach(Guard *g, const Drive *drive, void *userdata, GuardedDrive **ret);
void guarded_detach(GuardedDrive *d);

/* Judges the notes of earlier runs, once all drives that are present at the start are attached. Later, guard_attach() judges the notes of
 * each new drive. */
void guard_judge(Guard *g);

const GuardRecord *guarded_record(const GuardedDrive *d);

/* Returns the userdata of another path to the same drive, or NULL. */
void *guarded_other_path(const GuardedDrive *d);

/* Returns why this value is quarantined, as the end of a sentence. NULL: the value may be written. */
const char *guarded_quarantined(const GuardedDrive *d, const char *setting, const char *value);

/* Notes that a visit is about to write this dangerous value, or harmless values if both are NULL. Returns 1 if the note is already on
 * stable storage, 0 if GuardFn will report the result, -ETIMEDOUT if storage is too slow, and -EBADMSG if the drive's file cannot be
 * read. */
int guarded_intend(GuardedDrive *d, const char *setting, const char *value);

/* Notes that a visit begins, or that a visit ended and the machine survived. After the end no GuardFn follows for this visit. */
void guarded_visit(GuardedDrive *d, bool begins);

/* Remembers which value is being written at present; NULL: none. */
void guarded_underway(GuardedDrive *d, const char *setting, const char *value);

/* Removes the drive's intents, without waiting. For a drive that stayed healthy, or to which nothing was written. Does nothing and returns
 * false during a visit. */
bool guarded_clear(GuardedDrive *d);

/* Judges the drive's intents after the drive disappeared or no longer answers. */
void guarded_lost(GuardedDrive *d);

/* Ends the quarantine of a setting (NULL: of all settings). Returns the number of values that may be written again, plus one if the drive
 * got no commands at all, plus one if its file could not be read. */
unsigned guarded_release(GuardedDrive *d, const char *setting);

/* Stores the drive's state file (drive-record.h) across boots, in a separate file below the guard's directory. Takes ownership of `text`,
 * and does not wait for the write. */
void guarded_keep(GuardedDrive *d, char *text);
/* Returns the text that guarded_keep() stored, which the caller frees. NULL: there is none, or it cannot be read. */
char *guarded_kept(const GuardedDrive *d);

/* Waits until all notes are written, or until the time `until` (CLOCK_MONOTONIC, µs). For the end of the service, which also ends the
 * process that writes. */
void guard_flush(Guard *g, uint64_t until);
