/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "macro.h"
#include "value-unit.h"

static char *number_format(const ValueRange *range, int64_t n, char buf[static VALUE_TEXT_MAX]) {
        switch (range->type) {
        case VALUE_BOOL:
                return strcpy(buf, n ? "on" : "off");
        case VALUE_DURATION:
                return duration_format(n, buf);
        case VALUE_MICROSECONDS:
                return microseconds_format(n, buf);
        case VALUE_SIZE:
                return size_format(n, buf);
        case VALUE_CELSIUS:
                (void) snprintf(buf, VALUE_TEXT_MAX, "%" PRId64 " °C", n);
                return buf;
        case VALUE_STANDBY_TIMER:
                return standby_timer_format((uint8_t) n, buf);
        default:
                (void) snprintf(buf, VALUE_TEXT_MAX, "%" PRId64, n);
                return buf;
        }
}

char *value_format(const ValueRange *range, const Value *v, char buf[static VALUE_TEXT_MAX]) {
        if (v->type == VALUE_NAME)
                return strcpy(buf, v->name);
        if (v->type == VALUE_ANY)
                return strcpy(buf, "(not kept)");
        if (v->type == VALUE_STRIPES) {
                (void) snprintf(buf, VALUE_TEXT_MAX, "%" PRId64 " stripe%s", v->number, v->number == 1 ? "" : "s");
                return buf;
        }
        if (range->has_off && v->number == range->off)
                return strcpy(buf, "off");
        for (const ValueWord *w = range->words; w && w->word; w++)
                if (w->number == v->number) {
                        (void) snprintf(buf, VALUE_TEXT_MAX, "%s", w->word);
                        return buf;
                }

        return number_format(range, v->number, buf);
}

/* `before`, and the words behind it: "0…7, or default". */
static char *words_format(const ValueRange *range, const char *before, char *buf, size_t size) {
        size_t n;

        (void) snprintf(buf, size, "%s", before);
        for (const ValueWord *w = range->words; w && w->word; w++) {
                n = strlen(buf);
                (void) snprintf(buf + n, size - n, "%s%s", n == 0 ? "" : w[1].word ? ", " : ", or ", w->word);
        }

        return buf;
}

char *value_range_format(const ValueRange *range, char *buf, size_t size) {
        int64_t min = range->min, max = range->max;
        char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], counts[VALUE_TEXT_MAX] = "", numbers[4 * VALUE_TEXT_MAX] = "";

        switch (range->type) {
        case VALUE_BOOL:
                (void) snprintf(buf, size, "on or off");
                return buf;

        case VALUE_NAME:
                if (range->words) {
                        words_format(range, "", buf, size);
                        return buf;
                }
                (void) snprintf(buf, size, "a word of the kernel's, of at most %u characters", VALUE_NAME_MAX - 1);
                return buf;

        case VALUE_STANDBY_TIMER:
                (void) snprintf(buf, size,
                                "\"5s\"…\"20min\", \"21min\", \"21min 15s\", \"30min\"…\"330min\" in steps of 30 min, "
                                "\"12h\" for the vendor's 8 to 12 h, hdparm's numbers 0…255 but 254, or off");
                return buf;

        case VALUE_ANY:
                (void) snprintf(buf, size, "anything; it has no effect");
                return buf;

        default:
                break;
        }

        /* "off" has a name, so its number at the edge is not also told. */
        if (range->has_off && range->off == min && min < max)
                min += MAX(range->step, 1);
        else if (range->has_off && range->off == max && min < max)
                max -= MAX(range->step, 1);

        if (range->unit > 1)
                (void) snprintf(counts, sizeof counts, "%" PRId64 "…%" PRId64 " without a unit, ",
                                (min + range->unit - 1) / range->unit, max / range->unit);

        if (min < max)
                (void) snprintf(numbers, sizeof numbers, "%s%s…%s%s", counts, number_format(range, min, a),
                                number_format(range, max, b), range->stripes ? ", a number of stripes" : "");
        if (range->has_off)
                (void) snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), "%soff",
                                min < max ? ", or " : "");

        return words_format(range, numbers, buf, size);
}
