/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One wish of another program against the configuration. */

#include "config.h"
#include "reader.h"
#include "unit.h"

/* The check under way. */
typedef struct ConflictCheck {
        const char *root;
        Config *config;
        const SettingTable *table;
        Drive *const *drives;
        size_t n_drives;
        Units units;
        Words seen; /* the files that were looked at */
} ConflictCheck;

/* What may set something of a drive. */
typedef struct OtherProgram {
        const char *program_name, *when;
        const char *remedy; /* NULL: to take out the line, which can be imported */
        ImportKind kind;
        const char *files;  /* a glob; NULL: what its command says */
        const char *below;  /* paths that are the same from here on: the first one counts; NULL: all count */
        const char *active; /* it does something only if tree_is_active() says so of this; NULL: it does */
        const char *program; /* it does something only if a unit that is started runs this, with these options; NULL: it does */
        const char *variable; /* it does nothing where this is "false" in its environment */
        bool joined;          /* its files are read as if they were one: what stands further down counts */
} OtherProgram;

/* One file of it, or all that are joined, or lines that each come from elsewhere. */
typedef struct Source {
        const OtherProgram *row;
        char *const *files;
        Words texts;           /* of these files */
        const UnitLine *lines; /* where each line of the text comes from; NULL: from the files */
        const char *options;   /* the command of its program */
        Import import;
} Source;

/* Complains of a wish of rule `i` at the first drive for which the configuration wants that setting, too. */
void conflict_check(const ConflictCheck *r, const Source *s, size_t i, const ImportWish *w);

/* wakers.c: the other programs on this machine that wake the drives which the configuration has spin down, or keep them from it. Looks
 * at files only. Adds a warning to the complaints for each line of theirs that has this effect on a drive. */
void wakers_check(const ConflictCheck *r);

/* Of lines of smartd.conf; `command`: smartd's, with its interval; NULL: as it is without options. */
void polls_check(const ConflictCheck *r, const char *file, const char *command, const Import *import);
