/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Some settings of an NVMe controller apply to all its namespaces. If two namespaces should have different values, the
 * controller gets the value of the namespace whose name comes first. */

#include "target.h"

extern const TargetPart controller_part;
