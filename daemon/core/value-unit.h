/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Numbers with units: "1h 30min", "512KiB". */

#include "value.h"

/* Milliseconds from a sum of numbers with units (ms, s, min or m, h, d, and the words spelled out). A number alone
 * counts `bare` milliseconds. Returns 0, or 1 when fractions of a millisecond were rounded up, or -EINVAL, -ERANGE
 * (more than 64 bits), -ENOMSG (a number without a unit, and bare is 0). */
int duration_parse(const char *text, int64_t bare, int64_t *ret);

/* The same in microseconds; "us" and "µs" are units too. */
int microseconds_parse(const char *text, int64_t bare, int64_t *ret);

/* Degrees Celsius: a whole number, with or without "C", "°C". Returns 0 or -EINVAL, -ERANGE. */
int celsius_parse(const char *text, int64_t *ret);

/* Bytes from one number with a unit; K, KB and KiB all mean 1024. A number alone counts `bare` bytes. Returns alike. */
int size_parse(const char *text, int64_t bare, int64_t *ret);

char *duration_format(int64_t ms, char buf[static VALUE_TEXT_MAX]);     /* "1 h 30 min", "7.5 s" */
char *microseconds_format(int64_t us, char buf[static VALUE_TEXT_MAX]); /* "75 ms", "250 µs" */
char *size_format(int64_t bytes, char buf[static VALUE_TEXT_MAX]);      /* the largest unit that divides it */
