/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The configuration in force. It is reference-counted, as wishes of a visit point into it and may outlive a reload. */

#include "config.h"

typedef struct Files {
        unsigned n_ref;
        Config *config;
} Files;

/* Reads all files and logs every complaint. With errors *ret has the sound part. */
int files_load(Files **ret);
Files *files_ref(Files *f);
Files *files_unref(Files *f);
DEFINE_CLEANUP(Files *, files_unref);

/* Writes the list of the files in force (CONFIG_IN_FORCE_FILE), for `drivekeep status`. On failure removes the old list. */
void files_write_in_force(const Files *f, const char *dir);

/* The first error as one sentence, with the number of further ones. NULL: there is none, or no memory. */
char *files_first_error(const Files *f);
