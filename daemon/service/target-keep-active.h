/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The part that lets a worker read a drive with `keep_active` after an interval without I/O. A drive in standby is not read. */

#include "target.h"

extern const TargetPart keep_active_part;
