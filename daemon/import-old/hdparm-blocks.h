/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The blocks of an hdparm.conf, as they are read. */

#include "hdparm-remarks.h"
#include "words.h"

typedef struct Reader {
        Import *import;
        HdparmBlock *blocks; /* of each rule of the import … */
        size_t n_blocks;     /* … up to the last that comes from one */
        size_t block;        /* that is open; 0: none, since rule 0 is for all drives */
        unsigned last_block; /* the line in which one began; 0: what stands outside is for all drives */
        Words headers;       /* that wait for their brace */
        unsigned header_line;
        bool commands;  /* in command_line { … } */
        bool commented; /* with another sign than '#', and that is said */
} Reader;

void reader_done(Reader *r);
/* The open block's, or that for all drives. */
ImportRule *reader_rule(Reader *r);
/* Rules that come from commands have no block. */
int reader_grow(Reader *r);
int reader_add_rule(Reader *r, unsigned line, ImportRule **ret);

/* A name of a drive that waits for its brace. */
int reader_add_header(Reader *r, const char *name, unsigned line);
/* Names of drives that nothing follows. */
int reader_drop_headers(Reader *r);

/* With the headers that wait, and this one; NULL: it has none of its own; "": it says of no drive that drivekeep could tell
 * from the others. */
int reader_begin_block(Reader *r, unsigned line, const char *header);
/* "/dev/sda" without a brace, and something for it: never something for all drives. */
int reader_begin_unbraced(Reader *r);
int reader_begin_tagged(Reader *r, unsigned line, const char *tag, const char *value);
/* `alone`: on its line, where Debian sees it. */
int reader_end_block(Reader *r, unsigned line, bool alone);
