/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Namespaces of one NVMe controller, which has some settings once for all of them: of two that want different values, the first by name
 * has its way. */

#include "target.h"

extern const TargetPart controller_part;
