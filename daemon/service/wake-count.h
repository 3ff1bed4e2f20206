/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Counts the programs that use an active drive, to find out which programs keep the drive from its spin-down. Pure. */

#include "wake.h"

/* The maximum number of counted programs. A new program takes the place of the program with the lowest count. */
#define WAKE_COUNTS_MAX 16U
/* Commands within this time after the first one count as one use. A program such as smartctl sends several commands in a row. */
#define WAKE_COUNT_USEC (2ULL * 1000 * 1000)
/* Limits of the tracer's work for one drive. A drive with so many requests is in use, and is not watched any longer. */
#define WAKE_COUNT_COMMANDS_MAX 1000U
#define WAKE_COUNT_EVENTS_MAX 100000U

typedef struct WakeCount {
        Wake wake; /* without PID and sector. The inode is 0 if several files were changed */
        unsigned times;
        uint64_t usec; /* time of the first command of the last use; by the clock of the trace */
} WakeCount;

typedef struct WakeCounts {
        WakeCount items[WAKE_COUNTS_MAX];
        unsigned n_items, n_commands, n_events;
} WakeCounts;

/* Counts a request or command at the time `usec`. */
void wake_counts_add(WakeCounts *c, const Wake *w, uint64_t usec);
/* Sorts the programs by their counts, highest first. */
void wake_counts_sort(WakeCounts *c);

/* Returns true if both are the same kind of access by the same program. A program with an unknown unit is the same as a program of the
 * same name: the unit is unknown if the process has ended. */
bool wake_same_program(const Wake *a, const Wake *b);

static inline bool wake_counts_full(const WakeCounts *c) {
        return c->n_commands >= WAKE_COUNT_COMMANDS_MAX || c->n_events >= WAKE_COUNT_EVENTS_MAX;
}
