/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <libudev.h>
#include <stdio.h>

#include "inventory.h"
#include "stack.h"

DEFINE_CLEANUP(struct udev *, udev_unref);
DEFINE_CLEANUP(struct udev_device *, udev_device_unref);
DEFINE_CLEANUP(struct udev_enumerate *, udev_enumerate_unref);

static const char *lookup_property(void *userdata, const char *key) {
        return udev_device_get_property_value(userdata, key);
}

static const char *lookup_sysattr(void *userdata, const char *path) {
        struct udev_device *device = userdata, *host;
        char buf[128];

        if (strncmp(path, "scsi_host/", 10) != 0)
                return udev_device_get_sysattr_value(device, path);

        host = udev_device_get_parent_with_subsystem_devtype(device, "scsi", "scsi_host");
        if (!host)
                return NULL;
        (void) snprintf(buf, sizeof buf, "scsi_host/%s/%s", udev_device_get_sysname(host), path + 10);
        return udev_device_get_sysattr_value(host, buf);
}

static int add_links(Drive *d, struct udev_device *device, LinkVia via) {
        const char *node = udev_device_get_devnode(device);
        struct udev_list_entry *e;
        int r = 0;

        if (node)
                r = drive_add_link(d, node, via);

        udev_list_entry_foreach(e, udev_device_get_devlinks_list_entry(device)) {
                if (r < 0)
                        return r;
                r = drive_add_link(d, udev_list_entry_get_name(e), via);
        }

        return r;
}

/* What is above appears and goes while we look: a name without a device is skipped. */
static int add_links_above(Drive *d, struct udev *udev) {
        _cleanup_(names_freep) char **partitions = NULL, **above = NULL;
        int r;

        r = stack_partitions(INVENTORY_CLASSDIR, d->name, &partitions);
        if (r >= 0)
                r = stack_above(INVENTORY_CLASSDIR, d->name, &above);

        for (char **n = above; r >= 0 && n && *n; n++) {
                _cleanup_(udev_device_unrefp) struct udev_device *device = NULL;

                device = udev_device_new_from_subsystem_sysname(udev, "block", *n);
                if (device)
                        r = add_links(d, device, names_contain(partitions, *n) ? LINK_PARTITION : LINK_STACKED);
        }

        return r;
}

int inventory_drive(struct udev_device *device, Drive **ret) {
        const DriveLookup lookup = { lookup_property, lookup_sysattr, device };
        _cleanup_(drive_freep) Drive *d = NULL;
        struct udev_list_entry *e;
        const char *node;
        int r;

        node = udev_device_get_devnode(device);
        if (!node)
                return -ENODEV;

        r = drive_new(udev_device_get_sysname(device), node, udev_device_get_syspath(device), &lookup, &d);
        if (r < 0)
                return r;

        udev_list_entry_foreach(e, udev_device_get_properties_list_entry(device)) {
                r = drive_add_property(d, udev_list_entry_get_name(e), udev_list_entry_get_value(e));
                if (r < 0)
                        return r;
        }

        r = add_links(d, device, LINK_OWN);
        if (r >= 0)
                r = add_links_above(d, udev_device_get_udev(device));
        if (r < 0)
                return r;

        *ret = TAKE_PTR(d);
        return 0;
}

bool inventory_is_drive(struct udev_device *device) {
        const char *subsystem = udev_device_get_subsystem(device), *devtype = udev_device_get_devtype(device);

        return subsystem && devtype && streq(subsystem, "block") && streq(devtype, "disk") &&
               udev_device_has_current_tag(device, INVENTORY_TAG) > 0;
}

int inventory_drive_by_name(const char *name, Drive **ret) {
        _cleanup_(udev_unrefp) struct udev *udev = NULL;
        _cleanup_(udev_device_unrefp) struct udev_device *device = NULL;

        udev = udev_new();
        if (!udev)
                return -errno;

        device = udev_device_new_from_subsystem_sysname(udev, "block", name);
        if (!device || !inventory_is_drive(device))
                return -ENODEV;

        return inventory_drive(device, ret);
}

static int compare_drives(const void *a, const void *b) {
        return drive_name_compare((*(Drive *const *) a)->name, (*(Drive *const *) b)->name);
}

int inventory_read(Inventory *ret) {
        _cleanup_(udev_unrefp) struct udev *udev = NULL;
        _cleanup_(udev_enumerate_unrefp) struct udev_enumerate *e = NULL;
        _cleanup_(inventory_done) Inventory i = {};
        struct udev_list_entry *entry;
        int r;

        udev = udev_new();
        if (!udev)
                return -errno;
        e = udev_enumerate_new(udev);
        if (!e)
                return -ENOMEM;

        r = udev_enumerate_add_match_subsystem(e, "block");
        if (r >= 0)
                r = udev_enumerate_add_match_tag(e, INVENTORY_TAG);
        if (r >= 0)
                r = udev_enumerate_add_match_is_initialized(e);
        if (r >= 0)
                r = udev_enumerate_scan_devices(e);
        if (r < 0)
                return r;

        udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(e)) {
                _cleanup_(udev_device_unrefp) struct udev_device *device = NULL;
                _cleanup_(drive_freep) Drive *d = NULL;
                Drive **drives;

                errno = 0;
                device = udev_device_new_from_syspath(udev, udev_list_entry_get_name(entry));
                if (!device && errno != 0 && errno != ENOENT && errno != ENODEV)
                        return -errno;
                if (!device || !inventory_is_drive(device))
                        continue;

                r = inventory_drive(device, &d);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        continue; /* it has just gone */

                drives = reallocarray(i.drives, i.n_drives + 1, sizeof *drives);
                if (!drives)
                        return -ENOMEM;
                i.drives = drives;
                drives[i.n_drives++] = TAKE_PTR(d);
        }

        if (i.n_drives > 0)
                qsort(i.drives, i.n_drives, sizeof *i.drives, compare_drives);

        *ret = i;
        i = (Inventory){};
        return 0;
}

void inventory_done(Inventory *i) {
        for (size_t k = 0; k < i->n_drives; k++)
                (void) drive_free(i->drives[k]);
        free(i->drives);
        *i = (Inventory){};
}

int inventory_readiness(const char *name, Readiness *ret) {
        _cleanup_(udev_unrefp) struct udev *udev = NULL;
        _cleanup_(udev_device_unrefp) struct udev_device *device = NULL;
        const char *ready, *usage, *node;
        Readiness r = {};

        udev = udev_new();
        if (!udev)
                return -errno;
        errno = 0;
        device = udev_device_new_from_subsystem_sysname(udev, "block", name);
        if (!device)
                return errno == 0 || errno == ENOENT ? -ENODEV : -errno;

        ready = udev_device_get_property_value(device, "SYSTEMD_READY");
        usage = udev_device_get_property_value(device, "ID_FS_USAGE");
        node = udev_device_get_devnode(device);

        r.initialized = udev_device_get_is_initialized(device) > 0;
        r.ready = !(ready && streq(ready, "0"));
        r.plugged = r.ready && udev_device_has_current_tag(device, "systemd") > 0;
        r.container = usage && (streq(usage, "crypto") || streq(usage, "raid"));
        if (node) {
                r.node = strdup(node);
                if (!r.node)
                        return -ENOMEM;
        }

        *ret = r;
        return 0;
}

void readiness_done(Readiness *r) {
        free(r->node);
        *r = (Readiness){};
}
