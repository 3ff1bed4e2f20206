/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The closed set of ends that one setting on one drive can come to. The words are the same in the journal, the
 * state files, D-Bus, tables, JSON and the man pages. */

#include <stdbool.h>

typedef enum Verdict {
        VERDICT_APPLIED,      /* written, read back, equal */
        VERDICT_UNCHANGED,    /* already so, nothing was written */
        VERDICT_ADJUSTED,     /* accepted, but the drive chose a nearby value */
        VERDICT_UNVERIFIABLE, /* accepted, and nothing can read it back */
        VERDICT_IGNORED,      /* accepted, but it reads back otherwise */
        VERDICT_DRIFTED,      /* something else changed it since, and it is left so */
        VERDICT_UNSUPPORTED,  /* the drive or the kernel has no such setting */
        VERDICT_REFUSED,      /* the drive or the kernel answered with an error */
        VERDICT_FORBIDDEN,    /* not written, by drivekeep's own rules */
        VERDICT_QUARANTINED,  /* not written again, because writing it once did harm */
        VERDICT_DEFERRED,     /* not written yet, taken up later by itself */
        VERDICT_FAILED,       /* no usable answer from the drive, the kernel or drivekeep */
        VERDICT_VANISHED,     /* the drive went away */
        _VERDICT_MAX,
        _VERDICT_INVALID = -1,
} Verdict;

const char *verdict_to_string(Verdict v);
Verdict verdict_from_string(const char *s); /* _VERDICT_INVALID when there is no such word */

/* Does the drive now have what the file asks for, as far as anybody can know? */
bool verdict_is_wanted(Verdict v);

/* Was the drive left with what the file asks for, or the nearest to it that it has? Also where others have changed it since. */
bool verdict_is_in_order(Verdict v);

/* Has the drive no such setting, and is that no failure? `optional`: what asks for it is a rule for a class of drives. */
bool verdict_is_absent(Verdict v, bool optional);

/* Is the end still to come? Nothing has failed then. Also true of _VERDICT_INVALID, before the first visit. */
bool verdict_is_pending(Verdict v);

/* Is there nothing to tell anybody of: neither wanted in vain nor absent by name? */
bool verdict_is_fine(Verdict v, bool optional);
