/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "config-statement.h"
#include "config.h"

/* Makes a Block from a section. Returns 1, or 0 when its match is not known: then it must not be applied, and neither
 * may any general rule that it was to protect its drives from; *ret holds its assignments all the same. `statements` is
 * room to work in. */
int block_read(ConfigText *t, const SettingTable *table, const Section *section, Statements *statements, Block *ret);
