/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the journal's records of wakes, and the drives of these records, for the verbs that print wakes. Selects the drives that the user
 * names, and prints messages for empty results. */

#include "choice.h"
#include "wake-records.h"

typedef struct WakeHistory {
        sd_journal *journal; /* positioned after the last record that was read */
        WakeRecords records;
        Records here; /* state files of attached drives; empty if the service has not run since boot */
        /* The attached drives, and the detached drives that the records mention. The strings belong to `here` or to `records`. `item`: a
         * DriveRecord, or NULL if the drive is not attached. */
        GROWING_ARRAY(Candidate, drives);
        size_t n_chosen; /* the selected drives are first */
} WakeHistory;

/* Reads the records of this kind into `h`, which must be zeroed. Returns EXIT_WANTED, EXIT_BAD_INPUT after it has printed the cause on stderr, or a
 * negative errno. Sends no command to drives. */
int wake_history_read(WakeHistory *h, RecordKind kind, const Options *o);
void wake_history_done(WakeHistory *h);

/* Returns true if the record is of a selected drive. */
bool wake_history_means(const WakeHistory *h, const Options *o, const WakeRecord *w);

/* If the service cannot record wakers, prints on stderr the cause and what the user can do. */
void wake_history_print_untraced(const Records *here);

/* Prints on stderr that no wake of the selected drives is recorded. */
void wake_history_print_empty(const Options *o);
