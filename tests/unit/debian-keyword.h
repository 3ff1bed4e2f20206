/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The keywords of Debian's /etc/hdparm.conf, with hdparm's flags and our keys for them. */

#include "macro.h"

typedef enum KeywordForm {
        KEYWORD_FLAG,    /* alone on its line */
        KEYWORD_BOOLEAN, /* = on, off, 1, 0 */
        KEYWORD_TEXT,    /* = anything; Debian checks nothing */
        KEYWORD_SECRET,  /* = a password or what belongs to one: never copied */
} KeywordForm;

typedef enum KeywordPower {
        KEYWORD_ALWAYS,
        KEYWORD_ON_MAINS,
        KEYWORD_ON_BATTERY,
} KeywordPower;

typedef struct DebianKeyword {
        const char *name;
        KeywordForm form;
        const char *option; /* what Debian's parser makes of it; NULL: nothing */
        const char *key;    /* our setting; NULL: none */
        KeywordPower power; /* when Debian reads it */
} DebianKeyword;

/* NULL: Debian knows no such keyword. */
const DebianKeyword *debian_keyword(const char *name);
