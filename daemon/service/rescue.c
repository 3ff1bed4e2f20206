/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <systemd/sd-bus.h>

#include "macro.h"
#include "rescue.h"
#include "unit-status.h"

int rescue_mode(void) {
        static const char *const units[] = { "rescue.service", "emergency.service" };
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        int r;

        /* In these modes there may be no bus. */
        r = systemd_open_private(&bus);
        if (r < 0)
                return r;

        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                _cleanup_free_ char *path = NULL, *state = NULL;

                r = sd_bus_path_encode(SYSTEMD_UNIT_PATH, units[i], &path);
                if (r >= 0)
                        r = sd_bus_get_property_string(bus, NULL, path, "org.freedesktop.systemd1.Unit", "ActiveState",
                                                       NULL, &state);
                if (r < 0)
                        return r;
                if (streq(state, "active") || streq(state, "activating"))
                        return 1;
        }

        return 0;
}
