/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Values as people read them. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "macro.h"
#include "value.h"

/* "1 h 30 min", "7.5 s" */
static char *duration_format(int64_t ms, char buf[static VALUE_TEXT_MAX]) {
        int64_t h = ms / 3600000, min = ms / 60000 % 60, rest = ms % 60000;
        int n = 0;

        if (ms < 1000) {
                (void) snprintf(buf, VALUE_TEXT_MAX, "%" PRId64 " %s", ms, ms == 0 ? "s" : "ms");
                return buf;
        }

        if (h > 0)
                n += snprintf(buf + n, VALUE_TEXT_MAX - n, "%" PRId64 " h ", h);
        if (min > 0)
                n += snprintf(buf + n, VALUE_TEXT_MAX - n, "%" PRId64 " min ", min);
        if (rest > 0)
                n += snprintf(buf + n, VALUE_TEXT_MAX - n, "%g s ", (double) rest / 1000);
        buf[n - 1] = '\0';

        return buf;
}

/* In the largest unit that divides it. */
static char *size_format(int64_t bytes, char buf[static VALUE_TEXT_MAX]) {
        static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB" };
        size_t i = 0;

        while (i + 1 < ELEMENTSOF(names) && bytes != 0 && bytes % 1024 == 0) {
                bytes /= 1024;
                i++;
        }
        (void) snprintf(buf, VALUE_TEXT_MAX, "%" PRId64 " %s", bytes, names[i]);

        return buf;
}

static char *number_format(ValueType type, int64_t n, char buf[static VALUE_TEXT_MAX]) {
        static const char *const units[_VALUE_TYPE_MAX] = {
                [VALUE_MICROSECONDS] = " µs",
                [VALUE_CELSIUS] = " °C",
                [VALUE_STRIPES] = " stripes",
        };

        if (type == VALUE_BOOL)
                return strcpy(buf, n ? "on" : "off");
        if (type == VALUE_SIZE)
                return size_format(n, buf);
        if (type == VALUE_DURATION)
                return duration_format(n, buf);
        if (type == VALUE_MICROSECONDS && n % 1000 == 0)
                return duration_format(n / 1000, buf);
        if (type == VALUE_STANDBY_TIMER && n == STANDBY_TIMER_VENDOR)
                return strcpy(buf, STANDBY_TIMER_VENDOR_TEXT);
        if (type == VALUE_STANDBY_TIMER)
                return duration_format((int64_t) standby_timer_to_seconds((uint8_t) n) * 1000, buf);

        (void) snprintf(buf, VALUE_TEXT_MAX, "%" PRId64 "%s", n,
                        type == VALUE_STRIPES && n == 1 ? " stripe" : units[type] ?: "");
        return buf;
}

char *value_format(const ValueRange *range, const Value *v, char buf[static VALUE_TEXT_MAX]) {
        const char *word = v->type == VALUE_NAME      ? v->name
                           : v->type == VALUE_ANY     ? "(not kept)"
                           : v->type == VALUE_STRIPES ? NULL
                                                      : value_word(range, v->number);

        if (!word)
                return number_format(v->type, v->number, buf);

        (void) snprintf(buf, VALUE_TEXT_MAX, "%s", word);
        return buf;
}

_printf_(3, 4) static void append(char *buf, size_t size, const char *format, ...) {
        size_t n = strlen(buf);
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(buf + n, size - n, format, ap);
        va_end(ap);
}

char *value_range_format(const ValueRange *range, char *buf, size_t size) {
        static const char *const texts[_VALUE_TYPE_MAX] = {
                [VALUE_BOOL] = "on or off",
                [VALUE_NAME] = "a word of the kernel's, of at most 39 characters",
                [VALUE_STANDBY_TIMER] =
                                ("\"5s\"…\"20min\", \"21min\", \"21min 15s\", \"30min\"…\"330min\" in steps of 30 min, "
                                 "\"12h\" for the vendor's 8 to 12 h, hdparm's numbers 0…255 but 254, or off"),
                [VALUE_ANY] = "anything; it has no effect",
        };
        int64_t min = range->min, max = range->max;
        char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

        static_assert(VALUE_NAME_MAX == 39 + 1, "");

        buf[0] = '\0';
        if (texts[range->type] && !range->words) {
                append(buf, size, "%s", texts[range->type]);
                return buf;
        }

        /* "off" has a name, so its number at the edge is not also told. */
        if (range->has_off && range->off == min && min < max)
                min += MAX(range->step, 1);
        else if (range->has_off && range->off == max && min < max)
                max -= MAX(range->step, 1);

        if (min < max && range->unit > 1)
                append(buf, size, "%" PRId64 "…%" PRId64 " without a unit, ", (min + range->unit - 1) / range->unit,
                       max / range->unit);
        if (min < max)
                append(buf, size, "%s…%s", number_format(range->type, min, a), number_format(range->type, max, b));
        if (range->stripes)
                append(buf, size, ", a number of stripes");
        if (range->has_off)
                append(buf, size, "%soff", buf[0] ? ", or " : "");
        for (const ValueWord *w = range->words; w && w->word; w++)
                append(buf, size, "%s%s", !buf[0] ? "" : w[1].word ? ", " : ", or ", w->word);

        return buf;
}
