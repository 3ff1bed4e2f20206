/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The value of one statement, read by libconfig. All return 1, or 0 when there is none and that was complained about (a
 * statement that is not sound: before), or -ENOMEM. */

#include "config-outline.h"
#include "config.h"

/* The statements of a match = { … } stand behind it, before `end`. */
int statement_read_match(ConfigText *t, const Statement *st, const Statement *end, Match *ret);
int statement_read_boolean(ConfigText *t, const Statement *st, const char *name, bool *ret);

/* A value in `range` for the key `name`; one that cannot be held exactly is a warning. `ret_keep` may be NULL where
 * "keep" means nothing. */
int statement_read_value(ConfigText *t, const Statement *st, const char *name, const ValueRange *range, Value *ret,
                         bool *ret_keep);
