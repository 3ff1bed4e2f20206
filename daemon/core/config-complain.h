/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is said of a token in a value's place that is no value. All return 0 or -ENOMEM. */

#include "config-text.h"
#include "setting.h"

/* `error` is value_parse()'s. */
int complain_value(ConfigText *t, size_t token, const char *name, const ValueRange *range, int error);

/* Of a word without quotes, behind the "=" of `name`. */
int complain_word(ConfigText *t, const SettingTable *table, size_t name, size_t token);

/* Of something behind the value of `name`. */
int complain_behind(ConfigText *t, size_t name, size_t token);
