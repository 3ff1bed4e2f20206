/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The world-readable state files, one per drive. Each update replaces the file by a rename, so that readers never see a partial file. */

#include "drive-record.h"

#define STATE_DIR "/run/drivekeep/drives"

/* Flag files in the same directory: STATE_NEWS is created when a state file changes, STATE_VERDICTS when a verdict changes. These files
 * start units (drivekeep-metrics.path, drivekeep-alert.path), which first remove the flag file and then read the state files, so that no
 * change is missed. */
#define STATE_NEWS ".changed"
#define STATE_VERDICTS ".verdicts"

/* Creates the directory, and locks it (safe-file.h) while the returned descriptor is open. */
int state_lock(const char *dir);

int state_write(const char *dir, const DriveRecord *r);
int state_read(const char *dir, const char *name, DriveRecord **ret);
int state_remove(const char *dir, const char *name);

/* Creates one of the flag files, ignoring errors. state_write() and state_remove() create STATE_NEWS themselves. */
void state_notify(const char *dir, const char *news);

/* Removes the state files for which `keep` returns false. */
int state_prune(const char *dir, bool (*keep)(void *userdata, const char *name), void *userdata);
