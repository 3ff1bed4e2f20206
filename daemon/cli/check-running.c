/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "check-running.h"
#include "unit-status.h"

int check_running(char **ret_unit) {
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        UnitStatus u;
        int r;

        r = systemd_open_private(&bus);
        if (r >= 0)
                r = sd_bus_call_method(bus, SYSTEMD_DESTINATION, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER_INTERFACE,
                                       "ListUnitsByPatterns", NULL, &reply, "asas", 0, 2, fsck_unit_patterns[0],
                                       fsck_unit_patterns[1]);
        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', UNIT_STATUS_SIGNATURE);

        while (r >= 0 && (r = unit_status_read(reply, &u)) > 0) {
                if (!unit_status_is_pending(&u))
                        continue;

                *ret_unit = strdup(u.name);
                return *ret_unit ? 1 : -ENOMEM;
        }

        return r;
}
