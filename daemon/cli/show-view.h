/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep show` shows: drives as survey() finds them. */

#include "survey.h"

/* To stdout. Of each drive, those of its backends that are in the mask. */
int show_view_print(const Drive *const *drives, size_t n, unsigned backends, const SettingTable *t, const DeviceIO *io,
                    bool json);
