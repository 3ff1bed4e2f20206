/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What stand-ins note that they were told to do, in its order. */

#include <check.h>
#include <stdarg.h>
#include <stdio.h>

#include "macro.h"

static char done[4096]; /* what was done, a word each */

static _printf_(1, 2) void note(const char *format, ...) {
        size_t n = strlen(done);
        va_list ap;

        va_start(ap, format);
        n += vsnprintf(done + n, sizeof done - n, format, ap);
        va_end(ap);
        ck_assert_uint_lt(n + 1, sizeof done);
        (void) strcpy(done + n, " ");
}

/* What was done since this was asked last. */
static _unused_ const char *all_done(void) {
        static char last[sizeof done];

        (void) strcpy(last, done);
        done[0] = '\0';
        return last;
}
