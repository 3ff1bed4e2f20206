/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The keywords of /etc/hdparm.conf, with hdparm's flags and drivekeep's keys for them (hdparm 9.65: hdparm.8, hdparm.conf.5). */

#include "macro.h"

typedef struct Keyword {
        const char *name;
        bool alone;      /* it stands alone on its line; else it is given a value */
        char letter;     /* hdparm's flag; '\0': it has a long name */
        const char *key; /* drivekeep's; NULL: none */
} Keyword;

/* NULL: there is no such keyword. */
const Keyword *keyword_find(const char *name);
const Keyword *keyword_find_letter(char letter);
