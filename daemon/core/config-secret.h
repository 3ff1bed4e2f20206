/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A value in a file may be a password: of a setting that is never written, or of another program whose file this is. So no
 * complaint quotes what stands behind a key that is not one of ours, or behind one of an excluded row, however wrong the statement
 * is. And what is no configuration at all, such as /etc/shadow, is not quoted from. */

#include "config-text.h"
#include "setting.h"

/* Marks all from such a key to the next key of ours with an "=". */
void config_text_hide_secrets(ConfigText *t, const SettingTable *table);

/* Is there text in it, but nothing that only a configuration has: a list of blocks, or a key of ours with "=" behind it? */
bool config_text_is_foreign(const ConfigText *t, const SettingTable *table);
