/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Writes drivekeep configuration. What the settings table does not take (a value out of range, a dangerous setting) becomes a
 * comment, so that what is written is always without error and safe as it is. */

#include <stdio.h>

#include "import.h"
#include "setting.h"

#define EMIT_PLACEHOLDER "/dev/disk/by-id/NAME-OF-THE-DRIVE" /* which fits none */

/* `by_id`: the directory in which udev keeps the links that name a drive for good, "/dev/disk/by-id". What becomes a comment
 * or is left out is so in `imports`, too. 0 or -EIO. */
int emit(FILE *f, Import *imports, size_t n_imports, const SettingTable *table, const char *by_id);
