/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard. A visit that crashes the machine or the drive must not be repeated at every boot. Before a visit
 * writes to a drive, the guard therefore stores a note on stable storage (rules: guard-rules.h). A dangerous value is
 * noted in the drive's own file. For harmless values, one common note records only that visits are under way. If the
 * machine crashes while the common note exists, later visits are noted in each drive's own file. A separate process, the
 * writer, writes the files, since storage may not respond for a long time. A visit waits a few seconds for the writer. */

#include <systemd/sd-event.h>

#include "drive.h"
#include "guard-rules.h"

#define GUARD_DIR "/var/lib/drivekeep"

typedef struct Guard Guard;
typedef struct GuardedDrive GuardedDrive;

/* Reports the result of guarded_intend(). `error` < 0: the crash guard's note is not on stable storage, and no
 * dangerous value may be written.
 * `userdata`: the argument of guard_attach(). */
typedef void (*GuardFn)(void *userdata, int error);

/* Opens the crash guard's directory. If the directory cannot be used, logs this and returns success. */
int guard_new(sd_event *event, const char *dir, const char *boot_id, const SettingTable *settings, GuardFn stored,
              Guard **ret);
Guard *guard_free(Guard *g);
DEFINE_CLEANUP(Guard *, guard_free);

/* Registers a drive that appeared, and reads its file if needed. Drives with the same identity share one file. Twins
 * (different drives with the same identity) get separate entries by their ports. All paths to one drive share the same
 * entries. Each guard_attach() needs a guarded_detach(). */
int guard_attach(Guard *g, const Drive *drive, void *userdata, GuardedDrive **ret);
void guarded_detach(GuardedDrive *d);

/* Judges the notes of earlier runs. Must be called once, after guard_attach() for all drives that exist at the start. For drives that
 * appear later, guard_attach() judges the notes. */
void guard_judge(Guard *g);

const GuardRecord *guarded_record(const GuardedDrive *d);

/* If the same drive is attached over another path, too, returns the `userdata` of that path. Otherwise returns NULL. */
void *guarded_other_path(const GuardedDrive *d);

/* Returns why this value is quarantined, as the end of a sentence. Returns NULL if the value may be written. */
const char *guarded_quarantined(const GuardedDrive *d, const char *setting, const char *value);

/* Stores a note that a visit is about to write this dangerous value, or harmless values if `setting` and `value` are NULL. Returns 1 if the
 * note is already on stable storage, and 0 if GuardFn will report the result. Returns -ETIMEDOUT if storage is too slow, and -EBADMSG if
 * the drive's file cannot be read. */
int guarded_intend(GuardedDrive *d, const char *setting, const char *value);

/* Records the beginning of a visit, or the end of a visit that the machine has survived. After the end, GuardFn is not called for this
 * visit. */
void guarded_visit(GuardedDrive *d, bool begins);

/* Remembers the value that a visit is writing now. `setting` is NULL if the visit is not writing a value. */
void guarded_underway(GuardedDrive *d, const char *setting, const char *value);

/* Removes the intended writes from the drive's note, and does not wait until the file is written. Used for a drive that
 * stayed healthy, or to which nothing was written. Does nothing and returns false during a visit. */
bool guarded_clear(GuardedDrive *d);

/* Judges the intended writes in the drive's note after the drive disappeared or no longer answers. */
void guarded_lost(GuardedDrive *d);

/* Ends the quarantine of a setting, or of all settings if `setting` is NULL. Returns the number of values that may be written again. This
 * number includes one if all commands to the drive were blocked, and one if the drive's file could not be read. */
unsigned guarded_release(GuardedDrive *d, const char *setting);

/* Stores `text`, the content of the drive's state file (drive-record.h), in a separate file below the guard's directory, so that the text
 * survives a reboot. Takes ownership of `text`, and does not wait for the write. */
void guarded_keep(GuardedDrive *d, char *text);
/* Returns the text that guarded_keep() stored, which the caller frees. Returns NULL if no text is stored, or if the file cannot be read. */
char *guarded_kept(const GuardedDrive *d);

/* Waits until all notes are written, or until the time `until` (CLOCK_MONOTONIC, µs). Called when the service ends, since the writer ends
 * together with the service. */
void guard_flush(Guard *g, uint64_t until);
