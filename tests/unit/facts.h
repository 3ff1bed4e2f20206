/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Test data for DriveLookup: an array of properties and attributes. The last Fact of the array has no key. */

#include "drive.h"

typedef struct Fact {
        const char *key, *value;
} Fact;

static const char *fact(void *userdata, const char *key) {
        for (const Fact *f = userdata; f->key; f++)
                if (streq(f->key, key))
                        return f->value;
        return NULL;
}
