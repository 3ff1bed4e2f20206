/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The configuration in force. It has a reference count, since a visit keeps pointers into the configuration, and a
 * reload can replace the configuration during the visit. */

#include "config.h"

typedef struct Files {
        unsigned n_ref;
        Config *config;
} Files;

/* Reads all configuration files and logs every complaint. If files have errors, *ret has the valid part. */
int files_load(Files **ret);
Files *files_ref(Files *f);
Files *files_unref(Files *f);
DEFINE_CLEANUP(Files *, files_unref);

/* Lists the configuration files in force in CONFIG_IN_FORCE_FILE, for `drivekeep status`. If the write fails, removes the outdated list. */
void files_write_in_force(const Files *f, const char *dir);

/* Returns the first error as one sentence, with the number of further errors. Returns NULL if there is no error, or if memory runs out. The
 * caller frees the sentence. */
char *files_first_error(const Files *f);
