/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The world-readable state files, one per drive. They are replaced by rename, so that a reader never sees half of one. */

#include "drive-record.h"

#define STATE_DIR "/run/drivekeep/drives"

/* Beside them: STATE_NEWS is made when a state file changes, STATE_VERDICTS when a verdict in one does. The units that these files start
 * (drivekeep-metrics.path, drivekeep-alert.path) remove them first and then read the state files, so that no change is missed. */
#define STATE_NEWS ".changed"
#define STATE_VERDICTS ".verdicts"

/* Makes the directory, and locks it (safe-file.h) for as long as the descriptor that is returned is open. */
int state_lock(const char *dir);

int state_write(const char *dir, const DriveRecord *r);
int state_read(const char *dir, const char *name, DriveRecord **ret);
int state_remove(const char *dir, const char *name);

/* Makes one of these files, ignoring errors. state_write() and state_remove() make STATE_NEWS. */
void state_notify(const char *dir, const char *news);

/* Removes the files for which `keep` returns false. */
int state_prune(const char *dir, bool (*keep)(void *userdata, const char *name), void *userdata);
