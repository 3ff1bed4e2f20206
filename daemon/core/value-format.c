/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "macro.h"
#include "value-unit.h"

static const char *number_format(const ValueRange *range, int64_t n, char buf[static VALUE_TEXT_MAX]) {
        switch (range->type) {
        case VALUE_BOOL:
                return n ? "on" : "off";
        case VALUE_DURATION:
                return duration_format(n, buf);
        case VALUE_SIZE:
                return size_format(n, buf);
        case VALUE_STANDBY_TIMER:
                return standby_timer_format((uint8_t) n, buf);
        case VALUE_INT:
        case VALUE_NAME:
        case _VALUE_TYPE_MAX:
                break;
        }

        (void) snprintf(buf, VALUE_TEXT_MAX, "%" PRId64, n);
        return buf;
}

const char *value_format(const ValueRange *range, const Value *v, char buf[static VALUE_TEXT_MAX]) {
        if (v->type == VALUE_NAME)
                return strcpy(buf, v->name);
        if (range->has_off && v->number == range->off)
                return strcpy(buf, "off");

        return number_format(range, v->number, buf);
}

const char *value_range_format(const ValueRange *range, char *buf, size_t size) {
        int64_t min = range->min, max = range->max;
        char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], counts[VALUE_TEXT_MAX] = "";

        switch (range->type) {
        case VALUE_BOOL:
                (void) snprintf(buf, size, "on or off");
                return buf;

        case VALUE_NAME:
                (void) snprintf(buf, size, "a word of the kernel's, of at most %u characters", VALUE_NAME_MAX - 1);
                return buf;

        case VALUE_STANDBY_TIMER:
                (void) snprintf(buf, size,
                                "\"5s\"…\"20min\", \"21min\", \"21min 15s\", \"30min\"…\"330min\" in steps of 30 min, "
                                "\"12h\" for the vendor's 8 to 12 h, hdparm's numbers 0…255 but 254, or off");
                return buf;

        case VALUE_INT:
        case VALUE_DURATION:
        case VALUE_SIZE:
        case _VALUE_TYPE_MAX:
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

        (void) snprintf(buf, size, "%s%s…%s%s", counts, number_format(range, min, a), number_format(range, max, b),
                        range->has_off ? ", or off" : "");
        return buf;
}
