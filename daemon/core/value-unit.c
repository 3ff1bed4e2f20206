/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "macro.h"
#include "value-unit.h"

/* Six digits after the point count; with more, 64 bits would not hold fraction × TiB. */
#define FRACTION_SCALE 1000000

typedef struct Unit {
        ValueType type;    /* VALUE_MICROSECONDS: of VALUE_DURATION too */
        int64_t factor;    /* bytes, µs, … */
        const char *names; /* case does not matter */
} Unit;

/* clang-format off */
static const Unit units[] = {
        { VALUE_MICROSECONDS, 1,                     "us µs usec microseconds"                },
        { VALUE_MICROSECONDS, 1000,                  "ms msec msecs millisecond milliseconds" },
        { VALUE_MICROSECONDS, 1000000,               "s sec secs second seconds"              },
        { VALUE_MICROSECONDS, 60000000,              "m min mins minute minutes"              },
        { VALUE_MICROSECONDS, INT64_C(3600000000),   "h hr hrs hour hours"                    },
        { VALUE_MICROSECONDS, INT64_C(86400000000),  "d day days"                             },
        { VALUE_SIZE,         1,                     "b byte bytes"                           },
        { VALUE_SIZE,         INT64_C(1) << 10,      "k kb kib"                               },
        { VALUE_SIZE,         INT64_C(1) << 20,      "m mb mib"                               },
        { VALUE_SIZE,         INT64_C(1) << 30,      "g gb gib"                               },
        { VALUE_SIZE,         INT64_C(1) << 40,      "t tb tib"                               },
        { VALUE_CELSIUS,      1,                     "c °c"                                   },
        { VALUE_STRIPES,      1,                     "stripe stripes"                         },
};
/* clang-format on */

/* Reads digits and, after a point, more digits; *fraction is in millionths. Returns 1 when digits were lost. */
static int number_parse(const char **text, int64_t *whole, int64_t *fraction) {
        int64_t counts = FRACTION_SCALE;
        const char *p = *text;
        bool lost = false;
        size_t n_digits = 0;

        *whole = *fraction = 0;
        for (; isdigit((unsigned char) *p); p++, n_digits++)
                if (__builtin_mul_overflow(*whole, 10, whole) || __builtin_add_overflow(*whole, *p - '0', whole))
                        return -ERANGE;

        if (*p == '.')
                for (p++; isdigit((unsigned char) *p); p++, n_digits++) {
                        counts /= 10;
                        *fraction += (*p - '0') * counts;
                        lost = lost || (counts == 0 && *p != '0');
                }

        *text = p;
        return n_digits == 0 ? -EINVAL : lost;
}

/* The µ of µs is two bytes beyond ASCII. */
static bool is_unit_letter(char c) {
        return isalpha((unsigned char) c) || (unsigned char) c >= 0x80;
}

static bool has_name(const char *names, const char *name, size_t n) {
        for (size_t k; *names; names += k + (names[k] == ' ')) {
                k = strcspn(names, " ");
                if (k == n && strncasecmp(names, name, n) == 0)
                        return true;
        }

        return false;
}

/* What the unit counts in a value of this type; 0: there is no such unit. */
static int64_t unit_parse(ValueType type, const char **text) {
        bool ms = type == VALUE_DURATION;
        const char *name = *text;

        while (is_unit_letter(**text))
                *text += 1;

        for (const Unit *u = units; u < units + ELEMENTSOF(units); u++)
                if (u->type == (ms ? VALUE_MICROSECONDS : type) && has_name(u->names, name, *text - name))
                        return ms ? u->factor / 1000 : u->factor;

        return 0;
}

static const char *skip_blanks(const char *s) {
        return s + strspn(s, " \t");
}

/* One number and its unit, added to *sum. */
static int sum_add(ValueType type, const char **text, int64_t bare, int64_t *sum) {
        int64_t whole, fraction, factor = bare;
        int inexact;

        inexact = number_parse(text, &whole, &fraction);
        if (inexact < 0)
                return inexact;

        *text = skip_blanks(*text);
        if (**text && !isdigit((unsigned char) **text)) {
                factor = unit_parse(type, text);
                if (factor == 0)
                        return -EINVAL;
        }
        if (factor == 0)
                return -ENOMSG;

        /* Rounded up, so that a tiny duration never becomes 0, which some settings take for "off". */
        fraction *= factor;
        inexact = inexact || fraction % FRACTION_SCALE != 0;
        fraction = fraction / FRACTION_SCALE + inexact;

        if (__builtin_mul_overflow(whole, factor, &whole) || __builtin_add_overflow(*sum, whole, sum) ||
            __builtin_add_overflow(*sum, fraction, sum))
                return -ERANGE;

        return inexact;
}

int quantity_parse(ValueType type, const char *text, int64_t bare, int64_t *ret) {
        bool inexact = false;
        int64_t sum = 0;

        text = skip_blanks(text);
        do {
                int r = sum_add(type, &text, bare, &sum);

                if (r < 0)
                        return r;
                inexact = inexact || r > 0;
                text = skip_blanks(text);
        } while (*text && (type == VALUE_DURATION || type == VALUE_MICROSECONDS));
        if (*text)
                return -EINVAL;

        *ret = sum;
        return inexact;
}

char *duration_format(int64_t ms, char buf[static VALUE_TEXT_MAX]) {
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

char *size_format(int64_t bytes, char buf[static VALUE_TEXT_MAX]) {
        static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB" };
        size_t i = 0;

        while (i + 1 < ELEMENTSOF(names) && bytes != 0 && bytes % 1024 == 0) {
                bytes /= 1024;
                i++;
        }
        (void) snprintf(buf, VALUE_TEXT_MAX, "%" PRId64 " %s", bytes, names[i]);

        return buf;
}

/* ATA's standby timer: one byte with five encodings (ACS-4, STANDBY). */
#define HOUR 3600U

#define TIMER_5_H_30_MIN 251U
#define TIMER_21_MIN 252U
#define TIMER_VENDOR 253U   /* 8 to 12 h, as the vendor likes */
#define TIMER_RESERVED 254U /* vendors take it for 21 min 10 s */
#define TIMER_21_MIN_15_S 255U

uint64_t standby_timer_to_seconds(uint8_t timer) {
        switch (timer) {
        case 0 ... 240:
                return timer * 5U;
        case 241 ... TIMER_5_H_30_MIN:
                return (timer - 240U) * HOUR / 2;
        case TIMER_21_MIN:
                return 21 * 60;
        case TIMER_VENDOR:
                return 8ULL * HOUR;
        case TIMER_RESERVED:
                return 21 * 60 + 10;
        default:
                return 21 * 60 + 15;
        }
}

int standby_timer_from_seconds(uint64_t seconds, uint8_t *ret) {
        uint64_t timer;

        if (seconds > 12ULL * HOUR)
                return -ERANGE;

        if (seconds <= 20 * 60)
                timer = (seconds + 4) / 5;
        else if (seconds <= 21 * 60)
                timer = TIMER_21_MIN;
        else if (seconds <= 21 * 60 + 15)
                timer = TIMER_21_MIN_15_S;
        else if (seconds < 8ULL * HOUR)
                /* What lies between 5.5 h and the vendor's own time takes the nearest that is certain. */
                timer = MIN(240 + (seconds + HOUR / 2 - 1) / (HOUR / 2), TIMER_5_H_30_MIN);
        else
                timer = TIMER_VENDOR;

        *ret = timer;
        return timer == TIMER_VENDOR || standby_timer_to_seconds(*ret) != seconds;
}
