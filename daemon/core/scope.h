/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which of a drive's wishes a visit is about. Visits that only look after what was in order leave out what was not: that
 * would be tried, and told of, again and again. */

#include "record.h"

/* The wishes of a visit for this reason. At a recheck, and when the kernel looked at the drive anew, these are what was in order
 * and the kernel holds: nothing is sent to the drive. `busy`: at a recheck, the drive's user keeps it busy, so that a command more
 * does not keep it awake; then these are what was in order and can be read, and what was sent to the drive and cannot be read, if
 * something else can that it would lose at the same time.
 *
 * The items are copies that share the texts of `w`, which must outlive them; the caller frees ret->items. `backends`: mask of
 * 1 << Backend. */
int scope_select(VisitReason reason, bool busy, const Wishes *w, const SettingTable *t, unsigned backends,
                 const DriveRecord *record, Wishes *ret);

/* One wish more, the last: that the drive goes to standby now. */
int scope_add_sleep(Wishes *selected);
