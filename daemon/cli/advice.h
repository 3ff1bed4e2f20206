/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Prints the effect of a drive's spin-down timer, and estimates for other timers, to help users choose a timer. */

#include "output.h"
#include "drive-record.h"

/* Prints the service's statistics of the drive (core/use.h). Also prints the drive's last waker, if this user may read the journal. In
 * JSON, the object "use" has these values. For a NULL record or a drive without a spin-down timer, "use" is null, and no note is
 * printed. */
void advice_print(Output *o, const DriveRecord *r, uint64_t now);
