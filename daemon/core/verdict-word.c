/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "verdict-word.h"
#include "macro.h"

static const char *const table[_VERDICT_MAX] = {
        [VERDICT_APPLIED] = "applied",           [VERDICT_UNCHANGED] = "unchanged", [VERDICT_ADJUSTED] = "adjusted",
        [VERDICT_UNVERIFIABLE] = "unverifiable", [VERDICT_IGNORED] = "ignored",     [VERDICT_DRIFTED] = "drifted",
        [VERDICT_UNSUPPORTED] = "unsupported",   [VERDICT_REFUSED] = "refused",     [VERDICT_FORBIDDEN] = "forbidden",
        [VERDICT_QUARANTINED] = "quarantined",   [VERDICT_DEFERRED] = "deferred",   [VERDICT_FAILED] = "failed",
        [VERDICT_VANISHED] = "vanished",
};

const char *verdict_to_string(Verdict v) {
        return v >= 0 && v < _VERDICT_MAX ? table[v] : NULL;
}

Verdict verdict_from_string(const char *s) {
        for (Verdict v = 0; v < _VERDICT_MAX; v++)
                if (streq(table[v], s))
                        return v;

        return _VERDICT_INVALID;
}

bool verdict_is_wanted(Verdict v) {
        return v == VERDICT_APPLIED || v == VERDICT_UNCHANGED || v == VERDICT_UNVERIFIABLE;
}

bool verdict_is_in_order(Verdict v) {
        return verdict_is_wanted(v) || v == VERDICT_ADJUSTED || v == VERDICT_DRIFTED;
}

bool verdict_is_absent(Verdict v, bool optional) {
        return v == VERDICT_UNSUPPORTED && optional;
}

bool verdict_is_pending(Verdict v) {
        return v == VERDICT_DEFERRED || v == _VERDICT_INVALID;
}

bool verdict_is_fine(Verdict v, bool optional) {
        return verdict_is_wanted(v) || verdict_is_absent(v, optional);
}
