/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The configuration in force, with a reference count: the wishes of a visit point into the configuration and may outlive a reload. */

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

/* Writes the list of the files in force to CONFIG_IN_FORCE_FILE, for `drivekeep status`. Removes the old list if the write fails. */
void files_write_in_force(const Files *f, const char *dir);

/* Returns the first error as one sentence, with the number of further errors. Returns NULL if there is no error, or no memory. The caller
 * frees the sentence. */
char *files_first_error(const Files *f);
