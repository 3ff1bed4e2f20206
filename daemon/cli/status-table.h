/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Prints the verdict on every setting of the first `n` records on stdout, as a table or JSON. */

#include "output.h"
#include "records.h"

/* `now`: CLOCK_REALTIME in µs. Notes below the table give reasons, and the state of each drive that is not idle. Returns EXIT_WANTED,
 * EXIT_NOT_WANTED or EXIT_LATER. */
ExitStatus status_print(const Records *records, size_t n, uint64_t now, const Options *options);

/* Like status_print(), after visits that were requested at `requested` (CLOCK_REALTIME, µs). A VisitedShowFn. */
int visited_show_status(const Options *o, const Records *records, size_t n, uint64_t requested);

/* Prints a message on stderr if there is no drive, or no rule matches any of the first `n`. */
void status_print_empty(const Records *records, size_t n);

/* Collects notes for the tables of `drivekeep status` and `drivekeep plan`: settings that a rule for a class of drives wants but drives
 * lack, and that have a remedy. Each rule and setting has one line, for all drives. Settings without a remedy are printed with -v only. */
typedef struct LackingLine {
        char *rule, *setting, *drive, *reason; /* drive and reason are of the first drive */
        size_t n_drives;
} LackingLine;

typedef struct Lacking {
        GROWING_ARRAY(LackingLine, items);
} Lacking;

void lacking_add(Lacking *l, const char *rule, const char *setting, const char *drive, const char *reason);
void lacking_print(const Lacking *l, Output *o);
void lacking_done(Lacking *l);
