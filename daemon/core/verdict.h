/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The closed set of ends that one setting on one drive can come to. The words are the same in the journal, the
 * state files, D-Bus, tables, JSON and the man pages. */

#include <stdbool.h>

typedef enum Verdict {
        VERDICT_APPLIED,      /* written, read back, equal */
        VERDICT_UNCHANGED,    /* was already so; nothing written */
        VERDICT_ADJUSTED,     /* accepted; the drive chose a nearby value of its own */
        VERDICT_UNVERIFIABLE, /* accepted; nothing can read it back */
        VERDICT_IGNORED,      /* accepted; reads back otherwise */
        VERDICT_DRIFTED,      /* was as wanted, and something else changed it since; only told of */
        VERDICT_UNSUPPORTED,  /* the drive or the kernel has no such setting */
        VERDICT_REFUSED,      /* the drive or the kernel answered with an error */
        VERDICT_FORBIDDEN,    /* our own policy: not written */
        VERDICT_QUARANTINED,  /* writing it once cost this machine or drive; not written again */
        VERDICT_DEFERRED,     /* not now (fsck, sleeping drive); taken up later by itself */
        VERDICT_FAILED,       /* no usable answer: time-out, dead transport, error of our own */
        VERDICT_VANISHED,     /* the drive went away */
        _VERDICT_MAX,
        _VERDICT_INVALID = -1,
} Verdict;

const char *verdict_to_string(Verdict v);
Verdict verdict_from_string(const char *s); /* _VERDICT_INVALID when there is no such word */

/* One sentence, for help texts and the man page's list. */
const char *verdict_describe(Verdict v);

/* Does the drive now have what the file asks for, as far as anybody can know? */
bool verdict_is_wanted(Verdict v);
