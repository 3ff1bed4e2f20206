/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The rows of settings, for people and programs. `chosen` are names of rows, NULL-terminated; NULL: all. */

#include "json-add.h"
#include "setting.h"
#include "table.h"

/* One line per row. */
int settings_view_table(const SettingTable *t, Table **ret);

/* All that is known of the rows that are called so; empty when none is. */
int settings_view_explain(const SettingTable *t, const char *name, FILE *f);

/* An array of objects; drivekeep(1) documents their shape. */
int settings_view_json(const SettingTable *t, char *const *chosen, struct json_object **ret);
