/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A file as a list of blocks and options, and each of those as a list of statements (name = value), however broken: so that one
 * typo costs one block. What is wrong with the syntax is complained about here, what the values mean is not looked at. */

#include "config-text.h"
#include "setting.h"

typedef struct Statement {
        size_t name;       /* tokens: the name … */
        size_t value, end; /* … and the value, from here up to, not with, there; 0: it is no statement */
        size_t group;      /* the name of the group that it stands in; 0: in none */
        bool battery;      /* that group is on_battery = { … }, or what looks like it */
        bool sound;        /* else it was complained about, and there may be no value at all */
} Statement;

typedef struct Section {
        bool block;                 /* else an option: a statement beside the list of drives */
        bool broken;                /* its bounds are a guess */
        bool sound;                 /* all its statements are */
        size_t start;               /* the token to point at */
        size_t inside;              /* the tokens inside: from here … */
        size_t end;                 /* … up to, not with, this one */
        size_t first, n_statements; /* in Outline.statements; those in a group stand behind it */
        bool brace_behind;          /* a '}' too many: perhaps the block ends only there */
        bool misnamed;              /* a block in a list that is not called "drives" … */
        size_t list_name;           /* … but as this token */
} Section;

typedef struct Outline {
        Section *sections;
        size_t n_sections;
        Statement *statements;
        size_t n_statements;
} Outline;

int outline_make(ConfigText *t, const SettingTable *table, Outline *ret);
void outline_done(Outline *o);

/* Whether a broken block may have been meant to have more statements than were found: settings that cannot be told. */
bool section_hides_statements(const ConfigText *t, const Section *section, const Statement *statements);
