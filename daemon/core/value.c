/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "macro.h"
#include "value-unit.h"
#include "value.h"

#define STANDBY_TIMER_VENDOR 253
#define STANDBY_TIMER_RESERVED 254

/* 1 for on, true, yes, 1; 0 for off, false, no, 0; -EINVAL. */
static int boolean_parse(const char *text) {
        static const char *const words[][4] = { { "off", "false", "no", "0" }, { "on", "true", "yes", "1" } };

        for (size_t b = 0; b < 2; b++)
                for (size_t i = 0; i < ELEMENTSOF(words[b]); i++)
                        if (strcasecmp(text, words[b][i]) == 0)
                                return (int) b;

        return -EINVAL;
}

/* Decimal or 0x…; never octal, as the file's own numbers are not. */
static int integer_parse(const char *text, int64_t *ret) {
        const char *digits = text + (*text == '+' || *text == '-');
        bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
        char *end;

        if (!isdigit((unsigned char) *digits) || (hex && !isxdigit((unsigned char) digits[2])))
                return -EINVAL;

        errno = 0;
        *ret = strtoll(text, &end, hex ? 16 : 10);
        if (*end)
                return -EINVAL;

        return -errno;
}

/* Sets *ret when `n`, in the value's own unit, is in the range, rounded to what can be held. */
static int value_set(const ValueRange *range, int64_t n, bool inexact, Value *ret) {
        if (!(range->has_off && n == range->off)) {
                int64_t rest = range->step > 1 ? n % range->step : 0;

                if (n < range->min || n > range->max)
                        return -ERANGE;

                if (rest != 0) {
                        inexact = true;
                        n -= rest;
                        if (n < range->min || (rest >= range->step - rest && n <= range->max - range->step))
                                n += range->step;
                }
        }

        *ret = (Value){ .type = range->type, .number = n };
        return inexact;
}

static const ValueWord *word_find(const ValueRange *range, const char *text) {
        for (const ValueWord *w = range->words; w && w->word; w++)
                if (strcasecmp(w->word, text) == 0)
                        return w;

        return NULL;
}

static int name_set(const char *text, Value *ret) {
        *ret = (Value){ .type = VALUE_NAME };
        memcpy(ret->name, text, strlen(text));
        return 0;
}

static int name_parse(const ValueRange *range, const char *text, Value *ret) {
        size_t n = strlen(text);

        if (range->words) {
                const ValueWord *w = word_find(range, text);

                return w ? name_set(w->word, ret) : -EINVAL;
        }

        if (n == 0 || n >= VALUE_NAME_MAX)
                return -EINVAL;
        for (size_t i = 0; i < n; i++)
                if (!isalnum((unsigned char) text[i]) && !strchr("-_.", text[i]))
                        return -EINVAL;

        return name_set(text, ret);
}

/* "2 stripes", "1 stripe". */
static int stripes_parse(const char *text, Value *ret) {
        char *end;
        long n;

        if (!isdigit((unsigned char) *text))
                return -EINVAL;

        errno = 0;
        n = strtol(text, &end, 10);
        end += strspn(end, " \t");
        if (strcasecmp(end, "stripes") != 0 && strcasecmp(end, "stripe") != 0)
                return -EINVAL;
        if (errno != 0 || n < 1 || n > VALUE_STRIPES_MAX)
                return -ERANGE;

        *ret = (Value){ .type = VALUE_STRIPES, .number = n };
        return 0;
}

static int standby_timer_parse(const ValueRange *range, const char *text, Value *ret) {
        char vendor[VALUE_TEXT_MAX];
        int64_t ms, n;
        uint8_t timer;
        int r, inexact;

        /* As it is shown. */
        if (streq(text, standby_timer_format(STANDBY_TIMER_VENDOR, vendor)))
                return value_from_integer(range, STANDBY_TIMER_VENDOR, ret);

        r = integer_parse(text, &n);
        if (r >= 0)
                return value_from_integer(range, n, ret);

        r = quantity_parse(VALUE_DURATION, text, 0, &ms);
        if (r < 0)
                return r;
        inexact = r > 0 || ms % 1000 != 0;

        r = standby_timer_from_seconds((uint64_t) ms / 1000 + (ms % 1000 != 0), &timer);
        if (r < 0)
                return r;

        *ret = (Value){ .type = VALUE_STANDBY_TIMER, .number = timer };
        return inexact || r > 0;
}

int value_parse(const ValueRange *range, const char *text, Value *ret) {
        const ValueWord *word;
        int64_t n;
        int r;

        if (range->type == VALUE_ANY) {
                *ret = (Value){ .type = VALUE_ANY };
                return 0;
        }
        if (range->type == VALUE_NAME)
                return name_parse(range, text, ret);

        word = word_find(range, text);
        if (word) {
                *ret = (Value){ .type = range->type, .number = word->number };
                return 0;
        }
        if (range->stripes) {
                r = stripes_parse(text, ret);
                if (r != -EINVAL)
                        return r;
        }

        r = boolean_parse(text);
        if (r >= 0 && !isdigit((unsigned char) *text))
                return value_from_boolean(range, r, ret);

        switch (range->type) {
        case VALUE_BOOL:
        case VALUE_INT:
                r = integer_parse(text, &n);
                return r < 0 ? r : value_from_integer(range, n, ret);

        case VALUE_DURATION:
        case VALUE_MICROSECONDS:
                r = integer_parse(text, &n);
                if (r >= 0)
                        return value_from_integer(range, n, ret);
                r = quantity_parse(range->type, text, range->unit, &n);
                return r < 0 ? r : value_set(range, n, r, ret);

        case VALUE_SIZE:
                r = quantity_parse(range->type, text, MAX(range->unit, 1), &n);
                return r < 0 ? r : value_set(range, n, r, ret);

        case VALUE_CELSIUS:
                r = celsius_parse(text, &n);
                return r < 0 ? r : value_set(range, n, false, ret);

        case VALUE_STANDBY_TIMER:
                return standby_timer_parse(range, text, ret);

        default:
                return -EINVAL;
        }
}

int value_from_integer(const ValueRange *range, int64_t n, Value *ret) {
        /* A number that has a word may be written as the number too. */
        for (const ValueWord *w = range->type == VALUE_NAME ? NULL : range->words; w && w->word; w++)
                if (w->number == n) {
                        *ret = (Value){ .type = range->type, .number = n };
                        return 0;
                }

        switch (range->type) {
        case VALUE_BOOL:
                if (n != 0 && n != 1)
                        return -ERANGE;
                *ret = VALUE_BOOLEAN(n);
                return 0;

        case VALUE_DURATION:
        case VALUE_MICROSECONDS:
                /* Nothing is nothing in any unit. */
                if (range->unit == 0 && !(n == 0 && range->has_off && range->off == 0))
                        return -ENOMSG;
                _fallthrough_;
        case VALUE_SIZE:
                if (__builtin_mul_overflow(n, MAX(range->unit, 1), &n))
                        return -ERANGE;
                _fallthrough_;
        case VALUE_INT:
        case VALUE_CELSIUS:
                return value_set(range, n, false, ret);

        case VALUE_ANY:
                *ret = (Value){ .type = VALUE_ANY };
                return 0;

        case VALUE_STANDBY_TIMER:
                if (n < 0 || n > UINT8_MAX || n == STANDBY_TIMER_RESERVED)
                        return -ERANGE;
                *ret = (Value){ .type = VALUE_STANDBY_TIMER, .number = n };
                return 0;

        default:
                return -EINVAL;
        }
}

int value_from_boolean(const ValueRange *range, bool b, Value *ret) {
        const ValueWord *on;

        if (range->type == VALUE_BOOL) {
                *ret = VALUE_BOOLEAN(b);
                return 0;
        }

        if (range->type == VALUE_ANY) {
                *ret = (Value){ .type = VALUE_ANY };
                return 0;
        }
        if (range->type == VALUE_NAME && range->yes_is)
                return -ENOTUNIQ;
        if (range->type == VALUE_NAME && range->words)
                return name_parse(range, b ? "on" : "off", ret);
        on = b ? word_find(range, "on") : NULL;
        if (on) {
                *ret = (Value){ .type = range->type, .number = on->number };
                return 0;
        }

        if (b || range->type == VALUE_NAME || (!range->has_off && range->type != VALUE_STANDBY_TIMER))
                return -EINVAL;

        *ret = (Value){ .type = range->type, .number = range->type == VALUE_STANDBY_TIMER ? 0 : range->off };
        return 0;
}

bool value_equal(const Value *a, const Value *b) {
        if (a->type != b->type)
                return false;

        return a->type == VALUE_NAME ? streq(a->name, b->name) : a->number == b->number;
}
