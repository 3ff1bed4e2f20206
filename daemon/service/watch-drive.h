/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the tracer has to know of a drive, from sysfs. */

#include "drive.h"
#include "waker.h"

/* The drive's number, its SCSI address and what lies on it. -ENODEV: it is no SCSI disk. `classdir`, `btrfsdir`: as in stack.h. */
int watch_drive_read(const char *classdir, const char *btrfsdir, const Drive *d, WatchDrive *ret);
