/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "verdict.h"
#include "macro.h"

/* clang-format off */
static const struct {
        const char *name;
        const char *description;
        bool wanted;
} table[_VERDICT_MAX] = {
        [VERDICT_APPLIED] = { "applied", "written, read back, equal", true },
        [VERDICT_UNCHANGED] = { "unchanged", "already so, nothing was written", true },
        [VERDICT_ADJUSTED] = { "adjusted", "accepted, but the drive chose a nearby value", false },
        [VERDICT_UNVERIFIABLE] = { "unverifiable", "accepted, and nothing can read it back", true },
        [VERDICT_IGNORED] = { "ignored", "accepted, but it reads back otherwise", false },
        [VERDICT_DRIFTED] = { "drifted", "something else changed it since, and it is left so", false },
        [VERDICT_UNSUPPORTED] = { "unsupported", "the drive or the kernel has no such setting", false },
        [VERDICT_REFUSED] = { "refused", "the drive or the kernel answered with an error", false },
        [VERDICT_FORBIDDEN] = { "forbidden", "not written, by drivekeep's own rules", false },
        [VERDICT_QUARANTINED] = { "quarantined", "not written again, because writing it once did harm", false },
        [VERDICT_DEFERRED] = { "deferred", "not written yet, taken up later by itself", false },
        [VERDICT_FAILED] = { "failed", "no usable answer from the drive, the kernel or drivekeep", false },
        [VERDICT_VANISHED] = { "vanished", "the drive went away", false },
};
/* clang-format on */

const char *verdict_to_string(Verdict v) {
        return v >= 0 && v < _VERDICT_MAX ? table[v].name : NULL;
}

Verdict verdict_from_string(const char *s) {
        for (Verdict v = 0; v < _VERDICT_MAX; v++)
                if (streq(table[v].name, s))
                        return v;

        return _VERDICT_INVALID;
}

const char *verdict_describe(Verdict v) {
        return v >= 0 && v < _VERDICT_MAX ? table[v].description : NULL;
}

bool verdict_is_wanted(Verdict v) {
        return v >= 0 && v < _VERDICT_MAX && table[v].wanted;
}
