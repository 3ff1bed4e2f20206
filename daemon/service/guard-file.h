/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard's files, as earlier runs left them: one per drive, named by its key. */

#include "guard-record.h"

/* Takes over `record`, unless it returns a negative errno, which ends the reading. */
typedef int (*GuardRecordFn)(void *userdata, GuardRecord *record);

/* What is damaged is told to the journal and left out. Negative: the directory cannot be read, or -ENOMEM. */
int guard_files_read(const char *dir, GuardRecordFn fn, void *userdata);
