/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "color.h"
#include "verdict.h"

bool color_is_welcome(int fd) {
        const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

        return isatty(fd) && !(no && *no) && term && *term && !streq(term, "dumb");
}

const char *verdict_color(const char *text) {
        Verdict v = verdict_from_string(text);

        if (verdict_is_wanted(v))
                return "green";

        switch (v) {
        case VERDICT_ADJUSTED:
        case VERDICT_DRIFTED:
        case VERDICT_UNSUPPORTED:
        case VERDICT_DEFERRED:
        case VERDICT_FORBIDDEN:
                return "yellow";
        case VERDICT_IGNORED:
        case VERDICT_REFUSED:
        case VERDICT_QUARANTINED:
        case VERDICT_FAILED:
        case VERDICT_VANISHED:
                return "red";
        case VERDICT_APPLIED:
        case VERDICT_UNCHANGED:
        case VERDICT_UNVERIFIABLE:
        case _VERDICT_MAX:
        case _VERDICT_INVALID:
                break;
        }

        return NULL;
}
