/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The other programs on this machine that wake the drives which the configuration has spin down, or keep them from it. Looks at
 * files only. Adds a warning to the complaints for each line of theirs that has this effect on a drive. */

#include "conflict.h"

void wakers_check(const Rivals *r);

/* Of lines of smartd.conf; `command`: smartd's, with its interval; NULL: as it is without options. */
void polls_check(const Rivals *r, const char *file, const char *command, const Import *import);
