/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Has the service seen all that udev told it of, and no visit under way? Exit status 0 if so. For settle() of keeping.py, which asks so often
 * that busctl and systemctl would be a tenth of all work of the system tests. */

#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define UNIT "/org/freedesktop/systemd1/unit/drivekeep_2eservice"

/* The service answers once it has taken in what udev told it of last. */
static void settle(void) {
        sd_bus *bus = NULL;

        if (sd_bus_open_system(&bus) >= 0)
                (void) sd_bus_call_method(bus, "org.drivekeep1", "/org/drivekeep1", "org.drivekeep1.Manager", "Settle",
                                          NULL, NULL, "");
        sd_bus_flush_close_unref(bus);
}

/* PID 1's own socket, as systemctl uses it: it is there without dbus.service, too. */
static int connect_pid1(sd_bus **bus) {
        int r;

        r = sd_bus_new(bus);
        if (r >= 0)
                r = sd_bus_set_address(*bus, "unix:path=/run/systemd/private");
        if (r >= 0)
                r = sd_bus_start(*bus);
        return r;
}

static char *property(sd_bus *bus, const char *interface, const char *name) {
        char *value = NULL;

        return sd_bus_get_property_string(bus, "org.freedesktop.systemd1", UNIT, interface, name, NULL, &value) < 0
                               ? NULL
                               : value;
}

int main(void) {
        sd_bus *bus = NULL;
        char *state, *text;

        settle();
        if (connect_pid1(&bus) < 0)
                return EXIT_FAILURE;
        state = property(bus, "org.freedesktop.systemd1.Unit", "ActiveState");
        text = property(bus, "org.freedesktop.systemd1.Service", "StatusText");
        return state && text && strcmp(state, "active") == 0 && strstr(text, "drive") && !strstr(text, "visited")
                               ? EXIT_SUCCESS
                               : EXIT_FAILURE;
}
