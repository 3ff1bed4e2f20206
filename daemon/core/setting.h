/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A setting is one row. From the row come its config key, its range and unit, the help and list texts, its place in
 * the order of writing, and the functions that touch the drive. Rows live in the file of their backend
 * (device/ata-settings.c, …); device/settings.c only gathers the tables. */

#include "text.h"
#include "value.h"

/* Who holds the state, and through which door it is reached. */
typedef enum Backend {
        BACKEND_ATA,       /* the drive, by ATA pass-through (SAT) */
        BACKEND_NVME,      /* the controller, by admin commands */
        BACKEND_SCSI_MODE, /* the drive, by SCSI commands (mode pages); not for ATA drives behind SAT */
        BACKEND_SCSI,      /* the kernel's SCSI device, sysfs device/… */
        BACKEND_BLOCK,     /* the kernel's request queue, sysfs queue/… */
        BACKEND_OPTICAL,   /* a CD, DVD or Blu-ray drive, by MMC commands; never by ATA pass-through */
        _BACKEND_MAX,
} Backend;

const char *backend_to_string(Backend b);

typedef enum SettingFlags {
        SETTING_UNREADABLE = 1 << 0,   /* nothing can read it: sent once per boot, attach and resume */
        SETTING_KERNEL = 1 << 1,       /* held by the kernel: writing it sends the drive nothing */
        SETTING_STANDBY_SAFE = 1 << 2, /* its write function copes with a drive in standby and does not wake it */
        SETTING_ON_BATTERY = 1 << 3,   /* an alias: its values count while the machine runs on battery */
        SETTING_NONVOLATILE = 1 << 4,  /* the drive itself keeps it over power cycles: compared at every visit, but
                                        * written only when somebody asks with `apply --permanent` */
        SETTING_SAVEABLE = 1 << 5, /* with `permanent = true` in the block, `apply --permanent` has the drive keep it */
        SETTING_AT_ATTACH = 1 << 6,  /* an action, not a state: once per attach; after a resume only with AT_RESUME */
        SETTING_DEAD = 1 << 7,       /* nothing of today takes it: known, never written, `unsupported` */
        SETTING_EXCLUDED = 1 << 8,   /* permanent or destructive: known, never written, `forbidden` */
        SETTING_CONTROLLER = 1 << 9, /* the whole controller's: all its namespaces have the same */
        SETTING_FIRST = 1 << 10,     /* writing it changes what others read: its verdict comes before their reading */
        SETTING_SAME = 1 << 11,      /* it holds a part of the state it excludes, so that any of its values excludes */
        SETTING_ATA_SLEEP = 1 << 12, /* ATA's Sleep mode, which only a reset ends; any command causes one */
        /* Its read function need not know whether the drive sleeps: it asks that itself, or sends nothing. */
        SETTING_READ_SAFE = 1 << 13,
        SETTING_ABSENT = 1 << 14, /* no drive of this kind has it; the row is there for its remedy */
} SettingFlags;

/* Whom a harmful value harms. */
typedef enum HarmScope {
        HARM_ANY,       /* every drive */
        HARM_TURNING,   /* a drive that has to spin up */
        HARM_MEMBER,    /* a member of an array that can do without it, unless the kernel is to wait long */
        HARM_UNIVERSAL, /* whoever has a rule for all drives */
} HarmScope;

/* Values that are written, and can do harm all the same: `check` warns of them. */
typedef struct Harm {
        int64_t from, to; /* Value.number */
        HarmScope scope;
        const char *why; /* what it can cost, and what to do, as a clause */
} Harm;

/* What to do where a setting is unsupported. */
typedef struct Remedy {
        const char *how;         /* as a clause */
        const char *settings[4]; /* with the same effect: when a rule wants one of them, the remedy is not shown */
        unsigned backends; /* mask: drives with one of these backends, which have no row of this name; 0: drives of the row's own kind */
} Remedy;

/* What a device says of one setting. */
typedef struct Reading {
        bool supported;
        bool known; /* value is valid. Supported but not known: it cannot be read. Known but not supported: there is no such
                     * thing, which is as good as this value ("off") */
        Value value;
        bool repeated; /* from an answer that is the same, byte for byte, as the one before the setting was written, through a
                           * bridge that may give it from its memory */
        bool saved_known; /* SETTING_SAVEABLE: `saved` is what the drive will have after its next power-on */
        Value saved;
} Reading;

#define SETTING_BRIEF_MAX 32U

/* The row by which a drive is put into standby: "is it?" and "do it", whatever the kind of drive. */
#define SETTING_STANDBY "standby"

/* Value.number of a row with SETTING_AT_ATTACH: "resume", which repeats the action after each resume. */
#define AT_RESUME 2

typedef struct Device Device; /* device/device.h; core never looks inside */
typedef struct Setting Setting;

struct Setting {
        const char *name;     /* config key, hdparm.conf's own where it has one */
        const char *alias_of; /* another key for that row's state, in another unit or on battery; no functions */
        Backend backend;
        ValueRange range;
        SettingFlags flags;
        unsigned order;         /* among the settings of one drive; lower is written first */
        const char *brief;      /* in at most SETTING_BRIEF_MAX characters, for the list of all */
        const char *summary;    /* one line for JSON and man page */
        const char *equivalent; /* how users know it: "hdparm -B" */
        const char *also;       /* what other programs' files call it, with blanks between; NULL: nothing else */
        const char *lost_by;    /* what loses it: "power", "re-add", … */
        const char *source;     /* where the fact is from */
        const char *danger;     /* what it can cost, as a clause; such a row needs allow_dangerous. NULL: none */
        const Harm *harm;       /* values to warn of; NULL: none */
        const Remedy *remedy;   /* NULL: nothing can be done where it is unsupported */
        bool spins_down;        /* its value is the time without use after which the drive spins down */
        const char *const *
                        known; /* VALUE_NAME: the names that there are today, with a NULL at the end; `check` warns of another. NULL: any */
        const char *instead;  /* dead and excluded rows: why, and what to do today, as sentences */
        const char *inert;    /* VALUE_NAME: the word that is neither dangerous nor excludes; NULL: "off" */
        const char *excludes; /* another state: where both are wanted, and not off, the later wish wins */
        const char *unless;   /* another state: this row is written only where that one cannot be had. Its turn
                               * comes after all others' verdicts */
        unsigned off_without; /* backends, as a mask: a drive that has none of them has nothing of the kind by any name, so
                               * that "off" is true of it. 0: that cannot be said */

        /* Both return 0 or a negative errno and then leave a sentence in Device.error (device_fail()). read() sends
         * no command that could change or wake the drive; write() sends what is needed for *v and nothing else, and
         * has the drive save it too where device->save is set. */
        int (*read)(Device *d, const Setting *s, Reading *ret);
        int (*write)(Device *d, const Setting *s, const Value *v);
        /* Can this value be written now? Called by dry runs, too, and again right before write(); neither changes nor wakes the drive.
         * NULL: always. */
        int (*permit)(Device *d, const Setting *s, const Value *v);
        /* Where a value of the file means another one on each drive ("2 stripes"): makes it what this drive would
         * read. NULL: it is that already. */
        int (*localize)(Device *d, const Setting *s, Value *v);
        /* SETTING_KERNEL: does the kernel resume a suspended drive for this value, and so wake it? NULL: for none. */
        bool (*resumes)(const Value *v);
        const void *detail; /* the backend's own part of the row: bits of IDENTIFY, a sysfs name, … */
};

/* All rows, as the caller's parameter: each backend's own array, which ends with a row without a name. */
typedef struct SettingTable {
        const Setting *tables[24]; /* ends with NULL */
} SettingTable;

/* Inside it `break` leaves one backend's array only. */
#define SETTING_TABLE_FOREACH(s, t)                                      \
        for (const Setting *const *_rows = (t)->tables; *_rows; _rows++) \
                for (const Setting *s = *_rows; s->name; s++)

/* The row that config key `name` stands for. Several rows may share a name (write_cache on ATA and on NVMe); they have
 * equal ranges, so any is good for parsing. The alias's own row is returned: its range has the alias's unit.
 * NULL when there is none. */
const Setting *setting_find(const SettingTable *t, const char *name);

/* The row for a drive that has these backends (a mask of 1 << Backend), aliases resolved; a dead or excluded row is for
 * every drive. NULL when none fits. */
const Setting *setting_for_backends(const SettingTable *t, const char *name, unsigned backends);

/* The remedy for a setting that no drive with these backends has. NULL: there is none, or some drives have the setting. */
const Remedy *setting_kind_remedy(const SettingTable *t, const char *name, unsigned backends);

/* The name of the state that `s` sets: alias_of, or its own name. */
const char *setting_state(const Setting *s);

/* Is it dangerous to want this of it? Turning something dangerous off is not. */
bool setting_is_dangerous(const Setting *s, const Value *v);

/* Is it something else than off? */
bool setting_is_active(const Setting *s, const Value *v);

/* After how long without use this has the drive spin down, in ms; UINT64_MAX: it does not. */
uint64_t setting_spin_down_ms(const Setting *s, const Value *v);

/* Do `a`, wanted like this, and `b`, wanted like that, exclude each other, on a drive that supports both? */
bool settings_exclude(const Setting *a, const Value *v, const Setting *b, const Value *w);

/* The known name nearest to a mistyped one, or the one of a setting that other programs call so; NULL: nothing is near. */
const char *setting_nearest(const SettingTable *t, const char *name);
void setting_offer(const SettingTable *t, Nearest *n);

/* The setting that other programs call so, where that is the name of another one, too; NULL: there is none. */
const Setting *setting_called(const SettingTable *t, const char *name);

/* The word for which such a value, which `range` does not take, was typed: "off" for "never"; NULL: it is not known. */
const char *setting_nearest_value(const ValueRange *range, const char *typed);
