/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Compares one setting of another program with the configuration, for `drivekeep check`. */

#include "config.h"
#include "reader.h"
#include "unit.h"

/* The data of one search for conflicts. */
typedef struct ConflictCheck {
        const char *root;
        Config *config;
        const SettingTable *table;
        Drive *const *drives;
        size_t n_drives;
        Units units;
        Words seen; /* files that the check has read already */
} ConflictCheck;

/* A program or kind of file that may set drive settings. */
typedef struct OtherProgram {
        const char *program_name, *when;
        const char *remedy; /* advice in the complaint; NULL: the advice is to remove or import the line */
        ImportKind kind;
        const char *files; /* glob of the program's files; NULL: only the program's command line is checked */
        /* A part of each file's path, such as "/udev/". If several files have the same path after this part, only the first file is
         * read. NULL: all files are read. */
        const char *below;
        const char *active; /* argument for unit_is_active(), which shows whether the program runs; NULL: it always runs */
        const char *program;  /* glob of a program that a started unit must run; NULL: no such requirement */
        const char *variable; /* environment variable of the unit: "false" disables the program; NULL: none */
        bool joined;          /* the files are read as one text, in which later lines win */
} OtherProgram;

/* The input for one check: a file, or several joined files, or lines from several places. */
typedef struct Source {
        const OtherProgram *row;
        char *const *files;
        Words texts;           /* contents of the files */
        const UnitLine *lines; /* the origin of each line; NULL: the lines are from `files` */
        const char *options;   /* command line of the program; NULL: not known */
        Import import;
} Source;

/* Looks for a drive for which both rule `i` and the configuration have the setting `w`. Adds a complaint for the first
 * such drive. */
void conflict_check(const ConflictCheck *r, const Source *s, size_t i, const ImportWish *w);

/* wake-conflicts.c: finds programs on this machine that wake a drive or keep it active, if the configuration sets a spin-down time for
 * the drive. Only reads files. Adds a warning for each line that wakes a drive or keeps it active. */
void wakers_check(const ConflictCheck *r);

/* wake-conflicts.c: adds warnings for lines of smartd.conf that keep drives active. `command`: command line of smartd, which may set the
 * polling interval; NULL: smartd uses its default interval. */
void polls_check(const ConflictCheck *r, const char *file, const char *command, const Import *import);
