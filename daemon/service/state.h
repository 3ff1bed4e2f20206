/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The world-readable state files, one per drive: written whole and renamed, so that a reader never sees half of one. */

#include "record.h"

#define STATE_DIR "/run/drivekeep/drives"

/* Beside them: made whenever one of them changes, or a verdict in one of them does, and this file is not there. Whoever is started by it
 * (drivekeep-metrics.path, drivekeep-alert.path) removes it, and then reads the others: so no change is missed, also one that comes
 * meanwhile. */
#define STATE_NEWS ".changed"
#define STATE_VERDICTS ".verdicts"

/* Makes the directory, and locks it (safe-file.h) for as long as the descriptor that is returned is open. */
int state_lock(const char *dir);

int state_write(const char *dir, const DriveRecord *r);
int state_read(const char *dir, const char *name, DriveRecord **ret);
int state_remove(const char *dir, const char *name);

/* Makes one of these files. state_write() and state_remove() make STATE_NEWS. Where it cannot be made, nobody is told. */
void state_tell(const char *dir, const char *news);

/* Removes the files that `keep` says no to. */
int state_prune(const char *dir, bool (*keep)(void *userdata, const char *name), void *userdata);
