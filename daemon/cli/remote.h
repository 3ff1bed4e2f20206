/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "verb.h"

/* `drivekeep status --host`: has the drivekeep of another machine say it, by ssh in the place of this process. Returns only where
 * ssh cannot be started, having said so. */
int remote_status(const Options *o);
