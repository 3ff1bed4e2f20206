/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a drive *is*: identity, never wishes. Built from a lookup function, so that udev, a captured file and a test's
 * table are read alike. Immutable once made. */

#include "macro.h"

typedef enum Transport {
        TRANSPORT_UNKNOWN,
        TRANSPORT_SATA,
        TRANSPORT_PATA,
        TRANSPORT_USB,
        TRANSPORT_SAS,
        TRANSPORT_SCSI, /* parallel SCSI, iSCSI, virtio-scsi and what else has no name of its own here */
        TRANSPORT_NVME,
        TRANSPORT_MMC,
        TRANSPORT_VIRTIO,
        TRANSPORT_VIRTUAL, /* md, dm */
        _TRANSPORT_MAX,
        _TRANSPORT_INVALID = -1,
} Transport;

const char *transport_to_string(Transport t);
Transport transport_from_string(const char *s);

/* Which of its identities a drive is known by, from the least reliable. */
typedef enum IdentityKind {
        IDENTITY_UNKNOWN,
        IDENTITY_PATH,
        IDENTITY_SERIAL, /* and model */
        IDENTITY_WWN,    /* or EUI */
        _IDENTITY_KIND_MAX,
        _IDENTITY_KIND_INVALID = -1,
} IdentityKind;

const char *identity_kind_to_string(IdentityKind k); /* "path", "serial", "wwn"; NULL: not known */

/* Its power mode, the one thing here that changes. The words are the same in the state files, tables, JSON and the manual pages. */
typedef enum PowerMode {
        POWER_UNKNOWN, /* not asked yet, or no usable answer */
        POWER_ACTIVE,
        POWER_STANDBY,   /* spun down: nothing that would wake it is sent */
        POWER_SUSPENDED, /* runtime-suspended by the kernel, which resumes it for any command */
        POWER_ATA_SLEEP, /* in ATA's Sleep mode, which the kernel ends by a reset for any command */
        POWER_UNCLEAR,   /* asked, no usable answer, and nothing says that it is awake */
        _POWER_MODE_MAX,
        _POWER_MODE_INVALID = -1,
} PowerMode;

/* As hdparm -C says it: "active/idle", "standby", "sleep"; or "suspended". NULL: not known. */
const char *power_mode_to_string(PowerMode m);

typedef enum LinkVia {
        LINK_OWN,       /* the disk's node and links */
        LINK_PARTITION, /* a partition's: means its disk */
        LINK_STACKED,   /* those of md, dm-crypt, LVM above: mean every drive below, with a notice */
} LinkVia;

typedef struct DriveLink {
        char *path; /* below /dev */
        LinkVia via;
} DriveLink;

/* What one attach of a USB drive has shown of the bridge before it, so that nothing is tried twice. Plain data, which crosses the
 * worker's socket and lives in the drive's record. */
typedef struct Bridge {
        bool asked;             /* it was asked which drive is behind it … */
        bool identified;        /* … and that one answered */
        bool without_sat;       /* it passes no ATA commands */
        bool uas_blocks;        /* without_sat, as the kernel's uas driver blocks ATA commands to it */
        bool without_registers; /* it takes them and hands no registers back */
        bool repeats_identify;  /* as far as can be told it answers IDENTIFY from its memory */
        bool fragile;           /* it fell off the bus when it got one */
        uint64_t cdb;           /* the ATA PASS-THROUGH command that it knows: 16 or 12; 0: not found out yet */
} Bridge;

/* What IDENTIFY DEVICE says of the drive; empty: nothing. */
typedef struct DriveIdentity {
        char model[41], serial[21], firmware[9], wwn[19];
} DriveIdentity;

typedef struct Drive {
        char *name;                                     /* kernel name: sda */
        char *node;                                     /* /dev/sda */
        char *syspath;                                  /* /sys/devices/…/block/sda */
        char *model, *serial, *wwn, *firmware, *vendor; /* each may be NULL: not known */
        char *dock_model, *dock_serial; /* the USB bridge's own, where the above are those of the drive behind it */
        Transport transport;
        bool rotational, removable;
        bool rotational_untold, removable_untold; /* what describes it (an IDENTIFY image, --as) does not say */
        bool raid;     /* a member of an array that can do without it: md, ZFS, btrfs or LVM with redundancy */
        bool optical;  /* reads CDs, DVDs or Blu-ray discs: its size is the disc's, and nothing of a disk's is for it */
        bool ata;      /* the kernel knows it as an ATA device behind SCSI (vendor "ATA") */
        uint64_t size; /* bytes */
        uint64_t diskseq; /* 0: this kernel has none (before 5.15) */
        bool plugged;     /* PID 1 makes a device unit of it (udev's tag "systemd") */
        bool identified;  /* udev has asked the drive itself who it is, by IDENTIFY (ID_ATA=1) */
        char *properties; /* udev's "KEY=value", one after the other, each with its NUL; NULL: none */
        size_t properties_size;
        GROWING_ARRAY(DriveLink, links);
} Drive;

/* Where identity is read from. A name that begins with a capital is a udev property; any other is an attribute's path, relative to
 * the disk's syspath ("queue/rotational", "device/model"), but "scsi_host/…" is the SCSI host's above it. Answers stay valid until
 * the next call; NULL: there is none. */
typedef struct DriveLookup {
        const char *(*find)(void *userdata, const char *name);
        void *userdata;
} DriveLookup;

/* Is the whole disk of this kernel name one that drivekeep looks after? The same selection as in udev-rules/90-drivekeep.rules. */
bool drive_name_is_kept(const char *name);

/* Builds name, node, syspath and all facts; links and properties are added by the caller. */
int drive_new(const char *name, const char *node, const char *syspath, const DriveLookup *lookup, Drive **ret);
Drive *drive_free(Drive *d);
DEFINE_CLEANUP(Drive *, drive_free);

/* Is the drive behind a USB bridge, so that what udev says of it may be the bridge's own? */
bool drive_is_behind_bridge(const Drive *d);

/* The drive behind the bridge has said who it is. Once more: no change. */
int drive_reveal(Drive *d, const DriveIdentity *i);

int drive_add_link(Drive *d, const char *path, LinkVia via); /* a second time: no change */
/* The link by which it is least likely to be another drive after a boot: what speaks of the drive goes before what speaks of its place,
 * and a model and serial number before a WWN. NULL: there is none. */
const char *drive_stable_link(const Drive *d);
int drive_add_property(Drive *d, const char *key, const char *value);
const char *drive_property(const Drive *d, const char *key);

/* The backends this drive can have, as a mask of 1 << Backend; from its identity alone. */
unsigned drive_backends(const Drive *drive);

IdentityKind drive_identity_kind(const Drive *d); /* never IDENTITY_UNKNOWN */
bool drive_same(const Drive *a, const Drive *b);  /* the same piece of hardware, attached without a break (diskseq) */

/* Are both namespaces of one NVMe controller (or subsystem)? */
bool drive_shares_controller(const Drive *a, const Drive *b);

/* The order in which people count kernel names: sda, sdb, …, sdz, sdaa, …; nvme2n1, nvme10n1. */
int drive_name_compare(const char *x, const char *y);
int drive_compare(const void *a, const void *b); /* the same, of two Drive *, for qsort() */
