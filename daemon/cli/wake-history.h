/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The records of wakes and the drives that they are of, for the verbs that show them: which drives the user means, and what is said
 * where there is nothing to show. */

#include "choice.h"
#include "wake-records.h"

typedef struct WakeHistory {
        sd_journal *journal; /* stands behind the last one that was read */
        WakeRecords records;
        Records here; /* the service need not run, and may never have */
        /* The drives here and the drives of `records`, which own their texts. `item` is a DriveRecord; NULL: the drive is not here. */
        GROWING_ARRAY(Candidate, drives);
        size_t n_chosen; /* the drives that the user means stand first */
} WakeHistory;

/* Reads them into `h`, which was zeroed. EXIT_WANTED; EXIT_BAD_INPUT, having said why on stderr; or a negative errno. Asks no drive. */
int wake_history_read(WakeHistory *h, const Options *o);
void wake_history_done(WakeHistory *h);

/* Is it about a drive that the user means? */
bool wake_history_means(const WakeHistory *h, const Options *o, const WakeRecord *w);

/* Prints on stderr why the service cannot trace who wakes drives, and the remedy. */
void wake_history_print_untraced(const Records *here);

/* Says on stderr that there is no record about these drives. */
void wake_history_print_empty(const Options *o);
