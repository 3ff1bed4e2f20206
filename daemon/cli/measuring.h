/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Starts the program of the package drivekeep-tune (measure/). */

#include "verb.h"

/* Runs `drivekeep show --plot` and `--svg`. Returns as Verb.run() does. */
int measuring_draw(const Options *o);
