/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the status of units from systemd's manager. Shared by the service and the command, which must agree on the file system checks that
 * a visit waits for. */

#include <systemd/sd-bus.h>

#include "macro.h"

#define SYSTEMD_DESTINATION "org.freedesktop.systemd1"
#define SYSTEMD_MANAGER_PATH "/org/freedesktop/systemd1"
#define SYSTEMD_MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"
#define SYSTEMD_UNIT_PATH "/org/freedesktop/systemd1/unit"

/* An entry in the reply of ListUnits…(). Valid as long as the message. */
typedef struct UnitStatus {
        const char *name, *active_state;
        /* A job of the unit is queued or running. `active_state` does not show this: a check that waits for its device is inactive and has
         * a job, and a finished check stays active. */
        bool pending;
} UnitStatus;

#define UNIT_STATUS_SIGNATURE "(ssssssouso)"

/* Patterns for the units that check file systems, for ListUnitsByPatterns(). */
extern char *const fsck_unit_patterns[];

/* Opens a direct D-Bus connection to one process, without a message bus. */
int systemd_open_socket(const char *address, sd_bus **ret);

/* Opens a direct connection to systemd's private socket. Works only for root, and needs no message bus. */
int systemd_open_private(sd_bus **ret);

/* Reads the next entry of the open array. Returns 0 at the end of the array. */
int unit_status_read(sd_bus_message *m, UnitStatus *ret);

/* Finds a file system check that is queued or running on any drive. Returns 1 and the check's unit, which the caller frees; 0 if there is
 * no check; a negative errno if PID 1 is not reachable. Only for the command, which stops at a check on any drive: the service waits only
 * for checks on the drive of the visit. */
int systemd_find_fsck(char **ret_unit);
