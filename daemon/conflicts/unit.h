/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the effective systemd units: the unit file with its drop-ins, and the values of environment variables (systemd.unit(5),
 * systemd.exec(5)). */

#include "unit-lines.h"

typedef struct Unit {
        char *name; /* the unit's name, such as "smartmontools.service" */
        UnitLines lines;
        UnitLines variables; /* environment variables; UnitLine.key is the name of the variable */
} Unit;

/* The units of a machine: all drop-ins in the order of precedence, the links that enable units, and all services that may start. A service
 * may start if it is enabled or another unit starts it, and if it meets its conditions on paths. */
typedef struct Units {
        const char *root;
        Words drop_ins;
        Words links; /* paths in directories such as multi-user.target.wants and smartd.service.requires */
        GROWING_ARRAY(Unit, services);
} Units;

Units units_read(const char *root);
Units units_find(const char *root); /* leaves Units.services empty */
void units_done(Units *u);

/* Returns true if the unit `name` of this type (".service") is enabled. A unit without [Install] counts as enabled, and
 * a masked unit as not enabled. If `name` contains a '/', it is a path: returns true if the file exists and is not
 * empty. The name or path may be a glob, whose first match decides. */
bool unit_is_active(const Units *u, const char *name, const char *type);

/* Reads the first unit whose name matches the glob `name`. Returns false if there is no such unit, or if the unit cannot start: it is
 * masked or not enabled, it has an unmet condition on a path, or a required environment file is missing. */
bool unit_read_started(const Units *u, const char *name, Unit *ret);
const UnitLine *unit_last(const UnitLines *lines, const char *key); /* returns NULL if there is no line with this key */
void unit_done(Unit *u);

/* Returns a copy of line `l` whose `value` is the command with variables expanded. If a variable was expanded, the copy
 * has the file and line that set this variable. The caller frees the copy with unit_line_done(). */
UnitLine unit_command(const Unit *u, const UnitLine *l);

/* Returns true if the command runs a program whose base name matches the glob `program`. */
bool command_runs(const char *command, const char *program);

/* Returns the argument of an option, such as "60" for "-i 60", "-i60" or "--interval=60". Returns NULL if the option is missing. `letter`
 * may be NULL. The caller frees the result. */
char *command_option(const char *command, const char *letter, const char *name);

/* Returns the first service with an ExecStart= line that runs `program` (see command_runs()). *ret is this line, as unit_command()
 * returns it. NULL: there is no such service. */
const Unit *units_find_command(const Units *u, const char *program, UnitLine *ret);
