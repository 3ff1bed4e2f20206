/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "unit-status.h"

#define PRIVATE_SOCKET "unix:path=/run/systemd/private"

char *const fsck_unit_patterns[] = { (char *) "systemd-fsck@*.service", (char *) "systemd-fsck-*.service", NULL };

int systemd_open_socket(const char *address, sd_bus **ret) {
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        int r;

        r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_address(bus, address);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(bus);
        return 0;
}

int systemd_open_private(sd_bus **ret) {
        return systemd_open_socket(PRIVATE_SOCKET, ret);
}

int unit_status_read(sd_bus_message *m, UnitStatus *ret) {
        const char *description, *load_state, *sub_state, *following, *path, *job_type, *job_path;
        uint32_t job;
        int r;

        r = sd_bus_message_read(m, UNIT_STATUS_SIGNATURE, &ret->name, &description, &load_state, &ret->active_state,
                                &sub_state, &following, &path, &job, &job_type, &job_path);
        if (r > 0)
                ret->pending = job != 0 || STR_IN_SET(ret->active_state, "activating", "deactivating");
        return r;
}

int systemd_find_fsck(char **ret_unit) {
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
                if (!u.pending)
                        continue;

                *ret_unit = strdup(u.name);
                return *ret_unit ? 1 : -ENOMEM;
        }

        return r;
}
