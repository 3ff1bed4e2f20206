/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel's command line: the way out for a machine that does not survive its own configuration. */

#include "macro.h"

#define KERNEL_LINE "/proc/cmdline"

/* The word that says that nothing is to be written to drives in this boot: "drivekeep=0", or "nohdparm", which Debian's
 * scripts for hdparm obey. NULL: there is none, or the line cannot be read. */
const char *kernel_line_forbids(const char *path);
