/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The files of `drivekeep try`. What is tried on a drive is a drop-in below /run, which ends with the boot: zz-try-ID.conf, read after
 * what users have. Beside it zz-try-ID.before has the values that were there before, in the same grammar; nobody reads it as
 * configuration, as it is no *.conf. What is kept is 90-ID.conf below /etc.
 *
 * /run/drivekeep is root's (units/drivekeep.service.in): what the service's user has is only the directory drives in it. So nobody but
 * root can put a rule there, nor exchange the directory that root is about to write in; tried_write() and config_load() make sure. */

#include "config.h"
#include "record.h"
#include "verb.h"

#define TRIED_PREFIX "zz-try-"

typedef struct Tried {
        char *path, *before_path, *kept_path;
        Config *rule, *before, *kept; /* without a block where there is no such file */
} Tried;

/* Of this drive, whether or not anything is tried on it. `roots`: as of config_load(). */
void tried_read(const char *const *roots, const Drive *d, Tried *ret);

/* Of such a file name, without what is kept. */
void tried_read_name(const char *const *roots, const char *name, Tried *ret);

void tried_done(Tried *t);

/* What it says of this state; NULL: nothing. */
const Assignment *tried_find(const Config *c, const char *name);

/* Each setting in what stands in such a file. Inside it `break` leaves one block only. */
#define TRIED_FOREACH(a, c)                                                         \
        for (const Block *_b = (c)->blocks; _b < (c)->blocks + (c)->n_blocks; _b++) \
                for (const Assignment *a = _b->assignments; a < _b->assignments + _b->n_assignments; a++)

/* Can it be written into a file so that it is read as the same? */
bool tried_can_write(const char *name, const Value *v);

/* Whether the drive lacks the value and will not get it: the drive has no such setting, the value was not sent, or the drive kept its
 * own. A rule for such a value is useless. */
bool tried_is_in_vain(const SettingRecord *s);

/* Whether the verdict says so before any command is sent. */
bool tried_is_barred(Verdict v);

/* Removes the assignments of this setting. */
void tried_drop(Config *c, const char *name);

/* Parses the text of tried_format_blocks(). */
Config *tried_parse(const char *blocks);

/* The text of blocks for this drive, one block per set of permissions. A setting that both have is that of `newer`. Both may be NULL;
 * without settings the text is "". */
char *tried_format_blocks(const Drive *d, const Config *older, const Config *newer);

/* What a block matches this drive by. */
void tried_put_match(FILE *f, const Drive *d);

/* The beginning of a block, up to the settings. */
void tried_put_head(FILE *f, const Drive *d, bool allow_dangerous, bool wake);
void tried_put_value(FILE *f, const char *name, const Value *v);

/* A whole file of these blocks, below a first line that says what it is. */
char *tried_format_file(const Drive *d, bool kept, const char *blocks);

/* Is it a file that tried_format_file() made? It may be written anew. */
bool tried_is_ours(const char *path);

/* tried-undo.c: lists what is being tried; puts back what was there before (of the drive that is named, or all) and takes the rules
 * away. Both return as a verb does. */
int tried_list(const Options *o);
int tried_undo(const Options *o);

/* Puts the text into its place as a whole; NULL: takes the file away. Says so on stderr and returns EXIT_BAD_INPUT when it cannot. */
int tried_write(const char *path, const char *text);
