/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How systemd's manager tells of its units, for the service and for the command: both must agree on which file system checks are
 * still to be waited for. */

#include <systemd/sd-bus.h>

#include "macro.h"

#define SYSTEMD_DESTINATION "org.freedesktop.systemd1"
#define SYSTEMD_MANAGER_PATH "/org/freedesktop/systemd1"
#define SYSTEMD_MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"
#define SYSTEMD_UNIT_PATH "/org/freedesktop/systemd1/unit"

/* An entry of ListUnits…(), borrowed from the message. */
typedef struct UnitStatus {
        const char *name, *active_state;
        bool pending; /* queued or running: a check that waits for its device is inactive, with a job; one that has run stays active */
} UnitStatus;

#define UNIT_STATUS_SIGNATURE "(ssssssouso)"

/* The units that check file systems; for ListUnitsByPatterns(). */
extern char *const fsck_unit_patterns[];

/* Opens a socket at which one process alone speaks D-Bus, without a bus between. */
int systemd_open_socket(const char *address, sd_bus **ret);

/* The same with systemd's private socket: works for root, with and without a bus. */
int systemd_open_private(sd_bus **ret);

/* The next entry of the array entered; 0 at its end. */
int unit_status_read(sd_bus_message *m, UnitStatus *ret);

/* Is a file system check queued or running, on whatever drive? 1 and its unit, which the caller frees; 0; negative when
 * PID 1 cannot be asked. The service waits for those of each drive; the command does not wait, and so is more careful. */
int systemd_find_fsck(char **ret_unit);
