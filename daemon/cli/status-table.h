/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What became of every setting, as a table or JSON on stdout, of the first `n` records. */

#include "output.h"
#include "records.h"

/* `now` is CLOCK_REALTIME in µs. Below the table stand notes, one line per reason and per drive that is not idle: what the table has no
 * room for. Returns EXIT_WANTED or EXIT_NOT_WANTED. */
ExitStatus status_print(const Records *records, size_t n, uint64_t now, const Options *options);

/* The same after visits that were requested at `asked` (CLOCK_REALTIME, µs); a VisitedShowFn. */
int visited_show_status(const Options *o, const Records *records, size_t n, uint64_t requested);

/* Says on stderr that there is no drive, or that no rule is for any of the first `n`, where it is so. */
void status_print_empty(const Records *records, size_t n);

/* Notes below such a table, and that of `drivekeep plan`: settings that drives lack, that a rule for a class of drives wants, and that
 * have a remedy: one line for each rule, whatever the number of drives. Settings without a remedy are shown with -v only. */
typedef struct LackingLine {
        char *rule, *setting, *drive, *reason; /* of the first drive */
        size_t n_drives;
} LackingLine;

typedef struct Lacking {
        GROWING_ARRAY(LackingLine, items);
} Lacking;

void lacking_add(Lacking *l, const char *rule, const char *setting, const char *drive, const char *reason);
void lacking_print(const Lacking *l, Output *o);
void lacking_done(Lacking *l);
