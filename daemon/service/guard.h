/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard: a note is on stable storage before a visit writes to a drive, so that a visit that crashes the machine or the drive is not
 * repeated for ever (the rules: guard-rules.h). A dangerous value is noted in the drive's file. For harmless values one file notes that visits
 * are under way; after a crash with that note, each drive's file notes its visits, too. A process of its own writes the files, since storage
 * may be slow without limit; visits wait for it for a few seconds. */

#include <systemd/sd-event.h>

#include "drive.h"
#include "guard-rules.h"

#define GUARD_DIR "/var/lib/drivekeep"

typedef struct Guard Guard;
typedef struct GuardedDrive GuardedDrive;

/* The answer to guarded_intend(). `error` < 0: the note is not on stable storage, and no dangerous value may be written. `userdata` is
 * guard_attach()'s. */
typedef void (*GuardFn)(void *userdata, int error);

/* A directory that cannot be used is logged, and is no error. */
int guard_new(sd_event *event, const char *dir, const char *boot_id, const SettingTable *settings, GuardFn stored,
              Guard **ret);
Guard *guard_free(Guard *g);
DEFINE_CLEANUP(Guard *, guard_free);

/* A drive came: reads its file, unless it is known. Drives with the same identity share one file; from then on entries of twins are kept
 * apart by where they are plugged in, and those of paths to one drive are not. Each guard_attach() needs a guarded_detach(). */
int guard_attach(Guard *g, const Drive *drive, void *userdata, GuardedDrive **ret);
void guarded_detach(GuardedDrive *d);

/* All drives that are present at the start are attached: judges the notes of earlier runs. From now on guard_attach() does that. */
void guard_judge(Guard *g);

const GuardRecord *guarded_record(const GuardedDrive *d);

/* The userdata of another path to the same drive, or NULL. */
void *guarded_other_path(const GuardedDrive *d);

/* Why this value is not written: the end of a sentence. NULL: it may be written. */
const char *guarded_quarantined(const GuardedDrive *d, const char *setting, const char *value);

/* A visit is about to write this dangerous value, or (NULL) harmless ones. 1: the note is on stable storage already; 0: GuardFn follows;
 * -ETIMEDOUT: storage is too slow; -EBADMSG: the drive's file cannot be read. */
int guarded_intend(GuardedDrive *d, const char *setting, const char *value);

/* A visit begins; or ends, and the machine has survived it: no GuardFn follows any more. */
void guarded_visit(GuardedDrive *d, bool begins);

/* This value is being written now; NULL: none is. */
void guarded_underway(GuardedDrive *d, const char *setting, const char *value);

/* The drive stayed healthy, or nothing was written: removes its intents, without waiting. Does nothing during a visit, and returns false. */
bool guarded_clear(GuardedDrive *d);

/* The drive went away or does not answer any more. */
void guarded_lost(GuardedDrive *d);

/* Returns how many values may be written again. A drive that got no commands, or whose file could not be read, counts as one more. */
unsigned guarded_release(GuardedDrive *d, const char *setting);

/* Keeps the drive's state file (drive-record.h) over boots, in a file of its own below the guard's directory. Takes over `text`, and does not wait
 * for the write. */
void guarded_keep(GuardedDrive *d, char *text);
/* The text that was kept; the caller frees it. NULL: none can be read. */
char *guarded_kept(const GuardedDrive *d);

/* The service ends, and with it the process that writes: waits until all is written, or until this time on CLOCK_MONOTONIC. */
void guard_flush(Guard *g, uint64_t until);
