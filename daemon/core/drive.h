/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The identity and the facts of a drive, without its settings. Facts come from a lookup function, so udev's database, a
 * captured file and the table of a test are read alike. Once a Drive is built, only drive_reveal() changes it. */

#include "macro.h"

typedef enum Transport {
        TRANSPORT_UNKNOWN,
        TRANSPORT_SATA,
        TRANSPORT_PATA,
        TRANSPORT_USB,
        TRANSPORT_SAS,
        TRANSPORT_SCSI, /* parallel SCSI, iSCSI, virtio-scsi and other SCSI transports without an entry in this list */
        TRANSPORT_NVME,
        TRANSPORT_MMC,
        TRANSPORT_VIRTIO,
        TRANSPORT_VIRTUAL, /* md, dm */
        _TRANSPORT_MAX,
        _TRANSPORT_INVALID = -1,
} Transport;

const char *transport_to_string(Transport t);
Transport transport_from_string(const char *s);

/* The kind of identifier by which a drive is recognized, from the least to the most reliable. */
typedef enum IdentityKind {
        IDENTITY_UNKNOWN,
        IDENTITY_PATH,
        IDENTITY_SERIAL, /* serial number and model */
        IDENTITY_WWN,    /* WWN or EUI */
        _IDENTITY_KIND_MAX,
        _IDENTITY_KIND_INVALID = -1,
} IdentityKind;

const char *identity_kind_to_string(IdentityKind k); /* "path", "serial" or "wwn"; NULL: not known */

/* The power mode of a drive. State files, tables, JSON and the manual pages use the same words. */
typedef enum PowerMode {
        POWER_UNKNOWN, /* not probed yet, or the probe is not evaluated yet */
        POWER_ACTIVE,
        POWER_STANDBY,   /* spun down; no command that spins the drive up is sent */
        POWER_SUSPENDED, /* runtime-suspended by the kernel, which resumes the drive for any command */
        POWER_ATA_SLEEP, /* in ATA Sleep mode; the kernel resets the drive before it sends a command */
        POWER_UNCLEAR,   /* probed without a usable answer: the drive may be in standby */
        _POWER_MODE_MAX,
        _POWER_MODE_INVALID = -1,
} PowerMode;

/* Returns true for standby, and for the two modes that count as standby: runtime-suspended and ATA Sleep. */
static inline bool power_mode_in_standby(PowerMode m) {
        return m == POWER_STANDBY || m == POWER_SUSPENDED || m == POWER_ATA_SLEEP;
}

/* Returns the words of hdparm -C ("active/idle", "standby", "sleep") or "suspended"; NULL: not known. */
const char *power_mode_to_string(PowerMode m);

typedef enum LinkVia {
        LINK_OWN,       /* the node and links of the disk itself */
        LINK_PARTITION, /* the node and links of a partition, which stand for its disk */
        LINK_STACKED,   /* the node and links of md, dm-crypt or LVM above the disk, which stand for every disk below */
} LinkVia;

typedef struct DriveLink {
        char *path; /* absolute path, below /dev */
        LinkVia via;
} DriveLink;

/* What the service has learned about a USB bridge since it was attached, so that no probe is repeated. Plain data: sent over the worker's
 * socket and stored in the drive's state file. */
typedef struct Bridge {
        bool queried;     /* the service has queried the identity of the drive behind the bridge */
        bool identified;  /* the drive behind the bridge has reported its identity */
        bool without_sat; /* the bridge does not pass ATA commands through */
        bool uas_blocks;  /* without_sat is set because the kernel's uas driver blocks ATA commands to the bridge */
        bool without_registers; /* the bridge passes ATA commands through, but returns no registers */
        bool repeats_identify;  /* the bridge appears to answer IDENTIFY from a cache */
        bool fragile;           /* the bridge fell off the bus after an ATA command */
        uint64_t cdb; /* length of the ATA PASS-THROUGH command that the bridge accepts: 16 or 12; 0: not known yet */
} Bridge;

/* The identity in IDENTIFY DEVICE data; an empty string: not reported. */
typedef struct DriveIdentity {
        char model[41], serial[21], firmware[9], wwn[19];
} DriveIdentity;

typedef struct Drive {
        char *name;                                     /* kernel name: sda */
        char *node;                                     /* device node: /dev/sda */
        char *syspath;                                  /* sysfs directory: /sys/devices/…/block/sda */
        char *model, *serial, *wwn, *firmware, *vendor; /* NULL: not known */
        /* Identity of the USB bridge, if the members above are the identity of the drive behind the bridge. */
        char *dock_model, *dock_serial;
        Transport transport;
        bool rotational, removable;
        bool rotational_unknown, removable_unknown; /* the source (an IDENTIFY image, --as) does not report this fact */
        bool raid; /* a member of a redundant array (md, ZFS, btrfs or LVM) that would survive the loss of the drive */
        bool optical;     /* an optical drive: `size` is 0, as it depends on the disc; settings of disks do not apply */
        bool ata;         /* the kernel presents the drive as an ATA device behind SCSI (vendor "ATA") */
        uint64_t size;    /* bytes */
        uint64_t diskseq; /* 0: the kernel has no diskseq (before Linux 5.15) */
        bool plugged;     /* PID 1 has a device unit for the drive (udev's tag "systemd") */
        bool identified;  /* udev has read the identity from the drive itself by IDENTIFY (ID_ATA=1) */
        char *properties; /* udev properties: consecutive "KEY=value" strings, each terminated by NUL; NULL: none */
        size_t properties_size;
        GROWING_ARRAY(DriveLink, links);
} Drive;

/* The source of a drive's facts. A name that begins with a capital letter is a udev property. Any other name is an
 * attribute in sysfs: "scsi_host/…" belongs to the SCSI host above the disk, and other names are paths below the disk's
 * syspath ("queue/rotational", "device/model"). The result is valid until the next call; NULL: no such property or attribute. */
typedef struct DriveLookup {
        const char *(*find)(void *userdata, const char *name);
        void *userdata;
} DriveLookup;

/* Returns true if drivekeep manages whole disks with this kernel name. udev-rules/90-drivekeep.rules has the same selection. */
bool drive_name_is_managed(const char *name);

/* Creates a Drive with name, node, syspath and all facts. The caller adds links and properties. */
int drive_new(const char *name, const char *node, const char *syspath, const DriveLookup *lookup, Drive **ret);
Drive *drive_free(Drive *d);
DEFINE_CLEANUP(Drive *, drive_free);

/* Returns true if the drive is behind a USB bridge and has not yet reported its own identity: the identity in udev's
 * database may be the identity of the bridge. */
bool drive_is_behind_bridge(const Drive *d);

/* Stores the identity that the drive behind the bridge reported. A repeated call changes nothing. */
int drive_reveal(Drive *d, const DriveIdentity *i);

int drive_add_link(Drive *d, const char *path, LinkVia via); /* a repeated call changes nothing */
/* Returns the link that most reliably names the same drive after a reboot: links by identity come before links by path, and links with a
 * model and serial number before links with a WWN. NULL: the drive has no such link. */
const char *drive_stable_link(const Drive *d);
int drive_add_property(Drive *d, const char *key, const char *value);
const char *drive_property(const Drive *d, const char *key);

/* Returns the backends that the drive can have, as a mask of 1 << Backend, judged by its identity alone. */
unsigned drive_backends(const Drive *drive);

IdentityKind drive_identity_kind(const Drive *d); /* never IDENTITY_UNKNOWN */
/* Returns true if `a` and `b` are the same drive. If the kernel has diskseq, a drive that was removed and
 * attached again counts as another drive. */
bool drive_same(const Drive *a, const Drive *b);

/* Returns true if both drives are namespaces of one NVMe controller or subsystem. */
bool drive_shares_controller(const Drive *a, const Drive *b);

/* Compares kernel names in natural order: sda, sdb, …, sdz, sdaa, …; nvme2n1, nvme10n1. */
int drive_name_compare(const char *x, const char *y);
int drive_compare(const void *a, const void *b); /* drive_name_compare() for an array of Drive *, for qsort() */
