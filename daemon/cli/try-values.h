/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the values being tried on a drive, which the service keeps (core/temporary.h), and formats the values as configuration blocks. Also
 * formats the file with kept values, 90-ID.conf below /etc. */

#include "drive-record.h"
#include "request.h"
#include "temporary.h"
#include "verb.h"

/* try_values_read() reads the values being tried on the drive. try_values_read_file() reads the values in the file `name`. Neither function
 * returns NULL; the caller frees the result. */
TemporaryValues *try_values_read(const char *state_dir, const Drive *d);
TemporaryValues *try_values_read_file(const char *state_dir, const char *name);

/* Returns the assignments in the configuration as temporary values; the caller frees the result. */
TemporaryValues *try_values_of_config(const Config *c);

/* Adds the values of `more` to `t`. An added value replaces the value of the same setting in `t`. Values that the service is restoring are
 * not added. */
void try_values_add(TemporaryValues *t, const TemporaryValues *more);

/* Formats the values as configuration blocks for this drive: one block for each combination of allow_dangerous and wake. Returns "" if
 * there are no values. `until_boot`: the values of `drivekeep try` if true, or the values of a connected client if false. */
char *try_values_format_blocks(const Drive *d, const TemporaryValues *t, bool until_boot);

/* Prints a value of `match` for this drive, such as { wwn = "0x5000c500…"; }. */
void try_values_put_match(FILE *f, const Drive *d);

/* Prints the beginning of a block, up to the settings. */
void try_values_put_head(FILE *f, const Drive *d, bool allow_dangerous, bool wake);

/* Returns the path of the drive's file with kept values; the caller frees the text. */
char *try_values_kept_path(const Options *o, const Drive *d);
/* Returns the text of the file with kept values, or NULL if there are no values, so that draft_write() removes the file. */
char *try_values_format_file(const Drive *d, const TemporaryValues *t);
/* Returns true if try_values_format_file() made the file. Only such a file may be replaced. */
bool try_values_is_ours(const char *path);

/* Makes the service end the trial of this setting; "" means all settings. Returns EXIT_WANTED, or another status after it has printed the
 * cause on stderr. Defined in try-undo.c. */
ExitStatus try_end(sd_bus *bus, const char *drive, const char *setting);

/* try_list() lists the values being tried, and try_undo() restores the previous values. Both act on the named drive or on all drives, and
 * return as Verb.run() does. */
int try_list(const Options *o);
int try_undo(const Options *o);
