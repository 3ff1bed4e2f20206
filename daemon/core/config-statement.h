/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the statements of one section; a part of config-outline.c, which reads what is between them. */

#include "config-outline.h"

typedef struct Reader {
        ConfigText *text;
        const SettingTable *table;
        Outline outline;
        size_t i; /* the next token */
        /* The list of drives: */
        size_t drives;    /* where it began; 0: not yet, as it cannot begin with the first token */
        bool misnamed;    /* it is not called "drives" … */
        size_t list_name; /* … but this */
        /* The section: */
        bool block; /* else it is an option */
        /* The statement: */
        unsigned depth; /* of brackets */
        size_t name;    /* for complaints */
        size_t group;   /* as in Statement … */
        bool battery;   /* … both */
} Reader;

static inline TokenType token_type(const Reader *r, size_t i) {
        return r->text->tokens[i].type;
}

/* One statement, to where the next one may begin. 1: it is sound; 0: it was complained about. */
int reader_statement(Reader *r);

/* All up to the section's end, or a '}'. Returns alike. */
int reader_statements(Reader *r);

/* Whether the section ends here, whatever is still open in it. */
bool reader_at_end(const Reader *r);

bool reader_at_option(const Reader *r, size_t i); /* its name, and "=" */
