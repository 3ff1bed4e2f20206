/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The names of D-Bus errors; org.drivekeep1(5) describes them. */

#define ERROR_NO_SUCH_DRIVE "org.drivekeep1.Error.NoSuchDrive"
#define ERROR_NOT_NOW "org.drivekeep1.Error.NotNow" /* the call may succeed later */
