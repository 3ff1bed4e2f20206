/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values being tried on a drive, which the service keeps (core/temporary.h), as blocks of configuration; and the file with kept values,
 * 90-ID.conf below /etc. */

#include "drive-record.h"
#include "request.h"
#include "temporary.h"
#include "verb.h"

/* Read the values being tried on the drive, or those in this file. Never return NULL; the caller frees the result. */
TemporaryValues *try_values_read(const char *state_dir, const Drive *d);
TemporaryValues *try_values_read_file(const char *state_dir, const char *name);

/* Returns the values of these blocks; the caller frees the result. */
TemporaryValues *try_values_of_config(const Config *c);

/* Adds the values of `more`, except those being restored, to `t`, where they replace values of the same settings. */
void try_values_add(TemporaryValues *t, const TemporaryValues *more);

/* Returns values as text of blocks for this drive, one block per set of permissions, or "" if there are none. `until_boot`: the values
 * of `drivekeep try` if true, or the values of a connected client if false. */
char *try_values_format_blocks(const Drive *d, const TemporaryValues *t, bool until_boot);

/* Prints the value of `match` that matches this drive. */
void try_values_put_match(FILE *f, const Drive *d);

/* Prints the beginning of a block, up to the settings. */
void try_values_put_head(FILE *f, const Drive *d, bool allow_dangerous, bool wake);

/* Returns the path of the drive's file with kept values; the caller frees the text. */
char *try_values_kept_path(const Options *o, const Drive *d);
/* Returns the text of the file with kept values, or NULL if there are no values: then the file must not exist. */
char *try_values_format_file(const Drive *d, const TemporaryValues *t);
/* Returns true if try_values_format_file() has made the file, which may then be replaced. */
bool try_values_is_ours(const char *path);

/* try-undo.c. Makes the service end the trial of this setting ("": all settings). Returns EXIT_WANTED, or another status after it has
 * printed the cause on stderr. */
ExitStatus try_end(sd_bus *bus, const char *drive, const char *setting);

/* List the values being tried; restore the previous values, of the named drive or all. Both return as a verb does. */
int try_list(const Options *o);
int try_undo(const Options *o);
