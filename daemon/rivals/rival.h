/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The parts of rivals.c. Paths begin with '/'. */

#include "config.h"
#include "reader.h"
#include "words.h"

/* The check under way. */
typedef struct Rivals {
        const char *root; /* perhaps that of another system's image: nothing is read that links lead to out of it */
        int root_fd;
        Config *config;
        const SettingTable *table;
        Drive *const *drives;
        size_t n_drives;
        Words seen; /* the files that were looked at */
} Rivals;

/* The text of a regular file, without a NUL inside, which the caller frees. NULL: there is none, or it cannot be read,
 * or not be run where it has to be `executable`. */
char *tree_read(const Rivals *r, const char *path, bool executable);

/* The paths that fit a glob(7) of three parts, in the order of what its braces have. The caller frees them. */
Words tree_glob(const Rivals *r, const char *before, const char *name, const char *behind);

#define LIBS "{/etc,/run,/usr/local/lib,/usr/lib,/lib}/" /* in the order of their precedence */
#define UNITS LIBS "systemd/system/"

/* Is a unit, named without ".service", ever started? Or is there a file with such a path? Both are globs; the first
 * one that fits tells, and one that is masked is not active. */
bool tree_is_active(const Rivals *r, const char *name);

/* What may set something of a drive. */
typedef struct Rival {
        const char *who, *when;
        const char *cure; /* NULL: to take out the line, which can be imported */
        ImportKind kind;
        const char *files;  /* a glob */
        const char *below;  /* paths that are the same from here on: the first one counts; NULL: all count */
        const char *active; /* it does something only if tree_is_active() says so of this; NULL: it does */
        bool joined;        /* its files are read as if they were one: what stands further down counts */
        bool polls;         /* it asks drives; a wish is for how many seconds they must be left alone to be asleep */
} Rival;

/* One file of it, or all that are joined. */
typedef struct Source {
        const Rival *row;
        char *const *files;
        Words texts; /* of these files */
        Import import;
} Source;

/* Complains of a wish of rule `i` where the configuration wants that setting too. */
void conflict_check(const Rivals *r, const Source *s, size_t i, const ImportWish *w);
