/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>

#include "drive.h"
#include "setting.h"

#define SCSI_TYPE_OPTICAL 5 /* SPC, peripheral device type "CD/DVD device" */

/* clang-format off */
static const char *const transport_table[_TRANSPORT_MAX] = {
        [TRANSPORT_UNKNOWN] = "unknown", [TRANSPORT_SATA] = "sata", [TRANSPORT_PATA] = "pata",
        [TRANSPORT_USB] = "usb",         [TRANSPORT_SAS] = "sas",   [TRANSPORT_SCSI] = "scsi",
        [TRANSPORT_NVME] = "nvme",       [TRANSPORT_MMC] = "mmc",   [TRANSPORT_VIRTIO] = "virtio",
        [TRANSPORT_VIRTUAL] = "virtual",
};
/* clang-format on */

const char *transport_to_string(Transport t) {
        return t >= 0 && t < _TRANSPORT_MAX ? transport_table[t] : NULL;
}

Transport transport_from_string(const char *s) {
        for (Transport t = 0; t < _TRANSPORT_MAX; t++)
                if (streq(transport_table[t], s))
                        return t;

        return _TRANSPORT_INVALID;
}

const char *power_mode_to_string(PowerMode m) {
        static const char *const table[] = {
                [POWER_ACTIVE] = "active/idle",
                [POWER_STANDBY] = "standby",
                [POWER_SUSPENDED] = "suspended",
                [POWER_ATA_SLEEP] = "sleep",
        };

        return m >= 0 && (size_t) m < ELEMENTSOF(table) ? table[m] : NULL;
}

/* Finds the transport by the parent devices in the sysfs path, never by udev's ID_BUS. For a drive at a libata port (ataN), the driver of
 * the SCSI host shows whether the drive is SATA. */
static Transport transport_from_syspath(const char *syspath, const char *proc_name) {
        /* The bus nearest to the disk decides, so the order of the table matters: a SATA drive in a USB dock is a USB drive. */
        static const struct {
                const char *glob;
                Transport transport;
        } buses[] = {
                { "*/nvme+([0-9])/*", TRANSPORT_NVME },     { "*/nvme-subsystem*", TRANSPORT_NVME },
                { "*/mmc_host*", TRANSPORT_MMC },           { "*/usb+([0-9])/*", TRANSPORT_USB },
                { "*/end_device-*", TRANSPORT_SAS },        { "*/ata+([0-9])/*", TRANSPORT_PATA },
                { "*/host+([0-9])/*", TRANSPORT_SCSI },     { "*/virtio+([0-9])/*", TRANSPORT_VIRTIO },
                { "*/virtual/block/*", TRANSPORT_VIRTUAL },
        };
        bool sata = proc_name && (strstr(proc_name, "ahci") || starts_with(proc_name, "sata"));

        for (size_t i = 0; i < ELEMENTSOF(buses); i++)
                if (fnmatch(buses[i].glob, syspath, FNM_EXTMATCH) == 0)
                        return buses[i].transport == TRANSPORT_PATA && sata ? TRANSPORT_SATA : buses[i].transport;

        return TRANSPORT_UNKNOWN;
}

/* Copies the first source that is not blank, without the padding of fixed-width fields. */
static int lookup_first(const DriveLookup *l, const char *const *sources, char **ret) {
        for (; *sources && !*ret; sources++) {
                const char *text = l->find(l->userdata, *sources) ?: "";
                size_t n;

                text += strspn(text, " \t\n");
                for (n = strlen(text); n > 0 && isspace((unsigned char) text[n - 1]); n--)
                        ;
                if (n == 0)
                        continue;

                *ret = strndup(text, n);
                if (!*ret)
                        return -ENOMEM;
        }

        return 0;
}

static uint64_t lookup_number(const DriveLookup *l, const char *name) {
        const char *v = l->find(l->userdata, name);

        return v ? strtoull(v, NULL, 10) : 0;
}

int drive_new(const char *name, const char *node, const char *syspath, const DriveLookup *l, Drive **ret) {
        _cleanup_(drive_freep) Drive *d = NULL;
        const char *scsi_vendor;
        int r;

        d = calloc(1, sizeof *d);
        if (!d)
                return -ENOMEM;

        d->name = strdup(name);
        d->node = strdup(node);
        d->syspath = strdup(syspath);
        if (!d->name || !d->node || !d->syspath)
                return -ENOMEM;

        /* udev's ID_MODEL comes first: it has the complete model of IDENTIFY, and the SCSI attribute has only 16 characters. */
        const struct {
                char **field;
                const char *sources[5];
        } facts[] = {
                { &d->model, { "ID_MODEL", "device/model", "device/name" } },
                { &d->serial, { "ID_SERIAL_SHORT", "ID_SCSI_SERIAL", "device/serial", "serial" } },
                { &d->wwn, { "ID_WWN_WITH_EXTENSION", "ID_WWN", "wwid", "device/wwid" } },
                { &d->firmware, { "ID_REVISION", "device/firmware_rev", "device/rev", "device/fwrev" } },
                { &d->vendor, { "ID_VENDOR", "device/vendor" } },
        };
        for (size_t i = 0; i < ELEMENTSOF(facts); i++) {
                r = lookup_first(l, facts[i].sources, facts[i].field);
                if (r < 0)
                        return r;
        }

        /* A WWN of zeros, or a blank substitute made by the kernel, means that the drive has no WWN. */
        if (d->wwn && fnmatch("?(0x|naa.|eui.|t10.ATA)*([0 _])", d->wwn, FNM_EXTMATCH) == 0)
                free(TAKE_PTR(d->wwn));

        d->transport = transport_from_syspath(syspath, l->find(l->userdata, "scsi_host/proc_name"));
        /* Drivers such as ata_piix serve both SATA and PATA. ID_ATA_SATA, which ata_id takes from IDENTIFY, decides. */
        if (d->transport == TRANSPORT_PATA && lookup_number(l, "ID_ATA_SATA") == 1)
                d->transport = TRANSPORT_SATA;

        d->identified = lookup_number(l, "ID_ATA") == 1;
        /* udev has read the identity of the drive by IDENTIFY, and has the identity of the USB bridge in separate
         * properties. */
        if (d->identified && d->transport == TRANSPORT_USB) {
                static const char *const model[] = { "ID_USB_MODEL", NULL };
                static const char *const serial[] = { "ID_USB_SERIAL_SHORT", NULL };

                r = lookup_first(l, model, &d->dock_model) ?: lookup_first(l, serial, &d->dock_serial);
                if (r < 0)
                        return r;
        }
        d->optical = lookup_number(l, "device/type") == SCSI_TYPE_OPTICAL;
        scsi_vendor = l->find(l->userdata, "device/vendor");
        d->ata = !d->optical && (d->transport == TRANSPORT_SATA || d->transport == TRANSPORT_PATA ||
                                 (scsi_vendor && fnmatch("ATA*([ \n])", scsi_vendor, FNM_EXTMATCH) == 0));
        d->rotational = !d->optical && lookup_number(l, "queue/rotational") != 0;
        d->removable = lookup_number(l, "removable") != 0;
        d->size = d->optical ? 0 : lookup_number(l, "size") * 512;
        d->diskseq = lookup_number(l, "diskseq");

        r = drive_add_link(d, node, LINK_OWN);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(d);
        return 0;
}

Drive *drive_free(Drive *d) {
        if (!d)
                return NULL;

        free(d->name);
        free(d->node);
        free(d->syspath);
        free(d->model);
        free(d->serial);
        free(d->wwn);
        free(d->firmware);
        free(d->vendor);
        free(d->dock_model);
        free(d->dock_serial);
        free(d->properties);
        for (size_t i = 0; i < d->n_links; i++)
                free(d->links[i].path);
        free(d->links);
        free(d);
        return NULL;
}

bool drive_is_behind_bridge(const Drive *d) {
        /* USB sticks and card readers are removable, and are not bridges. */
        return d->transport == TRANSPORT_USB && !d->removable && !d->optical && !d->dock_model && !d->dock_serial &&
               !d->identified;
}

int drive_reveal(Drive *d, const DriveIdentity *i) {
        _cleanup_free_ char *model = NULL, *serial = NULL, *firmware = NULL, *wwn = NULL;

        if (!drive_is_behind_bridge(d) || !i->serial[0])
                return 0;

        model = strdup(i->model);
        serial = strdup(i->serial);
        firmware = strdup(i->firmware);
        wwn = i->wwn[0] ? strdup(i->wwn) : NULL;
        /* Set at least one of dock_model and dock_serial, so that drive_is_behind_bridge() returns false from now on. */
        if (!d->model && !d->serial)
                d->model = strdup("");
        if (!model || !serial || !firmware || (i->wwn[0] && !wwn) || (!d->model && !d->serial))
                return -ENOMEM;

        d->dock_model = TAKE_PTR(d->model);
        d->dock_serial = TAKE_PTR(d->serial);
        d->model = TAKE_PTR(model);
        d->serial = TAKE_PTR(serial);
        free(d->firmware);
        d->firmware = TAKE_PTR(firmware);
        free(d->wwn);
        d->wwn = TAKE_PTR(wwn);
        return 0;
}

int drive_add_link(Drive *d, const char *path, LinkVia via) {
        for (size_t i = 0; i < d->n_links; i++)
                if (streq(d->links[i].path, path))
                        return 0;

        if (!GREW(d, links))
                return -ENOMEM;
        d->links[d->n_links] = (DriveLink){ .path = strdup(path), .via = via };
        if (!d->links[d->n_links].path)
                return -ENOMEM;

        d->n_links++;
        return 0;
}

const char *drive_stable_link(const Drive *d) {
        static const char *const directories[] = { "/dev/disk/by-id/", "/dev/disk/by-path/" };
        const char *found = NULL;

        /* Returns the first link in ASCII order: ata-… and nvme-MODEL… come before nvme-eui… and wwn-…, and names before UUIDs. Skips
         * lvm-… links, which name the LVM physical volume on the disk. */
        for (size_t i = 0; !found && i < ELEMENTSOF(directories); i++)
                for (const DriveLink *l = d->links; l < d->links + d->n_links; l++)
                        if (l->via == LINK_OWN && starts_with(l->path, directories[i]) &&
                            !starts_with(base_name(l->path), "lvm-") && (!found || strcmp(l->path, found) < 0))
                                found = l->path;
        return found;
}

int drive_add_property(Drive *d, const char *key, const char *value) {
        size_t n = strlen(key) + strlen(value) + 2;
        char *p;

        p = realloc(d->properties, d->properties_size + n);
        if (!p)
                return -ENOMEM;
        d->properties = p;

        (void) snprintf(p + d->properties_size, n, "%s=%s", key, value);
        d->properties_size += n;
        return 0;
}

const char *drive_property(const Drive *d, const char *key) {
        size_t n = strlen(key);

        for (size_t i = 0; i < d->properties_size; i += strlen(d->properties + i) + 1)
                if (strncmp(d->properties + i, key, n) == 0 && d->properties[i + n] == '=')
                        return d->properties + i + n + 1;

        return NULL;
}

unsigned drive_backends(const Drive *drive) {
        unsigned mask = 1U << BACKEND_BLOCK;

        assert((unsigned) drive->transport < _TRANSPORT_MAX);
        if (drive->optical)
                return 1U << BACKEND_OPTICAL;

        if (drive->transport >= TRANSPORT_SATA && drive->transport <= TRANSPORT_SCSI)
                mask |= 1U << BACKEND_SCSI;
        /* A USB bridge does not report the kind of the drive behind it. Only a probe shows whether ATA commands work. */
        if (drive->ata || drive->transport == TRANSPORT_USB)
                mask |= 1U << BACKEND_ATA;
        else if (drive->transport == TRANSPORT_SAS || drive->transport == TRANSPORT_SCSI)
                mask |= 1U << BACKEND_SCSI_MODE;
        else if (drive->transport == TRANSPORT_NVME)
                mask |= 1U << BACKEND_NVME;
        return mask;
}

const char *identity_kind_to_string(IdentityKind k) {
        static const char *const table[_IDENTITY_KIND_MAX] = {
                [IDENTITY_PATH] = "path",
                [IDENTITY_SERIAL] = "serial",
                [IDENTITY_WWN] = "wwn",
        };

        return k >= 0 && k < _IDENTITY_KIND_MAX ? table[k] : NULL;
}

IdentityKind drive_identity_kind(const Drive *d) {
        return d->wwn ? IDENTITY_WWN : d->serial && d->model ? IDENTITY_SERIAL : IDENTITY_PATH;
}

bool drive_same(const Drive *a, const Drive *b) {
        if (a->diskseq != b->diskseq)
                return false;
        /* A diskseq identifies one attach of one drive, even if udev's properties differ. */
        if (a->diskseq != 0)
                return streq(a->syspath, b->syspath);

        if (a->wwn)
                return streq_ptr(a->wwn, b->wwn);
        if (drive_identity_kind(a) != drive_identity_kind(b))
                return false;
        return a->serial && a->model ? streq(a->serial, b->serial) && streq(a->model, b->model)
                                     : streq(a->syspath, b->syspath);
}

bool drive_shares_controller(const Drive *a, const Drive *b) {
        const char *slash = strrchr(a->syspath, '/');
        size_t n = slash ? (size_t) (slash - a->syspath) : 0;

        /* A namespace is a direct child of its controller in sysfs. */
        return a->transport == TRANSPORT_NVME && b->transport == TRANSPORT_NVME && n > 0 &&
               strncmp(a->syspath, b->syspath, n) == 0 && b->syspath[n] == '/' && !strchr(b->syspath + n + 1, '/');
}

bool drive_name_is_managed(const char *name) {
        /* Excludes the hardware partitions of an MMC card, which the kernel shows as disks. */
        return fnmatch("@(sd|hd|nvme*n|mmcblk|vd|xvd|md|dm-|sr)*", name, FNM_EXTMATCH) == 0 &&
               fnmatch("mmcblk*@(boot|gp|rpmb)*", name, FNM_EXTMATCH) != 0;
}

int drive_name_compare(const char *x, const char *y) {
        size_t n = strcspn(x, "0123456789"), k = strcspn(y, "0123456789");
        int r = strncmp(x, y, 2);

        if (r == 0 && n != k)
                return n < k ? -1 : 1;
        return r ?: strverscmp(x, y);
}

int drive_compare(const void *a, const void *b) {
        return drive_name_compare((*(Drive *const *) a)->name, (*(Drive *const *) b)->name);
}
