/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Text that drives and users had a hand in: made harmless for files, the journal and terminals, and understood in spite of a slip.
 * Pure. */

#include "macro.h"

/* A copy in which control characters, bytes that are not UTF-8, characters that reorder or break a line, and the
 * characters of `also` (NULL: none) stand as \xNN, byte by byte. With a backslash in `also` nothing is lost:
 * text_unescape() gives the original; without, what is meant to be copied (unit names) can be. The caller frees it;
 * NULL on -ENOMEM. */
char *text_escape(const char *s, const char *also);

/* The first of these words (NULL at the end) that is an option and not fit to be shown; NULL: none is. For before
 * argp_parse(), which tells of options that it does not know as they are. */
const char *text_find_garbled_option(char *const *words);

/* Undoes it. -EBADMSG: a backslash that does not begin \xNN, or one that means NUL. */
int text_unescape(const char *s, char **ret);

/* What \xNN at the start of `s` stands for; NUL: there is no such thing, or it means that. */
char text_escaped_character(const char *s);

/* Without the blanks around it: cuts off those at the end, and returns where the rest begins. */
char *text_strip(char *s);

/* Puts a copy of `value` (NULL: none) in the place of what *field holds. -ENOMEM: nothing is changed. */
int string_replace(char **field, const char *value);

/* FNV-1a: tells texts apart. No protection against texts that are made to collide. */
uint64_t text_hash(const char *text, size_t size);

bool text_is_utf8(const char *s, size_t size);

/* Is it a name as the kernel gives drives and drivekeep gives settings: letters, digits, '_', '-' and, not at its start, '.'? Such a
 * name needs no escape, neither in a header nor in the name of a file. */
bool text_is_name(const char *s);

/* The first character of these bytes that looks like a blank, or like nothing, and is no blank; *ret_name is what it is called.
 * NULL: there is none. */
const char *text_find_invisible(const char *s, size_t size, const char **ret_name);

/* Whether one of the words, with blanks between them, is this one. Letters and digits count alone: "apm-level", "APMLevel". */
bool text_has_word(const char *words, const char *word);

/* Which known word a mistyped one was meant to be. Offer the candidates one by one; `word` is the best so far. */

typedef struct Nearest {
        const char *typed;
        const char *word; /* NULL: nothing is near */
        unsigned distance;
} Nearest;

void nearest_offer(Nearest *n, const char *candidate);
