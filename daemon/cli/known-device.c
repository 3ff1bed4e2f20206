/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clock.h"
#include "kernel-view.h"
#include "known-device.h"

void device_init_known(Device *d, const Drive *drive, const DriveRecord *record, const DeviceIO *io) {
        uint64_t used;
        bool counted;

        device_init(d, drive, io);
        if (!record)
                return;
        d->bridge = record->bridge;
        counted = activity_read(drive->syspath, &used) >= 0;
        d->active = counted && drive_record_had_io(record, used, monotonic_usec());
        /* In ATA Sleep mode, any command makes the kernel reset the drive, and the reset wakes the drive. */
        if (drive_record_in_ata_sleep(record, counted ? &used : NULL))
                d->power = POWER_ATA_SLEEP;
}
