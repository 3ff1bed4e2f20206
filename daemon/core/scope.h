/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Selects the wishes that a visit handles. A visit that only checks settings leaves out settings whose last verdict was
 * a failure: otherwise each check would retry and report the same failures. */

#include "drive-record.h"
#include "visit-reason.h"

/* Selects the wishes for the WORK_SETTINGS flags of a visit. WORK_KERNEL: kernel-held settings with a successful
 * verdict; the drive gets no command. WORK_DRIVE: also drive-held settings with a successful verdict. Unreadable
 * settings are selected only together with a readable drive-held setting, since the drive loses the two kinds together.
 * WORK_ALL: all settings.
 *
 * The items are copies that share the texts of `w`, which must outlive them; the caller frees ret->items. `backends`:
 * mask of 1 << Backend. */
int scope_select(VisitWork work, const Wishes *w, const SettingTable *t, unsigned backends, const DriveRecord *record,
                 Wishes *ret);

/* Appends a wish that makes the drive enter standby in this visit. */
int scope_add_standby(Wishes *selected);
