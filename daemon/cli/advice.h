/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What came of a drive's spin-down timer, and what other timers would have come to: for who is about to choose one. */

#include "output.h"
#include "drive-record.h"

/* Shows what the service has learnt of the drive (core/use.h), and who woke it last, where this user may read the journal. The JSON has
 * an object "use" of it. NULL record, or one of a drive that is not to spin down: null, and nothing. */
void advice_print(Output *o, const DriveRecord *r, uint64_t now);
