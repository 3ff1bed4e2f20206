/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Exits with status 0 if the service has handled all udev events and has no visit under way. settle() of keeping.py runs this program very
 * often: with busctl and systemctl instead, the queries would be a tenth of all work of the system tests. */

#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define UNIT "/org/freedesktop/systemd1/unit/drivekeep_2eservice"

/* Calls the service's D-Bus method Settle, which returns when the service has handled the latest udev event. */
static void settle(void) {
        sd_bus *bus = NULL;

        if (sd_bus_open_system(&bus) >= 0)
                (void) sd_bus_call_method(bus, "org.drivekeep1", "/org/drivekeep1", "org.drivekeep1.Manager", "Settle",
                                          NULL, NULL, "");
        sd_bus_flush_close_unref(bus);
}

/* Connects to PID 1's private socket, as systemctl does. This socket also exists while dbus.service does not run. */
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
