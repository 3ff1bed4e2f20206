/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "config-outline.h"
#include "config.h"

/* Whether it is what a block has besides settings: match, on_battery, and what it says of itself as a whole. */
bool block_has_key(const char *name);

/* Fills an empty Block from a section. Returns 1, or 0 when its match is not known: then it must not be applied, and neither
 * may any general rule that it was to protect its drives from; *ret holds its assignments all the same. */
int block_read(ConfigText *t, const SettingTable *table, const Section *section, const Statement *statements,
               Block *ret);
