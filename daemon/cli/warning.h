/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "macro.h"

/* warnx(3) for sentences with words of the user's, who may have copied them from anywhere: what would steer the
 * terminal stands as \xNN. */
void warn_escaped(const char *format, ...) _printf_(1, 2);
