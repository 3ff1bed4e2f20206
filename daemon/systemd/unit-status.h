/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the status of units from systemd's manager. The service and the command `drivekeep` share these functions, because both must
 * recognize the same file system checks. */

#include <systemd/sd-bus.h>

#include "macro.h"

#define SYSTEMD_DESTINATION "org.freedesktop.systemd1"
#define SYSTEMD_MANAGER_PATH "/org/freedesktop/systemd1"
#define SYSTEMD_MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"
#define SYSTEMD_UNIT_PATH "/org/freedesktop/systemd1/unit"

/* An entry in the reply of ListUnits…(). The entry is valid only as long as the reply's message exists. */
typedef struct UnitStatus {
        const char *name, *active_state;
        /* A job of the unit is queued or running. `active_state` does not show this. A file system check that waits for its device is
         * inactive but has a job, and a finished file system check stays active. */
        bool pending;
} UnitStatus;

#define UNIT_STATUS_SIGNATURE "(ssssssouso)"

/* Name patterns of the units that check file systems, as arguments for ListUnitsByPatterns(). */
extern char *const fsck_unit_patterns[];

/* Opens a direct D-Bus connection to one process, without a message bus. */
int systemd_open_socket(const char *address, sd_bus **ret);

/* Opens a direct connection to systemd's private socket. Works only for root, and needs no message bus. */
int systemd_open_private(sd_bus **ret);

/* Reads the next entry of the array that is open in message `m`. Returns 0 at the end of the array. */
int unit_status_read(sd_bus_message *m, UnitStatus *ret);

/* Finds a file system check that is queued or running on any drive. Returns 1 and the check's unit, which the caller frees; 0 if there is
 * no check; a negative errno if PID 1 is not reachable. Only the command `drivekeep` calls this function, because the command stops if
 * any drive is checked. The service waits only for checks of the drive that it visits. */
int systemd_find_fsck(char **ret_unit);
