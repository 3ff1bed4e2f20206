/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Selects the wishes that a visit handles. A visit that only checks settings leaves out the settings that were not in order: otherwise each
 * check would retry and report the same failures. */

#include "drive-record.h"
#include "visit-reason.h"

/* Selects the wishes for the WORK_SETTINGS flags of a visit. WORK_KERNEL: settings of the kernel that were in order; the drive gets no
 * command. WORK_DRIVE: settings that were in order and can be read; if the drive holds one of them, also settings that were sent and
 * cannot be read, since the drive loses readable and unreadable settings together. WORK_ALL: all.
 *
 * The items are copies that share the texts of `w`, which must outlive them; the caller frees ret->items. `backends`: mask of
 * 1 << Backend. */
int scope_select(VisitWork work, const Wishes *w, const SettingTable *t, unsigned backends, const DriveRecord *record,
                 Wishes *ret);

/* Appends a wish that makes the drive enter standby in this visit. */
int scope_add_standby(Wishes *selected);
