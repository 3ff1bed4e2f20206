/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "macro.h"
#include "value-unit.h"
#include "value.h"

#define STANDBY_TIMER_VENDOR 253
#define STANDBY_TIMER_RESERVED 254

/* What a bare number counts; 0: a unit is needed. */
static int64_t bare_unit(const ValueRange *range) {
        bool time = range->type == VALUE_DURATION || range->type == VALUE_MICROSECONDS;

        return time ? range->unit : MAX(range->unit, 1);
}

static const ValueWord *words_of(const ValueRange *range) {
        static const ValueWord timer_words[] = { { "vendor (8 to 12 h)", STANDBY_TIMER_VENDOR }, {} };

        return range->type == VALUE_STANDBY_TIMER ? timer_words : range->words;
}

static const ValueWord *word_find(const ValueRange *range, const char *text) {
        for (const ValueWord *w = words_of(range); w && w->word; w++)
                if (strcasecmp(w->word, text) == 0)
                        return w;

        return NULL;
}

/* The word for a number, where it has one. */
static const char *word_of(const ValueRange *range, int64_t n) {
        if (range->has_off && n == range->off)
                return "off";
        for (const ValueWord *w = words_of(range); w && w->word; w++)
                if (w->number == n)
                        return w->word;

        return NULL;
}

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

static int number_set(const ValueRange *range, int64_t n, Value *ret) {
        *ret = (Value){ .type = range->type, .number = n };
        return 0;
}

/* Sets *ret when `n`, in the value's own unit, is in the range, rounded to what can be held. */
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

static int standby_timer_parse(const ValueRange *range, const char *text, Value *ret) {
        int64_t ms;
        uint8_t timer;
        int r, inexact;

        r = quantity_parse(VALUE_DURATION, text, 0, &ms);
        if (r < 0)
                return r;
        inexact = r > 0 || ms % 1000 != 0;

        r = standby_timer_from_seconds((uint64_t) ms / 1000 + (ms % 1000 != 0), &timer);
        if (r < 0)
                return r;

        (void) number_set(range, timer, ret);
        return inexact || r > 0;
}

int value_parse(const ValueRange *range, const char *text, Value *ret) {
        static const ValueRange stripes = { .type = VALUE_STRIPES, .min = 1, .max = VALUE_STRIPES_MAX };
        const ValueWord *word;
        int64_t n;
        int r;

        if (range->type == VALUE_ANY)
                return number_set(range, 0, ret);
        if (range->type == VALUE_NAME)
                return name_parse(range, text, ret);

        word = word_find(range, text);
        if (word)
                return number_set(range, word->number, ret);

        r = boolean_parse(text);
        if (r >= 0 && !isdigit((unsigned char) *text))
                return value_from_boolean(range, r, ret);

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

int value_from_integer(const ValueRange *range, int64_t n, Value *ret) {
        int64_t unit = bare_unit(range);

        if (range->type == VALUE_NAME)
                return -EINVAL;
        if (range->type == VALUE_ANY)
                return number_set(range, 0, ret);
        if (range->type == VALUE_BOOL)
                return n == 0 || n == 1 ? number_set(range, n, ret) : -ERANGE;

        /* A number that has a word may be written as the number too, and nothing is nothing in any unit. */
        if (word_of(range, n))
                return number_set(range, n, ret);

        if (unit == 0)
                return -ENOMSG;
        if (__builtin_mul_overflow(n, unit, &n) || (range->type == VALUE_STANDBY_TIMER && n == STANDBY_TIMER_RESERVED))
                return -ERANGE;
        return value_set(range, n, false, ret);
}

int value_from_boolean(const ValueRange *range, bool b, Value *ret) {
        const char *text = b ? "on" : "off";
        const ValueWord *word;

        if (range->type == VALUE_BOOL || range->type == VALUE_ANY)
                return value_from_integer(range, b, ret);
        if (range->type == VALUE_NAME)
                return range->yes_is ? -ENOTUNIQ : range->words ? name_parse(range, text, ret) : -EINVAL;

        word = word_find(range, text);
        if (word)
                return number_set(range, word->number, ret);
        return b || !range->has_off ? -EINVAL : number_set(range, range->off, ret);
}

bool value_equal(const Value *a, const Value *b) {
        if (a->type != b->type)
                return false;

        return a->type == VALUE_NAME ? streq(a->name, b->name) : a->number == b->number;
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
        if (type == VALUE_STANDBY_TIMER)
                return duration_format((int64_t) standby_timer_to_seconds((uint8_t) n) * 1000, buf);

        (void) snprintf(buf, VALUE_TEXT_MAX, "%" PRId64 "%s", n,
                        type == VALUE_STRIPES && n == 1 ? " stripe" : units[type] ?: "");
        return buf;
}

char *value_format(const ValueRange *range, const Value *v, char buf[static VALUE_TEXT_MAX]) {
        const char *word;

        if (v->type == VALUE_STRIPES)
                return number_format(VALUE_STRIPES, v->number, buf);

        word = v->type == VALUE_NAME ? v->name : v->type == VALUE_ANY ? "(not kept)" : word_of(range, v->number);
        if (!word)
                return number_format(range->type, v->number, buf);

        (void) snprintf(buf, VALUE_TEXT_MAX, "%s", word);
        return buf;
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
        static const char *const texts[_VALUE_TYPE_MAX] = {
                [VALUE_BOOL] = "on or off",
                [VALUE_NAME] = "a word of the kernel's, of at most 39 characters",
                [VALUE_STANDBY_TIMER] =
                                ("\"5s\"…\"20min\", \"21min\", \"21min 15s\", \"30min\"…\"330min\" in steps of 30 min, "
                                 "\"12h\" for the vendor's 8 to 12 h, hdparm's numbers 0…255 but 254, or off"),
                [VALUE_ANY] = "anything; it has no effect",
        };
        int64_t min = range->min, max = range->max;
        char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], counts[VALUE_TEXT_MAX] = "", numbers[4 * VALUE_TEXT_MAX] = "";

        static_assert(VALUE_NAME_MAX == 39 + 1, "");

        if (texts[range->type] && !range->words) {
                (void) snprintf(buf, size, "%s", texts[range->type]);
                return buf;
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
                (void) snprintf(numbers, sizeof numbers, "%s%s…%s%s", counts, number_format(range->type, min, a),
                                number_format(range->type, max, b), range->stripes ? ", a number of stripes" : "");
        if (range->has_off)
                (void) snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), "%soff",
                                min < max ? ", or " : "");

        return words_format(range, numbers, buf, size);
}
