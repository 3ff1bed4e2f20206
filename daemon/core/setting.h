/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A setting is one row of a table. The row defines the configuration key, the range and unit, the help texts, the place in the order of
 * writing, and the functions that access the drive. Rows are in the file of their backend (device/ata-settings.c, …);
 * device/settings.c collects the tables. */

#include "text.h"
#include "value.h"

/* Where the value of a setting is held, and how it is read and written. */
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
        SETTING_NONVOLATILE = 1 << 4,  /* kept by the drive over power cycles: compared at every visit, but written only
                                        * by `apply --permanent` */
        SETTING_SAVEABLE = 1 << 5,     /* saved by `apply --permanent` if the block has `permanent = true` */
        SETTING_AT_ATTACH = 1 << 6,    /* an action, done once per attach; with value AT_RESUME, also after each
                                        * resume */
        SETTING_DEAD = 1 << 7,         /* obsolete: never written; the verdict is `unsupported` */
        SETTING_EXCLUDED = 1 << 8,     /* permanent or destructive: never written; the verdict is `forbidden` */
        SETTING_CONTROLLER = 1 << 9,   /* shared by all namespaces of a controller */
        SETTING_FIRST = 1 << 10,       /* decided first: writing this setting changes the readings of other settings */
        SETTING_SAME = 1 << 11,        /* sets a part of the setting in the field `excludes`; even the value "off"
                                        * excludes that setting */
        SETTING_ATA_SLEEP = 1 << 12,   /* ATA Sleep mode, which only a reset ends; any command causes a reset */
        SETTING_READ_SAFE = 1 << 13,   /* the read function checks the power mode itself, or sends no command */
        SETTING_ABSENT = 1 << 14,      /* no drive of this backend has the setting; the row only gives advice
                                        * (Remedy) */
        SETTING_SCHEDULER =
                        1 << 15, /* belongs to one I/O scheduler; `show` omits the setting while another scheduler is in
                                        * force */
} SettingFlags;

/* The rules in which a value is harmful. */
typedef enum HarmScope {
        HARM_ANY,        /* every rule */
        HARM_ROTATIONAL, /* rules that may match a rotational drive */
        HARM_MEMBER,     /* rules that are for members of redundant arrays and set no long command timeout */
        HARM_UNIVERSAL,  /* rules that match all drives */
} HarmScope;

/* Values that are allowed but can do harm: `check` warns about them. */
typedef struct Harm {
        int64_t from, to; /* range of Value.number */
        HarmScope scope;
        const char *why; /* the damage and how to prevent it, as a clause */
} Harm;

/* Advice for an unsupported setting. */
typedef struct Remedy {
        const char *how;         /* the advice, as a clause */
        const char *settings[4]; /* settings with the same effect; if a rule sets any of them, no advice is given */
        /* 0: the advice is for drives with the row's backend. Otherwise a mask of 1 << Backend: the advice is for
         * drives with one of these backends, if the setting has no row for such a drive. */
        unsigned backends;
} Remedy;

/* The result of reading one setting from a drive. */
typedef struct Reading {
        bool supported;
        bool known; /* `value` is valid. If the setting is supported but not known, it cannot be read. If it is known
                     * but not supported, the drive lacks the setting, and `value` is "off". */
        Value value;
        bool repeated;    /* the answer equals the answer before the write, and may come from the USB bridge's cache */
        bool saved_known; /* SETTING_SAVEABLE: `saved` is valid */
        Value saved;      /* the value after the next power-on */
        bool limited;     /* the drive reports `fixed`, `min` and `max`; not sent between processes */
        bool fixed;       /* no command can change the value */
        int64_t min, max; /* the drive's own range, in units of the value */
} Reading;

#define SETTING_BRIEF_MAX 32U

/* The row that reads whether a drive is in standby, and puts it into standby. Each kind of drive has such a row. */
#define SETTING_STANDBY "standby"

/* The number of the value "resume" in rows with SETTING_AT_ATTACH. With this value, the action is repeated after each
 * resume. */
#define AT_RESUME 2

typedef struct Device Device; /* device/device.h; opaque in core */
typedef struct Setting Setting;

struct Setting {
        const char *name; /* configuration key; same as the key in hdparm.conf, if there is one */
        /* In an alias: the name of the row for which the alias stands. The alias has another unit than that row, or
         * applies only on battery. It has no functions. NULL: not an alias. */
        const char *alias_of;
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
        const char *danger;       /* possible damage, as a clause: rules need allow_dangerous. NULL: not dangerous */
        const Harm *harm;         /* values to warn about; NULL: none */
        const Remedy *remedy;     /* advice for drives that do not support the setting; NULL: none */
        bool spins_down;          /* the value is the time without I/O after which the drive spins down */
        bool keeps_active;        /* the interval at which write() reads the medium; excludes rows with `spins_down` */
        const char *const *known; /* VALUE_NAME: list ending with NULL; `check` warns of other names. NULL: no check */
        const char *instead;      /* SETTING_DEAD, SETTING_EXCLUDED: why no value is written, and what to use instead */
        const char *inert;        /* VALUE_NAME: the word that is safe and excludes no other setting; NULL: "off" */
        /* A setting that this row excludes. If rules set both settings to values other than "off", the later rule
         * wins. */
        const char *excludes;
        /* The name of another setting: while that setting is in force, this row is not written. Rows with such a name
         * are decided last. */
        const char *unless;
        unsigned off_without; /* mask of 1 << Backend: if a drive has none of these backends, the setting counts as
                               * "off". 0: not known */

        /* read() and write() return 0, an END_… code or a negative errno. The reason for a failure is in Device.failure
         * (device_fail()). read() sends no command that could change the drive or spin it up. write() sends only the
         * commands that *v needs; if device->save is set, the drive also saves the value. */
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

/* Returns the row for a drive with these backends (mask of 1 << Backend); NULL: none. Resolves aliases. Rows with
 * SETTING_DEAD or SETTING_EXCLUDED apply to every drive. */
const Setting *setting_for_backends(const SettingTable *t, const char *name, unsigned backends);

/* Returns advice for a setting that no drive with these backends has. NULL: there is no advice, or some drives with
 * these backends have the setting. */
const Remedy *setting_kind_remedy(const SettingTable *t, const char *name, unsigned backends);

/* Returns the name of the setting that the row `s` sets: `alias_of`, or `name` if the row is not an alias. */
const char *setting_state(const Setting *s);

/* Returns true if the value is dangerous. The value "off" is never dangerous. */
bool setting_is_dangerous(const Setting *s, const Value *v);

/* Returns true if the current value of the setting may be written again, to find out whether the drive accepts the value. Such a write must
 * have no side effect. A row of a timer for standby is not written, because the write would restart the timer. On SAS, a write of idle_a,
 * idle_b or idle_c sends the whole mode page 1Ah, which also has the drive's timers for standby (STANDBY_Y and STANDBY_Z). Files in
 * sysfs (rows with SETTING_KERNEL or permit()) are not written: a write of the link power management policy starts the kernel's error
 * handler, a write for APST makes the kernel build a new table, and a written max_sectors_kb counts as set by the user. */
bool setting_may_rewrite(const Setting *s);

/* Returns true if the value is not "off". */
bool setting_is_active(const Setting *s, const Value *v);

/* Returns the time without I/O after which this value makes the drive spin down, in ms; UINT64_MAX: never. */
uint64_t setting_spin_down_ms(const Setting *s, const Value *v);

/* Returns true if `a` with value `v` and `b` with value `w` exclude each other on a drive that supports both. */
bool settings_exclude(const Setting *a, const Value *v, const Setting *b, const Value *w);

/* Returns the setting's name that is nearest to a mistyped name. If `name` is a setting's name in another program,
 * returns the name of that setting here. NULL: no name is near. */
const char *setting_nearest(const SettingTable *t, const char *name);
void setting_offer(const SettingTable *t, Nearest *n);

/* Returns the setting that has this name in other programs; NULL: none. */
const Setting *setting_called(const SettingTable *t, const char *name);

/* Returns the word that a user probably meant by a value outside `range`: "off" for "never". NULL: not known. */
const char *setting_nearest_value(const ValueRange *range, const char *typed);
