/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Memory that the service does not need while it is idle, which may be for weeks. */

/* Releases the free pages of the heap, and clean pages of the program and its libraries, which the kernel reads again at the next event
 * (madvise(2), MADV_DONTNEED). The scenario "quiet" and `tests/bench idle` measure the rest. */
void memory_trim(void);
