/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the files want: blocks of (match, assignments) in the order of reading, and every complaint about them.
 * The only file that knows libconfig is config-value.c. */

#include "complaint.h"
#include "match.h"
#include "safe-file.h"
#include "setting.h"

/* Who lets a drive spin down after the time of a row with `spins_down`. */
typedef enum SpindownBy {
        SPINDOWN_BY_DRIVE,   /* a timer of its own */
        SPINDOWN_BY_SERVICE, /* the service, by a command; the drive is told of no timer */
        SPINDOWN_BY_AUTO,    /* the drive, and the service where it turns out that the drive does not */
        _SPINDOWN_BY_MAX,
} SpindownBy;

typedef struct Assignment {
        const char *name; /* the state's canonical key (setting_state()), from the table */
        Value value;
        bool on_battery; /* it counts only while the machine runs on battery, and there before the block's others */
        bool keep;       /* "keep": cancels an earlier block's value */
        bool withheld;   /* the value is in error: earlier values must not come through, nothing is written */
        bool guessed;    /* nobody has written it: a name was mistyped, or stands in what is no statement */
        unsigned line, column;
        const Setting *row; /* of the key as it was written, perhaps an alias */
} Assignment;

typedef struct Block {
        Match match;
        const char *file; /* owned by the Config */
        unsigned line, column;
        struct {
                unsigned line, column;
        } match_at;           /* where its value stands */
        bool broken;          /* it cannot be trusted: every assignment is withheld, on battery and off */
        bool obscure;         /* … nor which settings it names: all that earlier blocks want is withheld */
        bool allow_dangerous; /* the user's word that dangerous settings of this block are meant */
        bool wake;            /* a sleeping drive may be woken for settings of this block */
        bool permanent;       /* … and that the drive is to save what it can of this block (apply --permanent) */
        bool only_in_raid;    /* it counts only for members of an array that can do without them */
        SpindownBy spindown_by;
        bool wake_together;    /* its drives are woken with the others of their array */
        bool commands_are_use; /* … and programs that send them commands use them */
        GROWING_ARRAY(Assignment, assignments);
} Block;

typedef struct Config {
        char **files;     /* in order of reading, NULL-terminated */
        uint64_t *hashes; /* hashes of the files' texts (text_hash()), in the same order */
        size_t n_files;
        GROWING_ARRAY(Block, blocks);
        uint64_t fsck_wait_ms;    /* how long a visit waits for fsck before its verdict is `deferred` */
        uint64_t recheck_ms;      /* how often to look whether all is as it was left; 0: never */
        uint64_t on_drift;        /* OnDrift: what is done about what is not */
        uint64_t wake_log;        /* WakeLog: of which drives it is told who wakes them */
        uint64_t spin_up_at_once; /* so many drives that are woken together may spin up at a time; 0: any number */
        Complaints complaints;
} Config;

typedef enum OnDrift {
        ON_DRIFT_REPORT,
        ON_DRIFT_RESTORE,
} OnDrift;

typedef enum WakeLog {
        WAKE_LOG_OFF,
        WAKE_LOG_ON,   /* of all that the files name and that can sleep */
        WAKE_LOG_AUTO, /* of those that are to spin down after a time without use */
} WakeLog;

#define CONFIG_FILE_MAX TEXT_FILE_MAX
#define CONFIG_FSCK_WAIT_DEFAULT_MS (10ULL * 60 * 1000)

int config_new(Config **ret);
Config *config_free(Config *c);
DEFINE_CLEANUP(Config *, config_free);

#define CONFIG_DRIVES "drives"
#define CONFIG_MATCH "match"
#define CONFIG_SPINDOWN_BY "spindown_by"
#define CONFIG_ON_BATTERY "on_battery" /* the one group of settings inside a block */

/* What means something in a file besides settings: the options beside the list of drives, … */
typedef struct ConfigOption {
        const char *name;
        ValueRange range;
        size_t offset; /* of its uint64_t in Config */
} ConfigOption;

#define CONFIG_OPTIONS 5U
extern const ConfigOption config_options[CONFIG_OPTIONS];

/* … and the keys of a block besides settings. */
typedef struct ConfigBlockKey {
        const char *name;
        size_t offset;  /* of its bool in Block; 0: the key has another form */
        bool narrowing; /* without it the block would be for more drives, or do more to them */
} ConfigBlockKey;

#define CONFIG_BLOCK_KEYS 9U
extern const ConfigBlockKey config_block_keys[CONFIG_BLOCK_KEYS];

/* The index, or the number of all where the name is unknown. */
size_t config_find_option(const char *name);
size_t config_find_block_key(const char *name);

bool config_is_option(const char *name); /* or the list of drives */
bool block_has_key(const char *name);
bool config_is_key(const char *name, const SettingTable *table); /* anywhere in a file */

void block_done(Block *b);

/* What it says of this state, for battery only or not. NULL: nothing. */
Assignment *block_find(const Block *b, const char *name, bool on_battery);

/* Parses one file's text (config-file.c); `file` is its name in complaints. Bad input is a complaint, never an error:
 * negative only for -ENOMEM. Blocks are appended after those of earlier files. */
int config_parse(Config *c, const SettingTable *t, const char *file, const char *text, size_t size);

/* Reads one file (config-load.c): regular, at most CONFIG_FILE_MAX, and not writable by others when it is not the
 * caller's own. Unreadable: a complaint. */
int config_load_file(Config *c, const SettingTable *t, const char *path);

/* The state file that lists the files in force, with a hash of each text. It is beside the state files of the drives. */
#define CONFIG_IN_FORCE_FILE ".configuration"

/* The content of this state file (config-in-force.c). The caller frees it. -ENOMEM. */
int config_format_in_force(const Config *c, char **ret);

/* How the present files differ from such a list. */
typedef enum ConfigNews {
        CONFIG_SAME,
        CONFIG_CHANGED, /* a file has another text */
        CONFIG_NEW,     /* a file is not in the list */
        CONFIG_GONE,    /* a file in the list is not read any more */
} ConfigNews;

/* Returns the ConfigNews of the first file that differs; *ret_file gets its name, which the caller frees. -ENOMEM; -EBADMSG: the text is
 * no such list. */
int config_compare_in_force(const Config *c, const char *in_force, char **ret_file);

#define CONFIG_DROP_IN_DIRECTORY "drivekeep/drivekeep.conf.d"

/* Reads drivekeep.conf and its drop-ins by systemd's precedence: drivekeep/drivekeep.conf, and the files named *.conf
 * in drivekeep/drivekeep.conf.d, below each of `roots` (NULL-terminated, highest first: /etc, /run, /usr/lib). The same
 * name masks one further down, an empty file or a link to /dev/null disables; drop-ins are read in the order of their
 * names, after the main file. No file at all is no complaint. */
int config_load(Config *c, const SettingTable *t, const char *const *roots);

/* What is to stand in a file that config_load() would read, whether or not there is one yet. */
typedef struct ConfigDraft {
        const char *path; /* as config_load() forms it: a root, '/' and the rest */
        const char *text;
        size_t size;
} ConfigDraft;

/* The same as if the draft (NULL: none) stood in its file. */
int config_load_draft(Config *c, const SettingTable *t, const char *const *roots, const ConfigDraft *draft);

/* What the files want of one drive, state by state: later blocks win. */
typedef struct Wish {
        const char *name; /* canonical key */
        Value value;
        bool withheld;                   /* nothing may be written: the winning block is in error */
        bool allow_dangerous, permanent; /* of the winning block … */
        bool optional;          /* … which is for a class of drives, and not every one of them has everything */
        bool wake;              /* of that block, too … */
        SpindownBy spindown_by; /* … and these, which only rows with `spins_down` heed */
        bool wake_together, commands_are_use;
        const char *file; /* or who else wants it: then `line` is 0 */
        unsigned line, column;
        char *via_stacked; /* the rule fits only by this link of md, dm-crypt or LVM above the drive; else NULL */
} Wish;

/* In the order of the files: of two that exclude each other the later one wins (plan_exclude()). */
typedef struct Wishes {
        GROWING_ARRAY(Wish, items);
} Wishes;

/* resolve.c. `on_battery`: what the machine runs on now. `keep` and unnamed settings leave no wish. The wishes point into
 * the Config and its SettingTable. */
int config_resolve(const Config *c, const Drive *d, bool on_battery, Wishes *ret);
void wishes_done(Wishes *w);

/* NULL: nobody asks for that setting. */
Wish *wishes_find(const Wishes *w, const char *name);

/* The last one, in the place of an earlier one for the same setting; `via_stacked` is the list's own from now on. */
int wishes_add(Wishes *w, const Wish *wish);

/* Do the wishes include a setting with the same effect (plan.c)? */
bool wishes_remedy(const Wishes *w, const Remedy *r);

/* Whether what the machine runs on makes a difference to any drive. */
bool config_uses_battery(const Config *c);

/* The same values for the same settings; where in the files they stand does not count, but for which drives the rules are. */
bool wishes_equal(const Wishes *a, const Wishes *b, const SettingTable *t);

/* Do the two exclude each other, on a drive that supports both? */
bool wishes_exclude(const Wish *a, const Wish *b, const SettingTable *t);

/* config-check.c: what stands in the files without an error, and still cannot be what was meant: blocks that say the same, values
 * that never win, settings that fight each other, danger without its word. Adds warnings and notices to c->complaints. Pure: it
 * looks at no drive. Returns 0 or -ENOMEM. */
int config_check(Config *c, const SettingTable *t);

/* The same of names of drives in a match that no drive has, or not the same drive after the next boot. Of these drives, which may be
 * none, it says by which name they keep. */
int config_check_names(Config *c, Drive *const *drives, size_t n_drives);

/* What can be said only of a drive that is there: that it is a member of an array, which a value harms, or that two rules exclude each other
 * for it. Once for each place in the files. */
int config_check_drive(Config *c, const SettingTable *t, const Drive *d);
