/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a service that has nothing to do, as a rule for weeks, need not hold meanwhile. */

/* Gives back the free pages of the heap, and the program's and its libraries' pages that were mapped for work that is done:
 * they are the files' own, never written to, and come back one by one with the next event (madvise(2), MADV_DONTNEED). What that
 * leaves of the service at rest is a matter of the scenario "quiet", and of `tests/bench idle`. */
void memory_trim(void);
