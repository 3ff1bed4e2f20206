/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Escapes text from drives and users for files, the journal and terminals. Finds the known word that is nearest to a
 * mistyped word. */

#include "macro.h"

/* Returns a copy of `s` in which \xNN replaces each byte of these characters: control characters, bytes that are not
 * UTF-8, characters that reorder or break a line, and the characters in `also` (NULL: none). If `also` has a backslash,
 * text_unescape() restores the original. If `also` has no backslash, a backslash in `s` stays as it is, so that users
 * can copy names of units. The caller frees the copy. NULL: out of memory. */
char *text_escape(const char *s, const char *also);

/* Returns the first command-line option that has unprintable characters; NULL: none. The list `words` of arguments ends
 * with NULL. Call this function before argp_parse(), which prints unknown options without escaping them. */
const char *text_find_garbled_option(char *const *words);

/* Reverses text_escape(). -EBADMSG: a backslash without xNN, or \x00. */
int text_unescape(const char *s, char **ret);

/* Returns the character of the \xNN at the start of `s`; NUL: there is no \xNN, or it is \x00. */
char text_escaped_character(const char *s);

/* Cuts off the blanks at the end of `s`, and returns a pointer to the first character that is not a blank. */
char *text_strip(char *s);

/* Frees *field and replaces it by a copy of `value`, or by NULL if `value` is NULL. -ENOMEM: *field is unchanged. */
int string_replace(char **field, const char *value);

/* Returns the FNV-1a hash of a text. Not resistant to deliberate collisions. */
uint64_t text_hash(const char *text, size_t size);

bool text_is_utf8(const char *s, size_t size);

/* Returns true if `s` has only letters, digits, '_', '-' and '.', and does not start with '.'. The kernel's names of drives, and
 * the names of settings, have this form. Such a name needs no escape in a header or a file name. */
bool text_is_name(const char *s);

/* Returns the first non-ASCII character that looks like a blank or is invisible, and its name in *ret_name. NULL: none. */
const char *text_find_invisible(const char *s, size_t size, const char **ret_name);

/* Returns true if `word` is one of the words, which are separated by blanks. Ignores case, '-' and '_': "apm-level" equals "APMLevel". */
bool text_has_word(const char *words, const char *word);

/* Finds the known word that is nearest to a mistyped word: call nearest_offer() for each known word. */
typedef struct Nearest {
        const char *typed;
        const char *word;  /* the nearest known word so far; NULL: none is near */
        unsigned distance; /* number of typing errors between `typed` and `word` */
} Nearest;

void nearest_offer(Nearest *n, const char *candidate);
