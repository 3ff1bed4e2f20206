/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* An NVMe controller has some settings once for all its namespaces. If two namespaces should have different values, the value of the first
 * by name is written. */

#include "target.h"

extern const TargetPart controller_part;
