/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The verdicts: all possible results for one setting of one drive. The words are the same in the journal, the state files, D-Bus, tables,
 * JSON and the manual pages. */

#include <stdbool.h>

typedef enum Verdict {
        VERDICT_APPLIED,      /* the value was written and read back */
        VERDICT_UNCHANGED,    /* the drive had the value already, and nothing was written */
        VERDICT_ADJUSTED,     /* the value was accepted, but the drive chose another one */
        VERDICT_UNVERIFIABLE, /* the value was sent, but no read can confirm it */
        VERDICT_IGNORED,      /* the value was accepted, but the old one is read back */
        VERDICT_DRIFTED,      /* the value changed after the last visit, and is not restored */
        VERDICT_UNSUPPORTED,  /* the drive or the kernel does not have the setting */
        VERDICT_REFUSED,      /* the drive or the kernel returned an error */
        VERDICT_FORBIDDEN,    /* drivekeep's own rules forbid the write */
        VERDICT_QUARANTINED,  /* not written, because an earlier write or visit may have done harm */
        VERDICT_DEFERRED,     /* not written yet; the reason names the event to wait for */
        VERDICT_FAILED,       /* the drive, the kernel or drivekeep gave no usable result */
        VERDICT_VANISHED,     /* the drive disappeared */
        _VERDICT_MAX,
        _VERDICT_INVALID = -1,
} Verdict;

const char *verdict_to_string(Verdict v);
Verdict verdict_from_string(const char *s); /* _VERDICT_INVALID: unknown word */

/* Returns true if the drive has the wanted value, as far as that can be known. */
bool verdict_is_wanted(Verdict v);

/* Returns true if drivekeep gave the drive the wanted value or the nearest value, even if another program changed the
 * value later. */
bool verdict_is_in_order(Verdict v);

/* Returns true if the drive does not support the setting, and the setting is optional. `optional`: the rule is for a
 * class of drives, and some drives of the class may lack the setting. */
bool verdict_is_absent(Verdict v, bool optional);

/* Returns true if the final verdict is pending: for deferred settings, and for _VERDICT_INVALID before the first visit. */
bool verdict_is_pending(Verdict v);

/* Returns true if the verdict needs no attention: the drive has the wanted value, or lacks an optional setting. */
bool verdict_is_fine(Verdict v, bool optional);
