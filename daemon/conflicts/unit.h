/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Units of systemd as they are in force: the unit's file with its drop-ins over it, and what variables have (systemd.unit(5),
 * systemd.exec(5)). */

#include "unit-lines.h"

typedef struct Unit {
        char *name; /* "smartmontools.service" */
        UnitLines lines;
        UnitLines variables; /* of its environment; `key` is the name */
} Unit;

/* Those of a machine: its drop-ins by their precedence, and the services that are started at some time. */
typedef struct Units {
        const char *root;
        Words drop_ins;
        GROWING_ARRAY(Unit, services);
} Units;

Units units_read(const char *root);
Units units_find_drop_ins(const char *root); /* without its services */
void units_done(Units *u);

/* The first unit of such a name (a glob(7)). False: there is none, it is masked or never started. */
bool unit_read_started(const Units *u, const char *name, Unit *ret);
const UnitLine *unit_last(const UnitLines *lines, const char *key); /* NULL: there is none */
void unit_done(Unit *u);

/* The command of a line as systemd runs it, with the values of variables, as `value`. Its place is that of the unit's line, or of the
 * variable where the command has one. The caller frees the strings by unit_line_done(). */
UnitLine unit_command(const Unit *u, const UnitLine *l);

/* Does this command run such a program (a glob of the last part of its path)? */
bool command_runs(const char *command, const char *program);

/* What a command has behind an option, "-i 60", "-i60", "--interval=60"; NULL: nothing. `letter` may be NULL. The caller frees it. */
char *command_option(const char *command, const char *letter, const char *name);

/* The first service that runs such a program when it is started, as unit_command(). NULL: there is none. */
const Unit *units_find_command(const Units *u, const char *program, UnitLine *ret);
