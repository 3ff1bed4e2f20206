/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A setting's value: what the file wants and what a drive holds, in one comparable form. Plain data without
 * pointers, so that it crosses a socket as it is. */

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
        VALUE_NAME,          /* name is a word of the kernel's */
        VALUE_ANY,           /* whatever stands there, and none of it is kept: for keys that nothing is done with */
        VALUE_STRIPES,       /* number of stripes of an array; a size that only the array knows */
        _VALUE_TYPE_MAX,
} ValueType;

typedef struct Value {
        ValueType type;
        int64_t number;
        char name[VALUE_NAME_MAX];
} Value;

/* The number of a Value whose type stands elsewhere, where there is one. */
typedef struct KnownNumber {
        bool known;
        int64_t number;
} KnownNumber;

/* A number with a name of its own. */
typedef struct ValueWord {
        const char *word;
        int64_t number;
} ValueWord;

/* What a setting accepts; part of its row (setting.h). Bounds are in the value's own unit (ms, bytes, …). */
typedef struct ValueRange {
        ValueType type;
        int64_t min, max;
        int64_t unit; /* what a bare number in the file counts: 512 for sectors, 1024 for KiB; 0: 1, except that a
                       * duration then needs a unit in the file */
        int64_t step; /* only multiples of it can be held: 100 for tenths of a second; 0: any */
        bool has_off; /* "off" is a value of this setting besides the range … */
        int64_t off;  /* … and this is its number */
        const ValueWord *words; /* numbers besides the range that are written and read as words; ends with {}. For
                                 * VALUE_NAME: the only names there are */
        bool stripes;           /* VALUE_SIZE: "2 stripes" is a value too (VALUE_STRIPES) */
        const char *yes_is; /* VALUE_NAME: a bare true could mean either word; what to write instead. NULL: it is "on" */
} ValueRange;

#define VALUE_BOOLEAN(b) ((Value){ .type = VALUE_BOOL, .number = (b) })

bool value_equal(const Value *a, const Value *b);

/* As people say it: "on", "127", "20 min", "7 s", "512 KiB", "mq-deadline", "off". The text is always in `buf`, which is
 * returned; a literal in its place does not compile. */
char *value_format(const ValueRange *range, const Value *v, char buf[static VALUE_TEXT_MAX]);

/* The word for a number, where it has one: "off", "default". */
const char *value_word(const ValueRange *range, int64_t n);

/* As the file accepts it: "1...254, or off". For complaints, help and man pages. */
char *value_range_format(const ValueRange *range, char *buf, size_t size);

/* Parses the text of a string ("20min", "512KiB", "off", "mq-deadline", "128"). Returns 0, or 1 when the value
 * could not be encoded exactly and *ret is the nearest one (write what it became), or -EINVAL (not a value of
 * this type), -ERANGE (outside the range), -ENOMSG (a duration without a unit), -ENOTUNIQ (it could mean either of two
 * words: range->yes_is). */
int value_parse(const ValueRange *range, const char *text, Value *ret);

/* Does its text say exactly this value? The kernel and drives have others, too. */
bool value_has_exact_text(const ValueRange *range, const Value *v);

/* The same for a bare integer and a bare boolean of the file. */
int value_from_integer(const ValueRange *range, int64_t n, Value *ret);
int value_from_boolean(const ValueRange *range, bool b, Value *ret);

#define STANDBY_TIMER_VENDOR 253 /* 8 to 12 h, as the vendor likes */
#define STANDBY_TIMER_VENDOR_TEXT "vendor (8 to 12 h)"

/* The seconds of a standby timer's byte. 0 means disabled; the vendor's choice reads as 8 h. */
uint64_t standby_timer_to_seconds(uint8_t timer);
