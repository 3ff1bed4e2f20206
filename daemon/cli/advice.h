/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The effect of a drive's spin-down timer, and estimates for other timers, to help choose one. */

#include "output.h"
#include "drive-record.h"

/* Prints the service's statistics of the drive (core/use.h), and its last waker if this user may read the journal. In JSON this is the
 * object "use". For a NULL record or a drive without a spin-down timer, "use" is null, and no note is printed. */
void advice_print(Output *o, const DriveRecord *r, uint64_t now);
