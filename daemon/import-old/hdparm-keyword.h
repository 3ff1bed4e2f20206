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

#define HDPARM_NODES "/dev/[sh]d[a-z]" /* all that Debian's udev rule fits */

typedef struct Keyword {
        const char *name;
        KeywordForm form;
        const char *option; /* what Debian's parser makes of it; NULL: nothing */
        const char *key;    /* our setting; NULL: none */
        KeywordPower power; /* when Debian reads it */
        const char *guard; /* turned on, hdparm stops here for want of a flag that Debian does not give, and sends nothing
                             * of what it would have sent after it (catalogue 3.6, 6.0) */
} Keyword;

/* NULL: Debian knows no such keyword. */
const Keyword *keyword_find(const char *name);
/* By hdparm's letter: the keyword that Debian's parser makes this flag of. */
const Keyword *keyword_find_letter(char letter);
/* One behind which a password may stand, or a word that resembles one; NULL: it is neither. */
const Keyword *keyword_secret(const char *word);
/* The known keyword nearest to a mistyped one, or NULL. */
const Keyword *keyword_nearest(const char *name);
