/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Has the service visit drives, waits until it has, and shows what came of it: for `apply`, `sleep`, `try` and `status --now`. */

#include "request.h"

/* Shows on stdout what came of the visits to the first `n` of these records' drives, which were requested at `asked` (CLOCK_REALTIME,
 * µs). Returns an ExitStatus, or a negative errno. */
typedef int (*VisitedShowFn)(const Options *o, const Records *records, size_t n, uint64_t asked);

/* Visits these drives, or those that the command line names. Both return an ExitStatus, or a negative errno. */
int visit_drives(const Options *o, sd_bus *bus, const char *method, char *const *names, VisitedShowFn show);
int visit_named_drives(const Options *o, const char *method, VisitedShowFn show);
