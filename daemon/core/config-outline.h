/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where in a file each block and each option begins and ends, however broken: so that one typo costs one block. */

#include "config-text.h"

typedef struct Section {
        bool block;        /* else an option: a statement beside the list of drives */
        bool broken;       /* its bounds are a guess */
        size_t start;      /* the token to point at */
        size_t inside;     /* the tokens inside: from here … */
        size_t end;        /* … up to, not with, this one */
        bool brace_behind; /* a '}' too many: perhaps the block ends only there */
        bool misnamed;     /* a block in a list that is not called "drives" … */
        size_t list_name;  /* … but as this token */
} Section;

typedef struct Outline {
        Section *sections;
        size_t n_sections;
} Outline;

/* Finds the sections, complains of what is wrong between them, and sets the brackets' partners in the tokens. */
int outline_make(ConfigText *t, Outline *ret);
void outline_done(Outline *o);
