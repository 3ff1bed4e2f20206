/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <libudev.h>
#include <sys/epoll.h>

#include "clock.h"
#include "inventory.h"
#include "monitor.h"
#include "timer.h"

/* Size of the socket's buffer in bytes: enough for the coldplug events of hundreds of drives, if net.core.rmem_max permits this size. */
#define RECEIVE_BUFFER (8 * 1024 * 1024)

/* Related events arrive one by one, so events are collected until a pause or a time limit, and dispatched together. At
 * boot the pause is longer: systemd lags behind udev, and visits could delay the mounts of drives. */
#define QUIET_USEC (100ULL * 1000)
#define QUIET_BOOT_USEC (500ULL * 1000)
#define BOOT_USEC (60ULL * 1000 * 1000)
#define GATHER_USEC (1000ULL * 1000)

struct Monitor {
        sd_event *event; /* borrowed */
        struct udev *udev;
        struct udev_monitor *monitor;
        MonitorSource from;
        sd_event_source *source, *timer;
        uint64_t gathering_since; /* when the first waiting event arrived; CLOCK_MONOTONIC, µs; 0: no event waits */
        GROWING_ARRAY(struct udev_device *, devices); /* collected events */
        bool lost, urgent;
        Manager *manager;
        DebianRule debian;
        const MonitorEvents *events;
        void *userdata;
};

/* Handles an event of a drive's parent device. After some of these events, the drive may have lost its state (Linux
 * drivers/scsi/scsi_lib.c, drivers/nvme/host/core.c). */
static void monitor_dispatch_parent(Monitor *m, struct udev_device *device) {
        static const struct {
                const char *key, *value;
                VisitReason reason;
        } disturbances[] = {
                { "SDEV_UA", "POWER_ON_RESET_OCCURRED", VISIT_RESET },
                { "SDEV_UA", "MODE_PARAMETERS_CHANGED", VISIT_PARAMETERS },
                { "NVME_EVENT", "connected", VISIT_CONTROLLER },
        };

        if (!streq_ptr(udev_device_get_action(device), "change"))
                return;
        for (size_t i = 0; i < ELEMENTSOF(disturbances); i++)
                if (streq_ptr(udev_device_get_property_value(device, disturbances[i].key), disturbances[i].value))
                        manager_disturbed(m->manager, udev_device_get_syspath(device), disturbances[i].reason,
                                          udev_device_get_seqnum(device));
}

static void monitor_dispatch_drive(Monitor *m, struct udev_device *device, const char *name, const char *action) {
        if (streq_ptr(action, "remove")) {
                manager_unplugged(m->manager, name);
                return;
        }
        manager_plugged(m->manager, device);
        /* udev runs the programs of its rules before it sends the event, so the script of Debian's rule has already run. */
        if (streq_ptr(action, "add"))
                debian_rule_attached(&m->debian, name);
}

static void monitor_dispatch_stacked(Monitor *m, struct udev_device *device, const char *name, const char *action) {
        bool removed = streq_ptr(action, "remove");

        /* After udev has killed a worker, udev's database lacks the device's links. Rules may name drives by these links. */
        if (removed || !udev_device_get_property_value(device, "UDEV_WORKER_FAILED"))
                manager_stack_changed(m->manager, name, removed);
}

static void monitor_dispatch(Monitor *m, struct udev_device *device) {
        const char *action = udev_device_get_action(device), *subsystem = udev_device_get_subsystem(device),
                   *name = udev_device_get_sysname(device);
        bool drive;

        if (streq_ptr(subsystem, "power_supply")) {
                m->events->power(m->userdata);
                return;
        }
        if (streq_ptr(subsystem, "scsi") || streq_ptr(subsystem, "nvme")) {
                monitor_dispatch_parent(m, device);
                return;
        }

        drive = inventory_is_drive(device);
        if (drive)
                monitor_dispatch_drive(m, device, name, action);
        /* An md or dm device is handled twice: as a drive, since a rule may name the device, and as a device stacked on other drives,
         * since a rule may name those drives by links of the device. */
        if (!drive || starts_with(name, "md") || starts_with(name, "dm-"))
                monitor_dispatch_stacked(m, device, name, action);
}

static int keep_device(Monitor *m, struct udev_device *device) {
        if (!GREW(m, devices))
                return -ENOMEM;

        m->devices[m->n_devices++] = device;
        /* A removal is urgent, since a visit to a removed drive must end at once. */
        m->urgent = m->urgent || streq_ptr(udev_device_get_action(device), "remove");
        return 0;
}

static void monitor_receive(Monitor *m) {
        for (;;) {
                struct udev_device *device;

                errno = 0;
                device = m->from.receive(m->from.userdata);
                if (!device && errno != ENOBUFS)
                        return;

                if (!device || keep_device(m, device) < 0) {
                        m->lost = true;
                        (void) udev_device_unref(device);
                }
        }
}

static void monitor_dispatch_all(Monitor *m) {
        struct udev_device **devices = TAKE_PTR(m->devices);
        size_t n = m->n_devices;
        bool lost = m->lost;

        m->n_devices = 0;
        m->gathering_since = 0;
        m->lost = m->urgent = false;
        m->timer = sd_event_source_disable_unref(m->timer);
        for (size_t i = 0; i < n; i++) {
                monitor_dispatch(m, devices[i]);
                (void) udev_device_unref(devices[i]);
        }
        free(devices);

        if (lost)
                m->events->lost(m->userdata);
}

static int on_quiet(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        monitor_dispatch_all(userdata);
        return 0;
}

static int monitor_wait(Monitor *m) {
        uint64_t now = monotonic_usec(), until;

        if (m->gathering_since == 0)
                m->gathering_since = now;
        until = MIN(now + (now < BOOT_USEC ? QUIET_BOOT_USEC : QUIET_USEC), m->gathering_since + GATHER_USEC);
        return timer_start(m->event, &m->timer, until > now ? until - now : 0, QUIET_USEC / 10, on_quiet, m);
}

static int on_monitor(sd_event_source *source _unused_, int fd _unused_, uint32_t revents _unused_, void *userdata) {
        Monitor *m = userdata;

        monitor_receive(m);
        if (m->urgent || monitor_wait(m) < 0)
                monitor_dispatch_all(m);
        return 0;
}

void monitor_settle(Monitor *m) {
        monitor_receive(m);
        monitor_dispatch_all(m);
}

static struct udev_device *receive_from_udev(void *userdata) {
        return udev_monitor_receive_device(userdata);
}

static int monitor_open_udev(Monitor *m) {
        static const struct {
                const char *subsystem, *devtype;
        } matches[] = { { "block", NULL }, { "power_supply", NULL }, { "scsi", "scsi_device" }, { "nvme", NULL } };
        int r = 0;

        m->udev = udev_new();
        if (!m->udev)
                return -errno;
        m->monitor = udev_monitor_new_from_netlink(m->udev, "udev");
        if (!m->monitor)
                return -errno;

        /* A smaller buffer is not an error, since lost events are noticed. */
        (void) udev_monitor_set_receive_buffer_size(m->monitor, RECEIVE_BUFFER);

        for (size_t i = 0; i < ELEMENTSOF(matches) && r >= 0; i++)
                r = udev_monitor_filter_add_match_subsystem_devtype(m->monitor, matches[i].subsystem,
                                                                    matches[i].devtype);
        if (r >= 0)
                r = udev_monitor_enable_receiving(m->monitor);
        m->from = (MonitorSource){ udev_monitor_get_fd(m->monitor), receive_from_udev, m->monitor };
        return r;
}

int monitor_new(sd_event *event, const MonitorSource *source, Manager *manager, const MonitorEvents *events,
                void *userdata, Monitor **ret) {
        _cleanup_(monitor_freep) Monitor *m = NULL;
        int r = 0;

        m = calloc(1, sizeof *m);
        if (!m)
                return -ENOMEM;
        *m = (Monitor){ .event = event,
                        .manager = manager,
                        .debian = { .event = event, .manager = manager },
                        .events = events,
                        .userdata = userdata };

        if (source)
                m->from = *source;
        else
                r = monitor_open_udev(m);
        if (r >= 0)
                r = sd_event_add_io(event, &m->source, m->from.fd, EPOLLIN, on_monitor, m);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(m);
        return 0;
}

Monitor *monitor_free(Monitor *m) {
        if (!m)
                return NULL;

        sd_event_source_disable_unref(m->source);
        sd_event_source_disable_unref(m->timer);
        for (size_t i = 0; i < m->n_devices; i++)
                (void) udev_device_unref(m->devices[i]);
        free(m->devices);
        (void) udev_monitor_unref(m->monitor);
        (void) udev_unref(m->udev);
        debian_rule_done(&m->debian);
        free(m);
        return NULL;
}
