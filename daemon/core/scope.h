/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which of a drive's wishes a visit is about. Visits that only look after what was in order leave out what was not: that
 * would be tried, and told of, again and again. */

#include "drive-record.h"
#include "visit-reason.h"

/* The wishes that the WORK_SETTINGS of a visit are about. WORK_KERNEL: what was in order and the kernel holds, so that nothing is sent
 * to the drive. WORK_DRIVE: what was in order and can be read, and settings that were sent and cannot be read, if the drive would lose
 * one that can be read at the same time. WORK_ALL: all.
 *
 * The items are copies that share the texts of `w`, which must outlive them; the caller frees ret->items. `backends`: mask of
 * 1 << Backend. */
int scope_select(VisitWork work, const Wishes *w, const SettingTable *t, unsigned backends, const DriveRecord *record,
                 Wishes *ret);

/* One wish more, the last: that the drive goes to standby now. */
int scope_add_sleep(Wishes *selected);
