/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The world-readable state files, one per drive. Each update replaces the file by a rename, so that readers never see a partial file. */

#include "drive-record.h"

#define STATE_DIR "/run/drivekeep/drives"

/* Flag files next to the state files: STATE_NEWS is created when a state file changes, STATE_VERDICTS when a verdict
 * changes. Each flag file starts a unit (drivekeep-metrics.path, drivekeep-alert.path). The unit first removes the flag
 * file and then reads the state files, so that it misses no change. */
#define STATE_NEWS ".changed"
#define STATE_VERDICTS ".verdicts"

/* Creates the directory if needed, and locks it. The lock lasts until the caller closes the returned descriptor
 * (safe-file.h). */
int state_lock(const char *dir);

int state_write(const char *dir, const DriveRecord *r);
int state_read(const char *dir, const char *name, DriveRecord **ret);
int state_remove(const char *dir, const char *name);

/* Creates one of the flag files, ignoring errors. state_write(), state_remove() and state_prune() create STATE_NEWS themselves. */
void state_notify(const char *dir, const char *news);

/* Removes the state files for which `keep` returns false. */
int state_prune(const char *dir, bool (*keep)(void *userdata, const char *name), void *userdata);
