/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The configuration in force. Wishes point into it, and those of a visit under way outlive a reload: so it is counted. */

#include "config.h"

typedef struct Files {
        unsigned n_ref;
        Config *config;
} Files;

/* Reads all files and tells the journal every complaint. With errors there is still a result: what is sound counts. */
int files_load(Files **ret);
Files *files_ref(Files *f);
Files *files_unref(Files *f);
DEFINE_CLEANUP(Files *, files_unref);

/* Writes the list of the files in force (CONFIG_IN_FORCE_FILE), for `drivekeep status`. On failure removes the old list. */
void files_write_in_force(const Files *f, const char *dir);

/* The first error as one sentence, with how many there are more. NULL when there is none, or no memory. */
char *files_first_error(const Files *f);
