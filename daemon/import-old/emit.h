/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Writes drivekeep configuration with comments. What the settings table does not take (an unknown key, a value out of
 * range, a dangerous setting) becomes a comment, so that what is written is always without error and safe as it is. */

#include <stdio.h>

#include "import.h"
#include "links.h"
#include "setting.h"

_public_ int emit(FILE *f, const Import *imports, size_t n_imports, const SettingTable *table, const Links *links);
