/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep bench` shows. All return as Verb.run() does. */

#include "result.h"
#include "statistics.h"
#include "verb.h"

/* bench-show.c: all that are kept, for the caller; one measurement; a list of them. */
int bench_load_kept(const Options *o, Results *ret);
int bench_show(const Options *o, const Result *r);
int bench_list(const Options *o);

/* "4.1 % faster (2.0 to 6.2 %)", or that `n` samples could show none. The caller frees it. */
char *difference_format(FigureKind kind, const Difference *d, size_t n);

/* bench-compare.c: two of them, those that the command line names. */
int bench_compare(const Options *o);
