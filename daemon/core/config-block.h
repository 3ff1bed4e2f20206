/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "config-outline.h"
#include "config.h"

/* Fills an empty Block from a section. Returns 1, or 0 when its match is not known: then it must not be applied, and neither
 * may any general rule that it was to protect its drives from; *ret holds its assignments all the same. */
int block_read(ConfigText *t, const SettingTable *table, const Section *section, const Statement *statements,
               Block *ret);
