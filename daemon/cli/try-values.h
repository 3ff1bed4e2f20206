/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is tried on a drive, which the service has (core/temporary.h), as blocks of the configuration; and the file of what was kept of
 * that: 90-ID.conf below /etc. */

#include "drive-record.h"
#include "request.h"
#include "temporary.h"
#include "verb.h"

/* What is tried on the drive, or stands in this file. Never NULL; the caller frees it. */
TemporaryValues *try_values_read(const char *state_dir, const Drive *d);
TemporaryValues *try_values_read_file(const char *state_dir, const char *name);

/* The values of these blocks; the caller frees it. */
TemporaryValues *try_values_of_config(const Config *c);

/* Copies what is in `more`, but for what returns, in place of what is the same setting's. */
void try_values_add(TemporaryValues *t, const TemporaryValues *more);

/* The text of blocks for this drive, one block per set of permissions, of what is tried or a client's; "": there are no such values. */
char *try_values_format_blocks(const Drive *d, const TemporaryValues *t, bool until_boot);

/* What a block matches this drive by. */
void try_values_put_match(FILE *f, const Drive *d);

/* The beginning of a block, up to the settings. */
void try_values_put_head(FILE *f, const Drive *d, bool allow_dangerous, bool wake);

/* The file of what is kept; the caller frees it. */
char *try_values_kept_path(const Options *o, const Drive *d);
/* Its text; NULL: there are no values, and it must not exist. */
char *try_values_format_file(const Drive *d, const TemporaryValues *t);
/* Is it a file that try_values_format_file() made? It may be written anew. */
bool try_values_is_ours(const char *path);

/* try-undo.c. Has the service end what is tried of this setting ("": of all). Returns EXIT_WANTED, or prints the cause on stderr. */
ExitStatus try_end(sd_bus *bus, const char *drive, const char *setting);

/* List what is tried; give back what was there before, of the drive that is named, or all. Both return as a verb does. */
int try_list(const Options *o);
int try_undo(const Options *o);
