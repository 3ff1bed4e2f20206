/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clock.h"
#include "dry-visit.h"
#include "kernel-view.h"
#include "settings.h"

Visit dry_visit(const Drive *d, const DriveRecord *record, const Wishes *wishes, const DeviceIO *io) {
        uint64_t used;
        bool counted = activity_read(d->syspath, &used) >= 0;

        return (Visit){ .drive = d,
                        .wishes = wishes,
                        .bridge = record ? &record->bridge : NULL,
                        .settings = &all_settings,
                        .io = io,
                        .dry = true,
                        .work = WORK_APPLY,
                        .active = counted && drive_record_had_io(record, used, monotonic_usec()),
                        .ata_sleep = drive_record_in_ata_sleep(record, counted ? &used : NULL) };
}
