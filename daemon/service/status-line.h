/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The line that `systemctl status drivekeep.service` shows. */

#include "target.h"

/* Of this list of drives, by ->next. */
void status_line_tell(const Target *drives);
