/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What stands behind a key that is never written may be a password: no complaint quotes it, however wrong the statement
 * around it is. And what is no configuration at all, such as /etc/shadow, is not quoted from. */

#include "config-text.h"
#include "setting.h"

/* Marks all that may belong to the value of an excluded row's key, or of one typed nearly so. */
void config_text_hide_secrets(ConfigText *t, const SettingTable *table);

/* Is there text in it, but nothing that only a configuration has: drives, a list of blocks, a match, or the name of a setting
 * or an option with "=" behind it? */
bool config_text_is_foreign(const ConfigText *t, const SettingTable *table);
