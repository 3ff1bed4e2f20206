/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Releases memory that the service does not need while it is idle, which may be for weeks. */

/* Releases the free pages of the heap. Also releases clean pages of the program and its libraries, which the kernel
 * reads again at the next event (madvise(2), MADV_DONTNEED). `tests/vm/scenarios/quiet.py` and `tests/bench idle`
 * measure the memory that remains in use. */
void memory_trim(void);
