/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What one file of somebody else's asks for, on its way to being drivekeep configuration: rules in the order in which
 * drivekeep is to read them (later ones win), and remarks that stand beside them as comments. */

#include "match.h"

/* Comments: a sentence or two each, without an end of line. */
typedef struct Remarks {
        char **items;
        size_t n_items;
} Remarks;

int remark(Remarks *r, const char *format, ...) _printf_(2, 3);

typedef struct ImportWish {
        char *key;    /* drivekeep's */
        char *value;  /* as the file has it: "127", "on", "7s" */
        bool offered; /* written as a comment: the user is to decide */
        unsigned line;
        Remarks remarks;
} ImportWish;

typedef struct ImportRule {
        Match match;
        bool offered;     /* the whole block is written as a comment */
        bool conditional; /* so it is, because it holds at times only: which drives it is for is certain */
        unsigned line;
        Remarks remarks;
        ImportWish *wishes;
        size_t n_wishes;
} ImportRule;

typedef struct Import {
        char *file;
        Remarks remarks;
        ImportRule *rules;
        size_t n_rules;
        bool empty; /* the file has nothing but blanks and comments */
} Import;

int import_add_rule(Import *i, unsigned line, ImportRule **ret); /* *ret is good until the next one is added */
/* The rules from `first` on hold at times only, as this sentence says. */
int import_hold(Import *i, size_t first, const char *format, ...) _printf_(3, 4);
int import_add_wish(ImportRule *r, unsigned line, const char *key, const char *value, ImportWish **ret);
ImportWish *import_find_wish(const ImportRule *r, const char *key);
void import_drop_wish(ImportRule *r, const char *key); /* when there is one */
void import_rule_done(ImportRule *r);
_public_ void import_done(Import *i);

/* match_add(), and -EINVAL too for a pattern that cannot be written down as it is. */
int import_match(Match *m, MatchKey key, const char *property, const char *pattern);

/* import_match() for a node: 1, or 0 when it can be no node: then the rule becomes an offered one that says so. */
int import_match_node(ImportRule *r, const char *pattern);
