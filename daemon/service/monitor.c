/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <libudev.h>
#include <sys/epoll.h>

#include "inventory.h"
#include "monitor.h"

/* Enough for the coldplug of a machine with hundreds of drives. */
#define RECEIVE_BUFFER (8 * 1024 * 1024)

struct Monitor {
        struct udev *udev;
        struct udev_monitor *monitor;
        sd_event_source *source;
        const MonitorEvents *events;
        void *userdata;
};

static void monitor_dispatch(Monitor *m, struct udev_device *device) {
        const char *action = udev_device_get_action(device), *name = udev_device_get_sysname(device);
        const char *subsystem = udev_device_get_subsystem(device);
        bool removed = action && streq(action, "remove");
        Drive *d;

        if (subsystem && streq(subsystem, "power_supply")) {
                m->events->power(m->userdata);
                return;
        }

        if (!inventory_is_drive(device)) {
                m->events->other(m->userdata, name, removed);
                return;
        }

        if (removed)
                m->events->removed(m->userdata, name);
        else if (inventory_drive(device, &d) >= 0)
                m->events->drive(m->userdata, d);

        /* md and dm are drives to some rules and something on top of drives to others. */
        if (strncmp(name, "md", 2) == 0 || strncmp(name, "dm-", 3) == 0)
                m->events->other(m->userdata, name, removed);
}

static int on_monitor(sd_event_source *source _unused_, int fd _unused_, uint32_t revents _unused_, void *userdata) {
        Monitor *m = userdata;

        for (;;) {
                struct udev_device *device;

                errno = 0;
                device = udev_monitor_receive_device(m->monitor);
                if (!device) {
                        if (errno == ENOBUFS)
                                m->events->lost(m->userdata);
                        return 0;
                }

                monitor_dispatch(m, device);
                (void) udev_device_unref(device);
        }
}

int monitor_new(sd_event *event, const MonitorEvents *events, void *userdata, Monitor **ret) {
        _cleanup_(monitor_freep) Monitor *m = NULL;
        int r;

        m = calloc(1, sizeof *m);
        if (!m)
                return -ENOMEM;
        m->events = events;
        m->userdata = userdata;

        m->udev = udev_new();
        if (!m->udev)
                return -errno;
        m->monitor = udev_monitor_new_from_netlink(m->udev, "udev");
        if (!m->monitor)
                return -errno;

        /* A larger buffer is a favour of the kernel's: lost events are noticed. */
        (void) udev_monitor_set_receive_buffer_size(m->monitor, RECEIVE_BUFFER);

        r = udev_monitor_filter_add_match_subsystem_devtype(m->monitor, "block", NULL);
        if (r >= 0)
                r = udev_monitor_filter_add_match_subsystem_devtype(m->monitor, "power_supply", NULL);
        if (r >= 0)
                r = udev_monitor_enable_receiving(m->monitor);
        if (r >= 0)
                r = sd_event_add_io(event, &m->source, udev_monitor_get_fd(m->monitor), EPOLLIN, on_monitor, m);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(m);
        return 0;
}

Monitor *monitor_free(Monitor *m) {
        if (!m)
                return NULL;

        sd_event_source_disable_unref(m->source);
        (void) udev_monitor_unref(m->monitor);
        (void) udev_unref(m->udev);
        free(m);
        return NULL;
}
