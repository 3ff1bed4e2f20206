/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <libudev.h>
#include <limits.h>
#include <stdio.h>

#include "attribute.h"
#include "inventory.h"
#include "stack.h"
#include "text.h"

DEFINE_CLEANUP(struct udev_device *, udev_device_unref);

typedef struct UdevLookup {
        struct udev_device *device;
        char text[256];
} UdevLookup;

static const char *lookup_find(void *userdata, const char *path) {
        UdevLookup *l = userdata;
        const char *syspath = udev_device_get_syspath(l->device);
        int r;

        if (isupper((unsigned char) *path))
                return udev_device_get_property_value(l->device, path);
        if (starts_with(path, "scsi_host/"))
                r = stack_scsi_host_read(syspath, base_name(path), l->text, sizeof l->text);
        else
                r = attribute_read(l->text, sizeof l->text, "%s/%s", syspath, path);
        return r < 0 ? NULL : l->text;
}

/* Opens a block device by its path. libudev's lookup by subsystem and name would try two other paths before this path. libudev accepts
 * NULL as context. -ENODEV: no such device. */
static int block_device(const char *name, struct udev_device **ret) {
        char path[PATH_MAX];

        (void) snprintf(path, sizeof path, INVENTORY_CLASSDIR "/%s", name);
        errno = 0;
        *ret = udev_device_new_from_syspath(NULL, path);
        if (*ret)
                return 0;
        return errno == 0 || errno == ENOENT ? -ENODEV : -errno;
}

static int add_links(Drive *d, struct udev_device *device, LinkVia via) {
        const char *node = udev_device_get_devnode(device);
        struct udev_list_entry *e;
        int r;

        r = node ? drive_add_link(d, node, via) : 0;
        udev_list_entry_foreach(e, udev_device_get_devlinks_list_entry(device)) {
                if (r >= 0)
                        r = drive_add_link(d, udev_list_entry_get_name(e), via);
        }
        return r;
}

static bool is_raid_member(struct udev_device *device) {
        return stack_is_raid_member(INVENTORY_CLASSDIR, INVENTORY_BTRFSDIR, udev_device_get_sysname(device),
                                    udev_device_get_property_value(device, "ID_FS_TYPE"));
}

/* Adds the devices stacked on the disk. A device may disappear during the search: its name is then skipped. */
static int add_above(Drive *d) {
        _cleanup_(names_freep) char **above = NULL;
        int r;

        r = stack_above(INVENTORY_CLASSDIR, d->name, &above);
        for (char **n = above; r >= 0 && n && *n; n++) {
                _cleanup_(udev_device_unrefp) struct udev_device *device = NULL;

                if (block_device(*n, &device) < 0)
                        continue;
                d->raid = d->raid || is_raid_member(device);
                r = add_links(d, device,
                              stack_belongs_to(udev_device_get_syspath(device), d->syspath) ? LINK_PARTITION
                                                                                            : LINK_STACKED);
        }

        return r;
}

static bool is_ready(struct udev_device *device) {
        return !streq_ptr(udev_device_get_property_value(device, "SYSTEMD_READY"), "0");
}

static bool is_plugged(struct udev_device *device) {
        return is_ready(device) && udev_device_has_current_tag(device, "systemd") > 0;
}

int inventory_drive(struct udev_device *device, Drive **ret) {
        const char *node = udev_device_get_devnode(device);
        UdevLookup udev = { .device = device };
        const DriveLookup lookup = { lookup_find, &udev };
        _cleanup_(drive_freep) Drive *d = NULL;
        struct udev_list_entry *e;
        int r;

        if (!node)
                return -ENODEV;
        r = drive_new(udev_device_get_sysname(device), node, udev_device_get_syspath(device), &lookup, &d);
        if (r < 0)
                return r;

        udev_list_entry_foreach(e, udev_device_get_properties_list_entry(device)) {
                if (r >= 0)
                        r = drive_add_property(d, udev_list_entry_get_name(e), udev_list_entry_get_value(e));
        }
        d->raid = is_raid_member(device);
        d->plugged = is_plugged(device);
        if (r >= 0)
                r = add_links(d, device, LINK_OWN);
        if (r >= 0)
                r = add_above(d);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(d);
        return 0;
}

bool inventory_is_drive(struct udev_device *device) {
        const char *name = udev_device_get_sysname(device);

        return text_is_name(name) && drive_name_is_managed(name) &&
               streq_ptr(udev_device_get_subsystem(device), "block") &&
               streq_ptr(udev_device_get_devtype(device), "disk");
}

int inventory_drive_by_name(const char *name, Drive **ret) {
        _cleanup_(udev_device_unrefp) struct udev_device *device = NULL;
        int r;

        r = block_device(name, &device);
        if (r < 0)
                return r;
        if (!inventory_is_drive(device) || udev_device_get_is_initialized(device) <= 0)
                return -ENODEV;

        r = inventory_drive(device, ret);
        return r < 0 && r != -ENOMEM ? -ENODEV : r; /* any error but -ENOMEM: the device has just disappeared */
}

int inventory_read(Inventory *ret) {
        _cleanup_(inventory_done) Inventory i = {};
        _cleanup_(globfree) glob_t found;
        int r;

        r = attribute_glob(&found, INVENTORY_CLASSDIR "/*");
        if (r < 0)
                return r;

        for (size_t k = 0; k < found.gl_pathc; k++) {
                _cleanup_(drive_freep) Drive *d = NULL;

                r = inventory_drive_by_name(base_name(found.gl_pathv[k]), &d);
                if (r == -ENODEV)
                        continue;
                if (r < 0)
                        return r;

                if (!GREW(&i, drives))
                        return -ENOMEM;
                i.drives[i.n_drives++] = TAKE_PTR(d);
        }

        if (i.n_drives > 0)
                qsort(i.drives, i.n_drives, sizeof *i.drives, drive_compare);

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
        _cleanup_(udev_device_unrefp) struct udev_device *device = NULL;
        const char *usage;
        int r;

        r = block_device(name, &device);
        if (r < 0)
                return r;

        usage = udev_device_get_property_value(device, "ID_FS_USAGE");
        ret->initialized = udev_device_get_is_initialized(device) > 0;
        ret->ready = is_ready(device);
        ret->plugged = is_plugged(device);
        ret->container = usage && STR_IN_SET(usage, "crypto", "raid");
        return 0;
}
