/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard: before a visit writes to a drive, a note of that is on stable storage, so that a machine or a drive that does
 * not survive the visit does not meet it again and again (the rules: guard-record.h). A dangerous value is noted in the file of its
 * drive. For all else one file says that visits are under way; only after a machine has gone down with that note, each drive's
 * visits are noted in the drive's file, too. Files are written by a process of their own, since storage can be slow for as long as it
 * pleases, and nobody waits for it for more than a few seconds. */

#include <systemd/sd-event.h>

#include "drive.h"
#include "guard-record.h"

#define GUARD_DIR "/var/lib/drivekeep"

typedef struct Guard Guard;
typedef struct GuardedDrive GuardedDrive;

/* The answer to guarded_intend(). `error` < 0: the note is not on stable storage, and what is dangerous must not be written.
 * `userdata` is guard_attach()'s. */
typedef void (*GuardFn)(void *userdata, int error);

/* A directory that cannot be used is told to the journal, and no error. */
int guard_new(sd_event *event, const char *dir, const char *boot_id, const SettingTable *settings, GuardFn stored,
              Guard **ret);
Guard *guard_free(Guard *g);
DEFINE_CLEANUP(Guard *, guard_free);

/* This drive is there now: reads its file, where nothing is known of it yet. Drives that say that they are the same share what is
 * known of them; what comes after that is known of paths to one drive together, and of others one by one. Each guard_attach() has
 * its guarded_detach(). */
int guard_attach(Guard *g, const Drive *drive, void *userdata, GuardedDrive **ret);
void guarded_detach(GuardedDrive *d);

/* All drives that are there at the daemon's start are attached: what earlier runs left is judged. From now on it is when a drive
 * comes. */
void guard_judge(Guard *g);

const GuardRecord *guarded_record(const GuardedDrive *d);

/* The userdata of another path to the same drive, or NULL. */
void *guarded_other_path(const GuardedDrive *d);

/* The sentence's end about why this value is not written; NULL: it may be. */
const char *guarded_quarantined(const GuardedDrive *d, const char *setting, const char *value);

/* A visit is about to write: this dangerous value, or (NULL) what is harmless. 1: the note is on stable storage already; 0: the
 * answer comes later; -ETIMEDOUT: storage is too slow; -EBADMSG: the file of the drive cannot be read. */
int guarded_intend(GuardedDrive *d, const char *setting, const char *value);

/* A visit begins; or is over, and the machine has survived it: no answer comes any more. */
void guarded_visit(GuardedDrive *d, bool begins);

/* This value is being sent now; NULL: nothing is. */
void guarded_underway(GuardedDrive *d, const char *setting, const char *value);

/* The drive stayed healthy (or nothing had begun): no intent is left. Not waited for. Returns false where a visit is under way,
 * and all stays. */
bool guarded_clear(GuardedDrive *d);

/* The drive went away, or is beyond help. */
void guarded_lost(GuardedDrive *d);

/* Returns how many values may be written again; a drive that was left alone, or whose file could not be read, counts as one
 * more. */
unsigned guarded_release(GuardedDrive *d, const char *setting);

/* What else is kept of a drive over boots, in a file of its own below the guard's: its state file (record.h). Takes over `text`; it is
 * written as notes are, and nobody waits for it. */
void guarded_keep(GuardedDrive *d, char *text);
/* What was kept; the caller frees it. NULL: nothing that can be read. */
char *guarded_kept(const GuardedDrive *d);

/* The daemon is about to end, and no process of its unit outlives it: waits until all is written, or for this time on
 * CLOCK_MONOTONIC. */
void guard_flush(Guard *g, uint64_t until);
