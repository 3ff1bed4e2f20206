/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "device.h"
#include "inventory.h"
#include "name-owner.h"
#include "pid1.h"
#include "proxy.h"
#include "drive-record.h"
#include "stack.h"
#include "unit-status.h"

struct Pid1 {
        sd_event *event; /* borrowed */
        Broker *broker;  /* borrowed */
        const Pid1Ways *ways;
        sd_bus *bus;
        NameOwner systemd; /* PID 1's connection to the bus */
        bool by_proxy; /* the connection goes through the proxy, since PID 1 accepts direct connections only from root */

        FsckStatusFn answered;
        Pid1NewsFn news;
        void *userdata;

        unsigned outstanding; /* number of expected replies */
        int error;            /* the negative errno of a failed reply; 0: no reply has failed */
        FsckStatus status;
};

static void status_done(FsckStatus *s) {
        for (size_t i = 0; i < s->n_units; i++) {
                free(s->units[i].name);
                free(s->units[i].sysname);
                (void) names_free(s->units[i].disks);
        }
        free(s->units);
        (void) names_free(s->inactive);
        *s = (FsckStatus){};
}

const Pid1Ways pid1_ways = { sd_bus_open_system, proxy_open };

int pid1_new(sd_event *event, Broker *broker, const Pid1Ways *ways, FsckStatusFn answered, Pid1NewsFn news,
             void *userdata, Pid1 **ret) {
        Pid1 *p;

        p = calloc(1, sizeof *p);
        if (!p)
                return -ENOMEM;

        *p = (Pid1){ .event = event,
                     .broker = broker,
                     .ways = ways,
                     .answered = answered,
                     .news = news,
                     .userdata = userdata };
        *ret = p;
        return 0;
}

void pid1_disconnect(Pid1 *p) {
        /* Closes without a flush: the open query is abandoned. */
        p->bus = sd_bus_close_unref(p->bus);
        name_owner_forget(&p->systemd);
}

Pid1 *pid1_free(Pid1 *p) {
        if (!p)
                return NULL;

        pid1_disconnect(p);
        status_done(&p->status);
        free(p);
        return NULL;
}

/* ---- the connection ---- */

static int on_job(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        bool ended = sd_bus_message_is_signal(m, NULL, "JobRemoved") > 0;
        const char *path, *unit;
        Pid1 *p = userdata;
        uint32_t id;

        /* Signals from the proxy need no check: the proxy forwards only signals of PID 1. The connection to the proxy has no bus names to
         * compare. */
        if (!p->by_proxy && !name_owner_sent(&p->systemd, m))
                return 0;
        if (sd_bus_message_read(m, "uos", &id, &path, &unit) >= 0 &&
            (starts_with(unit, "systemd-fsck") || (ended && ends_with(unit, ".device"))))
                p->news(p->userdata);
        return 0;
}

static int on_disconnected(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_) {
        Pid1 *p = userdata;

        p->news(p->userdata);
        return 0;
}

static int pid1_request_signals(Pid1 *p) {
        return sd_bus_call_method_async(p->bus, NULL, SYSTEMD_DESTINATION, SYSTEMD_MANAGER_PATH,
                                        SYSTEMD_MANAGER_INTERFACE, "Subscribe", NULL, NULL, NULL);
}

/* Called when PID 1 has re-executed itself: subscribes again, and reports a change, since signals during the re-execution are lost. */
static void on_pid1_changed(void *userdata) {
        Pid1 *p = userdata;

        if (p->systemd.unique)
                (void) pid1_request_signals(p);
        p->news(p->userdata);
}

/* Subscribes to job signals before the first query, so that each later job is signalled. */
static int pid1_subscribe(Pid1 *p) {
        static const char *const members[] = { "JobNew", "JobRemoved" };
        int r = 0;

        if (!p->by_proxy)
                r = name_owner_follow(&p->systemd, p->bus, SYSTEMD_DESTINATION, on_pid1_changed, p);
        for (size_t i = 0; i < ELEMENTSOF(members) && r >= 0; i++)
                r = sd_bus_match_signal_async(p->bus, NULL, NULL, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER_INTERFACE,
                                              members[i], on_job, NULL, p);
        if (r >= 0)
                r = sd_bus_match_signal_async(p->bus, NULL, "org.freedesktop.DBus.Local", NULL,
                                              "org.freedesktop.DBus.Local", "Disconnected", on_disconnected, NULL, p);
        /* A proxy subscribes to PID 1's signals on its own. */
        if (r >= 0 && !p->by_proxy)
                r = pid1_request_signals(p);
        return r;
}

static int pid1_connect(Pid1 *p) {
        int r = -ENOENT;

        if (p->bus && sd_bus_is_open(p->bus) > 0)
                return 0;
        pid1_disconnect(p);

        if (!p->by_proxy)
                r = p->ways->open_bus(&p->bus);
        p->by_proxy = r < 0;
        if (r < 0)
                r = p->ways->open_proxy(p->broker, &p->bus);
        if (r < 0) {
                /* Both the bus and the proxy failed, for example while PID 1 re-executes itself. The next attempt starts with the bus. */
                p->by_proxy = false;
                return r;
        }

        /* By default sd-bus flushes the connection when the event loop ends, and this flush can block. */
        r = sd_bus_set_close_on_exit(p->bus, false);
        if (r >= 0)
                r = pid1_subscribe(p);
        if (r >= 0)
                r = sd_bus_attach_event(p->bus, p->event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                pid1_disconnect(p);
        return r;
}

/* ---- the checks ---- */

/* Closes the connection after a failure, and selects the other kind of connection (bus or proxy) for the next query. */
static void status_fail(Pid1 *p) {
        pid1_disconnect(p);
        p->by_proxy = !p->by_proxy;
        p->outstanding = 0;
        status_done(&p->status);
}

/* Counts a reply, and may close the connection. Each reply handler must therefore return 1: otherwise, after a timeout, sd-bus would use
 * the closed connection and abort. */
static void status_reply_received(Pid1 *p, int r) {
        if (r < 0)
                p->error = r;
        if (--p->outstanding > 0)
                return;

        if (p->error < 0)
                status_fail(p);
        p->answered(p->userdata, p->error, &p->status);
        status_done(&p->status);
}

/* Handles the reply with a device's sysfs path, whose last component is the kernel name. The path is empty if the device does not exist.
 * Finds the disks below the device at once, since the kernel may reuse the name at any time. */
static int on_sysfs_path(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        const char *path;
        FsckUnit *u = userdata;
        int r;

        r = -sd_bus_message_get_errno(m);
        if (r >= 0)
                r = sd_bus_message_read(m, "v", "s", &path);
        if (r >= 0 && *path) {
                r = string_replace(&u->sysname, base_name(path));
                if (r >= 0)
                        r = stack_disks_below(INVENTORY_CLASSDIR, u->sysname, &u->disks);
        }

        status_reply_received(u->pid1, r);
        return 1;
}

/* Queries the sysfs path of the device that systemd-fsck@NAME.service checks, which is NAME.device (BindsTo=%i.device in the template). */
static int query_checked_device(FsckUnit *u) {
        const char *at = strchr(u->name, '@'), *dot = strrchr(u->name, '.');
        _cleanup_free_ char *device = NULL, *path = NULL;
        int r;

        if (!at || !dot || dot < at)
                return 0;
        if (asprintf(&device, "%.*s.device", (int) (dot - at - 1), at + 1) < 0)
                return -ENOMEM;

        r = sd_bus_path_encode(SYSTEMD_UNIT_PATH, device, &path);
        if (r >= 0)
                r = sd_bus_call_method_async(u->pid1->bus, NULL, SYSTEMD_DESTINATION, path,
                                             "org.freedesktop.DBus.Properties", "Get", on_sysfs_path, u, "ss",
                                             "org.freedesktop.systemd1.Device", "SysFSPath");
        if (r >= 0)
                u->pid1->outstanding++;
        return r;
}

static int status_add_unit(Pid1 *p, const char *unit) {
        FsckStatus *s = &p->status;
        bool root = streq(unit, "systemd-fsck-root.service");

        if (!GREW(s, units))
                return -ENOMEM;
        s->units[s->n_units] = (FsckUnit){ .pid1 = p, .name = strdup(unit), .root = root };
        return s->units[s->n_units].name ? (int) s->n_units++ : -ENOMEM;
}

/* Handles the reply to ListUnitsByPatterns(), which lists checks, and the reply to ListUnitsByNames(), which lists devices. */
static int on_units(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        Pid1 *p = userdata;
        size_t n_known = p->status.n_units;
        UnitStatus u;
        int r;

        r = -sd_bus_message_get_errno(m);
        if (r >= 0)
                r = sd_bus_message_enter_container(m, 'a', UNIT_STATUS_SIGNATURE);
        while (r >= 0 && (r = unit_status_read(m, &u)) > 0)
                if (ends_with(u.name, ".device"))
                        r = streq(u.active_state, "active") ? 0 : names_add(&p->status.inactive, u.name);
                else if (u.pending)
                        r = status_add_unit(p, u.name);

        /* The array no longer grows, so pointers to its items stay valid. */
        for (size_t i = n_known; i < p->status.n_units && r >= 0; i++)
                r = query_checked_device(p->status.units + i);
        status_reply_received(p, r);
        return 1;
}

static int status_call(Pid1 *p, const char *method, char *const *states, char *const *names) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        r = sd_bus_message_new_method_call(p->bus, &m, SYSTEMD_DESTINATION, SYSTEMD_MANAGER_PATH,
                                           SYSTEMD_MANAGER_INTERFACE, method);
        if (r >= 0 && states)
                r = sd_bus_message_append_strv(m, (char **) states);
        if (r >= 0)
                r = sd_bus_message_append_strv(m, (char **) names);
        if (r >= 0)
                r = sd_bus_call_async(p->bus, NULL, m, on_units, p, 0);
        if (r >= 0)
                p->outstanding++;
        return r;
}

int pid1_query_fsck_status(Pid1 *p, char *const *device_units) {
        static char *const any_state[] = { NULL };
        int r;

        assert(p->outstanding == 0);

        p->error = 0;

        r = pid1_connect(p);
        if (r < 0)
                return r;
        /* Devices are queried before checks: once a device is active, the jobs for its checks are already queued. */
        if (device_units && device_units[0])
                r = status_call(p, "ListUnitsByNames", NULL, device_units);
        if (r >= 0)
                r = status_call(p, "ListUnitsByPatterns", any_state, fsck_unit_patterns);
        if (r < 0)
                status_fail(p);
        return r;
}

int device_unit_name(const char *node, char **ret) {
        char *out, *o;

        o = out = malloc(strlen(node) * 4 + sizeof ".device");
        if (!out)
                return -ENOMEM;

        node += strspn(node, "/");
        for (const char *p = node; *p; p++) {
                bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                             *p == ':' || *p == '_' || (*p == '.' && p != node);

                if (*p == '/')
                        *o++ = '-';
                else if (plain)
                        *o++ = *p;
                else
                        o += sprintf(o, "\\x%02x", (unsigned char) *p);
        }

        (void) strcpy(o, ".device");
        *ret = out;
        return 0;
}

/* ---- devices: what udev reports ---- */

/* Adds the device `name` to `d`. `above`: the devices stacked on the disk, to find the device's holders. `known`: the device's state; if
 * NULL, the state is read from udev. */
static int add_device(FsckDevices *d, const char *name, char *const *above, const Readiness *known) {
        _cleanup_free_ char *node = NULL;
        FsckDevice *item;
        int r = 0;

        if (!GREW(d, items))
                return -ENOMEM;

        item = d->items + d->n_items;
        *item = (FsckDevice){ .name = strdup(name) };
        if (!item->name)
                return -ENOMEM;
        d->n_items++;

        if (known)
                item->ready = *known;
        else
                r = inventory_readiness(name, &item->ready);
        item->gone = r == -ENODEV;
        item->has_holders = r >= 0 && item->ready.container && stack_has_holders(INVENTORY_CLASSDIR, name, above);
        if (r < 0 || !item->ready.plugged)
                return item->gone ? 0 : r;

        r = device_node(name, &node);
        return r < 0 ? r : device_unit_name(node, &item->unit);
}

int fsck_devices_read(FsckDevices *d, const char *disk, const Readiness *known) {
        _cleanup_(names_freep) char **above = NULL;
        int r;

        fsck_devices_done(d);
        r = stack_above(INVENTORY_CLASSDIR, disk, &above);
        if (r >= 0)
                r = add_device(d, disk, above, known);
        for (char **a = above; r >= 0 && a && *a; a++)
                r = add_device(d, *a, above, NULL);
        return r;
}

void fsck_devices_done(FsckDevices *d) {
        for (size_t i = 0; i < d->n_items; i++) {
                free(d->items[i].name);
                free(d->items[i].unit);
        }
        free(d->items);
        *d = (FsckDevices){};
}

/* ---- devices: which checks they wait for ---- */

/* Returns true if PID 1 knows this device. PID 1 lags behind udev. Before PID 1 reports a device unit as active, it
 * queues the jobs for the checks of this device. */
static bool is_plugged(const FsckStatus *s, const FsckDevice *device) {
        return !device->unit || !names_contain(s->inactive, device->unit);
}

/* Returns true if udev and PID 1 have processed the device, or if the device is gone. */
static bool is_settled(const FsckStatus *s, const FsckDevice *device) {
        return device->gone || (device->ready.initialized && is_plugged(s, device));
}

/* Returns true if all devices stacked on this device are known. Until udev and PID 1 have processed the device, more devices may appear.
 * The content of a LUKS, LVM or RAID member appears only when the member is open. */
static bool is_resolved(const FsckStatus *s, const FsckDevice *device) {
        return device->gone ||
               (is_settled(s, device) && device->ready.ready && (!device->ready.container || device->has_holders));
}

bool fsck_devices_settled(const FsckDevices *d, const FsckStatus *s) {
        assert(d->n_items > 0);

        for (size_t i = 0; i < d->n_items; i++)
                if (!is_settled(s, d->items + i))
                        return false;
        return true;
}

bool fsck_devices_covered(const FsckDevices *d, const FsckStatus *s, const FsckUnit *u) {
        assert(d->n_items > 0);

        /* A check of the root file system makes all drives wait. This is rare: at boot, this check ends before the service starts. */
        if (u->root || names_contain(u->disks, d->items[0].name))
                return true;
        for (size_t i = 0; i < d->n_items; i++)
                if (u->sysname ? streq(d->items[i].name, u->sysname) : !is_resolved(s, d->items + i))
                        return true;
        return false;
}
