/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What stands behind a key that is never written may be a password: no complaint quotes it, however wrong the statement
 * around it is. */

#include "config-text.h"
#include "setting.h"

/* Marks all that may belong to the value of an excluded row's key, or of one typed nearly so. */
void config_text_hide_secrets(ConfigText *t, const SettingTable *table);
