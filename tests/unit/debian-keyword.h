/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The keywords of Debian's /etc/hdparm.conf, with their hdparm flags and drivekeep settings. */

#include "macro.h"

typedef enum KeywordForm {
        KEYWORD_FLAG,    /* without a value */
        KEYWORD_BOOLEAN, /* with a value: on, off, 1 or 0 */
        KEYWORD_TEXT,    /* with a value that Debian does not check */
        KEYWORD_SECRET,  /* with a password, or with a value that accompanies a password; never copied */
} KeywordForm;

typedef enum KeywordPower {
        KEYWORD_ALWAYS,
        KEYWORD_ON_MAINS,
        KEYWORD_ON_BATTERY,
} KeywordPower;

typedef struct DebianKeyword {
        const char *name;
        KeywordForm form;
        const char *option; /* hdparm option from Debian's parser; NULL: none */
        const char *key;    /* drivekeep setting; NULL: none */
        KeywordPower power; /* power source on which Debian applies the keyword */
} DebianKeyword;

/* Returns NULL if Debian has no such keyword. */
const DebianKeyword *debian_keyword(const char *name);
