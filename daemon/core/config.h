/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The configuration: blocks in the order in which the files are read, and all complaints about the files. A block has a match and
 * assignments. Only config-value.c uses libconfig. */

#include "complaint.h"
#include "match.h"
#include "safe-file.h"
#include "setting.h"

/* Selects what spins a drive down after the time in a spin-down setting (a Setting with `spins_down`). */
typedef enum SpindownBy {
        SPINDOWN_BY_DRIVE,   /* the timer in the drive */
        SPINDOWN_BY_SERVICE, /* a command by the service; no timer is set in the drive */
        SPINDOWN_BY_AUTO,    /* the timer in the drive, or the service if the drive ignores its timer */
        _SPINDOWN_BY_MAX,
} SpindownBy;

typedef struct Assignment {
        const char *name; /* name of the setting, never an alias (setting_state()); points into the table of settings */
        Value value;
        bool on_battery; /* valid only on battery, where it overrides the block's other assignment of this setting */
        bool keep;       /* the value is "keep", which cancels the value of an earlier block */
        bool withheld;   /* the value has an error: nothing is written, not even the value of an earlier block */
        bool guessed;    /* the assignment is derived from a mistyped name, or from a name outside a statement */
        unsigned line, column;
        const Setting *row; /* the setting that the file names; may be an alias */
} Assignment;

typedef struct Block {
        Match match;
        const char *file; /* owned by the Config */
        unsigned line, column;
        struct {
                unsigned line, column;
        } match_at;   /* line and column of the match's value */
        bool broken;  /* the block has an error: all its assignments are withheld, on battery and on mains */
        bool obscure; /* the block is broken, and may set any setting: earlier blocks' settings are withheld, too */
        bool allow_dangerous; /* the user permits dangerous settings in this block */
        bool wake;            /* a drive in standby may be spun up for the settings of this block */
        bool permanent; /* `drivekeep apply --permanent` saves the settings of this block in the drive, if the drive can save them */
        bool only_in_raid; /* the block applies only to members of a redundant array */
        SpindownBy spindown_by;
        bool wake_together;    /* the drives of an array are spun up together */
        bool commands_are_use; /* commands that programs send to the drive count as I/O */
        GROWING_ARRAY(Assignment, assignments);
} Block;

typedef struct Config {
        char **files;     /* names of the files, in the order of reading; ends with NULL */
        uint64_t *hashes; /* text_hash() of each file's text, in the order of `files` */
        size_t n_files;
        GROWING_ARRAY(Block, blocks);
        uint64_t fsck_wait_ms;    /* ms that a visit waits for fsck before its settings are reported as deferred */
        uint64_t recheck_ms;      /* ms between checks for drift; 0: never */
        uint64_t on_drift;        /* a value of OnDrift */
        uint64_t wake_log;        /* a value of WakeLog */
        uint64_t spin_up_at_once; /* number of drives that wake_together may spin up at the same time; 0: no limit */
        Complaints complaints;
} Config;

/* The reaction to drift. */
typedef enum OnDrift {
        ON_DRIFT_REPORT,
        ON_DRIFT_RESTORE,
} OnDrift;

/* Selects the drives whose wakers are logged. */
typedef enum WakeLog {
        WAKE_LOG_OFF,
        WAKE_LOG_ON,   /* drives that match a rule and can enter standby */
        WAKE_LOG_AUTO, /* drives that spin down after a time without I/O */
} WakeLog;

#define CONFIG_FILE_MAX TEXT_FILE_MAX
#define CONFIG_FSCK_WAIT_DEFAULT_MS (10ULL * 60 * 1000)

int config_new(Config **ret);
Config *config_free(Config *c);
DEFINE_CLEANUP(Config *, config_free);

#define CONFIG_DRIVES "drives"
#define CONFIG_MATCH "match"
#define CONFIG_SPINDOWN_BY "spindown_by"
#define CONFIG_ON_BATTERY "on_battery" /* the only group of settings in a block */

/* A global option, outside the list of drives. */
typedef struct ConfigOption {
        const char *name;
        ValueRange range;
        size_t offset; /* offset of the option's uint64_t in Config */
} ConfigOption;

#define CONFIG_OPTIONS 5U
extern const ConfigOption config_options[CONFIG_OPTIONS];

/* A key of a block, other than a setting. */
typedef struct ConfigBlockKey {
        const char *name;
        size_t offset;  /* offset of the key's bool in Block; 0: the value is not a boolean */
        bool narrowing; /* without this key the block would match more drives, or apply more often */
} ConfigBlockKey;

#define CONFIG_BLOCK_KEYS 9U
extern const ConfigBlockKey config_block_keys[CONFIG_BLOCK_KEYS];

/* Return the index in config_options or config_block_keys, or the number of entries if the name is unknown. */
size_t config_find_option(const char *name);
size_t config_find_block_key(const char *name);

bool config_is_option(const char *name); /* also true for "drives", the list of blocks */
bool block_has_key(const char *name);
/* Returns true if the name is an option, a key of a block, a match key or a setting. */
bool config_is_key(const char *name, const SettingTable *table);

void block_done(Block *b);

/* Returns the block's assignment of setting `name`. If `on_battery` is true, the assignment is inside on_battery, otherwise
 * outside. NULL: the block has no such assignment. */
Assignment *block_find(const Block *b, const char *name, bool on_battery);

/* Parses the text of one file (config-file.c) and appends its blocks to those of earlier files. `file` is the name in complaints. Bad
 * input causes complaints, not errors; the only error is -ENOMEM. */
int config_parse(Config *c, const SettingTable *t, const char *file, const char *text, size_t size);

/* Reads one regular file of at most CONFIG_FILE_MAX bytes (config-load.c). A file that cannot be read, or that users other than root and
 * the caller can write, causes a complaint. */
int config_load_file(Config *c, const SettingTable *t, const char *path);

/* The state file that lists the files in force, with a hash of each text. It is in the directory of the drives' state files. */
#define CONFIG_IN_FORCE_FILE ".configuration"

/* Formats the content of CONFIG_IN_FORCE_FILE (config-in-force.c). The caller frees *ret. Returns 0 or -ENOMEM. */
int config_format_in_force(const Config *c, char **ret);

/* How the files on disk differ from the list of files in force. */
typedef enum ConfigNews {
        CONFIG_SAME,
        CONFIG_CHANGED, /* the text of a file has changed */
        CONFIG_NEW,     /* a file is not in the list */
        CONFIG_GONE,    /* a file in the list no longer exists, or is no longer read */
} ConfigNews;

/* Compares the files with `in_force`, the content of CONFIG_IN_FORCE_FILE. Returns the ConfigNews of the first difference, and stores the
 * file's name in *ret_file; the caller frees the name. -EBADMSG: `in_force` is not a list of files; -ENOMEM. */
int config_compare_in_force(const Config *c, const char *in_force, char **ret_file);

#define CONFIG_DROP_IN_DIRECTORY "drivekeep/drivekeep.conf.d"

/* Returns true if config_load() reads a drop-in of this name. */
bool config_is_drop_in(const char *name);

/* Reads drivekeep/drivekeep.conf, and the drop-ins named *.conf in drivekeep/drivekeep.conf.d, below each of `roots`
 * (NULL-terminated, highest precedence first: /etc, /run, /usr/lib). As in systemd, a file masks files of the same name
 * in later roots. An empty file, or a link to /dev/null, only masks. Drop-ins are read after the main file, in the
 * order of their names. Missing files cause no complaint. */
int config_load(Config *c, const SettingTable *t, const char *const *roots);

/* A proposed text for a file that config_load() reads. The file need not exist yet. */
typedef struct ConfigDraft {
        const char *path; /* the file's path as config_load() forms it: a root, '/' and the name below the root */
        const char *text;
        size_t size;
} ConfigDraft;

/* Like config_load(), but reads the draft in place of its file. `draft` may be NULL. */
int config_load_draft(Config *c, const SettingTable *t, const char *const *roots, const ConfigDraft *draft);

/* The command that set a temporary value (temporary.h). */
typedef enum Temporary {
        TEMPORARY_NO,
        TEMPORARY_TRY,
        TEMPORARY_TUNE,
} Temporary;

/* A wish: the value that the files set for one setting of a drive. Later blocks win. */
typedef struct Wish {
        const char *name; /* name of the setting, never an alias */
        Value value;
        bool withheld;                   /* the winning block has an error: nothing is written */
        bool rewrite;                    /* write the value only if the drive has it already; never from a file */
        bool allow_dangerous, permanent; /* from the winning block */
        bool optional;          /* the winning block is for a class of drives, some of which may lack the setting */
        bool wake;              /* from the winning block */
        SpindownBy spindown_by; /* from the winning block; used only for settings with `spins_down` */
        bool wake_together, commands_are_use; /* from the winning block; used only for settings with `spins_down` */
        const char *file;                     /* the file with the rule, or the name of another source of the wish */
        unsigned line, column;                /* 0: the source is not a file */
        Temporary temporary;                  /* TEMPORARY_NO: a rule's value, or a value that the service restores */
        char *via_stacked; /* link of md, dm-crypt or LVM above the drive, if the rule matches only by this link; else NULL */
} Wish;

/* The wishes are in the order of the files: if two wishes exclude each other, the later wish wins (plan_exclude()). */
typedef struct Wishes {
        GROWING_ARRAY(Wish, items);
} Wishes;

/* Collects the wishes for one drive (config-resolve.c). `on_battery`: the machine runs on battery now. Settings with "keep", and settings
 * that no rule names, have no wish. The wishes point into the Config and its SettingTable. */
int config_resolve(const Config *c, const Drive *d, bool on_battery, Wishes *ret);
void wishes_done(Wishes *w);

/* Returns the wish for the setting, or NULL. */
Wish *wishes_find(const Wishes *w, const char *name);
/* Returns a wish that conflicts with a spin-down by the kernel: a wish for apm or for a spin-down time. NULL: there is no such wish. */
const Wish *wishes_find_disturbed(const Wishes *w, const SettingTable *t);

/* Appends a wish, and removes an earlier one for the same setting. The list takes ownership of `via_stacked`. */
int wishes_add(Wishes *w, const Wish *wish);

/* Returns true if a wish sets one of the settings in `r`, so that the advice in `r` is not shown (plan.c). */
bool wishes_remedy(const Wishes *w, const Remedy *r);

/* Returns true if any setting depends on whether the machine runs on battery. */
bool config_uses_battery(const Config *c);

/* Returns true if both lists have the same effect: the same settings with the same values and block options. Files and lines are not
 * compared. */
bool wishes_equal(const Wishes *a, const Wishes *b, const SettingTable *t);

/* Returns true if the two wishes exclude each other on a drive that supports both. */
bool wishes_exclude(const Wish *a, const Wish *b, const SettingTable *t);

/* Adds warnings and notices about valid lines that are probably mistakes (config-check.c): duplicate blocks, values that are always
 * overridden, conflicting settings, dangerous settings without allow_dangerous. Reads the files only, no drive. Returns 0 or -ENOMEM. */
int config_check(Config *c, const SettingTable *t);

/* Warns of device names in a match that no drive can have, or that may name another drive after a reboot. If the name belongs
 * to one of `drives`, the warning proposes a stable link; the array may be empty. */
int config_check_names(Config *c, Drive *const *drives, size_t n_drives);

/* Warns of problems with one drive: a value that harms a member of an array, a setting that the kind of drive does not support, or a
 * spin-down by the service while `iostats` is off. Each line of the files is reported once. */
int config_check_drive(Config *c, const SettingTable *t, const Drive *d);
