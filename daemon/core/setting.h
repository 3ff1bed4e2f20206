/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A setting is one row of a table. The row defines the configuration key, the range and unit, the help texts, the place in the order of
 * writing, and the functions that access the drive. Rows are in the file of their backend (device/ata-settings.c, …);
 * device/settings.c collects the tables. */

#include "text.h"
#include "value.h"

/* Where a setting's state is held, and the interface to it. */
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
        SETTING_UNREADABLE = 1 << 0,   /* cannot be read: sent once per boot, attach and resume */
        SETTING_KERNEL = 1 << 1,       /* held by the kernel: a write sends no command to the drive */
        SETTING_STANDBY_SAFE = 1 << 2, /* the write function handles a drive in standby without spinning it up */
        SETTING_ON_BATTERY = 1 << 3,   /* an alias whose values apply while the machine runs on battery */
        SETTING_NONVOLATILE = 1 << 4,  /* the drive keeps the setting over power cycles: compared at every visit, but
                                        * written only by `apply --permanent` */
        SETTING_SAVEABLE = 1 << 5,     /* saved by `apply --permanent` if the block has `permanent = true` */
        SETTING_AT_ATTACH = 1 << 6,    /* an action: done once per attach, and after a resume only with AT_RESUME */
        SETTING_DEAD = 1 << 7,         /* obsolete: never written; the verdict is `unsupported` */
        SETTING_EXCLUDED = 1 << 8,     /* permanent or destructive: never written; the verdict is `forbidden` */
        SETTING_CONTROLLER = 1 << 9,   /* shared by all namespaces of a controller */
        SETTING_FIRST = 1 << 10,       /* decided before other settings are read, as a write changes their readings */
        SETTING_SAME = 1 << 11, /* a part of the state in `excludes`: each value, even "off", excludes that state */
        SETTING_ATA_SLEEP = 1 << 12, /* ATA Sleep mode, which only a reset ends; any command causes a reset */
        SETTING_READ_SAFE = 1 << 13, /* the read function checks the power mode itself, or sends no command */
        SETTING_ABSENT = 1 << 14,    /* no drive of this backend has the setting; the row only gives the remedy */
} SettingFlags;

/* The rules in which a value is harmful. */
typedef enum HarmScope {
        HARM_ANY,        /* every rule */
        HARM_ROTATIONAL, /* rules that may match a rotational drive */
        HARM_MEMBER,     /* rules for members of redundant arrays, unless the kernel's command timeout is long */
        HARM_UNIVERSAL,  /* rules that match all drives */
} HarmScope;

/* Values that are allowed but can do harm: `check` warns about them. */
typedef struct Harm {
        int64_t from, to; /* range of Value.number */
        HarmScope scope;
        const char *why; /* the damage and the remedy, as a clause */
} Harm;

/* Advice for an unsupported setting. */
typedef struct Remedy {
        const char *how;         /* the advice, as a clause */
        const char *settings[4]; /* settings with the same effect: the remedy is not shown if a rule sets one of them */
        /* The drives that get the advice. 0: drives with the row's backend. Otherwise a mask of 1 << Backend: drives with one of these
         * backends, for which the table of settings has no row of this name. */
        unsigned backends;
} Remedy;

/* The state of one setting as read from a device. */
typedef struct Reading {
        bool supported;
        bool known; /* `value` is valid. Supported but not known: the setting cannot be read. Known but not supported: the drive
                     * lacks the setting, which counts as `value` ("off") */
        Value value;
        bool repeated;    /* the answer equals that before the write, and may come from the bridge's cache */
        bool saved_known; /* SETTING_SAVEABLE: `saved` is valid */
        Value saved;      /* the value after the next power-on */
} Reading;

#define SETTING_BRIEF_MAX 32U

/* The row that reads whether a drive is in standby, and puts it into standby. Each kind of drive has such a row. */
#define SETTING_STANDBY "standby"

/* Value.number of "resume" in rows with SETTING_AT_ATTACH: the action is repeated after each resume. */
#define AT_RESUME 2

typedef struct Device Device; /* device/device.h; opaque in core */
typedef struct Setting Setting;

struct Setting {
        const char *name;     /* configuration key; same as the key in hdparm.conf, if there is one */
        const char *alias_of; /* the row whose state this key sets in another unit or on battery; an alias has no functions.
                               * NULL: not an alias */
        Backend backend;
        ValueRange range;
        SettingFlags flags;
        unsigned order;           /* order of writing among the settings of a drive, lowest first */
        const char *brief;        /* description of at most SETTING_BRIEF_MAX characters, for lists */
        const char *summary;      /* description in one line, for JSON and the manual page */
        const char *equivalent;   /* the equivalent in another tool or in sysfs: "hdparm -B" */
        const char *also;         /* names in other programs' files, separated by blanks; NULL: none */
        const char *lost_by;      /* the events that lose the setting: "power", "re-add", … */
        const char *source;       /* standard or document that defines the setting */
        const char *danger;       /* possible damage, as a clause; the row then needs allow_dangerous. NULL: none */
        const Harm *harm;         /* values to warn about; NULL: none */
        const Remedy *remedy;     /* advice for drives that do not support the setting; NULL: none */
        bool spins_down;          /* the value is the time without I/O after which the drive spins down */
        const char *const *known; /* VALUE_NAME: known names, ends with NULL; `check` warns about others. NULL: any */
        const char *instead; /* SETTING_DEAD, SETTING_EXCLUDED: the cause and the current alternative, as sentences */
        const char *inert;   /* VALUE_NAME: the word that is not dangerous and excludes nothing; NULL: "off" */
        const char *excludes; /* another state: if rules set that state and this one, and neither to off, the later wish wins */
        const char *unless;   /* another state: this row is written only if that state is not in force. Such a row is
                                   * decided last */
        unsigned off_without; /* mask of 1 << Backend: a drive without these backends lacks the feature, which counts as
                                   * "off". 0: not known */

        /* read() and write() return 0, or END_… or a negative errno with a reason in Device.failure (device_fail()). read() sends no
         * command that could change the drive or spin it up. write() sends only the commands that *v needs; if device->save is set, the
         * drive also saves the value. */
        int (*read)(Device *d, const Setting *s, Reading *ret);
        int (*write)(Device *d, const Setting *s, const Value *v);
        /* Checks whether the value can be written now, without changing the drive or spinning it up. Called by dry runs and again
         * right before write(). NULL: always possible. */
        int (*permit)(Device *d, const Setting *s, const Value *v);
        /* Converts a value that differs from drive to drive ("2 stripes") to the form in which this drive reports it. NULL: no
         * conversion. */
        int (*localize)(Device *d, const Setting *s, Value *v);
        /* SETTING_KERNEL: returns true if writing the value makes the kernel resume a suspended drive. NULL: no value does. */
        bool (*resumes)(const Value *v);
        const void *detail; /* data of the backend: bits of IDENTIFY, a sysfs name, … */
};

/* The rows of all backends. Each backend's array ends with a row without a name. */
typedef struct SettingTable {
        const Setting *tables[24]; /* ends with NULL */
} SettingTable;

/* Loops over all rows. `break` leaves only the array of the current backend. */
#define SETTING_TABLE_FOREACH(s, t)                                      \
        for (const Setting *const *_rows = (t)->tables; *_rows; _rows++) \
                for (const Setting *s = *_rows; s->name; s++)

/* Returns the row of configuration key `name`; NULL: none. Several rows may share a name (write_cache of ATA and of NVMe); their ranges
 * are equal, so each can be used for parsing. Does not resolve aliases: the row of an alias has the range and unit of the alias. */
const Setting *setting_find(const SettingTable *t, const char *name);

/* Returns the row for a drive with these backends (mask of 1 << Backend); NULL: none. Resolves aliases. Dead and excluded rows apply to
 * every drive. */
const Setting *setting_for_backends(const SettingTable *t, const char *name, unsigned backends);

/* Returns the remedy for a setting that no drive with these backends has. NULL: no remedy, or some of these drives have the setting. */
const Remedy *setting_kind_remedy(const SettingTable *t, const char *name, unsigned backends);

/* Returns the name of the state that `s` sets: `alias_of` or `name`. */
const char *setting_state(const Setting *s);

/* Returns true if the value is dangerous. "off" never is. */
bool setting_is_dangerous(const Setting *s, const Value *v);

/* Returns true if the value is not "off". */
bool setting_is_active(const Setting *s, const Value *v);

/* Returns the time without I/O after which this value makes the drive spin down, in ms; UINT64_MAX: never. */
uint64_t setting_spin_down_ms(const Setting *s, const Value *v);

/* Returns true if `a` with value `v` and `b` with value `w` exclude each other on a drive that supports both. */
bool settings_exclude(const Setting *a, const Value *v, const Setting *b, const Value *w);

/* Returns the name of the setting that is nearest to a mistyped name, or that has this name in other programs. NULL: none. */
const char *setting_nearest(const SettingTable *t, const char *name);
void setting_offer(const SettingTable *t, Nearest *n);

/* Returns the setting that has this name in other programs; NULL: none. */
const Setting *setting_called(const SettingTable *t, const char *name);

/* Returns the word that a user probably meant by a value outside `range`: "off" for "never". NULL: not known. */
const char *setting_nearest_value(const ValueRange *range, const char *typed);
