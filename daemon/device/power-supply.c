/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <fcntl.h>

#include "macro.h"
#include "power-supply.h"

#define ATTRIBUTE_MAX 64U

/* The first line; empty when there is none, or the driver does not know. */
static const char *attribute_read(int dir_fd, const char *name, char buf[static ATTRIBUTE_MAX]) {
        _cleanup_close_ int fd = -EBADF;
        ssize_t n = -1;

        fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd >= 0)
                n = read(fd, buf, ATTRIBUTE_MAX - 1);

        buf[MAX(n, 0)] = '\0';
        buf[strcspn(buf, "\n")] = '\0';
        return buf;
}

static bool attribute_is(int dir_fd, const char *name, const char *value) {
        char buf[ATTRIBUTE_MAX];

        return streq(attribute_read(dir_fd, name, buf), value);
}

/* Whether all ports of this supply's USB-C controller feed what is plugged in: such a supply is "online" as well. */
static bool is_source(int supply_fd) {
        bool source = false, sink = false;
        struct dirent *e;
        DIR *dir;
        int fd;

        fd = openat(supply_fd, "device/typec", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return false;

        dir = fdopendir(fd);
        if (!dir) {
                (void) close(fd);
                return false;
        }

        while ((e = readdir(dir))) {
                _cleanup_close_ int port_fd = -EBADF;
                char role[ATTRIBUTE_MAX];

                if (e->d_name[0] == '.')
                        continue;

                port_fd = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (port_fd < 0)
                        continue;

                /* "source [sink]": the one in brackets. */
                attribute_read(port_fd, "power_role", role);
                source = source || strstr(role, "[source]");
                sink = sink || strstr(role, "[sink]");
        }

        (void) closedir(dir);
        return source && !sink;
}

static bool is_online(int supply_fd, const char *type) {
        char online[ATTRIBUTE_MAX];

        /* Besides 1 there is 2, "programmable". */
        attribute_read(supply_fd, "online", online);
        return *online >= '1' && *online <= '9' && !(streq(type, "USB") && is_source(supply_fd));
}

static bool is_discharging(int supply_fd) {
        return !attribute_is(supply_fd, "present", "0") && attribute_is(supply_fd, "status", "Discharging");
}

int power_on_battery(const char *classdir) {
        bool online = false, discharging = false;
        struct dirent *e;
        DIR *dir;

        dir = opendir(classdir);
        if (!dir)
                return errno == ENOENT ? 0 : -errno;

        while ((e = readdir(dir))) {
                _cleanup_close_ int fd = -EBADF;
                char type[ATTRIBUTE_MAX];

                if (e->d_name[0] == '.')
                        continue;

                /* One may have gone by now. */
                fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (fd < 0 || attribute_is(fd, "scope", "Device"))
                        continue;

                attribute_read(fd, "type", type);
                if (streq(type, "Battery"))
                        discharging = discharging || is_discharging(fd);
                else if (*type)
                        online = online || is_online(fd, type);
        }

        (void) closedir(dir);
        return discharging && !online;
}
