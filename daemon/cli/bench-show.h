/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep bench` shows. All return as Verb.run() does. */

#include "result.h"
#include "verb.h"

/* bench-show.c: all that are kept, for the caller; one measurement; a list of them. */
int bench_load_kept(const Options *o, Results *ret);
int bench_show(const Options *o, const Result *r);
int bench_list(const Options *o);

/* bench-compare.c: two of them, those that the command line names. */
int bench_compare(const Options *o);
