/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What somebody who has taken over a process would try: for the scenario "sandbox".
 *     attack NAME
 * has PID 1 run "touch /NAME.bus" and "touch /NAME.private" with all rights, over the system bus and its private socket, and reads
 * /etc/shadow. Prints a line for each that was let: "bus", "private", "shadow". */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

static int start_unit(sd_bus *bus, const char *name, const char *way) {
        char unit[64], path[64];

        (void) snprintf(unit, sizeof unit, "%s-%s.service", name, way);
        (void) snprintf(path, sizeof path, "/%s.%s", name, way);
        return sd_bus_call_method(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                  "org.freedesktop.systemd1.Manager", "StartTransientUnit", NULL, NULL,
                                  "ssa(sv)a(sa(sv))", unit, "fail", 1, "ExecStart", "a(sasb)", 1, "/usr/bin/touch", 2,
                                  "/usr/bin/touch", path, 0, 0);
}

static int open_private(sd_bus **ret) {
        int r = sd_bus_new(ret);

        if (r >= 0)
                r = sd_bus_set_address(*ret, "unix:path=/run/systemd/private");
        return r < 0 ? r : sd_bus_start(*ret);
}

int main(int argc, char **argv) {
        sd_bus *bus;
        int r;

        if (argc != 2)
                return 1;

        r = sd_bus_open_system(&bus);
        r = r < 0 ? r : start_unit(bus, argv[1], "bus");
        (void) puts(r < 0 ? strerror(-r) : "bus");

        r = open_private(&bus);
        r = r < 0 ? r : start_unit(bus, argv[1], "private");
        (void) puts(r < 0 ? strerror(-r) : "private");

        (void) puts(open("/etc/shadow", O_RDONLY) < 0 ? strerror(errno) : "shadow");
        return 0;
}
