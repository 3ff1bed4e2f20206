/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the program of the package drivekeep-tune does for the command (measure/). */

#include "verb.h"

/* `drivekeep show --plot` and `--svg`. Returns as Verb.run() does. */
int measuring_draw(const Options *o);
