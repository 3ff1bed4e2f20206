/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* udev rules that run a command for a drive or write to its queue: their conditions become the match. */

#include "import.h"

int udev_rules_read(const char *text, size_t size, Import *ret);
