/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "verdict.h"
#include "macro.h"

/* clang-format off */
static const struct {
        const char *name;
        bool wanted;
} table[_VERDICT_MAX] = {
        [VERDICT_APPLIED] = { "applied", true },
        [VERDICT_UNCHANGED] = { "unchanged", true },
        [VERDICT_ADJUSTED] = { "adjusted", false },
        [VERDICT_UNVERIFIABLE] = { "unverifiable", true },
        [VERDICT_IGNORED] = { "ignored", false },
        [VERDICT_DRIFTED] = { "drifted", false },
        [VERDICT_UNSUPPORTED] = { "unsupported", false },
        [VERDICT_REFUSED] = { "refused", false },
        [VERDICT_FORBIDDEN] = { "forbidden", false },
        [VERDICT_QUARANTINED] = { "quarantined", false },
        [VERDICT_DEFERRED] = { "deferred", false },
        [VERDICT_FAILED] = { "failed", false },
        [VERDICT_VANISHED] = { "vanished", false },
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

bool verdict_is_wanted(Verdict v) {
        return v >= 0 && v < _VERDICT_MAX && table[v].wanted;
}
