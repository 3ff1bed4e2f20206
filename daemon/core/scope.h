/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which of a drive's wishes a visit is about. Visits that only look after what was in order leave out what was not: that
 * would be tried, and told of, again and again. */

#include "record.h"

typedef enum Scope {
        SCOPE_ALL,
        SCOPE_KERNEL, /* was in order, and the kernel holds it: nothing is sent to the drive */
        SCOPE_READABLE, /* was in order, and can be read: from the kernel and from the drive; and what was sent to the drive and
                         * cannot be read, if something else can that it would lose at the same time */
} Scope;

/* What a visit for this reason is about. `busy`: at a recheck, whether the drive's user keeps it busy, so that a command
 * more does not keep it awake. */
Scope scope_of_reason(VisitReason reason, bool busy);

/* The items are copies that share the texts of `w`, which must outlive them. `backends`: mask of 1 << Backend. */
int scope_select(Scope scope, const Wishes *w, const SettingTable *t, unsigned backends, const DriveRecord *record,
                 Wishes *ret);
void scope_done(Wishes *selected);
