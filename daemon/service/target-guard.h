/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard's part in the life of one drive. */

#include "target.h"

extern const TargetPart guard_part;

/* The drive was lost while something was written to it, and is attached again: what is pending waits until it has stayed for a
 * while, unless somebody asks for it. */
void target_guard_delay(Target *t);
/* Until then (CLOCK_MONOTONIC, µs); 0: it need not wait. */
uint64_t target_guard_steady_at(const Target *t);

/* Are both paths to the same drive? */
bool target_guard_is_same_drive(const Target *a, const Target *b);

/* Is the drive left alone, since machines or drives did not survive visits to it? */
bool target_guard_alone(const Target *t);

/* May it not be visited at all? It is said why. Nothing is written in a boot that the kernel's command line forbids it in, and to a
 * drive that is left alone. */
bool target_guard_blocks(Target *t);

/* Its visit has a worker. */
void target_guard_begins(Target *t);

/* Events of the VisitJob. */
void target_guard_intends(void *userdata, size_t wish);
void target_guard_writing(void *userdata, size_t wish);

/* The answer of the guard: for guard_new(). */
void target_guard_stored(void *userdata, int error);

/* The drive went away, or another medium came into it, maybe while something was being written: called before more is told. */
void target_guard_lost(Target *t);

/* Takes a setting (NULL: all) out of quarantine; how many values that were. When there were any, the drive is visited. */
unsigned target_release(Target *t, const char *setting);

/* What is kept over boots beside the guard's notes: the drive's record, as text; written without a wait. */
void target_guard_keep(Target *t, char *text); /* takes over `text` */
char *target_guard_kept(const Target *t);      /* the caller frees it; NULL: there is none */

/* The daemon ends in good order. */
void target_guard_finish(Target *t);
