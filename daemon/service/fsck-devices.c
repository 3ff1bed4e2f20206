/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "device.h"
#include "fsck-devices.h"
#include "stack.h"

/* ---- what udev says ---- */

/* `above`: what lies on the disk, as far as it was there a moment ago. */
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
        item->held = r >= 0 && item->ready.container && stack_is_held(INVENTORY_CLASSDIR, name, above);
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

/* ---- what follows from it ---- */

/* Does PID 1 know this device? udev is a little ahead of it, and only then is a check's job bound to the device. */
static bool is_plugged(const FsckStatus *s, const FsckDevice *device) {
        return !device->unit || !names_contain(s->inactive, device->unit);
}

/* A device that is gone hides nothing. */
static bool is_settled(const FsckStatus *s, const FsckDevice *device) {
        return device->gone || (device->ready.initialized && is_plugged(s, device));
}

/* May nothing come to light on this device any more that a waiting check is for? It may on what udev or PID 1 have not processed, and
 * on LUKS, LVM or RAID members that nothing has opened yet. */
static bool is_resolved(const FsckStatus *s, const FsckDevice *device) {
        return device->gone ||
               (is_settled(s, device) && device->ready.ready && (!device->ready.container || device->held));
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

        /* The root file system's check comes before the service in every boot. Who has it run later lets all drives wait. */
        if (u->root || names_contain(u->disks, d->items[0].name))
                return true;
        for (size_t i = 0; i < d->n_items; i++)
                if (u->sysname ? streq(d->items[i].name, u->sysname) : !is_resolved(s, d->items + i))
                        return true;
        return false;
}
