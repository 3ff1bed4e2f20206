/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A setting is one row. From the row come its config key, its range and unit, the help and list texts, its place in
 * the order of writing, and the functions that touch the drive. Rows live in the file of their backend
 * (device/ata-settings.c, …); device/settings.c only gathers the tables. */

#include "value.h"

/* Who holds the state, and through which door it is reached. */
typedef enum Backend {
        BACKEND_ATA,   /* the drive, by ATA pass-through (SAT) */
        BACKEND_NVME,  /* the controller, by admin commands */
        BACKEND_SCSI,  /* the kernel's SCSI device, sysfs device/… */
        BACKEND_BLOCK, /* the kernel's request queue, sysfs queue/… */
        _BACKEND_MAX,
} Backend;

const char *backend_to_string(Backend b);

typedef enum SettingFlags {
        SETTING_UNREADABLE = 1 << 0,   /* nothing can read it: sent once per boot, attach and resume */
        SETTING_KERNEL = 1 << 1,       /* held by the kernel: writing it sends the drive nothing */
        SETTING_STANDBY_SAFE = 1 << 2, /* its write function copes with a drive in standby and does not wake it */
        SETTING_ON_BATTERY = 1 << 3,   /* an alias: its values count while the machine runs on battery */
} SettingFlags;

/* What a device says of one setting. */
typedef struct Reading {
        bool supported;
        bool known; /* value is valid; supported but not known: it cannot be read */
        Value value;
} Reading;

typedef struct Device Device; /* device/device.h; core never looks inside */
typedef struct Setting Setting;

struct Setting {
        const char *name;     /* config key, hdparm.conf's own where it has one */
        const char *alias_of; /* another key for that row's state, in another unit or on battery; no functions */
        Backend backend;
        ValueRange range;
        SettingFlags flags;
        unsigned order;         /* among the settings of one drive (catalogue 1.4); lower is written first */
        const char *summary;    /* one line for help, list and man page */
        const char *equivalent; /* how users know it: "hdparm -B" */
        const char *lost_by;    /* what loses it: "power", "re-add", … */
        const char *source;     /* where the fact is from */

        /* Both return 0 or a negative errno and then leave a sentence in the device (device_error()). read() sends
         * no command that could change or wake the drive; write() sends what is needed for *v and nothing else. */
        int (*read)(Device *d, const Setting *s, Reading *ret);
        int (*write)(Device *d, const Setting *s, const Value *v);
        const void *detail; /* the backend's own part of the row: bits of IDENTIFY, a sysfs name, … */
};

/* All rows, as the caller's parameter: each backend's own array, which ends with a row without a name. */
typedef struct SettingTable {
        const Setting *tables[8]; /* ends with NULL */
} SettingTable;

/* Inside it `break` leaves one backend's array only. */
#define SETTING_TABLE_FOREACH(s, t)                                      \
        for (const Setting *const *_rows = (t)->tables; *_rows; _rows++) \
                for (const Setting *s = *_rows; s->name; s++)

/* The row that config key `name` stands for. Several rows may share a name (write_cache on ATA and on NVMe); they have
 * equal ranges, so any is good for parsing. The alias's own row is returned: its range has the alias's unit.
 * NULL when there is none. */
const Setting *setting_find(const SettingTable *t, const char *name);

/* The row for a drive that has these backends (a mask of 1 << Backend), aliases resolved. NULL when none fits. */
const Setting *setting_for_backends(const SettingTable *t, const char *name, unsigned backends);

/* The name of the state that `s` sets: alias_of, or its own name. */
const char *setting_state(const Setting *s);

/* The known name nearest to a mistyped one, or NULL when nothing is near. */
const char *setting_nearest(const SettingTable *t, const char *name);
