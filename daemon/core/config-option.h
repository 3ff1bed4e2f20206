/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What stands in a file beside the list of drives: one row each. */

#include "config.h"

typedef struct ConfigOption {
        const char *name;
        ValueRange range;
        size_t offset; /* of its uint64_t in Config */
} ConfigOption;

/* What a value of its range stores there; of a word, the word's number. */
uint64_t config_option_number(const ConfigOption *o, const Value *v);

const ConfigOption *config_option_find(const char *name); /* NULL: there is none */

extern const ConfigOption config_options[]; /* ends with a row without a name */
