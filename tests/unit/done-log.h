/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Log of the actions that the test's replacement functions perform, in order. Tests compare the log with a string. */

#include <check.h>
#include <stdarg.h>
#include <stdio.h>

#include "macro.h"

static char done[4096]; /* actions since the last all_done(), each followed by a blank */

static _printf_(1, 2) void note(const char *format, ...) {
        size_t n = strlen(done);
        va_list ap;

        va_start(ap, format);
        n += vsnprintf(done + n, sizeof done - n, format, ap);
        va_end(ap);
        ck_assert_uint_lt(n + 1, sizeof done);
        (void) strcpy(done + n, " ");
}

/* Returns the actions since the last call, and clears the log. */
static _unused_ const char *all_done(void) {
        static char last[sizeof done];

        (void) strcpy(last, done);
        done[0] = '\0';
        return last;
}
