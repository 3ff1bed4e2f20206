/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The result of reading one file of another program: rules in the order in which drivekeep should read them (later rules win), and notes
 * about parts that are not imported. A reader fills an Import, emit() writes the Import as configuration, import_done() frees it. */

#include <stdio.h>

#include "match.h"
#include "must.h"
#include "setting.h"

/* A note about the file, and the lines that it applies to. */
typedef struct Note {
        char *sentence;
        GROWING_ARRAY(unsigned, lines);
} Note;

typedef struct ImportWish {
        char *key;            /* key of a drivekeep setting */
        char *value;          /* as written in the file: "127", "on", "7s" */
        char *comment_reason; /* why the wish is written as a comment; NULL: the wish is active */
        bool on_battery;
        unsigned line;
} ImportWish;

/* KEY{ATTRIBUTE}=="VALUE" of a udev rule. */
typedef struct ImportCondition {
        char *key, *attribute, *value;
        bool negated; /* the condition has the operator != */
} ImportCondition;

typedef struct ImportConditions {
        GROWING_ARRAY(ImportCondition, items);
} ImportConditions;

/* A GOTO or a RUN= in udev rules. If all conditions are met, GOTO skips the rules up to its label, and RUN= cancels every earlier RUN. */
typedef struct ImportJump {
        ImportConditions conditions;
        unsigned line, until; /* lines of the GOTO and its label; `until` 0: no such label, udev ignores the GOTO */
        bool runs;            /* true for a RUN=: `until` is the line of the RUN=, and `line` is 0 */
} ImportJump;

typedef struct ImportRule {
        Match match;
        char *comment_reason; /* why the whole rule is written as a comment; NULL: the rule is active */
        bool drives_unknown;  /* `match` describes none or only some of the drives: the rule is commented out */
        Match except;         /* drives excluded from `match`; a drivekeep match cannot express this */
        bool spindown_by_service;
        unsigned line;
        GROWING_ARRAY(ImportWish, wishes);
        /* For a udev rule about the drives of `match` or about their parents: all conditions of the udev rule, even if `match` cannot
         * express a condition. */
        ImportConditions conditions;
        bool never; /* no drive meets the conditions */
        bool jumps; /* a GOTO or RUN= of the file may skip the rule */
        bool runs;  /* the rule comes from a RUN key */
} ImportRule;

/* The drives that smartd polls because of one line of smartd.conf. */
typedef struct ImportPoll {
        Match match, except;
        unsigned line;
        bool skips_standby; /* smartd does not poll drives in standby (-n standby) */
} ImportPoll;

typedef struct Import {
        char *file;
        GROWING_ARRAY(Note, notes);
        size_t n_quoted; /* number of notes that quote a part that is not understood */
        GROWING_ARRAY(ImportRule, rules);
        GROWING_ARRAY(ImportJump, jumps);
        GROWING_ARRAY(ImportPoll, polls);
} Import;

/* The kinds of files that can be imported. */
typedef enum ImportKind {
        IMPORT_HDPARM_CONF,
        IMPORT_CONF_D, /* Gentoo: /etc/conf.d/hdparm */
        IMPORT_UDISKS, /* udisks2: /etc/udisks2/VENDOR-MODEL-SERIAL.conf */
        IMPORT_TLP,
        IMPORT_LAPTOP_MODE, /* laptop-mode-tools */
        IMPORT_TUNED,
        IMPORT_SMARTD,
        IMPORT_HD_IDLE,
        IMPORT_MDADM,
        IMPORT_SCRIPT, /* shell: rc.local, hooks, a single command */
        IMPORT_CRONTAB,
        IMPORT_UNIT, /* a systemd unit */
        IMPORT_UDEV_RULES,
        IMPORT_TMPFILES,   /* systemd-tmpfiles: tmpfiles.d */
        IMPORT_SYSFS_CONF, /* sysfsutils: /etc/sysfs.conf */
        _IMPORT_KIND_MAX,
        _IMPORT_KIND_INVALID = -1,
} ImportKind;

ImportKind import_kind_from_string(const char *s);

/* Reads a text of any bytes, terminated by NUL, as the given kind. If the kind is _IMPORT_KIND_INVALID, determines the kind from the file's
 * path, or else from the first lines. Returns 0 on success. Returns 1, with the reason in *ret_objection, if the text is not read. */
int import_read(const char *file, const char *text, size_t size, ImportKind kind, Import *ret,
                const char **ret_objection);

/* Returns a sentence about a text that is not a drivekeep configuration: what the text is, and what to do with it. The caller frees the
 * sentence. Returns NULL if the kind of text is not known. */
char *import_describe(const char *file, const char *text, size_t size);

/* Like import_describe(), for one line of the text, counted from 1. */
char *import_describe_line(const char *file, const char *text, unsigned line);

/* Writes drivekeep configuration. Wishes that the settings table rejects (a value out of range, a dangerous setting) are written as
 * comments, so that the output never has an error and is safe to use. Sets comment_reason of these wishes in `imports`. Returns 0 or
 * -EIO. */
int emit(FILE *f, Import *imports, size_t n_imports, const SettingTable *table);

/* emit_string() and emit_wish() write parts of emit()'s output. emit_string() writes a string in quotes. emit_wish() writes an assignment
 * such as "apm = 128;", and then a comment with the meaning of the number or the reason why the assignment is commented out. */
void emit_string(FILE *f, const char *s);
void emit_wish(FILE *f, const SettingTable *table, const ImportWish *w);

void import_done(Import *i);

/* Frees the text and returns a printable copy, which the caller frees. */
char *import_escape(char *text);

/* Adds a note. The sentence has neither a line number nor a full stop. If a note with this sentence exists, adds the line to that note. */
#define import_note(i, line, ...) import_take_note(i, line, import_escape(must_format(__VA_ARGS__)))
void import_take_note(Import *i, unsigned line, char *sentence);

/* Adds a note that quotes a part of the file. This part may set something, but is not imported. `why`: the words before the quote. If `why`
 * is NULL, these words are "not understood". */
void import_not_understood(Import *i, unsigned line, const char *why, const char *text);

ImportRule *import_add_rule(Import *i, unsigned line); /* the pointer is valid until another rule is added */
void import_drop_rule(Import *i);                      /* drops the last rule */

/* Adds a wish, replacing an earlier wish for the same key. Takes ownership of the value. */
#define import_want(rule, line, key, ...) import_add_wish(rule, line, key, must_format(__VA_ARGS__), false)
ImportWish *import_add_wish(ImportRule *r, unsigned line, const char *key, char *value, bool on_battery);
ImportWish *import_find_wish(const ImportRule *r, const char *key, bool on_battery);
void import_drop_wish(ImportRule *r, const char *key, bool on_battery); /* does nothing if there is no such wish */

/* Marks a rule or a wish as commented out; a reason that was set earlier stays. import_comment_out_drives() is for rules whose drives are
 * not known. */
#define import_comment_out(rule_or_wish, ...) import_set_reason(&(rule_or_wish)->comment_reason, __VA_ARGS__)
#define import_comment_out_drives(rule, ...) ((rule)->drives_unknown = true, import_comment_out(rule, __VA_ARGS__))
#define import_set_reason(reason, ...) import_take_reason(reason, import_escape(must_format(__VA_ARGS__)))
void import_take_reason(char **reason, char *why);

/* Like match_add(). Returns false if match_add() rejects the pattern, or if a byte of the pattern would need an escape in a configuration.
 * The pattern with the escape would match other names than the original pattern. */
bool import_match_add(Match *m, MatchKey key, const char *property, const char *pattern);

/* Like import_match_add(), for a rule: if the pattern is rejected, the rule is commented out. */
#define import_match(rule, key, ...) import_add_match(rule, key, must_format(__VA_ARGS__))
bool import_add_match(ImportRule *r, MatchKey key, char *pattern);
void import_match_copy(Match *to, const Match *from);
bool import_same_match(const Match *a, const Match *b);
/* Returns true if the word matches the value of a condition in a udev rule, such as "a|b*". */
bool import_condition_fits(const char *value, const char *word);
/* Returns the nodes of a match that consists of nodes only. Returns NULL if the match is empty or has other criteria. */
const Criterion *import_nodes(const Match *m);

/* The readers, one for each kind. Each reader adds the text's rules and notes to *ret. */
void hdparm_conf_read(const char *text, Import *ret);
void conf_d_read(const char *text, Import *ret);
void udisks_read(const char *text, Import *ret); /* the file name in `ret` identifies the drive */
void tlp_read(const char *text, Import *ret);
void laptop_mode_read(const char *text, Import *ret);
void tuned_read(const char *text, Import *ret);
void smartd_read(const char *text, Import *ret);
void hd_idle_read(const char *text, Import *ret);
void mdadm_conf_read(const char *text, Import *ret);
void script_file_read(const char *text, Import *ret);
void crontab_read(const char *text, Import *ret);
void unit_read(const char *text, Import *ret);
void udev_rules_read(const char *text, Import *ret);
void tmpfiles_read(const char *text, Import *ret);
void sysfs_conf_read(const char *text, Import *ret);
