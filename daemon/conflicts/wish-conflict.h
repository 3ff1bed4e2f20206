/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Compares one wish of another program with the configuration, for `drivekeep check`. */

#include "config.h"
#include "reader.h"
#include "unit.h"

/* The state of one run of the check. */
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
        const char *remedy; /* advice for the complaint; NULL: remove or import the line */
        ImportKind kind;
        const char *files; /* glob of the program's files; NULL: only the program's command line is checked */
        /* A part of the paths, such as "/udev/": of files with the same path from there on, only the first is read. NULL: all are read. */
        const char *below;
        const char *active; /* argument for tree_is_active(): if it returns false, the program does nothing; NULL: always active */
        const char *program;  /* glob of a program that a started unit must run; NULL: no such requirement */
        const char *variable; /* a variable of the unit's environment that disables the program if "false"; NULL: none */
        bool joined;          /* the files are read as one, where later lines win */
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

/* Adds a complaint about a wish of rule `i`, for the first drive for which the configuration also has that setting. */
void conflict_check(const ConflictCheck *r, const Source *s, size_t i, const ImportWish *w);

/* wake-conflicts.c: finds programs on this machine that wake drives with a spin-down time in the configuration, or keep such drives
 * active. Reads files only. Adds a warning for each line that has this effect on a drive. */
void wakers_check(const ConflictCheck *r);

/* wake-conflicts.c: adds warnings for lines of smartd.conf that keep drives active. `command`: command line of smartd, which may have an
 * interval; NULL: the default interval. */
void polls_check(const ConflictCheck *r, const char *file, const char *command, const Import *import);
