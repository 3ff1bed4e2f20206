/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <time.h>

#include "output.h"

const char *capacity_format(uint64_t bytes, char buf[static HUMAN_MAX]) {
        static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
        double n = (double) bytes;
        size_t i = 0;

        if (bytes == 0)
                return NULL;

        /* The next unit begins where one decimal would round up to 1000.0. */
        while (n >= (i == 0 ? 1000 : 999.95)) {
                n /= 1000;
                i++;
        }

        (void) snprintf(buf, HUMAN_MAX, "%.*f %s", i > 0, n, units[i]);
        return buf;
}

const char *time_format_short(uint64_t when, uint64_t now, char buf[static HUMAN_MAX]) {
        time_t w = (time_t) (when / 1000000), n = (time_t) (now / 1000000);
        struct tm a, b;

        if (when == 0 || !localtime_r(&w, &a) || !localtime_r(&n, &b))
                return NULL;

        if (a.tm_year != b.tm_year)
                (void) strftime(buf, HUMAN_MAX, "%Y", &a);
        else if (a.tm_yday != b.tm_yday)
                (void) strftime(buf, HUMAN_MAX, "%b %e", &a);
        else
                (void) strftime(buf, HUMAN_MAX, "%H:%M", &a);

        return buf;
}

const char *duration_format_short(uint64_t usec, char buf[static VALUE_TEXT_MAX]) {
        static const ValueRange range = { .type = VALUE_DURATION };
        uint64_t seconds = usec / 1000000;
        Value v = { .type = VALUE_DURATION };

        if (seconds >= 3600)
                seconds -= seconds % 60;
        v.number = (int64_t) seconds * 1000;
        return value_format(&range, &v, buf);
}

const char *time_format_rfc3339(uint64_t when, char buf[static HUMAN_MAX]) {
        time_t w = (time_t) (when / 1000000);
        struct tm t;

        if (when == 0 || !gmtime_r(&w, &t))
                return NULL;

        return strftime(buf, HUMAN_MAX, "%Y-%m-%dT%H:%M:%SZ", &t) > 0 ? buf : NULL;
}
