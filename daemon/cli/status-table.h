/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Prints the verdict on every setting of the first `n` records on stdout, as a table or JSON. */

#include "output.h"
#include "records.h"

/* `now`: CLOCK_REALTIME in µs. Notes below the table give the reasons of the verdicts, and the state of each drive that is not idle.
 * Returns EXIT_WANTED, EXIT_NOT_WANTED or EXIT_LATER. */
ExitStatus status_print(const Records *records, size_t n, uint64_t now, const Options *options);

/* A VisitedShowFn: like status_print(), but for visits that were requested at `requested` (CLOCK_REALTIME, µs). */
int visited_show_status(const Options *o, const Records *records, size_t n, uint64_t requested);

/* Prints a message on stderr if no drive is attached, or if none of the first `n` drives matches a rule. */
void status_print_empty(const Records *records, size_t n);

/* Collects notes for the tables of `drivekeep status` and `drivekeep plan`. Each note is about a setting that a rule wants for a class of
 * drives, and that some of these drives lack. If the user can make the setting available, one line names the rule and the setting for all
 * these drives. Other settings that drives lack are printed with -v only. */
typedef struct LackingLine {
        /* `drive`: the first drive that lacks the setting; `reason`: why that drive lacks it. */
        char *rule, *setting, *drive, *reason;
        size_t n_drives;
} LackingLine;

typedef struct Lacking {
        GROWING_ARRAY(LackingLine, items);
} Lacking;

void lacking_add(Lacking *l, const char *rule, const char *setting, const char *drive, const char *reason);
void lacking_print(const Lacking *l, Output *o);
void lacking_done(Lacking *l);
