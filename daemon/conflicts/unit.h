/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the effective systemd units: the unit file with its drop-ins, and the values of environment variables (systemd.unit(5),
 * systemd.exec(5)). */

#include "unit-lines.h"

typedef struct Unit {
        char *name; /* the unit's name, such as "smartmontools.service" */
        UnitLines lines;
        UnitLines variables; /* environment variables; `key` is the name */
} Unit;

/* The units of a machine: drop-ins in the order of precedence, and the services that are ever started. */
typedef struct Units {
        const char *root;
        Words drop_ins;
        GROWING_ARRAY(Unit, services);
} Units;

Units units_read(const char *root);
Units units_find_drop_ins(const char *root); /* reads the drop-ins only, and leaves Units.services empty */
void units_done(Units *u);

/* Reads the first unit whose name matches (a glob(7)). Returns false if no unit matches, or if the unit is masked or never started. */
bool unit_read_started(const Units *u, const char *name, Unit *ret);
const UnitLine *unit_last(const UnitLines *lines, const char *key); /* returns NULL if there is no line with this key */
void unit_done(Unit *u);

/* Returns a copy of line `l` whose `value` is the command with variables expanded. If the command has a variable, the file and line of the
 * copy are those of the variable. The caller frees the copy with unit_line_done(). */
UnitLine unit_command(const Unit *u, const UnitLine *l);

/* Returns true if the command runs a program whose base name matches (a glob). */
bool command_runs(const char *command, const char *program);

/* Returns the argument of an option, "-i 60", "-i60" or "--interval=60", or NULL. `letter` may be NULL. The caller frees the result. */
char *command_option(const char *command, const char *letter, const char *name);

/* Returns the first service with an ExecStart= that runs a program whose base name matches (a glob). *ret is that line, as from
 * unit_command(). Returns NULL if no service does. */
const Unit *units_find_command(const Units *u, const char *program, UnitLine *ret);
