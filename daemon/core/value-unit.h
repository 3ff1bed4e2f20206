/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Numbers with units: "1h 30min", "512KiB". */

#include "value.h"

/* A quantity of this type, in the unit of its Value.number, from a number with a unit, or a sum of them ("1h 30min") where it is a
 * time. K, KB and KiB all mean 1024. A number alone counts `bare`. Returns 0, or 1 when fractions were rounded up, or -EINVAL,
 * -ERANGE (more than 64 bits), -ENOMSG (a number without a unit, and bare is 0). */
int quantity_parse(ValueType type, const char *text, int64_t bare, int64_t *ret);

char *duration_format(int64_t ms, char buf[static VALUE_TEXT_MAX]); /* "1 h 30 min", "7.5 s" */
char *size_format(int64_t bytes, char buf[static VALUE_TEXT_MAX]);  /* the largest unit that divides it */
