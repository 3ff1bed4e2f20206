/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Commands in files that are run, and in the scripts that they call. */

#include "claim.h"

/* What all of a kind have in common. */
typedef struct Runner {
        const Rivals *rivals;
        const char *when;    /* "after sleep" */
        const char *useless; /* why it is not run at all; NULL: it is */
} Runner;

/* The text of a file as import_read() would have it, which was read as `import`: claims all that it sets. `conditions` as
 * claim_import() has them. */
int runner_claim(const Runner *runner, const char *file, const char *text, const Import *import, bool conditions);

/* A script, and what it calls. Once for each path, whoever runs it. */
int runner_script(const Runner *runner, const char *path);

/* The scripts that a shell's text calls: not those of the distribution in /usr. */
int runner_follow(const Runner *runner, const char *text, size_t size);
