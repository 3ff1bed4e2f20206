/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "macro.h"
#include "value-unit.h"

/* Digits after the point that count; with more, 64 bits would not hold fraction × TiB. */
#define FRACTION_DIGITS 6U
#define FRACTION_SCALE 1000000

typedef struct Unit {
        const char *name; /* case does not matter */
        int64_t factor;
} Unit;

/* clang-format off */
static const Unit duration_units[] = {
        { "ms",   1          }, { "msec", 1          }, { "msecs",   1          }, { "millisecond", 1        },
        { "milliseconds", 1  }, { "s",    1000       }, { "sec",     1000       }, { "secs",        1000     },
        { "second", 1000     }, { "seconds", 1000    }, { "m",       60000      }, { "min",         60000    },
        { "mins", 60000      }, { "minute", 60000    }, { "minutes", 60000      }, { "h",           3600000  },
        { "hr",   3600000    }, { "hrs",  3600000    }, { "hour",    3600000    }, { "hours",       3600000  },
        { "d",    86400000   }, { "day",  86400000   }, { "days",    86400000   },
        {}
};

static const Unit microsecond_units[] = {
        { "us", 1 }, { "µs", 1 }, { "usec", 1 }, { "microseconds", 1 },
        { "ms", 1000 }, { "msec", 1000 }, { "milliseconds", 1000 },
        { "s", 1000000 }, { "sec", 1000000 }, { "second", 1000000 }, { "seconds", 1000000 },
        { "min", 60000000 }, { "minutes", 60000000 }, { "h", INT64_C(3600000000) }, { "hours", INT64_C(3600000000) },
        {}
};

static const Unit size_units[] = {
        { "b", 1 }, { "byte", 1 }, { "bytes", 1 },
        { "k", INT64_C(1) << 10 }, { "kb", INT64_C(1) << 10 }, { "kib", INT64_C(1) << 10 },
        { "m", INT64_C(1) << 20 }, { "mb", INT64_C(1) << 20 }, { "mib", INT64_C(1) << 20 },
        { "g", INT64_C(1) << 30 }, { "gb", INT64_C(1) << 30 }, { "gib", INT64_C(1) << 30 },
        { "t", INT64_C(1) << 40 }, { "tb", INT64_C(1) << 40 }, { "tib", INT64_C(1) << 40 },
        {}
};
/* clang-format on */

/* Reads digits and, after a point, more digits; *fraction is in millionths. Returns 1 when digits were lost. */
static int number_parse(const char **text, int64_t *whole, int64_t *fraction) {
        const char *p = *text;
        bool overflow = false, lost = false;
        size_t n_digits = 0;

        *whole = *fraction = 0;
        for (; isdigit((unsigned char) *p); p++, n_digits++)
                if (__builtin_mul_overflow(*whole, 10, whole) || __builtin_add_overflow(*whole, *p - '0', whole)) {
                        overflow = true;
                        *whole = 0;
                }

        if (*p == '.') {
                size_t k = 0;

                for (p++; isdigit((unsigned char) *p); p++, k++)
                        if (k < FRACTION_DIGITS)
                                *fraction = *fraction * 10 + (*p - '0');
                        else if (*p != '0')
                                lost = true;
                n_digits += k;
                for (; k < FRACTION_DIGITS; k++)
                        *fraction *= 10;
        }

        *text = p;
        if (n_digits == 0)
                return -EINVAL;
        return overflow ? -ERANGE : lost;
}

/* The µ of µs is two bytes beyond ASCII. */
static bool is_unit_letter(char c) {
        return isalpha((unsigned char) c) || (unsigned char) c >= 0x80;
}

static const Unit *unit_parse(const Unit *units, const char **text) {
        size_t n = 0;

        while (is_unit_letter((*text)[n]))
                n++;

        for (; units->name; units++)
                if (strlen(units->name) == n && strncasecmp(units->name, *text, n) == 0) {
                        *text += n;
                        return units;
                }

        return NULL;
}

static const char *skip_blanks(const char *s) {
        return s + strspn(s, " \t");
}

/* One number and its unit, added to *sum. */
static int sum_add(const Unit *units, const char **text, int64_t bare, int64_t *sum) {
        int64_t whole, fraction, factor;
        int r, inexact;

        r = number_parse(text, &whole, &fraction);
        if (r < 0 && r != -ERANGE)
                return r;
        inexact = r;

        *text = skip_blanks(*text);
        if (is_unit_letter(**text)) {
                const Unit *unit = unit_parse(units, text);

                if (!unit)
                        return -EINVAL;
                factor = unit->factor;
        } else if (**text == '\0' || isdigit((unsigned char) **text)) {
                if (bare == 0)
                        return -ENOMSG;
                factor = bare;
        } else
                return -EINVAL;

        if (inexact < 0 || __builtin_mul_overflow(whole, factor, &whole))
                return -ERANGE;

        /* Rounded up, so that a tiny duration never becomes 0, which some settings take for "off". */
        fraction *= factor;
        inexact = inexact || fraction % FRACTION_SCALE != 0;
        fraction = fraction / FRACTION_SCALE + inexact;

        if (__builtin_add_overflow(*sum, whole, sum) || __builtin_add_overflow(*sum, fraction, sum))
                return -ERANGE;

        return inexact;
}

int quantity_parse(ValueType type, const char *text, int64_t bare, int64_t *ret) {
        static const Unit *const units[_VALUE_TYPE_MAX] = {
                [VALUE_DURATION] = duration_units,
                [VALUE_MICROSECONDS] = microsecond_units,
                [VALUE_SIZE] = size_units,
        };
        bool inexact = false;
        int64_t sum = 0;

        text = skip_blanks(text);
        do {
                int r = sum_add(units[type], &text, bare, &sum);

                if (r < 0)
                        return r;
                inexact = inexact || r > 0;
                text = skip_blanks(text);
        } while (*text && type != VALUE_SIZE);
        if (*text)
                return -EINVAL;

        *ret = sum;
        return inexact;
}

int celsius_parse(const char *text, int64_t *ret) {
        char *end;

        text = skip_blanks(text);
        if (!isdigit((unsigned char) text[*text == '-']))
                return -EINVAL;

        errno = 0;
        *ret = strtoll(text, &end, 10);
        if (errno != 0)
                return -ERANGE;

        end += strspn(end, " \t");
        return streq(end, "") || strcasecmp(end, "C") == 0 || streq(end, "°C") ? 0 : -EINVAL;
}

char *duration_format(int64_t ms, char buf[static VALUE_TEXT_MAX]) {
        int64_t h = ms / 3600000, min = ms / 60000 % 60, rest = ms % 60000;
        int n = 0;

        if (ms < 1000) {
                (void) snprintf(buf, VALUE_TEXT_MAX, "%" PRId64 " %s", ms, ms == 0 ? "s" : "ms");
                return buf;
        }

        if (h > 0)
                n += snprintf(buf + n, VALUE_TEXT_MAX - n, "%" PRId64 " h", h);
        if (min > 0)
                n += snprintf(buf + n, VALUE_TEXT_MAX - n, "%s%" PRId64 " min", n > 0 ? " " : "", min);
        if (rest > 0) {
                n += snprintf(buf + n, VALUE_TEXT_MAX - n, "%s%" PRId64, n > 0 ? " " : "", rest / 1000);
                if (rest % 1000 > 0) {
                        n += snprintf(buf + n, VALUE_TEXT_MAX - n, ".%03" PRId64, rest % 1000);
                        while (buf[n - 1] == '0')
                                n--;
                }
                (void) snprintf(buf + n, VALUE_TEXT_MAX - n, " s");
        }

        return buf;
}

char *microseconds_format(int64_t us, char buf[static VALUE_TEXT_MAX]) {
        if (us % 1000 == 0)
                return duration_format(us / 1000, buf);

        (void) snprintf(buf, VALUE_TEXT_MAX, "%" PRId64 " µs", us);
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
#define TIMER_VENDOR 253U /* 8 to 12 h, as the vendor likes */
#define TIMER_RESERVED 254U
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
        case TIMER_RESERVED: /* vendors take it for this */
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

char *standby_timer_format(uint8_t timer, char buf[static VALUE_TEXT_MAX]) {
        if (timer == 0)
                (void) snprintf(buf, VALUE_TEXT_MAX, "off");
        else if (timer == TIMER_VENDOR)
                (void) snprintf(buf, VALUE_TEXT_MAX, "vendor (8 to 12 h)");
        else if (timer == TIMER_RESERVED)
                (void) snprintf(buf, VALUE_TEXT_MAX, "reserved (254)");
        else
                return duration_format((int64_t) standby_timer_to_seconds(timer) * 1000, buf);

        return buf;
}
