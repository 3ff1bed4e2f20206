/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What became of every setting, as a table or JSON on stdout, of the first `n` records. */

#include "records.h"

/* `now` is CLOCK_REALTIME in µs. Below the table stand notes, one line per reason and per drive that is not idle: what the table has no
 * room for. Returns EXIT_WANTED or EXIT_NOT_WANTED. */
ExitStatus status_print(const Records *records, size_t n, uint64_t now, const Options *options);

/* The same after visits that were requested at `asked` (CLOCK_REALTIME, µs); a VisitedShowFn. */
int visited_show_status(const Options *o, const Records *records, size_t n, uint64_t asked);

/* Says on stderr that there is no drive, or that no rule is for any of the first `n`, where it is so. */
void status_tell_nothing(const Records *records, size_t n);
