/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "macro.h"
#include "value.h"

/* Bytes of the ATA standby timer, which has five encodings (ACS-4, STANDBY). HOUR is in seconds. */
#define HOUR 3600

#define TIMER_5_H_30_MIN 251
#define TIMER_21_MIN 252
#define TIMER_RESERVED 254 /* reserved by ACS-4; vendors implement it as 21 min 10 s */

/* Returns the factor for a number that is written without a unit; 0: a unit is required. */
static int64_t bare_unit(const ValueRange *range) {
        bool time = range->type == VALUE_DURATION || range->type == VALUE_MICROSECONDS;

        return time ? range->unit : MAX(range->unit, 1);
}

static const ValueWord *word_find(const ValueRange *range, const char *text) {
        for (const ValueWord *w = range->words; w && w->word; w++)
                if (strcasecmp(w->word, text) == 0)
                        return w;

        return NULL;
}

const char *value_word(const ValueRange *range, int64_t n) {
        if (range->has_off && n == range->off)
                return "off";
        for (const ValueWord *w = range->words; w && w->word; w++)
                if (w->number == n)
                        return w->word;

        return NULL;
}

/* Returns 1 for on, true, yes; 0 for off, false, no; else -EINVAL. */
static int boolean_parse(const char *text) {
        static const char *const words[] = { "off", "on", "false", "true", "no", "yes" };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (strcasecmp(text, words[i]) == 0)
                        return (int) i % 2;

        return -EINVAL;
}

/* Parses a decimal or hexadecimal (0x…) number. Octal numbers are not supported, as the configuration files have none. */
static int integer_parse(const char *text, int64_t *ret) {
        bool hex = strncasecmp(text + strspn(text, "+-"), "0x", 2) == 0;
        char *end;

        errno = 0;
        *ret = strtoll(text, &end, hex ? 16 : 10);
        if (end == text || *end || isspace((unsigned char) *text))
                return -EINVAL;

        return -errno;
}

typedef struct Unit {
        ValueType type;    /* VALUE_MICROSECONDS: also for VALUE_DURATION */
        int64_t factor;    /* size of the unit in bytes, µs, … */
        const char *names; /* names, with a blank before and after each name; case is ignored */
} Unit;

/* clang-format off */
static const Unit units[] = {
        { VALUE_MICROSECONDS, 1,                     " us µs usec microseconds "                },
        { VALUE_MICROSECONDS, 1000,                  " ms msec msecs millisecond milliseconds " },
        { VALUE_MICROSECONDS, 1000000,               " s sec secs second seconds "              },
        { VALUE_MICROSECONDS, 60000000,              " m min mins minute minutes "              },
        { VALUE_MICROSECONDS, INT64_C(3600000000),   " h hr hrs hour hours "                    },
        { VALUE_MICROSECONDS, INT64_C(86400000000),  " d day days "                             },
        { VALUE_SIZE,         1,                     " b byte bytes "                           },
        { VALUE_SIZE,         INT64_C(1) << 10,      " k kb kib "                               },
        { VALUE_SIZE,         INT64_C(1) << 20,      " m mb mib "                               },
        { VALUE_SIZE,         INT64_C(1) << 30,      " g gb gib "                               },
        { VALUE_SIZE,         INT64_C(1) << 40,      " t tb tib "                               },
        { VALUE_CELSIUS,      1,                     " c °c "                                   },
        { VALUE_STRIPES,      1,                     " stripe stripes "                         },
};
/* clang-format on */

/* Returns the factor of the unit at *text for a value of this type; 0: unknown unit. */
static int64_t unit_parse(ValueType type, const char **text) {
        bool ms = type == VALUE_DURATION;
        const char *name = *text;
        char word[32];

        /* The letter µ consists of two non-ASCII bytes. */
        while (isalpha((unsigned char) **text) || (unsigned char) **text >= 0x80)
                *text += 1;
        if (snprintf(word, sizeof word, " %.*s ", (int) (*text - name), name) >= (int) sizeof word)
                return 0;

        for (const Unit *u = units; u < units + ELEMENTSOF(units); u++)
                if (u->type == (ms ? VALUE_MICROSECONDS : type) && strcasestr(u->names, word))
                        return ms ? u->factor / 1000 : u->factor;

        return 0;
}

static const char *skip_blanks(const char *s) {
        return s + strspn(s, " ");
}

/* Adds one number with its unit to *sum. Returns 1 if the number was rounded. */
static int sum_add(ValueType type, const char **text, int64_t bare, int64_t *sum) {
        int64_t n = 0, scale = 1, factor = bare;
        bool point = false, digits = false;
        const char *p = *text;

        for (; isdigit((unsigned char) *p) || (*p == '.' && !point); p++)
                if (*p == '.')
                        point = true;
                else {
                        digits = true;
                        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n) ||
                            (point && __builtin_mul_overflow(scale, 10, &scale)))
                                return -ERANGE;
                }
        if (!digits)
                return -EINVAL;

        *text = skip_blanks(p);
        if (**text && !isdigit((unsigned char) **text)) {
                factor = unit_parse(type, text);
                if (factor == 0)
                        return -EINVAL;
        }
        if (factor == 0)
                return -ENOMSG;

        /* Round up, so that a tiny duration never becomes 0, which means "off" in some settings. */
        if (__builtin_mul_overflow(n, factor, &n) || __builtin_add_overflow(*sum, n / scale + (n % scale != 0), sum))
                return -ERANGE;
        return n % scale != 0;
}

/* Parses a number with a unit. For times, a sum of such numbers is allowed ("1h 30min"). *ret is in the unit of
 * Value.number for this type. K, KB and KiB all mean 1024. `bare`: the factor for a number without a unit. Returns 0, 1
 * (fractions were rounded up), -EINVAL, -ERANGE (more than 64 bits) or -ENOMSG (a number without a unit, and `bare` is
 * 0). */
static int quantity_parse(ValueType type, const char *text, int64_t bare, int64_t *ret) {
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

static int number_set(const ValueRange *range, int64_t n, Value *ret) {
        *ret = (Value){ .type = range->type, .number = n };
        return 0;
}

/* Rounds `n`, in the unit of the ValueType, to a multiple of the range's step. -ERANGE: `n` is outside the range. */
static int value_set(const ValueRange *range, int64_t n, bool inexact, Value *ret) {
        int64_t rest = range->step > 1 ? n % range->step : 0;

        if (range->has_off && n == range->off)
                rest = 0;
        else if (n < range->min || n > range->max)
                return -ERANGE;

        if (rest != 0) {
                inexact = true;
                n -= rest;
                if (n < range->min || (rest >= range->step - rest && n <= range->max - range->step))
                        n += range->step;
        }

        (void) number_set(range, n, ret);
        return inexact;
}

static int name_parse(const ValueRange *range, const char *text, Value *ret) {
        static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
        const ValueWord *word = word_find(range, text);
        size_t n = strlen(text);

        if (word)
                text = word->word;
        else if (range->words || n == 0 || n >= VALUE_NAME_MAX || strspn(text, allowed) != n)
                return -EINVAL;

        *ret = (Value){ .type = VALUE_NAME, .number = word ? word->number : 0 };
        (void) strcpy(ret->name, text);
        return 0;
}

uint64_t standby_timer_to_seconds(uint8_t timer) {
        switch (timer) {
        case 0 ... 240:
                return timer * 5U;
        case 241 ... TIMER_5_H_30_MIN:
                return (timer - 240U) * HOUR / 2;
        case TIMER_21_MIN:
                return 21 * 60;
        case STANDBY_TIMER_VENDOR:
                return 8 * HOUR;
        case TIMER_RESERVED:
                return 21 * 60 + 10;
        default:
                return 21 * 60 + 15;
        }
}

static int standby_timer_parse(const ValueRange *range, const char *text, Value *ret) {
        uint8_t timer = TIMER_5_H_30_MIN;
        int64_t ms;
        uint64_t seconds;
        int r;

        if (streq(text, STANDBY_TIMER_VENDOR_TEXT))
                return number_set(range, STANDBY_TIMER_VENDOR, ret);

        r = quantity_parse(VALUE_DURATION, text, 0, &ms);
        if (r < 0)
                return r;

        seconds = (uint64_t) ms / 1000 + (ms % 1000 != 0);
        if (seconds > 12 * HOUR)
                return -ERANGE;

        /* Uses the shortest timer that is long enough. From 8 h up, uses the vendor's timer, whose time is
         * uncertain. */
        for (unsigned t = 0; t <= UINT8_MAX; t++)
                if (t != TIMER_RESERVED && standby_timer_to_seconds(t) >= seconds &&
                    standby_timer_to_seconds(t) < standby_timer_to_seconds(timer))
                        timer = t;
        if (seconds >= 8 * HOUR)
                timer = STANDBY_TIMER_VENDOR;

        (void) number_set(range, timer, ret);
        return r > 0 || timer == STANDBY_TIMER_VENDOR || standby_timer_to_seconds(timer) * 1000 != (uint64_t) ms;
}

int value_parse(const ValueRange *range, const char *text, Value *ret) {
        static const ValueRange stripes = { .type = VALUE_STRIPES, .min = 1, .max = VALUE_STRIPES_MAX };
        int r, boolean = boolean_parse(text);
        const ValueWord *word;
        int64_t n;

        if (range->type == VALUE_ANY)
                return number_set(range, 0, ret);
        if (range->type == VALUE_NAME)
                return name_parse(range, text, ret);

        word = word_find(range, boolean < 0 ? text : boolean ? "on" : "off");
        if (word)
                return number_set(range, word->number, ret);
        if (boolean >= 0 && range->type == VALUE_BOOL)
                return number_set(range, boolean, ret);
        if (boolean >= 0)
                return boolean || !range->has_off ? -EINVAL : number_set(range, range->off, ret);

        r = integer_parse(text, &n);
        if (r >= 0)
                return value_from_integer(range, n, ret);
        if (range->type == VALUE_BOOL || range->type == VALUE_INT)
                return r;

        if (range->type == VALUE_STANDBY_TIMER)
                return standby_timer_parse(range, text, ret);

        r = quantity_parse(range->type, text, bare_unit(range), &n);
        if (r == -EINVAL && range->stripes) {
                range = &stripes;
                r = quantity_parse(range->type, text, 0, &n);
        }
        return r < 0 ? r : value_set(range, n, r, ret);
}

bool value_has_exact_text(const ValueRange *range, const Value *v) {
        char text[VALUE_TEXT_MAX];
        Value same;

        return value_parse(range, value_format(range, v, text), &same) == 0 && value_equal(&same, v);
}

int value_from_integer(const ValueRange *range, int64_t n, Value *ret) {
        int64_t unit = bare_unit(range);

        if (range->type == VALUE_NAME)
                return -EINVAL;
        if (range->type == VALUE_ANY)
                return number_set(range, 0, ret);
        if (range->type == VALUE_BOOL)
                return n == 0 || n == 1 ? number_set(range, n, ret) : -ERANGE;

        /* A number that stands for a word, such as "off", needs no unit. */
        if (value_word(range, n))
                return number_set(range, n, ret);

        if (unit == 0)
                return -ENOMSG;
        if (__builtin_mul_overflow(n, unit, &n) || (range->type == VALUE_STANDBY_TIMER && n == TIMER_RESERVED))
                return -ERANGE;
        return value_set(range, n, false, ret);
}

int value_from_boolean(const ValueRange *range, bool b, Value *ret) {
        if (range->type == VALUE_NAME && (range->yes_is || !range->words))
                return range->yes_is ? -ENOTUNIQ : -EINVAL;

        return value_parse(range, b ? "on" : "off", ret);
}

bool value_equal(const Value *a, const Value *b) {
        if (a->type != b->type)
                return false;

        return a->type == VALUE_NAME ? streq(a->name, b->name) : a->number == b->number;
}

/* ---- formatting for people ---- */

/* Formats a duration for people: "1 h 30 min", "7.5 s". */
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

/* Formats a size in the largest unit that divides it. */
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
        static const char *const suffixes[_VALUE_TYPE_MAX] = {
                [VALUE_MICROSECONDS] = " us",
                [VALUE_CELSIUS] = " C",
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
                        type == VALUE_STRIPES && n == 1 ? " stripe" : suffixes[type] ?: "");
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

char *value_format_span(ValueType type, int64_t min, int64_t max, char buf[static VALUE_SPAN_MAX]) {
        char low[VALUE_TEXT_MAX], high[VALUE_TEXT_MAX];

        (void) snprintf(buf, VALUE_SPAN_MAX, "%s to %s", number_format(type, min, low), number_format(type, max, high));
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
                [VALUE_NAME] = "a name that the kernel knows, at most 39 characters",
                [VALUE_STANDBY_TIMER] =
                                ("\"5s\"...\"20min\", \"21min\", \"21min 15s\", \"30min\"...\"330min\" in steps of 30 min, "
                                 "\"12h\" for the vendor's 8 to 12 h, hdparm's numbers 0...255 except 254, or off"),
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

        /* If "off" is the first or last number of the range, leave that number out: "off" is listed by name. */
        if (range->has_off && range->off == min && min < max)
                min += MAX(range->step, 1);
        else if (range->has_off && range->off == max && min < max)
                max -= MAX(range->step, 1);

        if (min < max && range->unit > 1)
                append(buf, size, "%" PRId64 "...%" PRId64 " without a unit, ", (min + range->unit - 1) / range->unit,
                       max / range->unit);
        if (min < max)
                append(buf, size, "%s...%s", number_format(range->type, min, a), number_format(range->type, max, b));
        if (range->stripes)
                append(buf, size, ", or a number of stripes");
        if (range->has_off)
                append(buf, size, "%soff", buf[0] ? ", or " : "");
        for (const ValueWord *w = range->words; w && w->word; w++)
                append(buf, size, "%s%s", !buf[0] ? "" : w[1].word ? ", " : ", or ", w->word);

        return buf;
}
