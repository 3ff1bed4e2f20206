/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The value of a setting, in the same form for the configuration and the drive, so that the two can be compared. Plain
 * data without pointers, so that processes can exchange a value. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUE_NAME_MAX 40U
#define VALUE_TEXT_MAX 64U
#define VALUE_STRIPES_MAX 1024

typedef enum ValueType {
        VALUE_BOOL,          /* number is 0 or 1 */
        VALUE_INT,           /* number, no unit */
        VALUE_DURATION,      /* number in milliseconds */
        VALUE_MICROSECONDS,  /* number in microseconds */
        VALUE_SIZE,          /* number in bytes */
        VALUE_STANDBY_TIMER, /* number is ATA's timer byte, 0…255 (ACS-4, STANDBY) */
        VALUE_CELSIUS,       /* number in degrees Celsius */
        VALUE_NAME,          /* `name` is a word that the kernel knows */
        VALUE_ANY,           /* any text, which is ignored: for keys without effect */
        VALUE_STRIPES,       /* number of stripes of an array; their size depends on the array */
        _VALUE_TYPE_MAX,
} ValueType;

typedef struct Value {
        ValueType type;
        int64_t number;
        char name[VALUE_NAME_MAX];
} Value;

/* The number of a Value, if it is known. The ValueType is not stored with it. */
typedef struct KnownNumber {
        bool known;
        int64_t number;
} KnownNumber;

/* A number that is written as a word. */
typedef struct ValueWord {
        const char *word;
        int64_t number;
} ValueWord;

/* The values that a setting accepts; part of its row (setting.h). Bounds are in the unit of the ValueType (ms, bytes, …). */
typedef struct ValueRange {
        ValueType type;
        int64_t min, max;
        int64_t unit; /* factor of a number without a unit: 512 for sectors, 1024 for KiB. 0: a duration needs a unit,
                       * and any other number has the factor 1 */
        int64_t step; /* the setting can hold only multiples of `step`: 100 for tenths of a second; 0: any number */
        bool has_off; /* the setting also accepts "off" */
        int64_t off;  /* the number that means "off" */
        const ValueWord *words; /* words for numbers outside the range; ends with {}. VALUE_NAME: all valid names */
        bool stripes;           /* VALUE_SIZE: the setting also accepts "2 stripes" (VALUE_STRIPES) */
        const char *yes_is; /* VALUE_NAME: explains the names that a bare `true` could mean. NULL: `true` means "on" */
} ValueRange;

#define VALUE_BOOLEAN(b) ((Value){ .type = VALUE_BOOL, .number = (b) })

bool value_equal(const Value *a, const Value *b);

/* Formats a value for people: "on", "127", "20 min", "7 s", "512 KiB", "mq-deadline", "off". Writes the text to `buf` and returns it. */
char *value_format(const ValueRange *range, const Value *v, char buf[static VALUE_TEXT_MAX]);

#define VALUE_SPAN_MAX (2 * VALUE_TEXT_MAX + 4U)

/* Formats the numbers between two bounds for people: "5 s to 20 min". Writes the text to `buf` and returns it. */
char *value_format_span(ValueType type, int64_t min, int64_t max, char buf[static VALUE_SPAN_MAX]);

/* Returns the word for a number: "off", "default". NULL: none. */
const char *value_word(const ValueRange *range, int64_t n);

/* Formats the range for error messages, help and manual pages: "1...254, or off". */
char *value_range_format(const ValueRange *range, char *buf, size_t size);

/* Parses a string ("20min", "512KiB", "off", "mq-deadline", "128"). Returns 0 if *ret is the exact value. 1: the
 * setting cannot hold the exact value, and *ret is the nearest value; the caller should report this. -EINVAL: not a
 * value of this type. -ERANGE: outside the range. -ENOMSG: a duration without a unit. -ENOTUNIQ: the text could mean
 * two names (range->yes_is). */
int value_parse(const ValueRange *range, const char *text, Value *ret);

/* Returns true if value_parse() restores the value from its text. Some values that drives and the kernel report have no
 * exact text. */
bool value_has_exact_text(const ValueRange *range, const Value *v);

/* Like value_parse(), for an integer or boolean without quotes in a configuration file. */
int value_from_integer(const ValueRange *range, int64_t n, Value *ret);
int value_from_boolean(const ValueRange *range, bool b, Value *ret);

#define STANDBY_TIMER_VENDOR 253 /* 8 to 12 h, chosen by the vendor */
#define STANDBY_TIMER_VENDOR_TEXT "vendor (8 to 12 h)"

/* Converts a standby timer byte to seconds. Returns 0 for a disabled timer. STANDBY_TIMER_VENDOR counts as 8 h. */
uint64_t standby_timer_to_seconds(uint8_t timer);
