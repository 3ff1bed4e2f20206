/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The statements (name = value) of one section: which are sound, and their text in the form that libconfig reads as the
 * user meant it. */

#include "config-outline.h"
#include "setting.h"

typedef struct Statement {
        size_t name;       /* tokens: the name … */
        size_t value, end; /* … and the value, from here up to, not with, there */
        size_t battery; /* the name of the on_battery = { … }, or what looks like it, that it stands in; 0: in none */
        bool sound;     /* else it was complained about, and there may be no value at all */
} Statement;

typedef struct Statements {
        Statement *items;
        size_t n_items;
        size_t n_allocated;
} Statements;

/* Fills `ret`, which may hold those of an earlier section, in the order of the text: those in on_battery = { … } stand
 * behind it. 1: all is sound, 0: there were complaints. */
int statements_read(ConfigText *t, const SettingTable *table, const Section *s, Statements *ret);
void statements_done(Statements *s);

/* The statement alone: escapes such as \x20 kept as they are written, integers that 64 bits do not hold as strings,
 * superfluous commas left out. The caller frees it. */
int statement_to_text(const ConfigText *t, const Statement *s, char **ret);

/* Inside a sound value: the next statement's name in a group, and the next value in a list or array. `token` is the
 * opening bracket at first, then the last answer; 0: no more. */
size_t group_next(const ConfigText *t, size_t token);
size_t list_next(const ConfigText *t, size_t token);
